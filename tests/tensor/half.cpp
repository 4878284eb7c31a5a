// SPDX-License-Identifier: BSL-1.0
#include "tagma/tensor/half.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <type_traits>

#include "support/half_formats.hpp"
#include "tagma/base/random.hpp"

namespace {

using tagma::bfloat16, tagma::float16;

using tagma::test::doubles_around, tagma::test::format, tagma::test::format_of, tagma::test::same;

template <class T>
[[nodiscard]] T from_bits(std::uint32_t bits) {
  T number;
  number.bits = static_cast<std::uint16_t>(bits);
  return number;
}

/// Compares T(x) with the definition, and T(-x).
template <class T>
void check_rounding(float x) {
  for (const float signed_x : {x, -x}) {
    const double expected =
        std::isnan(x) ? std::numeric_limits<double>::quiet_NaN() : format_of<T>.nearest(static_cast<double>(signed_x));
    const std::uint16_t bits = T(signed_x).bits;
    if (!same(format_of<T>.value(bits), expected) || (bits >= 32768) != std::signbit(signed_x))
      FAIL("x = " << signed_x << ", bits " << std::bit_cast<std::uint32_t>(signed_x) << ": " << bits);
  }
}

/// A step up or down among floats.
[[nodiscard]] float next_to(float x, int by) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) + static_cast<std::uint32_t>(by));
}

}  // namespace

TEMPLATE_TEST_CASE("every 16-bit float has the value of the definition", "[half]", float16, bfloat16) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto number = from_bits<TestType>(bits);
    const float value = number;
    if (!same(static_cast<double>(value), format_of<TestType>.value(bits))) FAIL("bits " << bits);
    if (std::signbit(value) != (bits >= 32768)) FAIL("sign of " << bits);
    if (!std::isnan(value) && TestType(value).bits != bits) FAIL("there and back: " << bits);
  }
}

TEMPLATE_TEST_CASE("floats at, around and halfway between 16-bit floats are rounded as the definition says", "[half]",
                   float16, bfloat16) {
  const format& f = format_of<TestType>;
  for (std::uint32_t bits = 0; std::isfinite(f.value(bits)); ++bits) {
    const double here = f.value(bits), next = f.value(bits + 1);
    // The last interval ends where the number after the largest would be.
    const double end = std::isinf(next) ? std::ldexp(1.0, f.bias() + 1) : next;
    for (const double x : {here, (here + end) / 2}) {
      const auto exact = static_cast<float>(x);
      REQUIRE(static_cast<double>(exact) == x);
      for (const int by : {-1, 0, 1})
        if (x != 0 || by >= 0) check_rounding<TestType>(next_to(exact, by));
    }
  }
}

TEMPLATE_TEST_CASE("floats of any bits are rounded as the definition says", "[half]", float16, bfloat16) {
  const tagma::random_key key{2024, 16, 0};
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const tagma::philox_block block = tagma::random_block(key, i);
    for (const std::uint32_t r : {block[0], block[1], block[2], block[3]}) {
      check_rounding<TestType>(std::bit_cast<float>(r));
      // Most of the numbers above are beyond the range of float16; these are inside, and below it.
      check_rounding<TestType>(std::bit_cast<float>(0x32000000u + r % 0x16000000u));
    }
  }
}

TEMPLATE_TEST_CASE("doubles are rounded once, not by way of a float", "[half]", float16, bfloat16) {
  for (const double x : doubles_around<TestType>()) {
    const std::uint16_t bits = TestType(x).bits;
    if (!same(format_of<TestType>.value(bits), format_of<TestType>.nearest(x)) || (bits >= 32768) != std::signbit(x))
      FAIL("x = " << std::hexfloat << x << ": " << bits);
  }
  CHECK(std::isnan(format_of<TestType>.value(TestType(std::numeric_limits<double>::quiet_NaN()).bits)));
  CHECK(std::isnan(format_of<TestType>.value(TestType(std::bit_cast<double>(0xfff0000000000001u)).bits)));
  static_assert(TestType(1.0).bits == TestType(1.0f).bits && TestType(1e300).bits == TestType(HUGE_VALF).bits);
}

