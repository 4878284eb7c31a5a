// SPDX-License-Identifier: BSL-1.0
#define TAGMA_PORTABLE 1
#include "tagma/device/cpu/pack.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "support/half_formats.hpp"
#include "tagma/device/cpu/dispatch.hpp"
#include "tagma/with_macros.hpp"

namespace cpu = tagma::device::cpu;
using tagma::bfloat16;
using tagma::float16;

namespace {

template <class T>
std::vector<T> numbers() {
  if constexpr (std::is_same_v<T, bool>) {
    return {};
  } else if constexpr (std::is_integral_v<T>) {
    using l = std::numeric_limits<T>;
    return {T(0),
            T(1),
            T(2),
            T(7),
            static_cast<T>(-1),
            static_cast<T>(-3),
            l::max(),
            l::min(),
            T(5),
            T(3),
            T(100),
            T(64),
            static_cast<T>(-100),
            static_cast<T>(-7),
            static_cast<T>(l::max() - 1),
            T(9)};
  } else {
    return {T(0), T(1), T(2),   T(7.5f), T(-1),      T(-3), T(1000), T(-0.125f),
            T(5), T(3), T(100), T(64),   T(-100.5f), T(-7), T(0.5f), T(9)};
  }
}

// Lane-by-lane results of one operation on all pairs of numbers, from both variants of the loop: the second one is for
// AVX-512 where the machine has it.
template <class Op, int W = 8>
struct pair_loop_of {
  template <class T, class U>
  TAGMA_INLINE static void run(U* out, const T* a, const T* b, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += 8) cpu::store(out + i, Op::apply(cpu::load<W>(a + i), cpu::load<W>(b + i)));
  }
};
template <class Op>
using pair_loop = cpu::with_wide<pair_loop_of<Op>, pair_loop_of<Op, cpu::wide_eight>>;

template <class Op, class U, class T, class Reference>
void check_pairs(const Reference& reference) {
  std::vector<T> a, b;
  for (const T x : numbers<T>()) {
    for (const T y : numbers<T>()) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const auto n = static_cast<std::int64_t>(a.size());
  std::vector<std::uint8_t> bytes(a.size() * sizeof(U));
  const auto check = [&] {
    const U* out = reinterpret_cast<const U*>(bytes.data());
    for (std::size_t i = 0; i < a.size(); ++i) {
      INFO("lane " << i << ": " << static_cast<double>(a[i]) << ", " << static_cast<double>(b[i]));
      CHECK(static_cast<double>(out[i]) == static_cast<double>(static_cast<U>(reference(a[i], b[i]))));
    }
  };
  U* out = reinterpret_cast<U*>(bytes.data());
  cpu::run_baseline<pair_loop<Op>, U*, const T*, const T*, std::int64_t>(out, a.data(), b.data(), n);
  check();
  bytes.assign(bytes.size(), 0);
  cpu::dispatch<pair_loop<Op>>(out, static_cast<const T*>(a.data()), static_cast<const T*>(b.data()), n);
  check();
}

#define TAGMA_TEST_OP(name, expression)                      \
  struct name##_op {                                         \
    template <class P>                                       \
    TAGMA_INLINE static auto apply(const P& a, const P& b) { \
      return expression;                                     \
    }                                                        \
  };
TAGMA_TEST_OP(add, a + b)
TAGMA_TEST_OP(subtract, a - b)
TAGMA_TEST_OP(multiply, a* b)
TAGMA_TEST_OP(divide, a / b)
TAGMA_TEST_OP(remainder, a % b)
TAGMA_TEST_OP(negate_add, -a + b)
TAGMA_TEST_OP(smaller, min(a, b))
TAGMA_TEST_OP(larger, max(a, b))
TAGMA_TEST_OP(less, to_bool(a < b))
TAGMA_TEST_OP(less_equal, to_bool(a <= b))
TAGMA_TEST_OP(greater, to_bool(!(a <= b)))
TAGMA_TEST_OP(greater_equal, to_bool(a >= b))
TAGMA_TEST_OP(equal, to_bool(a == b))
TAGMA_TEST_OP(different, to_bool((a < b) | (a > b)))
TAGMA_TEST_OP(choose, select(to_bool(a < b), a, b + b))
TAGMA_TEST_OP(bits, ((a & b) ^ (a | b)) + ~a)

