// SPDX-License-Identifier: BSL-1.0
// Loops and branches that a process builds: beside plain numbers, beside the same written out with `select`, and
// gradients beside central differences.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <deque>
#include <functional>

#include "conformance/built/built.hpp"
#include "support/errors.hpp"

namespace tagma::conformance {

namespace {

using nodes = std::vector<graph_node>;

array numbers(const shape& dims, double seed) {
  array a(dims);
  for (extent i = 0; i < dims.elements(); ++i) a[i] = 0.7 * std::sin(seed + 1.7 * static_cast<double>(i));
  return a;
}

/// Operations by short names, in float64.
class drawing {
 public:
  graph_node in(std::string_view name, const shape& dims = {}, dtype type = dtype::float64) {
    return b.placeholder(name, type, dims);
  }
  graph_node number(double value) { return b.number(dtype::float64, value); }
  graph_node of(std::string_view name, const graph_node& x) { return b.add(name, {x}); }
  graph_node of(std::string_view name, const graph_node& x, const graph_node& y) { return b.add(name, {x, y}); }
  graph_node times(const graph_node& x, double factor) { return of("multiply", x, number(factor)); }
  graph_node sum(const graph_node& x) { return b.add("sum", {x}, {(1 << x.dims().rank) - 1, false}); }
  graph_node dot(const graph_node& x, const graph_node& y) { return sum(of("multiply", x, y)); }
  graph_node product(const graph_node& x, const graph_node& y) { return b.add("matmul", {x, y}, {false, false}); }
  graph_node choose(const graph_node& test, const graph_node& x, const graph_node& y) {
    return b.add("select", {test, x, y});
  }
  /// What a branch computes if `test` is true, and `otherwise` if it is not.
  graph_node branch(const graph_node& test, const graph_node& otherwise, const nodes& given,
                    const std::function<graph_node(const nodes&)>& body) {
    const graph_node head = b.loop_if(test), begins = b.carried(head, 0, otherwise);
    nodes inside;
    for (const graph_node& g : given) inside.push_back(b.add("loop_given", {g, head}));
    return b.close_loop(head, {begins}, {body(inside)})[0];
  }

  graph_builder b;
};

/// The outputs of a program, by one thread and by two.
class feeding {
 public:
  void feed(std::string_view name, const array& value, dtype type = dtype::float64) {
    memory_.push_back(elements_of({type, value.dims}, value));
    feeds_.push_back({name, {memory_.back().data(), type, value.dims}});
  }
  [[nodiscard]] std::vector<array> run(const any_program& program, const std::vector<output_name>& outputs) const {
    std::vector<array> found;
    for (const any_tensor& t : run_with_both(program, outputs, feeds_)) found.push_back(array_of(t.view()));
    return found;
  }

