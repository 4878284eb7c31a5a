// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/gemm.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "support/naive_product.hpp"
#include "tagma/with_macros.hpp"

namespace cpu = tagma::device::cpu;

namespace {

/// A product of random extents and distances between rows, and what has been around its result.
template <class T>
struct product {
  cpu::gemm_args<T> args;
  std::vector<T> a, b, c;

  explicit product(std::mt19937& random) {
    const auto extent = [&](std::int64_t most) {
      const std::int64_t near[] = {1, 3, 4, 5, 8, 16, 17, 24, 48, 49, 97, 128, 129, 130, 193};
      return random() % 3 == 0 ? static_cast<std::int64_t>(random() % static_cast<unsigned>(most)) + 1
                               : near[random() % std::size(near)];
    };
    args.m = extent(300), args.n = extent(250), args.k = extent(300);
    args.transpose_a = random() % 2 == 0, args.transpose_b = random() % 2 == 0;
    const auto gap = [&] { return random() % 2 == 0 ? std::int64_t{0} : static_cast<std::int64_t>(random() % 9); };
    args.lda = (args.transpose_a ? args.m : args.k) + gap();
    args.ldb = (args.transpose_b ? args.k : args.n) + gap();
    args.ldc = args.n + gap();
    const auto numbers = [&](std::int64_t rows, std::int64_t row, std::int64_t distance) {
      std::vector<T> v(static_cast<std::size_t>((rows - 1) * distance + row));  // nothing behind the last element
      for (T& x : v) x = std::uniform_real_distribution<T>(-1, 1)(random);
      return v;
    };
    a = numbers(args.transpose_a ? args.k : args.m, args.transpose_a ? args.m : args.k, args.lda);
    b = numbers(args.transpose_b ? args.n : args.k, args.transpose_b ? args.k : args.n, args.ldb);
    c = std::vector<T>(static_cast<std::size_t>((args.m - 1) * args.ldc + args.n), T(77));
    args.a = a.data(), args.b = b.data();
  }
  template <class F>
  std::vector<T> run(F f) const {
    std::vector<T> out = c;
    cpu::gemm_args<T> g = args;
    g.c = out.data();
    f(&g);
    return out;
  }
  [[nodiscard]] std::vector<long double> sums() const {
    return tagma::test::naive_sums<long double>(args.a, args.transpose_a, args.lda, args.b, args.transpose_b, args.ldb,
                                                args.m, args.k, args.n);
  }
  void check(const std::vector<T>& out, const std::vector<long double>& sums) const {
    CAPTURE(args.m, args.n, args.k, args.transpose_a, args.transpose_b, args.lda, args.ldb, args.ldc);
    double worst = 0;
    const T* found = out.data();
    const long double* sum = sums.data();
    for (std::int64_t i = 0; i < args.m; ++i) {
      for (std::int64_t j = 0; j < args.n; ++j)
        worst = std::fmax(worst, static_cast<double>(std::fabs(static_cast<long double>(*found++) - *sum++)));
      if (i + 1 < args.m)
        for (std::int64_t j = args.n; j < args.ldc; ++j)
          if (*found++ != T(77)) FAIL("an element between two rows is another one");
    }
    CHECK(worst <= (sizeof(T) == 4 ? 4e-5 : 1e-13));
  }
};

}  // namespace

TEMPLATE_TEST_CASE("products by own loops, of random extents", "[gemm]", float, double) {
  using T = TestType;
  using loops = cpu::detail::portable_gemm<T>;
  std::mt19937 random(sizeof(T));
  for (int i = 0; i < 300; ++i) {
    const product<T> p(random);
    const auto best = p.run([](const cpu::gemm_args<T>* g) { cpu::dispatch<loops>(g); });
    const std::vector<long double> sums = p.sums();
    p.check(best, sums);
#if defined(__x86_64__) && !(defined(__AVX2__) && defined(__FMA__))
    const auto narrow = p.run([](const cpu::gemm_args<T>* g) { cpu::run_v3<loops, const cpu::gemm_args<T>*>(g); });
    REQUIRE(std::memcmp(narrow.data(), best.data(), sizeof(T) * best.size()) == 0);  // whatever the vectors
#endif
    p.check(p.run([](const cpu::gemm_args<T>* g) { cpu::gemm(*g); }), sums);  // by a library or in few rows, maybe
  }
}

TEMPLATE_TEST_CASE("parts of a product have the bytes of the whole", "[gemm]", float, double) {
  using T = TestType;
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    const product<T> p(random);
    const bool few = cpu::detail::has_few_rows(p.args);
    const auto of = [&](const cpu::gemm_args<T>& g) {  // floats may be a library's
      if (sizeof(T) == 8 || few)
        cpu::gemm(g, few);
      else
        cpu::dispatch<cpu::detail::portable_gemm<T>>(&g);
    };
    const auto all = p.run([&](const cpu::gemm_args<T>* g) { of(*g); });
    for (const std::int64_t first : {std::int64_t{1}, p.args.m / 2, p.args.m - 1}) {
      if (first >= p.args.m || few) continue;  // few rows are cut into columns
      cpu::gemm_args<T> some = p.args;
      std::vector<T> out(all.size(), T(77));
      some.a += first * (some.transpose_a ? 1 : some.lda);
      some.m -= first;
      some.c = out.data() + first * some.ldc;
      of(some);
      const std::size_t bytes = sizeof(T) * (all.size() - static_cast<std::size_t>(first * some.ldc));
      CAPTURE(p.args.m, p.args.n, p.args.k, first);
      CHECK(std::memcmp(some.c, all.data() + first * some.ldc, bytes) == 0);
    }
    for (const std::int64_t first : {std::int64_t{32}, std::int64_t{64}}) {
      if (p.args.n - first < (few ? 32 : 1)) continue;
      cpu::gemm_args<T> some = p.args;
      std::vector<T> out = all;
      some.b += first * (some.transpose_b ? some.ldb : 1);
      some.n -= first;
      some.c = out.data() + first;
      for (std::int64_t r = 0; r < some.m; ++r)
        for (std::int64_t q = 0; q < some.n; ++q) some.c[r * some.ldc + q] = T(5);
      of(some);
      CAPTURE(p.args.m, p.args.n, p.args.k, first);
      CHECK(std::memcmp(out.data(), all.data(), sizeof(T) * all.size()) == 0);
    }
  }
}

TEST_CASE("products without rows, columns or terms", "[gemm]") {
  float c[6] = {1, 2, 3, 4, 5, 6};
  cpu::gemm_args<float> g;
  g.c = c, g.ldc = 3;
  g.m = 2, g.n = 0, g.k = 4;
  cpu::gemm(g);
  CHECK(c[0] == 1);
  g.m = 2, g.n = 2, g.k = 0;
  cpu::gemm(g);
  const float expected[6] = {0, 0, 3, 0, 0, 6};
  CHECK(std::memcmp(c, expected, sizeof c) == 0);
}
