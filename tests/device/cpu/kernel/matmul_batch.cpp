// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/matmul_batch.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>

#include "support/kernel_call.hpp"
#include "support/naive.hpp"
#include "support/naive_product.hpp"
#include "support/sanitizers.hpp"
#include "tagma/device/cpu/kernel/matmul.hpp"

namespace {

namespace tg = tagma;
using tg::test::scattered;

/// A batch of products by one thread and by four, beside sums of doubles.
template <class S>
void check(const tg::shape& batch_a, const tg::shape& batch_b, tg::extent m, tg::extent k, tg::extent n) {
  using C = tg::device::compute_t<S>;
  const double unit = std::is_same_v<S, tg::bfloat16> ? 0x1p-8 : std::is_same_v<S, tg::float16> ? 0x1p-11 : 0;
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      tg::shape a = batch_a, b = batch_b, c = tg::broadcast(batch_a, batch_b);
      a.push_back(ta ? k : m), a.push_back(ta ? m : k);
      b.push_back(tb ? n : k), b.push_back(tb ? k : n);
      c.push_back(m), c.push_back(n);
      const auto x = scattered<S>(a, -1, 1, 1), y = scattered<S>(b, -1, 1, 2);
      tg::tensor<S> one(c), four(c);
      for (S& v : one.span()) v = S(99);
      for (S& v : four.span()) v = S(98);
      tg::test::call_with<tg::op::matmul>({.threads = 1}, one, {ta, tb}, x, y);
      tg::test::call_with<tg::op::matmul>({.threads = 4}, four, {ta, tb}, x, y);
      INFO(tg::to_string(a) << " times " << tg::to_string(b) << (ta ? ", first turned" : "")
                            << (tb ? ", second turned" : ""));
      const auto bytes = sizeof(S) * static_cast<std::size_t>(c.elements());
      if (bytes > 0) CHECK(std::memcmp(one.data(), four.data(), bytes) == 0);
      const auto sums = tg::test::naive_product<double>(x, y, ta, tb, c);
      double worst = 0;
      const S* const found = one.data();
      const double* const sum = sums.data();
      for (tg::extent i = 0, count = c.elements(); i < count; ++i)
        worst =
            std::max(worst, std::abs(static_cast<double>(static_cast<C>(found[i])) - sum[i]) - unit * std::abs(sum[i]));
      CHECK(worst < (sizeof(S) == 8 ? 1e-13 : 3e-5));
    }
}

}  // namespace

TEMPLATE_TEST_CASE("batches of small and large matrices", "", float, double, tg::float16, tg::bfloat16) {
  using S = TestType;
  check<S>({5}, {5}, 16, 16, 16);
  check<S>({70}, {70}, 24, 24, 24);  // several tasks
  check<S>({3, 2}, {3, 2}, 7, 9, 11);
  check<S>({2}, {2}, 5, 130, 6);  // too many terms
  check<S>({3}, {3}, 65, 64, 66);
  check<S>({3}, {3}, 1, 40, 50);  // one long row
  check<S>({3}, {3}, 50, 40, 1);  // as one row
  check<S>({3}, {3}, 3, 4, 1);
  check<S>({300}, {300}, 1, 3, 1);
  check<S>({40}, {1}, 8, 8, 8);  // one for all
  check<S>({1}, {40}, 8, 8, 1);
  check<S>({}, {40}, 8, 8, 1);
  check<S>({}, {40}, 8, 8, 8);
  check<S>({2, 1}, {1, 3}, 4, 5, 6);  // stretched along some axes
  check<S>({2, 1}, {1, 3}, 6, 5, 1);
  check<S>({2, 1, 2}, {3, 1}, 70, 66, 65);
}

TEMPLATE_TEST_CASE("batches of nothing", "", float, double, tg::float16, tg::bfloat16) {
  using S = TestType;
  check<S>({3}, {3}, 3, 0, 2);  // zeros
  check<S>({3}, {3}, 0, 3, 2);
  check<S>({3}, {3}, 3, 2, 0);
  check<S>({0}, {0}, 3, 2, 2);
  check<S>({0}, {1}, 3, 2, 1);
  check<S>({2, 0}, {1, 1}, 3, 2, 2);
}

TEMPLATE_TEST_CASE("batches of random extents", "", float, double, tg::float16, tg::bfloat16) {
  std::mt19937 random(11);
  const auto extent = [&](unsigned most) { return static_cast<tg::extent>(1 + random() % most); };
  for (int i = 0; i < (tagma::test::is_sanitized ? 5 : 25); ++i) {
    const tg::extent count = extent(9);
    check<TestType>({count}, {random() % 4 == 0 ? 1 : count}, extent(40), extent(70), extent(40));
  }
}

TEST_CASE("results with two axes have kernels without loops over batches, and the same bytes") {
  using kernels = tg::device::kernel<tg::device::on_cpu, tg::ir::key<tg::op::matmul>>;
  using enum tg::dtype;
  STATIC_REQUIRE(kernels::entry<float32, float32, float32>.run != kernels::matrix_entry<float32, float32, float32>.run);
  STATIC_REQUIRE(kernels::entry<float16, float16, float16>.run != kernels::matrix_entry<float16, float16, float16>.run);
  const auto a = scattered<float>({9, 30}, -1, 1, 1), b = scattered<float>({30, 35}, -1, 1, 2);
  tg::tensor<float> one(tg::shape{9, 35}), other(one.dims());
  tg::test::call<tg::op::matmul>(one, {0, 0}, a, b);
  const auto threads = tg::runtime::make_cpu_executor(2);
  const tg::runtime::run_context context{threads.get(), 0, 0};
  const auto operand_of = [](const tg::tensor<float>& t) {
    return tg::runtime::operand{reinterpret_cast<std::byte*>(const_cast<float*>(t.data())), float32, t.dims()};
  };
  tg::runtime::operand in[] = {operand_of(a), operand_of(b)};
  const tg::ir::attribute attributes[] = {0, 0};
  tg::runtime::kernel_args args;
  args.in = in, args.out = operand_of(other), args.attributes = attributes;
  const tg::runtime::kernel_entry entry = kernels::matrix_entry<float32, float32, float32>;
  tg::owned<tg::runtime::kernel_state> state;
  if (entry.prepare != nullptr) state = entry.prepare(args, context);
  args.state = state.get();
  entry.run(args, context);
  CHECK(std::memcmp(one.data(), other.data(), sizeof(float) * 9 * 35) == 0);
}
