// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/distributions.hpp"

#include <catch2/catch.hpp>

#include "tagma/device/cpu/math.hpp"
#include "tagma/tensor/dtype.hpp"

namespace {

using namespace tagma::device;

/// The largest float below 1, as an element of type T.
template <class T>
float below_one() {
  const float x = representable<T>(0x0.ffffffp0f);
  CHECK(static_cast<float>(T(x)) == x);
  CHECK(cpu::lane(representable<T>(cpu::splat<cpu::pack<float, 4>>(0x0.ffffffp0f)), 3) == x);
  return x;
}

}  // namespace

TEST_CASE("a uniform number below 1 stays below 1 in every element type") {
  CHECK(below_one<float>() == 0x0.ffffffp0f);
  CHECK(below_one<tagma::float16>() == 2047 / 2048.0f);
  CHECK(below_one<tagma::bfloat16>() == 255 / 256.0f);
}