TEMPLATE_TEST_CASE("a NaN stays a NaN of the same sign, whichever of its bits are set", "[half]", float16, bfloat16) {
  for (std::uint32_t bit = 0; bit < 23; ++bit)
    for (const std::uint32_t sign : {0u, 0x80000000u}) {
      const auto bits = TestType(std::bit_cast<float>(sign | 0x7f800000u | 1u << bit)).bits;
      CHECK(std::isnan(format_of<TestType>.value(bits)));
      CHECK((bits >= 32768) == (sign != 0));
    }
}

TEST_CASE("the ends of the ranges, as numbers", "[half]") {
  static_assert(static_cast<float>(float16(65519.0f)) == 65504.0f && float16(65520.0f).bits == 0x7c00);
  static_assert(float16(0x1p-25f).bits == 0 && float16(0x1.000002p-25f).bits == 1 && float16(0x1.8p-24f).bits == 2);
  static_assert(float16(0x1.ffap-15f).bits == 0x3ff && float16(0x1.ffcp-15f).bits == 0x400);
  static_assert(bfloat16(0x1.fep127f).bits == 0x7f7f && bfloat16(0x1.ffp127f).bits == 0x7f80);
  CHECK(float16(65519.0f).bits == 0x7bff);
  CHECK(bfloat16(0x1.ffp127f).bits == 0x7f80);
}

// g++ 12 has the limits of the type for aarch64, but the type in C alone.
#if defined(__FLT16_MAX__) && (defined(__clang__) ? __clang_major__ >= 15 : __GNUC__ >= 13 || defined(__x86_64__))
TEST_CASE("float16 is the compiler's type of 16 bits", "[half]") {
  __extension__ using compilers = _Float16;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto theirs = static_cast<float>(std::bit_cast<compilers>(static_cast<std::uint16_t>(bits)));
    if (!same(static_cast<double>(theirs), static_cast<double>(static_cast<float>(from_bits<float16>(bits)))))
      FAIL("bits " << bits);
  }
  for (std::uint32_t i = 0; i < 1000000; ++i) {
    const auto x = std::bit_cast<float>(i * 4294u + i % 4294u);
    if (std::isnan(x)) continue;
    if (std::bit_cast<std::uint16_t>(static_cast<compilers>(x)) != float16(x).bits) FAIL("x = " << x);
  }
}
#endif

#if defined(__x86_64__) || defined(__aarch64__)
namespace {
#if defined(__aarch64__)
std::uint16_t narrowed_by_processor(float x) {
  std::uint16_t bits = 0;
  asm("fcvt %h1, %s1\n\tumov %w0, %1.h[0]" : "=r"(bits), "+w"(x));
  return bits;
}
float widened_by_processor(std::uint16_t bits) {
  float x = 0;
  asm("fmov %s0, %w1\n\tfcvt %s0, %h0" : "=w"(x) : "r"(bits));
  return x;
}
bool processor_converts() { return true; }
#else
bool processor_converts() { return __builtin_cpu_supports("avx2") != 0; }  // which comes with F16C
[[gnu::target("f16c")]] std::uint16_t narrowed_by_processor(float x) {
  return static_cast<std::uint16_t>(_mm_cvtsi128_si32(_mm_cvtps_ph(_mm_set_ss(x), _MM_FROUND_TO_NEAREST_INT)));
}
[[gnu::target("f16c")]] float widened_by_processor(std::uint16_t bits) {
  return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(bits)));
}
#endif
}  // namespace

TEST_CASE("float16 is what the processor converts to and from", "[half]") {
  if (!processor_converts()) return;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const float theirs = widened_by_processor(static_cast<std::uint16_t>(bits)), ours = from_bits<float16>(bits);
    if (!same(static_cast<double>(theirs), static_cast<double>(ours))) FAIL("bits " << bits);
  }
  for (std::uint32_t i = 0; i < 1000000; ++i) {
    const auto x = std::bit_cast<float>(i * 4294u + i % 4294u);
    const std::uint16_t theirs = narrowed_by_processor(x), ours = float16(x).bits;
    if (theirs != ours && !std::isnan(x)) FAIL("x = " << x);
  }
}
#endif
