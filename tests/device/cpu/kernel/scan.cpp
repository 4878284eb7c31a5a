// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/scan.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "support/kernel_call.hpp"

namespace tg = tagma;

namespace {

/// Compares with sums in int64, of small whole numbers, which every type holds.
template <class T>
void check_sums(const tg::shape& dims, int axis) {
  tg::tensor<T> in(dims), out(dims);
  const tg::extent n = dims.elements();
  for (tg::extent i = 0; i < n; ++i) in[i] = T(static_cast<float>(i * 7919 % 4));
  const tg::extent inner = dims.sub(axis + 1, dims.rank).elements(), count = dims[axis];
  for (const int exclusive : {0, 1})
    for (const int reverse : {0, 1}) {
      tg::test::call<tg::op::cumulative_sum>(out, {axis, exclusive, reverse}, in);
      tg::extent wrong = 0;
      for (tg::extent i = 0; i < n; ++i) {
        const tg::extent at = i / inner % count, first = i - at * inner;
        std::int64_t sum = 0;
        for (tg::extent k = 0; k < count; ++k)
          if (reverse != 0 ? k > at : k < at)
            sum += static_cast<std::int64_t>(static_cast<float>(in[first + k * inner]));
        if (exclusive == 0) sum += static_cast<std::int64_t>(static_cast<float>(in[i]));
        wrong += out[i] == T(static_cast<float>(sum)) ? 0 : 1;
      }
      INFO(tg::to_string(dims) << " axis " << axis << " exclusive " << exclusive << " reverse " << reverse);
      CHECK(wrong == 0);
    }
}

}  // namespace

TEST_CASE("running sums along every axis") {
  const std::vector<tg::shape> all = {{1},      {13},     {5, 7},      {7, 5},          {3, 8},   {3, 4, 17},
                                      {2, 300}, {300, 2}, {2, 3, 301}, {2, 2, 3, 2, 2}, {70, 600}};
  for (const tg::shape& dims : all)
    for (int axis = 0; axis < dims.rank; ++axis) {
      check_sums<float>(dims, axis);
      check_sums<std::int32_t>(dims, axis);
    }
  check_sums<double>({9, 20}, 0);
  check_sums<tg::float16>({9, 20}, 0);
  check_sums<tg::bfloat16>({9, 20}, 1);
  for (const tg::extent rows : {1, 2, 7, 8, 20})
    for (const tg::extent n : {1, 7, 64, 65, 150}) check_sums<tg::float16>({rows, n}, 1);
  check_sums<std::int16_t>({9, 20}, 1);
  check_sums<float>({0, 3}, 0);
  check_sums<float>({3, 0}, 0);
}

TEST_CASE("running sums of 16-bit floats are formed in float, and those of integers wrap around") {
  constexpr tg::extent n = 4096;
  tg::tensor<tg::float16> in(tg::shape{n, 9}), out(tg::shape{n, 9});
  for (auto& x : in) x = tg::float16(0.25f);
  tg::test::call<tg::op::cumulative_sum>(out, {0, 0, 0}, in);
  CHECK(out[out.dims().elements() - 1] == tg::float16(1024.0f));  // in 16 bits they would stop at 512
  tg::tensor<std::int32_t> large(tg::shape{3}, {INT32_MAX, 1, INT32_MAX}), wrapped(tg::shape{3});
  tg::test::call<tg::op::cumulative_sum>(wrapped, {0, 0, 0}, large);
  CHECK(wrapped == tg::tensor<std::int32_t>(tg::shape{3}, {INT32_MAX, INT32_MIN, -1}));
  tg::tensor<std::uint8_t> bytes(tg::shape{2, 8}, {200, 1, 2, 3, 4, 5, 6, 7, 100, 1, 1, 1, 1, 1, 1, 255}),
      sums(tg::shape{2, 8});
  tg::test::call<tg::op::cumulative_sum>(sums, {0, 0, 0}, bytes);
  CHECK(sums[8] == 44);
  CHECK(sums[15] == 6);
}

TEST_CASE("the bytes of running sums do not depend on threads") {
  tg::tensor<float> in(tg::shape{20, 300, 300}), one(in.dims()), several(in.dims());
  for (tg::extent i = 0; i < in.dims().elements(); ++i) in[i] = 1 / static_cast<float>(i + 1);
  for (const int axis : {0, 1, 2}) {
    tg::test::call_with<tg::op::cumulative_sum>({.threads = 1}, one, {axis, 0, 0}, in);
    tg::test::call_with<tg::op::cumulative_sum>({.threads = 4}, several, {axis, 0, 0}, in);
    CHECK(one == several);
  }
}

TEST_CASE("running sums of integers that pass their limits go on from the other one") {
  for (const tg::extent n : {1, 3, 4, 7, 8, 9, 100, 333})
    for (const int exclusive : {0, 1})
      for (const int reverse : {0, 1}) {
        const tg::shape dims{5, n};
        tg::tensor<std::int64_t> in(dims), out(dims);
        tg::tensor<std::int32_t> narrow(dims), sums(dims);
        for (tg::extent i = 0; i < 5 * n; ++i) {
          in[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(i + 1) * 0x9E3779B97F4A7C15u);
          narrow[i] = static_cast<std::int32_t>(static_cast<std::uint64_t>(in[i]) >> 32);
        }
        tg::test::call<tg::op::cumulative_sum>(out, {1, exclusive, reverse}, in);
        tg::test::call<tg::op::cumulative_sum>(sums, {1, exclusive, reverse}, narrow);
        tg::extent wrong = 0;
        for (tg::extent r = 0; r < 5; ++r) {
          std::uint64_t sum = 0;
          std::uint32_t narrow_sum = 0;
          for (tg::extent k = 0; k < n; ++k) {
            const tg::extent at = r * n + (reverse != 0 ? n - 1 - k : k);
            const std::uint64_t next = sum + static_cast<std::uint64_t>(in[at]);
            const std::uint32_t narrow_next = narrow_sum + static_cast<std::uint32_t>(narrow[at]);
            wrong += static_cast<std::uint64_t>(out[at]) == (exclusive != 0 ? sum : next) ? 0 : 1;
            wrong += static_cast<std::uint32_t>(sums[at]) == (exclusive != 0 ? narrow_sum : narrow_next) ? 0 : 1;
            sum = next, narrow_sum = narrow_next;
          }
        }
        INFO(n << " exclusive " << exclusive << " reverse " << reverse);
        CHECK(wrong == 0);
      }
}
