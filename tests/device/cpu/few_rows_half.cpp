// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/few_rows_half.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "support/sanitizers.hpp"
#include "tagma/with_macros.hpp"

namespace cpu = tagma::device::cpu;
using tagma::bfloat16, tagma::float16;

namespace {

template <class S>
struct product {
  cpu::gemm_args<S> g;
  std::vector<S> a, b, c;

  /// Rows lie `gap` elements further apart than they are long.
  product(std::mt19937& random, std::int64_t m, std::int64_t n, std::int64_t k, bool ta, bool tb, std::int64_t gap) {
    g.m = m, g.n = n, g.k = k, g.transpose_a = ta, g.transpose_b = tb;
    g.lda = (ta ? m : k) + gap, g.ldb = (tb ? k : n) + gap, g.ldc = n + gap;
    const auto numbers = [&](std::int64_t rows, std::int64_t columns) {
      std::vector<S> v(static_cast<std::size_t>((rows - 1) * (columns + gap) + columns));  // nothing behind the last
      for (S& x : v) x = S(std::uniform_real_distribution<float>(-1, 1)(random));
      return v;
    };
    a = ta ? numbers(k, m) : numbers(m, k);
    b = tb ? numbers(n, k) : numbers(k, n);
    c = numbers(m, n);
    std::fill(c.begin(), c.end(), S(77.0f));
  }
  template <class F>
  [[nodiscard]] std::vector<S> run(F f) {
    std::vector<S> out = c;
    cpu::gemm_args<S> now = g;
    now.a = a.data(), now.b = b.data(), now.c = out.data();
    f(now);
    return out;
  }
  void check(const std::vector<S>& out) const {
    const double unit = std::is_same_v<S, float16> ? 0x1p-11 : 0x1p-8;
    double worst = 0;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(out.size()); ++i) {
      const double found = static_cast<double>(static_cast<float>(out[static_cast<std::size_t>(i)]));
      const std::int64_t row = i / g.ldc, column = i % g.ldc;
      if (column >= g.n) {
        if (std::abs(found - 77.0) > 0) FAIL("an element between two rows is another one");
        continue;
      }
      double sum = 0, all = 0;
      for (std::int64_t p = 0; p < g.k; ++p) {
        const std::int64_t left = g.transpose_a ? p * g.lda + row : row * g.lda + p;
        const std::int64_t right = g.transpose_b ? column * g.ldb + p : p * g.ldb + column;
        const double term = static_cast<double>(static_cast<float>(a[static_cast<std::size_t>(left)])) *
                            static_cast<double>(static_cast<float>(b[static_cast<std::size_t>(right)]));
        sum += term, all += std::abs(term);
      }
      const double sums = 0x1p-24 * all * std::sqrt(static_cast<double>(g.k + 1)) * 2;
      worst = std::fmax(worst, std::abs(found - sum) - unit * std::abs(sum) - sums - 0x1p-24);
    }
    CHECK(worst <= 0);
  }
};

}  // namespace

TEMPLATE_TEST_CASE("products of 16-bit floats with few rows or terms", "[gemm]", float16, bfloat16) {
  using S = TestType;
  using loops = cpu::detail::few_rows_of_halves<S>;
  using argument = const cpu::gemm_args<S>*;
  std::mt19937 random(11);
  const auto up_to = [&](unsigned most) { return static_cast<std::int64_t>(random() % most) + 1; };
  for (int i = 0; i < (tagma::test::is_sanitized ? 60 : 300); ++i) {
    const bool terms = random() % 3 == 0, ta = random() % 2 == 0;
    const bool tb = !terms && !ta && random() % 2 == 0;
    const std::int64_t m = terms ? up_to(40) : up_to(4), k = terms ? up_to(4) : up_to(random() % 2 == 0 ? 40 : 700);
    const std::int64_t n = random() % 8 == 0 ? 900 + up_to(1300) : 31 + up_to(100);
    CAPTURE(m, n, k, ta, tb);
    product<S> p(random, m, n, k, ta, tb, static_cast<std::int64_t>(random() % 3));
    REQUIRE(cpu::detail::has_few_rows_of_halves(p.g));
    const std::vector<S> best = p.run([](const auto& g) { cpu::dispatch<loops, argument>(&g); });
    p.check(best);
#if defined(__x86_64__) && !(defined(__AVX2__) && defined(__FMA__))
    const std::vector<S> narrow = p.run([](const auto& g) { cpu::run_v3<loops, argument>(&g); });
    REQUIRE(std::memcmp(narrow.data(), best.data(), sizeof(S) * best.size()) == 0);  // whatever the vectors
#endif
    // Columns by themselves have the same bytes.
    const std::int64_t first = static_cast<std::int64_t>(random() % static_cast<unsigned>(n - 31));
    const std::vector<S> part = p.run([&](cpu::gemm_args<S> g) {
      g.b += tb ? first * g.ldb : first, g.c += first, g.n -= first;
      cpu::dispatch<loops, argument>(&g);
    });
    for (std::int64_t r = 0; r < m; ++r)
      REQUIRE(std::memcmp(part.data() + r * p.g.ldc + first, best.data() + r * p.g.ldc + first,
                          sizeof(S) * static_cast<std::size_t>(n - first)) == 0);
  }
}

TEST_CASE("an infinite 16-bit float stays in its column", "[gemm]") {
  std::mt19937 random(3);
  for (const std::int64_t m : {1, 3})
    for (const std::int64_t k : {7, 16, 33})
      for (const bool tb : {false, true}) {
        const std::int64_t n = 45;
        product<float16> p(random, m, n, k, false, tb, 0);
        p.b[static_cast<std::size_t>(tb ? (n - 1) * k + k - 1 : (k - 1) * n + n - 1)] = float16(INFINITY);
        const auto out = p.run([](const auto& g) {
          cpu::dispatch<cpu::detail::few_rows_of_halves<float16>, const cpu::gemm_args<float16>*>(&g);
        });
        CAPTURE(m, k, tb);
        for (std::int64_t i = 0; i < m * n; ++i)
          CHECK(std::isinf(static_cast<float>(out[static_cast<std::size_t>(i)])) == (i % n == n - 1));
      }
}
