// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/small_products.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "support/naive_product.hpp"
#include "support/sanitizers.hpp"
#include "tagma/with_macros.hpp"

namespace cpu = tagma::device::cpu;
using tagma::bfloat16, tagma::float16;

namespace {

/// Products of one batch with random extents, and elements around them that must stay.
template <class S>
struct batch {
  cpu::detail::small_batch<S> args;
  std::vector<S> a, b, c;

  explicit batch(std::mt19937& random) {
    const auto extent = [&](std::int64_t most) {
      const std::int64_t near[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 49, 64};
      return random() % 3 == 0 ? static_cast<std::int64_t>(random() % static_cast<unsigned>(most)) + 1
                               : near[random() % std::size(near)];
    };
    cpu::gemm_args<S>& g = args.first;
    g.m = extent(80), g.n = extent(100), g.k = extent(128);
    g.transpose_a = random() % 2 == 0, g.transpose_b = random() % 2 == 0;
    if (sizeof(S) == 2) g.m = std::min<std::int64_t>(g.m, 32), g.n = std::min<std::int64_t>(g.n, 32);
    args.count = static_cast<std::int64_t>(random() % 4);
    const auto numbers = [&](std::int64_t count) {
      std::vector<S> v(static_cast<std::size_t>(count));  // nothing behind the last element
      for (S& x : v) x = S(std::uniform_real_distribution<float>(-1, 1)(random));
      return v;
    };
    args.a_next = random() % 4 == 0 ? 0 : g.m * g.k;
    args.b_next = random() % 4 == 0 ? 0 : g.k * g.n;
    args.c_next = g.m * g.n + 3;
    g.lda = g.transpose_a ? g.m : g.k, g.ldb = g.transpose_b ? g.k : g.n, g.ldc = g.n;
    a = numbers(args.count > 0 ? (args.count - 1) * args.a_next + g.m * g.k : 0);
    b = numbers(args.count > 0 ? (args.count - 1) * args.b_next + g.k * g.n : 0);
    c = std::vector<S>(static_cast<std::size_t>(args.count * args.c_next), S(77.0f));
  }
  template <class F>
  std::vector<S> run(F f) {
    std::vector<S> out = c;
    cpu::detail::small_batch<S> now = args;
    now.first.a = a.data(), now.first.b = b.data(), now.first.c = out.data();
    f(&now);
    return out;
  }
  void check(const std::vector<S>& out) const {
    using C = tagma::device::compute_t<S>;
    const cpu::gemm_args<S>& g = args.first;
    CAPTURE(args.count, g.m, g.n, g.k, g.transpose_a, g.transpose_b, args.a_next, args.b_next);
    const double unit = sizeof(S) == 8               ? 0x1p-53
                        : sizeof(S) == 4             ? 0x1p-24
                        : std::is_same_v<S, float16> ? 0x1p-11
                                                     : 0x1p-8;
    double worst = 0;
    const double sums = sizeof(S) == 8 ? 0x1p-53 : 0x1p-24;  // how exact they are
    const double tolerance = sums * 2 * static_cast<double>(g.k + 1);
    const S* found = out.data();
    for (std::int64_t q = 0; q < args.count; ++q) {
      for (const double sum :
           tagma::test::naive_sums<double>(a.data() + q * args.a_next, g.transpose_a, g.lda, b.data() + q * args.b_next,
                                           g.transpose_b, g.ldb, g.m, g.k, g.n))
        worst = std::fmax(
            worst, std::abs(static_cast<double>(static_cast<C>(*found++)) - sum) - unit * std::abs(sum) - tolerance);
      for (std::int64_t i = g.m * g.n; i < args.c_next; ++i)
        if (std::abs(static_cast<double>(static_cast<C>(*found++)) - 77.0) > 0)
          FAIL("an element between two results is another one");
    }
    CHECK(worst <= 0);
  }
};

}  // namespace