// Integers wrap around in packs, so the reference computes modulo 2^64.
template <class T>
std::uint64_t wide(T x) {
  return static_cast<std::uint64_t>(x);
}

template <class U, class T, int W = 8>
struct convert_loop_of {
  TAGMA_INLINE static void run(U* out, const T* in) { cpu::store(out, cpu::convert<U>(cpu::load<W>(in))); }
};
template <class U, class T>
using convert_loop = cpu::with_wide<convert_loop_of<U, T>, convert_loop_of<U, T, cpu::wide_eight>>;
template <class U, class T>
void check_conversion() {
  T in[8];
  for (int i = 0; i < 8; ++i) {
    if constexpr (std::is_same_v<T, bool>)
      in[i] = i % 3 == 0;
    else if constexpr (std::is_same_v<T, std::uint8_t> || std::is_same_v<U, std::uint8_t>)
      in[i] = static_cast<T>(static_cast<float>(i * 17));
    else if constexpr (std::is_integral_v<T>)
      in[i] = static_cast<T>(i * 17 - 60);
    else
      in[i] = static_cast<T>(static_cast<float>(i) * 15.625f - 60.0f);
  }
  U expected[8], baseline[8], best[8];
  for (int i = 0; i < 8; ++i) {
    if constexpr (std::is_same_v<U, float16> || std::is_same_v<U, bfloat16>)
      expected[i] = U(static_cast<float>(in[i]));
    else if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
      expected[i] = static_cast<U>(static_cast<float>(in[i]));
    else
      expected[i] = static_cast<U>(in[i]);
  }
  cpu::run_baseline<convert_loop<U, T>, U*, const T*>(baseline, in);
  cpu::dispatch<convert_loop<U, T>>(static_cast<U*>(best), static_cast<const T*>(in));
  for (int i = 0; i < 8; ++i) {
    CHECK(static_cast<double>(baseline[i]) == static_cast<double>(expected[i]));
    CHECK(static_cast<double>(best[i]) == static_cast<double>(expected[i]));
  }
}
/// Rounds all of `in` and compares with the definition of the format.
template <class U, class T>
void check_rounding(std::vector<T> in) {
  while (in.size() % 8 != 0) in.push_back(T(0));
  std::vector<U> baseline(in.size()), best(in.size());
  for (std::size_t i = 0; i < in.size(); i += 8) {
    cpu::run_baseline<convert_loop<U, T>, U*, const T*>(&baseline[i], &in[i]);
    cpu::dispatch<convert_loop<U, T>>(&best[i], static_cast<const T*>(&in[i]));
  }
  const auto& format = tagma::test::format_of<U>;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double expected = format.nearest(static_cast<long double>(in[i]));
    if (!tagma::test::same(format.value(baseline[i].bits), expected) ||
        !tagma::test::same(format.value(best[i].bits), expected))
      FAIL(in[i] << " becomes " << format.value(baseline[i].bits) << " and " << format.value(best[i].bits) << ", not "
                 << expected);
  }
}
/// Integers at, halfway between and next to numbers of 8 and 11 bits.
template <class T>
std::vector<T> integers_around() {
  std::vector<T> all;
  for (int top = 0; top < static_cast<int>(8 * sizeof(T)) - 1; ++top)
    for (int bit = 0; bit <= top; ++bit)
      for (const T middle : {T((T(1) << top) | (T(1) << bit)), T((T(1) << top) | ((T(1) << bit) - 1))})
        for (const T tiny : {T(-1), T(0), T(1)}) {
          if (tiny > 0 && middle == std::numeric_limits<T>::max()) continue;
          all.insert(all.end(), {T(middle + tiny), T(-(middle + tiny))});
        }
  all.insert(all.end(), {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()});
  return all;
}

template <class T>
void check_conversions() {
  check_conversion<double, T>();
  check_conversion<float, T>();
  check_conversion<float16, T>();
  check_conversion<bfloat16, T>();
  check_conversion<std::int64_t, T>();
  check_conversion<std::int32_t, T>();
  check_conversion<std::int16_t, T>();
  check_conversion<std::int8_t, T>();
  check_conversion<std::uint8_t, T>();
  check_conversion<bool, T>();
}

}  // namespace

