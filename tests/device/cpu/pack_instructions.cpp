// SPDX-License-Identifier: BSL-1.0
// What packs do by single instructions of the processor, where pack.cpp tests the formulas for all of them.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tagma/device/cpu/denormals.hpp"
#include "tagma/device/cpu/dispatch.hpp"
#include "tagma/device/cpu/pack.hpp"
#include "tagma/with_macros.hpp"

namespace cpu = tagma::device::cpu;
using tagma::bfloat16;
using tagma::float16;

namespace {

template <int W>
struct widen_loop {
  TAGMA_INLINE static void run(float* out, const float16* in, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += W) cpu::store(out + i, cpu::load<W>(in + i));
  }
};
template <int W>
struct narrow_loop {
  template <class T>
  TAGMA_INLINE static void run(T* out, const float* in, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += W) cpu::store(out + i, cpu::load<W>(in + i));
  }
};
struct widen : cpu::with_wide<widen_loop<8>, widen_loop<16>> {};
struct narrow : cpu::with_wide<narrow_loop<8>, narrow_loop<16>> {};

/// Numbers of all magnitudes, ties between neighbours of 16 bits, and NaNs with and without low bits.
template <class T>
void check_rounding() {
  std::vector<float> values(409600), wrong;
  for (std::uint32_t i = 0; i < values.size(); ++i) values[i] = std::bit_cast<float>(i * 10737u + 4096u * (i % 3));
  for (std::uint32_t i = 0; i < 65536; ++i) values[i] = std::bit_cast<float>((i << 16) + 0x7fffu + i % 3);
  values[0] = std::bit_cast<float>(0x7f800001u), values[1] = std::bit_cast<float>(0xffffffffu);
  std::vector<T> rounded(values.size());
  cpu::dispatch<narrow>(rounded.data(), static_cast<const float*>(values.data()),
                        static_cast<std::int64_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    if (rounded[i].bits != T(values[i]).bits) wrong.push_back(values[i]);
  CHECK(wrong == std::vector<float>());
}

void check_all() {
  std::vector<float16> halves(65536);
  for (std::uint32_t i = 0; i < halves.size(); ++i) halves[i].bits = static_cast<std::uint16_t>(i);
  std::vector<float> wide(halves.size()), wrong;
  cpu::dispatch<widen>(wide.data(), halves.data(), static_cast<std::int64_t>(halves.size()));
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const auto expected = std::bit_cast<std::uint32_t>(static_cast<float>(halves[i]));
    const auto found = std::bit_cast<std::uint32_t>(wide[i]);
    const bool is_nan = (expected & 0x7fffffffu) > 0x7f800000u;  // a signalling one may become a quiet one
    const bool same = found == expected || (is_nan && found == (expected | 0x400000u));
    if (!same) wrong.push_back(static_cast<float>(halves[i]));
  }
  CHECK(wrong == std::vector<float>());
  check_rounding<float16>();
  check_rounding<bfloat16>();
}

template <class T, int W>
struct extremes_loop {
  TAGMA_INLINE static void run(T* least, T* most, const T* a, const T* b, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += cpu::lanes_of<W>) {
      cpu::store(least + i, min(cpu::load<W>(a + i), cpu::load<W>(b + i)));
      cpu::store(most + i, max(cpu::load<W>(a + i), cpu::load<W>(b + i)));
    }
  }
};
template <class T>
struct extremes : cpu::with_wide<extremes_loop<T, 8>, extremes_loop<T, 16>, sizeof(T) <= 4> {};

}  // namespace

TEMPLATE_TEST_CASE("the larger and the smaller one of integers", "[pack]", std::int64_t, std::int32_t, std::uint32_t,
                   std::int16_t, std::int8_t, std::uint8_t) {
  using T = TestType;
  using limits = std::numeric_limits<T>;
  const T values[] = {
      limits::lowest(), limits::max(), 0, 1, static_cast<T>(-1), static_cast<T>(limits::max() - 1), 100};
  std::vector<T> a, b;
  for (const T x : values)
    for (const T y : values) a.push_back(x), b.push_back(y);
  while (a.size() % 16 != 0) a.push_back(3), b.push_back(2);
  std::vector<T> least(a.size()), most(a.size());
  cpu::dispatch<extremes<T>>(least.data(), most.data(), static_cast<const T*>(a.data()),
                             static_cast<const T*>(b.data()), static_cast<std::int64_t>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(a[i], b[i]);
    CHECK(least[i] == std::min(a[i], b[i]));
    CHECK(most[i] == std::max(a[i], b[i]));
  }
}

TEST_CASE("loops widen every float16 exactly, and round to the nearest of 16 bits", "[pack]") { check_all(); }

TEST_CASE("denormal numbers of float16 are kept where those of floats are not", "[pack]") {
  const unsigned before = cpu::flush_denormals();
  check_all();
  cpu::restore_denormals(before);
}
