// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/matmul.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "support/kernel_call.hpp"
#include "support/naive.hpp"
#include "support/naive_product.hpp"
#include "support/sanitizers.hpp"

namespace {

namespace tg = tagma;
using tg::test::distance, tg::test::scattered;

/// The sums of doubles, rounded once.
template <class T>
tg::tensor<T> naive_product(const tg::tensor<T>& a, const tg::tensor<T>& b, bool ta, bool tb, const tg::shape& dims) {
  const auto sums = tg::test::naive_product<double>(a, b, ta, tb, dims);
  tg::tensor<T> out(dims);
  std::transform(sums.span().begin(), sums.span().end(), out.span().begin(),
                 [](double v) { return static_cast<T>(v); });
  return out;
}

/// Checks [.., m, k] times [.., k, n] under all four transpositions.
template <class T>
void check(const tg::shape& batch_a, const tg::shape& batch_b, tg::extent m, tg::extent k, tg::extent n, double close) {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      tg::shape a = batch_a, b = batch_b, c = tg::broadcast(batch_a, batch_b);
      a.push_back(ta ? k : m), a.push_back(ta ? m : k);
      b.push_back(tb ? n : k), b.push_back(tb ? k : n);
      c.push_back(m), c.push_back(n);
      const auto x = scattered<T>(a, -1, 1, 1), y = scattered<T>(b, -1, 1, 2);
      tg::tensor<T> out(c);
      for (T& v : out.span()) v = T(99);  // must be overwritten
      tg::test::call<tg::op::matmul>(out, {ta, tb}, x, y);
      INFO(tg::to_string(a) << " times " << tg::to_string(b));
      CHECK(distance(out, naive_product(x, y, ta, tb, c)) < close);
    }
}

TEMPLATE_TEST_CASE("products of odd shapes, transposed and batched", "", float, double) {
  using T = TestType;
  const double close = sizeof(T) == 4 ? 2e-5 : 1e-13;
  for (const tg::extent m : {1, 3, 9})
    for (const tg::extent k : {1, 7, 33})
      for (const tg::extent n : {1, 5, 17}) check<T>({}, {}, m, k, n, close);
  for (const tg::extent k : {255, 256, 257, 600}) check<T>({}, {}, 5, k, 9, 10 * close);  // more than one panel
  check<T>({2, 3}, {2, 3}, 4, 5, 6, close);
  check<T>({3}, {}, 4, 5, 6, close);
  check<T>({}, {3}, 4, 5, 6, close);
  check<T>({2, 1}, {1, 3}, 4, 5, 6, close);
  check<T>({2, 1, 2, 1}, {3, 1, 2}, 2, 3, 2, close);
}

TEMPLATE_TEST_CASE("nothing times nothing", "", float, double) {
  check<TestType>({}, {}, 3, 0, 2, 1e-9);  // zeros
  check<TestType>({}, {}, 0, 3, 2, 1e-9);
  check<TestType>({}, {}, 3, 2, 0, 1e-9);
  check<TestType>({0}, {}, 3, 2, 2, 1e-9);
}

TEMPLATE_TEST_CASE("large products are split, and threads do not change their bytes", "", float, double) {
  using T = TestType;
  const auto a = scattered<T>({400, 300}, -1, 1, 1), b = scattered<T>({300, 350}, -1, 1, 2);
  tg::tensor<T> one(tg::shape{400, 350}), four(tg::shape{400, 350});
  tg::test::call_with<tg::op::matmul>({.threads = 1}, one, {0, 0}, a, b);
  tg::test::call_with<tg::op::matmul>({.threads = 4}, four, {0, 0}, a, b);
  CHECK(std::equal(one.span().begin(), one.span().end(), four.span().begin()));
  CHECK(distance(one, naive_product(a, b, false, false, one.dims())) < (sizeof(T) == 4 ? 1e-4 : 1e-12));
}