TEMPLATE_TEST_CASE("what is wider than a float is rounded to 16 bits once", "[pack]", float16, bfloat16) {
  check_rounding<TestType>(tagma::test::doubles_around<TestType>());
  check_rounding<TestType>(integers_around<std::int64_t>());
  check_rounding<TestType>(integers_around<std::int32_t>());
}

TEST_CASE("integers of 64 bits are rounded to floats once", "[pack]") {
  // Halfway between two floats but for bits that a double does not hold.
  const std::int64_t half = (std::int64_t{1} << 60) + (std::int64_t{1} << 36);
  const std::int64_t in[8] = {half + 1, half, half - 1, -half - 1, -half, 1 - half, INT64_MAX, INT64_MIN};
  const float expected[8] = {0x1.000002p60f, 0x1p60f, 0x1p60f, -0x1.000002p60f, -0x1p60f, -0x1p60f, 0x1p63f, -0x1p63f};
  float baseline[8], best[8];
  using loop = convert_loop<float, std::int64_t>;
  cpu::run_baseline<loop, float*, const std::int64_t*>(static_cast<float*>(baseline),
                                                       static_cast<const std::int64_t*>(in));
  cpu::dispatch<loop>(static_cast<float*>(best), static_cast<const std::int64_t*>(in));
  for (int i = 0; i < 8; ++i) {
    CAPTURE(in[i]);
    CHECK(baseline[i] == expected[i]);
    CHECK(best[i] == expected[i]);
  }
}

TEMPLATE_TEST_CASE("floating numbers become integers of 64 bits, whatever their neighbours are", "[pack]", float,
                   double) {
  using T = TestType;
  using loop = convert_loop<std::int64_t, T>;
  const T most = std::is_same_v<T, float> ? T(0x1.fffffep62) : T(0x1.fffffffffffffp62);
  const T shorter = std::is_same_v<T, float> ? T(0x1.fffffep30) : T(0x1.ffffffffcp30);
  const T beyond[] = {0x1p31, -0x1p31, shorter, -shorter, 0x1.8p31, 0x1p32, -0x1p32, 0x1p62, most, -most, -0x1p63};
  std::mt19937_64 random(11);
  bool right = true;
  for (int round = 0; round < 4000; ++round) {
    T in[8];
    for (T& x : in) {
      x = static_cast<T>(static_cast<std::int64_t>(random()) >> (round % 4 == 0 ? random() % 63 : 33 + random() % 30));
      x += static_cast<T>(random() % 8) / T(8);
      if (random() % 16 == 0) x = static_cast<T>(0);
      if (x >= T(0x1p63)) x = most;
    }
    if (round % 3 == 0) in[random() % 8] = beyond[random() % std::size(beyond)];
    std::int64_t baseline[8], best[8];
    cpu::run_baseline<loop, std::int64_t*, const T*>(static_cast<std::int64_t*>(baseline), static_cast<const T*>(in));
    cpu::dispatch<loop>(static_cast<std::int64_t*>(best), static_cast<const T*>(in));
    for (int i = 0; i < 8; ++i)
      right = right && baseline[i] == static_cast<std::int64_t>(in[i]) && best[i] == baseline[i];
  }
  CHECK(right);
#if defined(__x86_64__)
  // No meaning is promised, but the other lanes keep theirs.
  const T limits[] = {std::numeric_limits<T>::quiet_NaN(), -std::numeric_limits<T>::infinity(), T(0x1p63), T(0x1p100)};
  for (const T limit : limits)
    for (int at = 0; at < 8; ++at) {
      T in[8] = {1, -2, T(3.75), T(-4.75), 0x1p40, -0x1p31, 7, 0};
      in[at] = limit;
      std::int64_t best[8];
      cpu::dispatch<loop>(static_cast<std::int64_t*>(best), static_cast<const T*>(in));
      for (int i = 0; i < 8; ++i) CHECK(best[i] == (i == at ? INT64_MIN : static_cast<std::int64_t>(in[i])));
    }
#endif
}

