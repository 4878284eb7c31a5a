// SPDX-License-Identifier: BSL-1.0
#define TAGMA_PORTABLE 1  // packs outside of loops that are compiled for AVX2
#include "tagma/device/cpu/denormals.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tagma/device/cpu/pack.hpp"

namespace cpu = tagma::device::cpu;

namespace {
// Computed when it is called, whatever the compiler knows of its operands.
template <class T>
[[gnu::noinline]] T product(T a, T b) {
  volatile T x = a, y = b;
  return x * y;
}
}  // namespace

#if defined(__x86_64__) || defined(__aarch64__)
TEMPLATE_TEST_CASE("denormal numbers count as zero until what was before is restored", "[denormals]", float, double) {
  using T = TestType;
  const T smallest = std::numeric_limits<T>::min(), denormal = std::numeric_limits<T>::denorm_min() * 64;
  CHECK(product(smallest, T(0.5)) > 0);
  const unsigned before = cpu::flush_denormals();
  const T result = product(smallest, T(-0.5)), of_operand = product(denormal, T(0x1p20)),
          normal = product(smallest, T(1));
  const unsigned inside = cpu::flush_denormals();  // as in a run within a task
  cpu::restore_denormals(inside);
  const T still = product(smallest, T(0.5));
  cpu::restore_denormals(before);
  CHECK(result == 0);
  CHECK(std::signbit(result));
  CHECK(of_operand == 0);
  CHECK(normal == smallest);
  CHECK(still == 0);
  CHECK(product(smallest, T(0.5)) == smallest / 2);
  CHECK(product(denormal, T(0x1p20)) > 0);
}
#endif

TEST_CASE("a thread that flushes denormal numbers converts float16 to floats and back all the same", "[denormals]") {
  std::vector<tagma::float16> in(65536), out(65536);
  std::vector<float> floats(65536);
  for (std::uint32_t i = 0; i < 65536; ++i) in[i].bits = static_cast<std::uint16_t>(i);
  const unsigned before = cpu::flush_denormals();
  for (std::uint32_t i = 0; i < 65536; i += 8) {
    const auto p = cpu::load(in.data() + i);
    cpu::store(floats.data() + i, p);
    cpu::store(out.data() + i, p);
  }
  cpu::restore_denormals(before);
  for (std::uint32_t i = 0; i < 65536; ++i) {
    if ((i & 0x7fff) > 0x7c00) continue;  // of a NaN there are several
    if (floats[i] != static_cast<float>(in[i]) || out[i].bits != i) FAIL("bits " << i << ": " << floats[i]);
  }
}