 private:
  std::deque<std::vector<std::byte>> memory_;
  std::vector<named_feed> feeds_;
};

void check_equal(const array& found, const array& expected, double margin = 1e-12) {
  REQUIRE(found.dims == expected.dims);
  for (std::size_t i = 0; i < expected.at.size(); ++i) {
    INFO("element " << i);
    CHECK(found.at[i] == Approx(expected.at[i]).margin(margin));
  }
}

/// Compares gradients with central differences of an output of the same program.
/// @param by names of placeholders, whose gradients are outputs called "by " and the name
void check_slopes(const any_program& program, const std::vector<std::pair<std::string, array>>& fed,
                  const std::vector<std::string>& by) {
  constexpr double h = 1e-5;
  const auto run = [&](const std::vector<std::pair<std::string, array>>& values, const std::string& output) {
    feeding all;
    for (const auto& v : values) all.feed(v.first, v.second);
    return all.run(program, {output_name(output)})[0];
  };
  for (const std::string& name : by) {
    const array slope = run(fed, "by " + name);
    auto moved = fed;
    for (auto& v : moved) {
      if (v.first != name) continue;
      REQUIRE(slope.dims == v.second.dims);
      for (std::size_t i = 0; i < slope.at.size(); ++i) {
        const double here = v.second.at[i];
        v.second.at[i] = here + h;
        const double above = run(moved, "loss")[0];
        v.second.at[i] = here - h;
        const double below = run(moved, "loss")[0];
        v.second.at[i] = here;
        INFO("by " << name << ", element " << i);
        CHECK(slope.at[i] == Approx((above - below) / (2 * h)).margin(1e-6).epsilon(1e-6));
      }
    }
  }
}

constexpr extent batch = 2, width = 3, units = 2;

TEST_CASE("a loop that is built carries values and gathers others, for any number of iterations") {
  for (const bool reversed : {false, true}) {
    drawing d;
    const graph_node x = d.in("x", {dyn, batch, width}), h0 = d.in("h0", {batch, units}), w = d.in("w", {width, units}),
                     u = d.in("u", {units, units});
    const graph_node head = d.b.loop({x}, dyn, reversed), h = d.b.carried(head, 0, h0), e = d.b.element(head, x);
    const graph_node next = d.of("tanh", d.of("add", d.product(e, w), d.product(h, u)));
    const nodes results = d.b.close_loop(head, {h}, {next}, {next});
    note_operation("loop_end");  // which `close_loop` adds, and the graph has no more
    const graph_node loss = d.of("add", d.dot(results[0], results[0]), d.sum(d.of("sin", results[1])));
    const any_program program = d.b.build({{"last", results[0]},
                                           {"all", results[1]},
                                           {"loss", loss},
                                           {"by x", d.b.gradient(loss, x)},
                                           {"by h0", d.b.gradient(loss, h0)},
                                           {"by w", d.b.gradient(loss, w)},
                                           {"by u", d.b.gradient(loss, u)}});
    for (const extent n : {4, 1, 0, 7}) {
      INFO(n << " iterations" << (reversed ? ", reversed" : ""));
      const array xs = numbers({n, batch, width}, 5), ws = numbers({width, units}, 1), us = numbers({units, units}, 2);
      array last = numbers({batch, units}, 4), all({n, batch, units});
      const std::vector<std::pair<std::string, array>> fed = {{"x", xs}, {"h0", last}, {"w", ws}, {"u", us}};
      for (extent k = 0; k < n; ++k) {
        const extent t = reversed ? n - 1 - k : k;
        array after({batch, units});
        for (extent i = 0; i < batch; ++i)
          for (extent j = 0; j < units; ++j) {
            double sum = 0;
            for (extent f = 0; f < width; ++f) sum += xs[(t * batch + i) * width + f] * ws[f * units + j];
            for (extent f = 0; f < units; ++f) sum += last[i * units + f] * us[f * units + j];
            after[i * units + j] = std::tanh(sum);
          }
        last = after;
        std::copy(last.at.begin(), last.at.end(), all.at.begin() + t * batch * units);
      }
      feeding f;
      for (const auto& v : fed) f.feed(v.first, v.second);
      const std::vector<array> found = f.run(program, {"last", "all"});
      check_equal(found[0], last);
      check_equal(found[1], all);
      if (n > 0 && n < 7) check_slopes(program, fed, {"x", "h0", "w", "u"});
    }
  }
}

TEST_CASE("a loop that is built is done as often as an element says, and over one of several tensors") {
  drawing d;
  const graph_node x = d.in("x", {3}), n = d.in("n", {}, dtype::int64);
  const graph_node head = d.b.add("loop_times", {n}, {9, false}), c = d.b.carried(head, 0, x);
  const graph_node grown = d.b.close_loop(head, {c}, {d.of("add", d.times(c, 1.5), d.of("sin", c))})[0];
  const any_program program = d.b.build({{"grown", grown}});
  for (const int times : {0, 1, 5, 9, 12, -3}) {
    array at = numbers({3}, 1);
    feeding f;
    f.feed("n", array(shape{}, times), dtype::int64);
    f.feed("x", at);
    for (int i = 0; i < std::min(times, 9); ++i)
      for (double& v : at.at) v = 1.5 * v + std::sin(v);
    check_equal(f.run(program, {"grown"})[0], at, 1e-9);
  }
  const std::string text = test::text_of([&] { (void)d.b.build({{"by x", d.b.gradient(grown, x)}}); });
  CHECK(text.find("TAGMA-E219") != std::string::npos);

  drawing r;
  const graph_node y = r.in("y", {2}), p = r.in("p", {2}), q = r.in("q", {2});
  const graph_node turns = r.b.loop({}, 3), state = r.b.carried(turns, 0, y);
  const graph_node member = r.b.add("loop_member", {turns, p, q, p});
  const nodes ends =
      r.b.close_loop(turns, {state}, {r.of("tanh", r.of("multiply", state, member))}, {r.times(member, 2)});
  const graph_node cost = r.of("add", r.dot(ends[0], ends[0]), r.sum(ends[1]));
  const any_program turned = r.b.build({{"last", ends[0]},
                                        {"members", ends[1]},
                                        {"loss", cost},
                                        {"by y", r.b.gradient(cost, y)},
                                        {"by p", r.b.gradient(cost, p)},
                                        {"by q", r.b.gradient(cost, q)}});
  const array ys = numbers({2}, 1), ps = numbers({2}, 2), qs = numbers({2}, 3);
  feeding f;
  f.feed("y", ys), f.feed("p", ps), f.feed("q", qs);
  array last = ys, members({3, 2});
  for (extent t = 0; t < 3; ++t)
    for (extent i = 0; i < 2; ++i) {
      const double m = t == 1 ? qs[i] : ps[i];
      last[i] = std::tanh(last[i] * m), members[2 * t + i] = 2 * m;
    }
  const std::vector<array> found = f.run(turned, {"last", "members"});
  check_equal(found[0], last);
  check_equal(found[1], members);
  check_slopes(turned, {{"y", ys}, {"p", ps}, {"q", qs}}, {"y", "p", "q"});
}

TEST_CASE("a loop that is built ends when its test does") {
  drawing d;
  const graph_node of = d.in("of");
  const auto far = [&](const graph_node& r) {
    return d.of("greater", d.of("abs", d.of("subtract", d.of("multiply", r, r), of)), d.number(1e-9));
  };
  const graph_node test = far(of), head = d.b.loop_while(test);
  const graph_node go = d.b.carried(head, 0, test), root = d.b.carried(head, 1, of),
                   steps = d.b.carried(head, 2, d.b.number(dtype::int64, 0));
  const graph_node next = d.times(d.of("add", root, d.of("divide", of, root)), 0.5);
  const nodes results =
      d.b.close_loop(head, {go, root, steps}, {far(next), next, d.of("add", steps, d.b.number(dtype::int64, 1))});
  const any_program program = d.b.build({{"root", results[1]}, {"steps", results[2]}});
  for (const double value : {2.0, 1.0, 1e6, 9.0}) {
    feeding f;
    f.feed("of", array(shape{}, value));
    const std::vector<array> found = f.run(program, {"root", "steps"});
    CHECK(found[0][0] == Approx(std::sqrt(value)));
    CHECK((found[1][0] > 0) == (value != 1.0));
  }
}

/// Random functions of two vectors and a scalar, in which branches and loops stand in each other: `decided`, elements
/// decide; else both branches are computed and all iterations are written out, and `select` takes what is wanted.
class random_function {
 public:
  random_function(drawing& d, const graph_node& w, std::uint32_t seed, bool decided)
      : d_(d), w_(w), seed_(seed), decided_(decided) {}

