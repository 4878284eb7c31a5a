// SPDX-License-Identifier: BSL-1.0
// Operations with several results.
#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "support/errors.hpp"
#include "support/gradient_check.hpp"
#include "tagma/device/fake/provide.hpp"
#include "tagma/explain.hpp"
#include "tagma/tagma.hpp"
#include "tagma/with_macros.hpp"

namespace {

namespace tg = tagma;

/// a + b, a * b, and how many elements there are in each row.
struct both {
  static constexpr std::string_view name = "test.both";
  static constexpr tg::ir::op_kind kind = tg::ir::op_kind::compute;
  static constexpr int outputs = 3;
  static constexpr const char* infer(tg::ir::infer_args& a) {
    if (!compatible(a.in[0].dims, a.in[1].dims)) return "the operands have different shapes";
    a.out = a.in[0];
    if (a.output == 2) a.out = {tg::dtype::int64, a.in[0].dims.sub(0, a.in[0].dims.rank - 1)};
    return nullptr;
  }
  static constexpr void gradient(auto& g) {
    const tg::ir::node_id sum = g.upstream_of(0), product = g.upstream_of(1);
    for (int k = 0; k < 2; ++k) {
      tg::ir::node_id part = sum;
      if (product != tg::ir::no_node) {
        const tg::ir::node_id scaled = g.emit(tg::op::multiply{}, product, g.in(1 - k));
        part = part == tg::ir::no_node ? scaled : g.emit(tg::op::add{}, part, scaled);
      }
      if (part != tg::ir::no_node) g.set(k, part);
    }
  }
};

/// How often the kernel ran, and how many results it wrote.
std::atomic<int> calls{0}, written{0};

template <class T>
void run_both(const tg::device::kernel_args& args, const tg::device::run_context&) {
  ++calls;
  const T *a = args.in[0].as<const T>(), *b = args.in[1].as<const T>();
  for (const auto& o : args.outs) written += o.data != nullptr;
  for (tg::extent i = 0; i < args.in[0].elements(); ++i) {
    if (args.outs[0].data != nullptr) args.outs[0].as<T>()[i] = a[i] + b[i];
    if (args.outs[1].data != nullptr) args.outs[1].as<T>()[i] = a[i] * b[i];
  }
  const tg::shape& dims = args.in[0].dims;
  if (args.outs[2].data != nullptr)
    for (tg::extent i = 0; i < args.outs[2].elements(); ++i) args.outs[2].as<std::int64_t>()[i] = dims[dims.rank - 1];
}

}  // namespace

template <>
struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<both>> {
  template <tagma::dtype Sum, tagma::dtype Product, tagma::dtype Count, tagma::dtype A, tagma::dtype B>
  static constexpr kernel_entry entry = [] {
    static_assert(Sum == A && Product == B && Count == tagma::dtype::int64);
    return kernel_entry{&run_both<stored<A>>};
  }();
};

