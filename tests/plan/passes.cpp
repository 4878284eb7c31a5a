// SPDX-License-Identifier: BSL-1.0
#include "tagma/passes.hpp"
#include "support/graphs.hpp"

#include <catch2/catch.hpp>
#include <tuple>
#include <vector>

#include "tagma/tagma.hpp"

namespace tg = tagma;
using tg::test::count_of;

namespace {

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();
const std::vector<float> some{1, -2, 3, 0.5F, -0.25F, 6, -7, 8};

/// a + b becomes b + a, and 2 * x becomes x + x.
struct reorder {
  static constexpr void visit(tg::rewriter& r) {
    if (r.is<tg::op::add>())
      r.replace(r.emit(tg::op::add{}, r.in(1), r.in(0)));
    else if (r.is<tg::op::multiply>() && r.constant(r.in(1)).is(2))
      r.replace(r.emit(tg::op::add{}, r.in(0), r.in(0)));
    else if (r.is<tg::op::multiply>() && r.constant(r.in(0)).is(2))
      r.replace(r.emit(tg::op::add{}, r.in(1), r.in(1)));
  }
};
/// tanh(x) becomes x.
struct drop_tanh {
  static constexpr void visit(tg::rewriter& r) {
    if (r.is<tg::op::tanh>()) r.replace(r.in(0));
  }
};
/// x becomes x + 1, for every x that is squared.
struct add_one {
  static constexpr void visit(tg::rewriter& r) {
    if (!r.is<tg::op::square>()) return;
    const auto one = r.number(r.spec(r.in(0)).type, 1);
    r.replace(r.emit(tg::op::square{}, r.emit(tg::op::add{}, r.in(0), one)));
  }
};

/// A number that depends on a seed and a place, and on nothing else.
constexpr std::size_t drawn(unsigned seed, int place, std::size_t below) {
  std::uint64_t h = (seed + 1) * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(place) * 0xbf58476d1ce4e5b9U;
  h ^= h >> 31;
  h *= 0x94d049bb133111ebU;
  return static_cast<std::size_t>((h ^ (h >> 29)) % below);
}

/// A random expression over what there is: each operation reads two of the values before it.
template <unsigned Seed, int Left, class... E>
constexpr auto grown(const std::tuple<E...>& have) {
  constexpr std::size_t last = sizeof...(E) - 1;
  if constexpr (Left == 0) {
    return std::get<last>(have);
  } else {
    const auto& a = std::get < drawn(Seed, 3 * Left, 2) == 0 ? last : drawn(Seed, 3 * Left + 1, last + 1) > (have);
    const auto& b = std::get<drawn(Seed, 3 * Left + 2, last + 1)>(have);
    constexpr std::size_t what = drawn(Seed, 1000 + Left, 6);
    const auto next = [&] {
      if constexpr (what == 0)
        return a + b;
      else if constexpr (what == 1)
        return tg::tanh(a) + b;
      else if constexpr (what == 2)
        return tg::square(a) * tg::sigmoid(b);
      else if constexpr (what == 3)
        return a - b;
      else if constexpr (what == 4)
        return tg::matmul(a, tg::variable<"m", float, 4, 4>(tg::random_normal(0, 0.3)));
      else
        return tg::square(a + b);
    }();
    return grown<Seed, Left - 1>(std::tuple_cat(have, std::tuple(next)));
  }
}

/// Losses and weights of three steps, from one program and from the same with passes.
template <unsigned Seed>
void compare() {
  INFO("seed " << Seed);
  const auto w = tg::variable<"w", float, 4>(tg::random_normal(0, 0.5));
  const auto out = grown<Seed, 8>(std::tuple(x, w + 0.0F * x));
  const auto loss = tg::mean(tg::square(tg::tanh(out)));
  const auto train = tg::minimize(loss, tg::momentum{.learning_rate = 0.01});
  const auto plain = tg::compile([=] { return tg::outputs(out, loss, train); });
  const auto changed = tg::compile([=] { return tg::outputs(out, loss, train); }, tg::passes<reorder, reorder>);
  const auto run = [&](auto& session) {
    std::vector<float> found;
    for (int i = 0; i < 3; ++i) {
      const auto [values, now, done] = session.run(tg::fetch(out, loss, train), x = some);
      found.insert(found.end(), values.span().begin(), values.span().end());
      found.push_back(now);
    }
    return found;
  };
  tg::session one(plain, {.seed = 5});
  tg::session other(changed, {.seed = 5});
  CHECK(run(one) == run(other));
  CHECK(plain.fingerprint() != changed.fingerprint());
}

}  // namespace

TEST_CASE("a pass replaces a node by another that is there") {
  const auto y = tg::tanh(x + x);
  const auto plain = tg::compile([=] { return tg::outputs(y); });
  const auto without = tg::compile([=] { return tg::outputs(y); }, tg::passes<drop_tanh>);
  CHECK(count_of(plain, "tanh") == 1);
  CHECK(count_of(without, "tanh") == 0);
  tg::session session(without);
  const auto out = session.run(y, x = some);
  for (std::size_t i = 0; i < some.size(); ++i) CHECK(out.span()[i] == 2 * some[i]);
}