TEST_CASE("products that whoever is awake helps with are split, and threads do not change their bytes") {
  for (const auto& [m, k, n] : {std::array<tg::extent, 3>{16, 784, 300},
                                {12, 300, 400},
                                {1, 784, 300},
                                {3, 333, 790},
                                {17, 784, 300},
                                {32, 784, 300},
                                {33, 401, 199},
                                {128, 128, 128},
                                {784, 32, 300}})
    for (const tg::extent ta : {0, 1})
      for (const tg::extent tb : {0, 1}) {
        INFO(m << " x " << k << " x " << n << (ta != 0 ? ", first turned" : "") << (tb != 0 ? ", second turned" : ""));
        const auto a = scattered<float>(ta != 0 ? tg::shape{k, m} : tg::shape{m, k}, -1, 1, 1);
        const auto b = scattered<float>(tb != 0 ? tg::shape{n, k} : tg::shape{k, n}, -1, 1, 2);
        tg::tensor<float> one(tg::shape{m, n}), four(tg::shape{m, n});
        const tg::device::cpu::detail::product_split split(m, n, k, false, m == 1);
        if (m != 3) CHECK((split.parts == 2 && split.help == tg::runtime::helpers::awake));
        tg::test::call_with<tg::op::matmul>({.threads = 1}, one, {ta, tb}, a, b);
        tg::test::call_with<tg::op::matmul>({.threads = 4}, four, {ta, tb}, a, b);
        CHECK(std::equal(one.span().begin(), one.span().end(), four.span().begin()));
        CHECK(distance(one, naive_product(a, b, ta != 0, tb != 0, one.dims())) < 1e-4);
      }
}

#if TAGMA_ONEDNN_PRIMITIVES
TEST_CASE("halves of products have a primitive where the whole has one, so that no plain function generates code") {
  using tg::device::cpu::detail::onednn_parts, tg::device::cpu::detail::onednn_product;
  unsigned state = 3;
  const auto any_of = [&](std::int64_t least, std::int64_t most) {
    state = state * 1664525u + 1013904223u;
    return least + static_cast<std::int64_t>(state >> 8) % (most - least + 1);
  };
  tg::device::cpu::detail::use_one_openmp_thread();
  int halves = 0;
  for (int i = 0; i < 200; ++i) {
    tg::device::cpu::gemm_args<float> g;
    g.m = any_of(17, 600), g.n = any_of(1, 900), g.k = 2'500'000 / (g.m * g.n) + any_of(1, 30);
    g.transpose_a = any_of(0, 1) == 1, g.transpose_b = any_of(0, 1) == 1;
    g.lda = g.transpose_a ? g.m : g.k, g.ldb = g.transpose_b ? g.k : g.n, g.ldc = g.n;
    const tg::device::cpu::detail::product_split split(g.m, g.n, g.k, false);
    if (split.parts != 2 || split.help != tg::runtime::helpers::awake) continue;
    INFO(g.m << " x " << g.k << " x " << g.n << ", turned " << g.transpose_a << g.transpose_b);
    const bool has = onednn_product::describe(g) != nullptr;
    CHECK((onednn_parts::make(g, false) != nullptr) == has);
    ++halves;
  }
  CHECK(halves > 100);
}
#endif

TEST_CASE("products of loops are split, and threads do not change their bytes") {
  for (const auto& [m, k, n] : {std::array<tg::extent, 3>{32, 128, 512}, {32, 512, 130}, {9, 333, 790}, {1, 256, 9001}})
    for (const tg::extent t : {0, 1}) {
      const auto a = scattered<float>({m, k}, -1, 1, 1);
      const auto b = scattered<float>(t == 0 ? tg::shape{k, n} : tg::shape{n, k}, -1, 1, 2);
      tg::tensor<float> one(tg::shape{m, n}), four(tg::shape{m, n});
      REQUIRE(tg::device::cpu::detail::product_split(m, n, k, true).parts > 1);
      tg::test::call_with<tg::op::matmul>({.threads = 1, .repeated = true}, one, {0, t}, a, b);
      tg::test::call_with<tg::op::matmul>({.threads = 4, .repeated = true}, four, {0, t}, a, b);
      CHECK(std::equal(one.span().begin(), one.span().end(), four.span().begin()));
      CHECK(distance(one, naive_product(a, b, false, t == 1, one.dims())) < 1e-4);
    }
}

