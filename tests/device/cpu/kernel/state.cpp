// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/state.hpp"

#include <catch2/catch.hpp>

#include "support/kernel_call.hpp"
#include "support/naive.hpp"

namespace {

namespace tg = tagma;
namespace op = tagma::op;
using tg::test::call, tg::test::distance, tg::test::naive_map, tg::test::scattered;

TEMPLATE_TEST_CASE("updates of every length", "", float, double, std::int64_t, std::int32_t) {
  using T = TestType;
  for (const tg::extent n : {0, 1, 7, 8, 9, 100}) {
    const auto value = scattered<T>({n}, -50, 50, 1), before = scattered<T>({n}, -50, 50, 2);
    tg::tensor<T> v = before;
    call<op::assign_add>(v, {}, v, value);
    CHECK(distance(v, naive_map<T>({n}, [](T a, T b) { return static_cast<T>(a + b); }, before, value)) == 0);
    v = before;
    call<op::assign_sub>(v, {}, v, value);
    CHECK(distance(v, naive_map<T>({n}, [](T a, T b) { return static_cast<T>(a - b); }, before, value)) == 0);
    call<op::assign>(v, {}, v, value);
    CHECK(distance(v, value) == 0);
  }
}

}  // namespace