TEMPLATE_TEST_CASE("small products of random extents", "[gemm]", float, double, float16, bfloat16) {
  using S = TestType;
  using loops = cpu::detail::small_products<S>;
  using argument = const cpu::detail::small_batch<S>*;
  std::mt19937 random(sizeof(S) + 1);
  for (int i = 0; i < (tagma::test::is_sanitized ? 200 : 600); ++i) {
    batch<S> p(random);
    REQUIRE(p.args.first.k <= cpu::detail::small_terms);
    const std::vector<S> best = p.run([](argument g) { cpu::dispatch<loops, argument>(g); });
    p.check(best);
    if (best.empty()) continue;
#if defined(__x86_64__) && !(defined(__AVX2__) && defined(__FMA__))
    const std::vector<S> narrow = p.run([](argument g) { cpu::run_v3<loops, argument>(g); });
    REQUIRE(std::memcmp(narrow.data(), best.data(), sizeof(S) * best.size()) == 0);  // whatever the vectors
#endif
    // Whoever computes the last matrix, it has the same bytes.
    cpu::detail::small_batch<S> last = p.args;
    const std::int64_t before = last.count - 1;
    std::vector<S> alone = p.c;
    last.count = 1;
    last.first.a = p.a.data() + before * last.a_next, last.first.b = p.b.data() + before * last.b_next;
    last.first.c = alone.data() + before * last.c_next;
    cpu::dispatch<loops, argument>(&last);
    const auto from = static_cast<std::size_t>(before * last.c_next);
    REQUIRE(std::memcmp(alone.data() + from, best.data() + from, sizeof(S) * (best.size() - from)) == 0);
  }
}

TEMPLATE_TEST_CASE("elements of small products that are no numbers stay in their rows and columns", "[gemm]", float,
                   double) {
  using T = TestType;
  const T none = std::numeric_limits<T>::quiet_NaN(), infinite = std::numeric_limits<T>::infinity();
  for (const std::int64_t m : {1, 3, 4, 9, 20})
    for (const std::int64_t n : {1, 3, 4, 9, 20, 40})
      for (const bool turned : {false, true}) {
        const std::int64_t k = 5;
        std::vector<T> a(static_cast<std::size_t>(m * k), T(1)), b(static_cast<std::size_t>(k * n), T(1));
        std::vector<T> c(static_cast<std::size_t>(m * n));
        a[static_cast<std::size_t>(turned ? 2 * m + m - 1 : (m - 1) * k + 2)] = none;      // of the last row
        b[static_cast<std::size_t>(turned ? (n - 1) * k + 3 : 3 * n + n - 1)] = infinite;  // of the last column
        const cpu::gemm_args<T> g{turned,   turned,         m,        n, k, a.data(), turned ? m : k,
                                  b.data(), turned ? k : n, c.data(), n};
        const cpu::detail::small_batch<T> one{g, 1, 0, 0, 0};
        cpu::dispatch<cpu::detail::small_products<T>, const cpu::detail::small_batch<T>*>(&one);
        CAPTURE(m, n, turned);
        for (std::int64_t i = 0; i < m * n; ++i) {
          const T found = c[static_cast<std::size_t>(i)];
          if (i / n == m - 1)
            CHECK(std::isnan(found));
          else if (i % n == n - 1)
            CHECK(std::isinf(found));
          else
            CHECK(std::abs(found - T(k)) <= T(0));
        }
      }
}

TEST_CASE("which products are small", "[gemm]") {
  cpu::gemm_args<float> g;
  g.m = 64, g.n = 64, g.k = 64;
  CHECK(cpu::detail::is_small(g));
  g.n = 65;
  CHECK(!cpu::detail::is_small(g));
  g.transpose_b = true;
  CHECK(cpu::detail::is_small(g));
  g.m = 3;
  CHECK(!cpu::detail::is_small(g));  // packing would be for few rows
  g.m = 64, g.transpose_b = false;
  g.n = 8, g.k = 129;
  CHECK(!cpu::detail::is_small(g));  // more terms than are packed
  g.m = 1, g.n = 32, g.k = 8;
  CHECK(!cpu::detail::is_small(g));  // one long row
  cpu::gemm_args<float16> half;
  half.m = 65, half.n = 4, half.k = 64;
  CHECK(!cpu::detail::is_small(half));  // more elements than are widened
  half.m = 64;
  CHECK(cpu::detail::is_small(half));
  half.k = 0;
  CHECK(!cpu::detail::is_small(half));  // zeros
}