TEMPLATE_TEST_CASE("arithmetic of floating packs", "[pack]", float, double) {
  using T = TestType;
  check_pairs<add_op, T, T>([](T a, T b) { return a + b; });
  check_pairs<subtract_op, T, T>([](T a, T b) { return a - b; });
  check_pairs<multiply_op, T, T>([](T a, T b) { return a * b; });
  check_pairs<negate_add_op, T, T>([](T a, T b) { return b - a; });
  check_pairs<smaller_op, T, T>([](T a, T b) { return a < b ? a : b; });
  check_pairs<larger_op, T, T>([](T a, T b) { return a > b ? a : b; });
  check_pairs<choose_op, T, T>([](T a, T b) { return a < b ? a : b + b; });
  const T a[8] = {1, -1, 0, 7, 1, 3, 5, 9}, b[8] = {2, 4, 5, 7, 3, -2, 0, 10};
  T q[8];
  cpu::store(q, cpu::load(a) / cpu::load(b));
  for (int i = 0; i < 8; ++i) CHECK(q[i] == a[i] / b[i]);
}

TEMPLATE_TEST_CASE("comparisons of packs", "[pack]", float, double, std::int64_t, std::int32_t, std::int16_t,
                   std::int8_t, std::uint8_t) {
  using T = TestType;
  check_pairs<less_op, bool, T>([](T a, T b) { return a < b; });
  check_pairs<less_equal_op, bool, T>([](T a, T b) { return a <= b; });
  check_pairs<greater_op, bool, T>([](T a, T b) { return a > b; });
  check_pairs<greater_equal_op, bool, T>([](T a, T b) { return a >= b; });
  check_pairs<equal_op, bool, T>([](T a, T b) { return a == b; });
  check_pairs<different_op, bool, T>([](T a, T b) { return a != b; });
}

TEMPLATE_TEST_CASE("arithmetic of integer packs wraps around", "[pack]", std::int64_t, std::int32_t, std::int16_t,
                   std::int8_t, std::uint8_t) {
  using T = TestType;
  check_pairs<add_op, T, T>([](T a, T b) { return static_cast<T>(wide(a) + wide(b)); });
  check_pairs<subtract_op, T, T>([](T a, T b) { return static_cast<T>(wide(a) - wide(b)); });
  check_pairs<multiply_op, T, T>([](T a, T b) { return static_cast<T>(wide(a) * wide(b)); });
  check_pairs<negate_add_op, T, T>([](T a, T b) { return static_cast<T>(wide(b) - wide(a)); });
  check_pairs<smaller_op, T, T>([](T a, T b) { return a < b ? a : b; });
  check_pairs<larger_op, T, T>([](T a, T b) { return a > b ? a : b; });
  check_pairs<bits_op, T, T>([](T a, T b) { return static_cast<T>((wide(a) ^ wide(b)) + ~wide(a)); });
  const auto quotient = [](T a, T b) -> T {
    if (b == 0) return 0;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(std::uint64_t{0} - wide(a));
    return static_cast<T>(a / b);
  };
  check_pairs<divide_op, T, T>(quotient);
  check_pairs<remainder_op, T, T>([&](T a, T b) { return static_cast<T>(wide(a) - wide(quotient(a, b)) * wide(b)); });
}

TEMPLATE_TEST_CASE("a NaN reaches the minimum and the maximum", "[pack]", float, double) {
  using T = TestType;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const auto x = cpu::splat<cpu::pack<T, 8>>(1), y = cpu::splat<cpu::pack<T, 8>>(nan);
  CHECK(std::isnan(cpu::lane(cpu::min(x, y), 0)));
  CHECK(std::isnan(cpu::lane(cpu::min(y, x), 7)));
  CHECK(std::isnan(cpu::lane(cpu::max(x, y), 3)));
  CHECK(std::isnan(cpu::lane(cpu::max(y, x), 4)));
  CHECK(cpu::all(y != y));
  CHECK_FALSE(cpu::any((y == y) | (y < x) | (y >= x)));
}

