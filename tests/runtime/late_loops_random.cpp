// SPDX-License-Identifier: BSL-1.0
// Random functions with branches and loops in each other, of vectors as long as a kernel finds.
#include <catch2/catch.hpp>

#include "conformance/random_functions.hpp"
#include "tagma/filter.hpp"
#include "tagma/runtime/late_steps.hpp"

namespace {

template <int Seed>
void check_late_function() {
  constexpr auto p = tg::placeholder<"p", double, tg::dyn>();
  constexpr auto q = tg::placeholder<"q", double, tg::dyn>();
  constexpr auto keep = tg::placeholder<"keep", bool, tg::dyn>();
  const auto results_of = [](const auto& a, const auto& b) {
    const auto all = random_function<Seed, 2, 0, true>(a, b) + w * (a - b);
    const auto f = tg::sum(tg::sin(all)) + tg::sum(a * b);
    return std::make_tuple(all * 1.0, f, tg::gradient(f, a), tg::gradient(f, b));
  };
  const auto plain = results_of(p, q);
  const auto masked = results_of(tg::boolean_mask(p, keep), tg::boolean_mask(q, keep));
  const auto program_of = [](const auto& results) {
    return std::apply([](const auto&... r) { return tg::compile([=] { return tg::outputs(r...); }); }, results);
  };
  const auto fetch = [](const auto& results) {
    return std::apply([](const auto&... r) { return tg::fetch(r...); }, results);
  };
  tg::session expected(program_of(plain));
  for (const int threads : {1, 3}) {
    tg::session session(program_of(masked), {.intra_op_threads = threads, .inter_op_threads = threads});
    for (int run = 0; run < 8; ++run) {
      INFO("seed " << Seed << ", run " << run << ", threads " << threads);
      const tg::extent n = (run * 5) % 8;
      const values a = numbers({n}, Seed + 3.1 * run), b = numbers({n}, Seed + 1 + 7.3 * run);
      tg::tensor<bool> mask({n});
      tg::extent count = 0;
      for (tg::extent i = 0; i < n; ++i) count += mask[i] = (i + run) % 3 != 0;
      values c({count}), d({count});
      for (tg::extent i = 0, k = 0; i < n; ++i)
        if (mask[i]) c[k] = a[i], d[k++] = b[i];
      const auto wanted = expected.run(fetch(plain), p = c, q = d, w = 0.4 * run - 1);
      const auto got = session.run(fetch(masked), p = a, q = b, keep = mask, w = 0.4 * run - 1);
      CHECK(std::get<1>(got) == Approx(std::get<1>(wanted)).margin(1e-12));
      const auto same = [](const values& one, const values& other) {
        REQUIRE(one.dims() == other.dims());
        for (tg::extent i = 0; i < one.dims()[0]; ++i) CHECK(one[i] == Approx(other[i]).margin(1e-12));
      };
      same(std::get<0>(got), std::get<0>(wanted));
      same(std::get<2>(got), std::get<2>(wanted));
      same(std::get<3>(got), std::get<3>(wanted));
    }
  }
}

}  // namespace

TEST_CASE("random functions of what a kernel finds are what they are of what is fed") {
  check_late_function<1>();
  check_late_function<2>();
  check_late_function<3>();
  check_late_function<4>();
}