  graph_node make(std::uint32_t depth, std::uint32_t turn, const graph_node& a, const graph_node& b) {
    const std::uint32_t kind = (((seed_ * 97 + depth * 31 + turn) * 2654435761u) >> 13) % (depth == 0 ? 4 : 8);
    const auto deeper = [&, depth, turn](std::uint32_t next, const graph_node& x, const graph_node& y) {
      return make(depth == 0 ? 0 : depth - 1, turn * 3 + next, x, y);
    };
    switch (kind) {
      case 0:
        return d_.of("multiply", d_.of("sin", a), b);
      case 1:
        return d_.of("add", d_.times(a, 0.5), d_.of("multiply", b, w_));
      case 2:
        return d_.of("tanh", d_.of("subtract", a, b));
      case 3:
        return d_.of("subtract", d_.times(d_.of("square", a), 0.3), b);
      case 4:
      case 5: {
        const graph_node test =
            kind == 4 ? d_.of("greater", d_.sum(a), d_.number(0)) : d_.of("less", d_.dot(a, b), d_.number(0.1));
        const auto then = [&](const nodes& in) { return d_.of("add", deeper(0, in[0], in[1]), in[0]); };
        const auto otherwise = [&](const nodes& in) { return deeper(1, in[1], in[0]); };
        if (!decided_) return d_.choose(test, then({a, b}), otherwise({a, b}));
        const graph_node first = d_.branch(test, d_.times(a, 0), {a, b}, then);
        return d_.branch(d_.of("logical_not", test), first, {a, b}, otherwise);
      }
      case 6: {
        const auto goes_on = [&](const graph_node& n, const graph_node& c) {
          return d_.of("less", n, d_.of("add", d_.times(d_.dot(c, c), 4), d_.number(1)));
        };
        const auto body = [&](const graph_node& c) { return d_.times(deeper(2, c, b), 0.8); };
        const graph_node zero = d_.sum(d_.times(a, 0));
        if (!decided_) {
          const graph_node first = goes_on(zero, a), one = d_.choose(first, body(a), a);
          const graph_node again = d_.of("logical_and", first, goes_on(d_.of("add", zero, d_.number(1)), one));
          return d_.of("sin", d_.choose(again, body(one), one));
        }
        const graph_node test = goes_on(zero, a), head = d_.b.loop_while(test, 2);
        const graph_node go = d_.b.carried(head, 0, test), n = d_.b.carried(head, 1, zero),
                         c = d_.b.carried(head, 2, a);
        const graph_node next = body(c), count = d_.of("add", n, d_.number(1));
        return d_.of("sin", d_.b.close_loop(head, {go, n, c}, {goes_on(count, next), count, next})[2]);
      }
      default: {
        const auto body = [&](const graph_node& c) { return d_.times(deeper(2, c, b), 0.7); };
        if (!decided_) return d_.of("tanh", body(body(a)));
        const graph_node head = d_.b.loop({}, 2), c = d_.b.carried(head, 0, a);
        return d_.of("tanh", d_.b.close_loop(head, {c}, {body(c)})[0]);
      }
    }
  }