TEST_CASE("packs of every pair of types convert", "[pack]") {
  check_conversions<double>();
  check_conversions<float>();
  check_conversions<float16>();
  check_conversions<bfloat16>();
  check_conversions<std::int64_t>();
  check_conversions<std::int32_t>();
  check_conversions<std::int16_t>();
  check_conversions<std::int8_t>();
  check_conversions<std::uint8_t>();
  check_conversions<bool>();
}

TEST_CASE("every 16-bit float is loaded exactly and stored unchanged", "[pack]") {
  for (std::uint32_t first = 0; first < 0x10000u; first += 8) {
    float16 h[8], h_back[8];
    bfloat16 b[8], b_back[8];
    for (std::uint32_t i = 0; i < 8; ++i) h[i].bits = b[i].bits = static_cast<std::uint16_t>(first + i);
    const auto x = cpu::load(h), y = cpu::load(b);
    cpu::store(h_back, x);
    cpu::store(b_back, y);
    for (int i = 0; i < 8; ++i) {
      const float exact_h = h[i], exact_b = b[i];
      const bool same_h =
          std::isnan(exact_h) ? std::isnan(cpu::lane(x, i)) : cpu::lane(x, i) == exact_h && h_back[i].bits == h[i].bits;
      const bool same_b =
          std::isnan(exact_b) ? std::isnan(cpu::lane(y, i)) : cpu::lane(y, i) == exact_b && b_back[i].bits == b[i].bits;
      if (!same_h || !same_b) FAIL("bits " << first + static_cast<std::uint32_t>(i));
    }
  }
}

TEST_CASE("16-bit floats are rounded as their constructors round", "[pack]") {
  for (std::uint32_t i = 0; i < 400000; i += 8) {
    float x[8];
    float16 h[8];
    bfloat16 b[8];
    for (std::uint32_t k = 0; k < 8; ++k) x[k] = std::bit_cast<float>((i + k) * 10737u + 4096u * (k % 3));
    cpu::store(h, cpu::load(x));
    cpu::store(b, cpu::load(x));
    for (int k = 0; k < 8; ++k) {
      if (h[k].bits != float16(x[k]).bits || b[k].bits != bfloat16(x[k]).bits) FAIL("x = " << x[k]);
    }
  }
  const float ties[8] = {1.0f + 0x1p-11f, 1.0f + 0x1.8p-10f, 65519.0f,  65520.0f,
                         0x1p-25f,        0x1.8p-24f,        -0x1p-24f, INFINITY};
  float16 h[8];
  cpu::store(h, cpu::load(ties));
  for (int k = 0; k < 8; ++k) CHECK(h[k].bits == float16(ties[k]).bits);
  CHECK(cpu::lane(cpu::round_to<bfloat16>(cpu::splat<cpu::pack<float, 8>>(1.00390625f)), 5) == 1.0f);
}

TEMPLATE_TEST_CASE("the ends of arrays are loaded and stored in part", "[pack]", float, double, std::int64_t,
                   std::int32_t, std::int16_t, std::int8_t, std::uint8_t, bool, float16, bfloat16) {
  using T = TestType;
  for (int n = 0; n <= 8; ++n) {
    std::vector<unsigned char> from(sizeof(T) * static_cast<std::size_t>(n) + 1), to(sizeof(T) * 9 + 1, 0);
    T* in = reinterpret_cast<T*>(from.data());
    T* out = reinterpret_cast<T*>(to.data());
    for (int i = 0; i < n; ++i) in[i] = T(static_cast<float>(i + 1));
    for (int i = 0; i < 9; ++i) out[i] = T(0.0f);
    const auto p = cpu::load(in, n);
    const auto expected = [&](int i) { return i < n ? static_cast<float>(T(static_cast<float>(i + 1))) : 0.0f; };
    for (int i = 0; i < 8; ++i) CHECK(static_cast<float>(cpu::lane(p, i)) == expected(i));
    cpu::store(out, p, n);
    for (int i = 0; i < 9; ++i) CHECK(static_cast<float>(out[i]) == expected(i));
  }
}