TEMPLATE_TEST_CASE("products with few rows, columns or terms, whatever shares them", "", float, double) {
  using T = TestType;
  const double close = sizeof(T) == 4 ? 1e-4 : 1e-12;
  unsigned state = 7;
  const auto any_of = [&](unsigned most) {
    state = state * 1664525u + 1013904223u;
    return static_cast<tg::extent>(1 + (state >> 8) % most);
  };
  struct problem {
    tg::extent m, k, n;
  };
  std::vector<problem> problems{{1, 1, 32},      {1, 8, 33},     {1, 3136, 1024}, {4, 1030, 1029},
                                {3, 1025, 1100}, {1, 257, 8193}, {70, 1, 64},     {1025, 4, 63},
                                {1000, 300, 1},  {33, 9, 1},     {2, 7, 1},       {700, 3, 1030}};
  for (int i = 0; i < (tagma::test::is_sanitized ? 2 : 12); ++i) {
    problems.push_back({any_of(4), any_of(300), 31 + any_of(2100)});
    problems.push_back({any_of(300), any_of(4), 31 + any_of(300)});
  }
  for (const auto& [m, k, n] : problems)
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) {
        INFO(m << " x " << k << " x " << n << (ta ? ", first turned" : "") << (tb ? ", second turned" : ""));
        const auto a = scattered<T>(ta ? tg::shape{k, m} : tg::shape{m, k}, -1, 1, 1);
        const auto b = scattered<T>(tb ? tg::shape{n, k} : tg::shape{k, n}, -1, 1, 2);
        tg::tensor<T> one(tg::shape{m, n}), four(one.dims()), loop(one.dims());
        for (T& v : one.span()) v = T(99);
        tg::test::call_with<tg::op::matmul>({.threads = 1}, one, {ta, tb}, a, b);
        tg::test::call_with<tg::op::matmul>({.threads = 4}, four, {ta, tb}, a, b);
        tg::test::call_with<tg::op::matmul>({.threads = 2, .repeated = true}, loop, {ta, tb}, a, b);
        CHECK(std::equal(one.span().begin(), one.span().end(), four.span().begin()));
        if (!(ta && tb) && k >= 32 && (m == 1 || n == 1 || (k <= 4 && !tb)))
          CHECK(std::equal(one.span().begin(), one.span().end(), loop.span().begin()));
        CHECK(distance(one, naive_product(a, b, ta, tb, one.dims())) < close);
      }
}

TEST_CASE("an infinite element of a product with few rows stays in its column") {
  const auto a = scattered<float>({1, 13}, -1, 1, 1);
  auto b = scattered<float>({13, 41}, -1, 1, 2);
  const float infinite = std::numeric_limits<float>::infinity();
  b[12 * 41 + 40] = infinite;
  tg::tensor<float> out(tg::shape{1, 41});
  tg::test::call<tg::op::matmul>(out, {0, 0}, a, b);
  for (tg::extent j = 0; j < 40; ++j) CHECK(std::abs(out[j]) < 14);
  CHECK(std::abs(out[40]) == infinite);
}