 private:
  drawing& d_;
  graph_node w_;
  std::uint32_t seed_;
  bool decided_;
};

TEST_CASE("random branches and loops that are built, beside the same written out") {
  constexpr std::uint32_t seeds = 60;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    drawing d;
    const graph_node p = d.in("p", {3}), q = d.in("q", {3}), w = d.in("w");
    // A sum of everything flows into everything; what depends on nothing has no gradient.
    const graph_node rest = d.of("add", d.of("add", d.sum(p), d.sum(q)), w);
    std::vector<named_output> outputs;
    std::deque<std::string> names;
    for (const bool decided : {true, false}) {
      const graph_node f = random_function(d, w, seed, decided).make(2, 0, p, q);
      const graph_node loss = d.of("add", d.sum(d.of("sin", f)), rest);
      for (const graph_node& n : {f, loss, d.b.gradient(loss, p), d.b.gradient(loss, q), d.b.gradient(loss, w)})
        outputs.push_back({names.emplace_back(std::to_string(names.size())), n});
    }
    const any_program program = d.b.build(outputs);
    const std::vector<output_name> all(names.begin(), names.end());
    for (int run = 0; run < 4; ++run) {
      INFO("seed " << seed << ", run " << run);
      feeding f;
      f.feed("p", numbers({3}, seed + 3.1 * run)), f.feed("q", numbers({3}, seed + 1 + 7.3 * run));
      f.feed("w", array(shape{}, 0.6 * run - 1));
      const std::vector<array> found = f.run(program, all);
      for (std::size_t i = 0; i < 5; ++i) {
        INFO("output " << i);
        check_equal(found[i], found[5 + i], 1e-10);
        for (const double v : found[i].at) CHECK(std::isfinite(v));
      }
    }
  }
}

}  // namespace

}  // namespace tagma::conformance