TEMPLATE_TEST_CASE("packs of other widths", "[pack]", float, double, std::int32_t, std::int8_t) {
  using T = TestType;
  T in[32], out[32];
  for (int i = 0; i < 32; ++i) in[i] = static_cast<T>(i);
  const auto wide_pack = cpu::load<32>(in);
  cpu::store(out, cpu::join(cpu::high_half(wide_pack), cpu::low_half(wide_pack)) + static_cast<T>(1));
  for (int i = 0; i < 32; ++i) CHECK(out[i] == static_cast<T>((i + 16) % 32 + 1));
  cpu::store(out, cpu::load<4>(in) * static_cast<T>(2));
  for (int i = 0; i < 4; ++i) CHECK(out[i] == static_cast<T>(2 * i));
  CHECK(cpu::reduce_add(cpu::load<8>(in)) == 28);
  CHECK(cpu::reduce_min(cpu::load<16>(in + 3)) == 3);
  CHECK(cpu::reduce_max(cpu::load<4>(in)) == 3);
  auto edited = cpu::load<8>(in);
  cpu::set_lane(edited, 6, static_cast<T>(50));
  CHECK(cpu::lane(edited, 6) == 50);
  CHECK(cpu::reduce_max(edited) == 50);
}

TEMPLATE_TEST_CASE("packs of eight lanes for AVX-512", "[pack]", float, double, std::int64_t, std::int32_t,
                   std::int16_t, std::int8_t) {
  using T = TestType;
  using wide = cpu::pack<T, cpu::wide_eight>;
  STATIC_REQUIRE(sizeof(wide) == 8 * sizeof(T));
#if defined(__x86_64__)
  STATIC_REQUIRE(!cpu::detail::split<T, cpu::wide_eight>);
#endif
  T in[9], out[9] = {};
  for (int i = 0; i < 9; ++i) in[i] = static_cast<T>(i + 1);
  auto p = cpu::load<cpu::wide_eight>(in);
  CHECK(cpu::reduce_add(p) == 36);
  CHECK(cpu::reduce_max(p) == 8);
  CHECK(cpu::any(p == static_cast<T>(8)));
  CHECK_FALSE(cpu::any(p == static_cast<T>(9)));
  CHECK(cpu::all(p < static_cast<T>(9)));
  cpu::set_lane(p, 7, static_cast<T>(50));
  CHECK(cpu::lane(p, 7) == 50);
  cpu::store(out, cpu::splat<wide>(3) + cpu::select(p < static_cast<T>(3), p, -p));
  for (int i = 0; i < 8; ++i) CHECK(out[i] == static_cast<T>(i < 2 ? i + 4 : i < 7 ? 2 - i : -47));
  CHECK(out[8] == 0);
  cpu::store(out, cpu::low_half(p));
  CHECK(out[3] == 4);
  cpu::store(out, cpu::high_half(p));
  CHECK(out[0] == 5);
  cpu::store(out, cpu::load<cpu::wide_eight>(in, 3));
  CHECK((out[2] == 3 && out[3] == 0));
}

TEST_CASE("shifts, bools and masks", "[pack]") {
  const std::int32_t in[8] = {-8, 1, 2, 3, 4, 5, 6, 1 << 30};
  const auto p = cpu::load(in);
  CHECK(cpu::lane(p >> 1, 0) == -4);
  CHECK(cpu::lane(p << 1, 7) == INT32_MIN);
  const bool yes[8] = {true, false, true, false, false, false, false, true};
  const auto b = cpu::load(yes);
  bool out[8];
  cpu::store(out, !b);
  for (int i = 0; i < 8; ++i) CHECK(out[i] == !yes[i]);
  const auto d = cpu::select(b, cpu::splat<cpu::pack<double, 8>>(1.5), cpu::splat<cpu::pack<double, 8>>(-2.5));
  for (int i = 0; i < 8; ++i) CHECK(cpu::lane(d, i) == (yes[i] ? 1.5 : -2.5));
  CHECK(cpu::any(cpu::to_mask<float>(b)));
  CHECK_FALSE(cpu::all(cpu::to_mask<std::int8_t>(b)));
  CHECK(cpu::all(cpu::to_mask<double>(b) | !cpu::to_mask<double>(b)));
  CHECK_FALSE(cpu::any(cpu::to_mask<std::int16_t>(b) & !cpu::to_mask<std::int16_t>(b)));
  CHECK(cpu::splat<float>(3) == 3.0f);
  CHECK(cpu::select(false, 1, 2) == 2);
}