namespace {

template <tg::expression A, tg::expression B, class Place = TAGMA_FRESH_TYPE(A, B)>
constexpr auto both_of(const A& a, const B& b) {
  return tg::make_operation<both, tg::ir::attributes<0>{}, Place>(a, b);
}

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 3>();
constexpr auto y = tg::placeholder<"y", float, tg::dyn, 3>();

tg::tensor<float> numbers(tg::extent rows, float first) {
  tg::tensor<float> t({rows, 3});
  for (tg::extent i = 0; i < 3 * rows; ++i) t[i] = first + static_cast<float>(i);
  return t;
}

TEST_CASE("one call writes all results that somebody reads") {
  constexpr auto results = both_of(x, y);
  constexpr auto sum = std::get<0>(results);
  constexpr auto product = std::get<1>(results);
  const auto count = std::get<2>(results);
  const auto more = sum * product;
  const auto program = tg::compile([=] { return tg::outputs(sum, product, count, more); });
  tg::session session(program);
  for (const tg::extent rows : {2, 0, 5, 1}) {
    const auto a = numbers(rows, 1), b = numbers(rows, 10);
    calls = written = 0;
    const auto [s, p, c, m] = session.run(tg::fetch(sum, product, count, more), x = a, y = b);
    CHECK(calls == 1);
    CHECK(c.dims() == tg::shape{rows});
    for (tg::extent i = 0; i < 3 * rows; ++i) {
      CHECK(s[i] == a[i] + b[i]);
      CHECK(p[i] == a[i] * b[i]);
      CHECK(m[i] == s[i] * p[i]);
    }
    for (tg::extent i = 0; i < rows; ++i) CHECK(c[i] == 3);
    calls = written = 0;
    CHECK(session.run(product, x = a, y = b) == p);
    CHECK(calls == 1);
    CHECK(written == (rows == 0 ? written.load() : 1));
  }
  CHECK_THROWS_WITH(session.run(more, x = numbers(2, 0), y = numbers(3, 0)),
                    Catch::Contains("test.both #2: the operands have different shapes") &&
                        Catch::Contains("float32 [2, 3] and float32 [3, 3]"));
}

TEST_CASE("a result that nobody reads takes no memory") {
  const auto results = both_of(tg::placeholder<"a", float, 1000>(), tg::placeholder<"b", float, 1000>());
  const auto product = tg::on<tg::cpu<0>>(std::get<1>(results));
  const auto sum = tg::on<tg::cpu<0>>(std::get<0>(results));
  const auto program = tg::compile([=] { return tg::outputs(product); });
  CHECK(decltype(program)::peak_bytes(1) == 4032);
  const auto two = tg::compile([=] { return tg::outputs(product, sum); });
  CHECK(decltype(two)::peak_bytes(1) == 2 * 4032);
  CHECK_THAT(tg::explain(two), Catch::Contains("test.both") && Catch::Contains("output"));
}

TEST_CASE("equal calls are one node, and a result may be fed in place of another") {
  const auto one = std::get<0>(both_of(x, y));
  const auto two = std::get<1>(both_of(x, y));
  const auto both_results = one + two;
  const auto program = tg::compile([=] { return tg::outputs(one, two, both_results); });
  tg::session session(program);
  const auto a = numbers(2, 1), b = numbers(2, 3);
  calls = 0;
  const auto expected = session.run(both_results, x = a, y = b);
  CHECK(calls == 1);
  CHECK(expected[1] == 2 + 4 + 2 * 4);
  const auto fed = session.run(both_results, x = a, y = b, one = numbers(2, 100));
  CHECK(fed[1] == 101 + 2 * 4);
  calls = 0;
  CHECK(session.run(both_results, one = numbers(2, 100), two = numbers(2, 5))[2] == 102 + 7);
  CHECK(calls == 0);
}

constexpr auto v = tg::placeholder<"v", double, 2, 3>();
constexpr auto w = tg::placeholder<"w", double, 2, 3>();

TEST_CASE("gradients get what flows into each result") {
  const auto results = both_of(tg::tanh(v), w);
  const auto sum = std::get<0>(results);
  const auto product = std::get<1>(results);
  const auto count = std::get<2>(results);
  const auto check = [&](const auto& loss) {
    const auto dv = tg::gradient(loss, v);
    const auto dw = tg::gradient(loss, w);
    const auto ddv = tg::gradient(tg::sum(tg::square(dv)), v);
    const auto program = tg::compile([=] { return tg::outputs(loss, dv, dw, ddv); });
    tg::session session(program);
    tg::tensor<double> at({2, 3}), with({2, 3});
    for (tg::extent i = 0; i < 6; ++i)
      at[i] = 0.1 * static_cast<double>(i) - 0.3, with[i] = 0.2 * static_cast<double>(i) + 0.1;
    const auto by_v = session.run(dv, v = at, w = with);
    const auto by_w = session.run(dw, v = at, w = with);
    const auto by_both = session.run(ddv, v = at, w = with);
    constexpr double h = 1e-5;
    for (tg::extent i = 0; i < 6; ++i) {
      const auto moved = [&](const tg::tensor<double>& from, double by) {
        auto t = from;
        t[i] += by;
        return t;
      };
      CHECK(by_v[i] ==
            Approx((session.run(loss, v = moved(at, h), w = with) - session.run(loss, v = moved(at, -h), w = with)) /
                   (2 * h))
                .margin(1e-8));
      CHECK(by_w[i] ==
            Approx((session.run(loss, v = at, w = moved(with, h)) - session.run(loss, v = at, w = moved(with, -h))) /
                   (2 * h))
                .margin(1e-8));
      const auto squares = [&](const tg::tensor<double>& t) {
        double s = 0;
        const auto d = session.run(dv, v = t, w = with);
        for (tg::extent k = 0; k < 6; ++k) s += d[k] * d[k];
        return s;
      };
      CHECK(by_both[i] == Approx((squares(moved(at, h)) - squares(moved(at, -h))) / (2 * h)).margin(1e-6));
    }
  };
  check(tg::sum(sum * product));
  check(tg::sum(tg::exp(product)) + tg::sum(tg::cast<double>(count)));
  check(tg::sum(tg::sum(sum) * tg::square(product)));
}

TEST_CASE("results on several devices, behind what they wait for") {
  const auto results = tg::on<tg::cpu<1>>(std::get<0>(both_of(x, y)));
  const auto other = std::get<1>(both_of(x, y));
  const auto count = tg::variable<"count", float>(tg::zeros);
  const auto up = tg::assign_add(count, 1.0f);
  const auto after = tg::after(up)(tg::on<tg::gpu<0>>(std::get<1>(both_of(tg::exp(x), y))));
  const auto all = tg::sum(results) + tg::sum(other) * tg::sum(after);
  const auto program = tg::compile([=] { return tg::outputs(all, count); });
  const auto plain = tg::sum(x + y) + tg::sum(x * y) * tg::sum(tg::exp(x) * y);
  const auto reference = tg::compile([=] { return tg::outputs(plain); });
  tg::session expected(reference);
  for (const int threads : {1, 3}) {
    tg::session session(program, {.intra_op_threads = threads, .inter_op_threads = threads, .cpu_devices = 2});
    for (const tg::extent rows : {1, 4, 2}) {
      const auto a = numbers(rows, -2), b = numbers(rows, 1);
      CHECK(session.run(all, x = a, y = b) == Approx(expected.run(plain, x = a, y = b)));
    }
    CHECK(session.run(count) == 3);
  }
}

TEST_CASE("a result that waits makes its operation wait, once for all its results") {
  const auto u = tg::variable<"u", float, 3>(tg::ones);
  const auto up = tg::assign_add(u, tg::placeholder<"d", float, 3>());
  const auto plain = both_of(u, u);
  const auto before = tg::identity(std::get<1>(plain));
  const auto first = tg::after(up)(std::get<0>(plain));
  const auto second = tg::after(up)(std::get<1>(plain));
  const auto sum = tg::on<tg::cpu<0>>(first + second);
  const auto all = tg::on<tg::cpu<0>>(tg::sum(before));
  const auto program = tg::compile([=] { return tg::outputs(sum, all); });
  tg::session session(program, {.intra_op_threads = 2});
  constexpr auto d = tg::placeholder<"d", float, 3>();
  calls = 0;
  const auto [now, then] = session.run(tg::fetch(sum, all), d = std::array<float, 3>{1, 2, 3});
  CHECK(calls == 2);
  CHECK(then == 3);                                      // 1 * 1, of the variable before
  CHECK((now[0] == 8 && now[1] == 15 && now[2] == 24));  // 2 + 2 + 2 * 2, and so on
}

/// Layers of calls whose results cross: what ends early gives its memory to what comes later.
template <int Layers, class A, class B>
constexpr auto crossed(const A& a, const B& b) {
  if constexpr (Layers == 0) {
    return a - b;
  } else {
    const auto [sum, product, count] = both_of(tg::tanh(a), b);
    if constexpr (Layers % 3 == 0)
      return crossed<Layers - 1>(product, sum * 0.5f) + tg::sum(tg::cast<float>(count)) * 0.001f;
    else
      return crossed<Layers - 1>(sum, product);
  }
}

TEST_CASE("calls in layers share memory on any number of threads, and give what loops give") {
  const auto fetched = tg::on<tg::cpu<0>>(crossed<12>(x, y));
  const auto program = tg::compile([=] { return tg::outputs(fetched); });
  const tg::extent rows = 500;
  tg::tensor<float> a({rows, 3}), b({rows, 3});
  for (tg::extent i = 0; i < 3 * rows; ++i) {
    a[i] = static_cast<float>(i % 17) / 8.5f - 1;
    b[i] = static_cast<float>(i % 13) / 6.5f - 1;
  }
  std::vector<float> left(a.data(), a.data() + 3 * rows), right(b.data(), b.data() + 3 * rows);
  float extra = 0;
  for (int layer = 12; layer > 0; --layer) {
    for (std::size_t i = 0; i < left.size(); ++i) {
      const float t = std::tanh(left[i]), sum = t + right[i], product = t * right[i];
      left[i] = layer % 3 == 0 ? product : sum;
      right[i] = layer % 3 == 0 ? sum * 0.5f : product;
    }
    if (layer % 3 == 0) extra += static_cast<float>(3 * rows) * 0.001f;
  }
  for (const int threads : {1, 2, 4}) {
    tg::session session(program, {.intra_op_threads = threads, .inter_op_threads = threads});
    for (int run = 0; run < 3; ++run) {
      const auto got = session.run(fetched, x = a, y = b);
      float worst = 0;
      for (std::size_t i = 0; i < left.size(); ++i)
        worst = std::max(worst, std::abs(got.data()[i] - (left[i] - right[i] + extra)));
      CHECK(worst < 1e-4f);
    }
  }
}

}  // namespace