TEST_CASE("passes go over a graph in their order, and one that stands twice goes over it twice") {
  const auto y = tg::square(x);
  const auto first = [&](const auto& program) {
    tg::session session(program);
    return session.run(y, x = some).span()[0];
  };
  CHECK(first(tg::compile([=] { return tg::outputs(y); }, tg::passes<>)) == 1);
  CHECK(first(tg::compile([=] { return tg::outputs(y); }, tg::passes<add_one>)) == 4);
  CHECK(first(tg::compile([=] { return tg::outputs(y); }, tg::passes<add_one, add_one>)) == 9);
}

TEST_CASE("what a pass leaves unread is gone, variables are not") {
  const auto w = tg::variable<"w", float, 4>(tg::ones);
  const auto y = tg::tanh(x) * w;
  struct drop_product {
    static constexpr void visit(tg::rewriter& r) {
      if (r.is<tg::op::multiply>()) r.replace(r.in(0));
    }
  };
  const auto program = tg::compile([=] { return tg::outputs(y); }, tg::passes<drop_product>);
  CHECK(program.node_count() == 3);  // x, w, tanh
  tg::session session(program);
  CHECK(session.core().variables().size() == 1);
  CHECK(session.run(y, x = some).span()[0] == Approx(std::tanh(1.0F)));
}

TEST_CASE("what waits, what is fetched and what device scopes ask for stay what they are") {
  const auto w = tg::variable<"w", float>(tg::ones);
  const auto moved = tg::assign(w, 3.0F);
  const auto late = tg::after(moved)(tg::square(x) + w);
  const auto there = tg::on<tg::cpu<1>>([](const auto& e) { return tg::square(e); })(x);
  const auto program = tg::compile([=] { return tg::outputs(late, there, moved); }, tg::passes<add_one, reorder>);
  tg::session session(program, {.cpu_devices = 2});
  const auto [a, b] = session.run(tg::fetch(late, there), x = some);
  CHECK(a.span()[0] == 4 + 3);  // reads what was assigned
  CHECK(b.span()[1] == 1);
  for (const auto& node : decltype(program)::graph::flat.nodes)
    if (node.op->info->name == "square") CHECK((node.request > 1) == (node.request != 0));
  CHECK(decltype(program)::full_plan::where::device_count == 2);
}

TEST_CASE("operations with several results and optimizers go through passes") {
  const auto w = tg::variable<"w", float, 4>(tg::random_normal(0, 0.5));
  const auto best = tg::top_k<2>(x + w);
  const auto values = std::get<0>(best);
  const auto indices = std::get<1>(best);
  const auto loss = tg::mean(tg::square(values + tg::cast<float>(indices)));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 0.1});
  const auto plain = tg::compile([=] { return tg::outputs(loss, train, indices); });
  const auto changed = tg::compile([=] { return tg::outputs(loss, train, indices); }, tg::passes<reorder>);
  tg::session one(plain, {.seed = 9});
  tg::session other(changed, {.seed = 9});
  for (int i = 0; i < 4; ++i) {
    const auto [a, done, first] = one.run(tg::fetch(loss, train, indices), x = some);
    const auto [b, also, second] = other.run(tg::fetch(loss, train, indices), x = some);
    CHECK(a == b);
    for (tg::extent k = 0; k < 4; ++k) CHECK(first[k] == second[k]);
  }
}

TEST_CASE("a rewritten program is placed softly as others are") {
  const auto y = tg::on<tg::gpu<0>>(tg::square(x));
  const auto program = tg::compile([=] { return tg::outputs(y); }, tg::soft_placement, tg::passes<add_one>);
  tg::session session(program);
  CHECK(session.run(y, x = some).span()[0] == 4);
}

TEST_CASE("a graph grows by a pass beyond the room that it had") {
  struct spread {
    static constexpr void visit(tg::rewriter& r) {
      if (!r.is<tg::op::tanh>()) return;
      auto sum = r.in(0);
      for (int i = 1; i <= 300; ++i) sum = r.emit(tg::op::add{}, sum, r.number(tg::dtype::float32, i));
      r.replace(sum);
    }
  };
  const auto y = tg::tanh(x);
  const auto program = tg::compile([=] { return tg::outputs(y); }, tg::passes<spread>);
  CHECK(program.node_count() == 601);
  tg::session session(program);
  CHECK(session.run(y, x = some).span()[0] == 1 + 300 * 301 / 2);
}

TEST_CASE("random programs learn the same bytes when sums are turned around and doubled values added") {
  compare<1>();
  compare<2>();
  compare<3>();
  compare<4>();
  compare<5>();
  compare<6>();
}