TEST_CASE("the parts of a product are all of it, each element once") {
  for (const bool repeated : {false, true})
    for (const tg::extent m : {1, 15, 16, 17, 100, 333})
      for (const tg::extent n : {1, 95, 191, 192, 193, 400, 1000}) {
        const tg::extent k = 1000;
        const tg::device::cpu::detail::product_split split(m, n, k, repeated);
        std::vector<int> seen(static_cast<std::size_t>(m * n));
        std::vector<float> matrices(static_cast<std::size_t>(k * (m > n ? m : n)));  // places for each of them
        tg::device::cpu::gemm_args<float> whole;
        whole.a = whole.b = whole.c = matrices.data();
        whole.lda = k, whole.ldb = whole.ldc = n;
        for (std::int64_t t = 0; t < split.parts; ++t) {
          const auto g = split.part(whole, t);
          REQUIRE(g.m > 0);
          REQUIRE(g.n > 0);
          const auto first = static_cast<std::size_t>(g.c - matrices.data());
          for (std::int64_t i = 0; i < g.m; ++i)
            for (std::int64_t j = 0; j < g.n; ++j) ++seen[first + static_cast<std::size_t>(i * n + j)];
        }
        INFO(m << " times " << n << " in " << split.parts);
        CHECK(std::count(seen.begin(), seen.end(), 1) == m * n);
        CHECK(split.parts <= 8);
      }
}

TEMPLATE_TEST_CASE("16-bit floats multiply in float", "", tg::float16, tg::bfloat16) {
  using T = TestType;
  const auto a = scattered<float>({9, 30}, -1, 1, 1), b = scattered<float>({30, 5}, -1, 1, 2);
  tg::tensor<T> x(a.dims()), y(b.dims()), out(tg::shape{9, 5});
  tg::tensor<float> p(a.dims()), q(b.dims());
  for (tg::extent i = 0; i < a.dims().elements(); ++i) x[i] = T(a[i]), p[i] = static_cast<float>(x[i]);
  for (tg::extent i = 0; i < b.dims().elements(); ++i) y[i] = T(b[i]), q[i] = static_cast<float>(y[i]);
  tg::test::call<tg::op::matmul>(out, {0, 0}, x, y);
  const auto expected = naive_product(p, q, false, false, out.dims());
  for (tg::extent i = 0; i < 45; ++i)
    CHECK(static_cast<float>(out[i]) == Approx(expected[i]).epsilon(0.01).margin(0.01));
}

TEMPLATE_TEST_CASE("products of 16-bit floats are rounded once, whatever shares them", "", tg::float16, tg::bfloat16) {
  using T = TestType;
  const double unit = std::is_same_v<T, tg::float16> ? 0x1p-11 : 0x1p-8;
  for (const auto& [m, k, n] : {std::array<tg::extent, 3>{9, 30, 5},
                                {1, 1000, 300},
                                {70, 1, 64},
                                {33, 257, 129},
                                {300, 1, 1},
                                {200, 900, 350},
                                {300, 500, 300},
                                {20, 900, 700},
                                {4, 500, 300},
                                {130, 3, 70},
                                {1, 1, 1}})
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) {
        INFO(m << " x " << k << " x " << n << (ta ? ", first turned" : "") << (tb ? ", second turned" : ""));
        const auto a = scattered<T>(ta ? tg::shape{k, m} : tg::shape{m, k}, -1, 1, 1);
        const auto b = scattered<T>(tb ? tg::shape{n, k} : tg::shape{k, n}, -1, 1, 2);
        tg::tensor<T> one(tg::shape{m, n}), four(one.dims());
        for (T& v : one.span()) v = T(99);
        tg::test::call_with<tg::op::matmul>({.threads = 1}, one, {ta, tb}, a, b);
        tg::test::call_with<tg::op::matmul>({.threads = 4}, four, {ta, tb}, a, b);
        const auto expected = tg::test::naive_product<double>(a, b, ta, tb, one.dims());
        double worst = 0;
        bool same = true;
        for (std::size_t i = 0; i < expected.span().size(); ++i) {
          const double exact = expected.span()[i], found = static_cast<float>(one.span()[i]);
          worst = std::max(worst, std::abs(found - exact) - unit * std::abs(exact));
          same = same && one.span()[i].bits == four.span()[i].bits;
        }
        CHECK(worst < 2e-5);
        CHECK(same);
      }
}

}  // namespace
