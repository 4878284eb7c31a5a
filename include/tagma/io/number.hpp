// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Numbers in text, read without a locale and rounded to the nearest. `std::from_chars` does the same where a standard
/// library has it for floating types; libc++ 19 does not (docs/decisions/0038-reading-files.md).
///
/// The algorithm for floating types is that of D. Lemire, "Number parsing at a gigabyte per second" (2021), after M.
/// Eisel, without its last check, which N. Mushtak and D. Lemire, "Fast number parsing without fallback" (2023), show
/// to be of no use. What has an exact product of two doubles is that product, after W. Clinger, "How to read floating
/// point numbers accurately" (1990).

#include <bit>
#include <charconv>
#include <clocale>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "tagma/base/config.hpp"

namespace tagma::io {

namespace detail {

/// The upper 128 bits of powers of five, those below 0 rounded as the algorithm asks for.
class powers_of_five {
 public:
  static constexpr int smallest = -342, largest = 308;
  struct entry {
    std::uint64_t high, low;
  };

  [[nodiscard]] const entry& operator[](int power) const { return entries_[power - smallest]; }

  /// Made by whoever asks first, in a millisecond.
  [[nodiscard]] static const powers_of_five& table();

 private:
  static constexpr int words = 26;  // 5^342 has 795 bits
  using number = std::uint32_t[words];

  powers_of_five();
  [[nodiscard]] static int bits_of(const number& n);
  [[nodiscard]] static entry upper_bits(const number& n);
  /// 2^(z+127) / n, where 2^z is the first power that is not below n.
  [[nodiscard]] static entry reciprocal(const number& n, bool round_up);
  static void append_bit(entry& e, bool bit);

  entry entries_[largest - smallest + 1];
};

/// What the algorithm knows of a floating type.
template <class F>
struct float_format;
template <>
struct float_format<double> {
  using bits = std::uint64_t;
  static constexpr int fraction = 52, bias = 1023, infinity = 0x7ff;
  static constexpr int smallest_power = -342, largest_power = 308, first_tie = -4, last_tie = 23;
};
template <>
struct float_format<float> {
  using bits = std::uint32_t;
  static constexpr int fraction = 23, bias = 127, infinity = 0xff;
  static constexpr int smallest_power = -64, largest_power = 38, first_tie = -17, last_tie = 10;
};

struct wide_product {
  std::uint64_t high, low;
};
[[nodiscard]] wide_product multiply(std::uint64_t a, std::uint64_t b);

/// The floating number nearest to `digits` * 10^`power`.
template <class F>
[[nodiscard]] F nearest(std::uint64_t digits, std::int64_t power) {
  using format = float_format<F>;
  using bits = typename format::bits;
  constexpr auto infinite = static_cast<bits>(bits{format::infinity} << format::fraction);
  if (digits == 0 || power < format::smallest_power) return F{0};
  if (power > format::largest_power) return std::bit_cast<F>(infinite);
  const auto q = static_cast<int>(power);
  const int zeros = std::countl_zero(digits);
  digits <<= zeros;
  const powers_of_five::entry& five = powers_of_five::table()[q];
  wide_product z = multiply(digits, five.high);
  constexpr std::uint64_t unsure = ~std::uint64_t{0} >> (format::fraction + 3);
  if ((z.high & unsure) == unsure) {
    const std::uint64_t more = multiply(digits, five.low).high;
    z.low += more;
    if (z.low < more) ++z.high;
  }
  const int upper = static_cast<int>(z.high >> 63), shift = upper + 64 - format::fraction - 3;
  std::uint64_t fraction = z.high >> shift;
  int exponent = ((217706 * q) >> 16) + 63 + upper - zeros + format::bias;
  if (exponent <= 0) {
    if (1 - exponent >= 64) return F{0};
    fraction >>= 1 - exponent;
    fraction = (fraction + (fraction & 1)) >> 1;
    return std::bit_cast<F>(static_cast<bits>(fraction));  // a carry into the exponent is the smallest normal number
  }
  if (z.low <= 1 && q >= format::first_tie && q <= format::last_tie && (fraction & 3) == 1 &&
      fraction << shift == z.high)
    fraction &= ~std::uint64_t{1};
  fraction = (fraction + (fraction & 1)) >> 1;
  if (fraction >= std::uint64_t{2} << format::fraction) {
    fraction = std::uint64_t{1} << format::fraction;
    ++exponent;
  }
  if (exponent >= format::infinity) return std::bit_cast<F>(infinite);
  fraction &= ~(std::uint64_t{1} << format::fraction);
  return std::bit_cast<F>(static_cast<bits>(fraction | static_cast<std::uint64_t>(exponent) << format::fraction));
}

/// For numbers of more than 19 digits that decide on the rounding.
template <class F>
[[nodiscard]] TAGMA_COLD F read_by_library(std::string_view text) {
  static const locale_t plain = ::newlocale(LC_ALL_MASK, "C", locale_t{});
  const std::string ended(text);
  if constexpr (std::is_same_v<F, float>)
    return ::strtof_l(ended.c_str(), nullptr, plain);
  else
    return ::strtod_l(ended.c_str(), nullptr, plain);
}

[[nodiscard]] constexpr bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

/// The same for any number of digits: the first 19 that count, and one more in their last place, enclose the number.
/// @param text digits, of which the last one counts 10^`power`, and perhaps an exponent
template <class F>
[[nodiscard]] TAGMA_COLD F read_long(std::string_view text, std::int64_t power) {
  std::uint64_t head = 0;
  int taken = 0;
  for (const char c : text) {
    if (c == '.') continue;
    if (!is_digit(c)) break;
    if (taken == 19) {
      ++power;
    } else if (head > 0 || c > '0') {
      head = head * 10 + static_cast<unsigned>(c - '0');
      ++taken;
    }
  }
  const F low = nearest<F>(head, power);
  return taken < 19 || low == nearest<F>(head + 1, power) ? low : read_by_library<F>(text);
}

/// Takes digits, eight at a time where there are as many. The value wraps around behind the 19th.
TAGMA_INLINE const char* take_digits(const char* at, const char* end, std::uint64_t& value) {
  if constexpr (std::endian::native == std::endian::little) {
    while (end - at >= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, at, 8);
      const std::uint64_t digits = word - 0x3030303030303030u;
      if ((((word + 0x4646464646464646u) | digits) & 0x8080808080808080u) != 0) break;
      const std::uint64_t pairs = digits * 10 + (digits >> 8);
      constexpr std::uint64_t mask = 0x000000ff000000ff;
      const std::uint64_t eight = (pairs & mask) * 0x000f424000000064 + (pairs >> 16 & mask) * 0x0000271000000001;
      value = value * 100'000'000 + (eight >> 32);
      at += 8;
    }
  }
  for (; at != end && is_digit(*at); ++at) value = value * 10 + static_cast<unsigned>(*at - '0');
  return at;
}

/// Takes "inf", "infinity" or "nan" of any case.
template <class F>
[[nodiscard]] TAGMA_COLD const char* read_name(const char* at, const char* end, F& value) {
  const auto is = [&](std::string_view name) {
    if (static_cast<std::size_t>(end - at) < name.size()) return false;
    for (std::size_t i = 0; i < name.size(); ++i)
      if ((at[i] | 0x20) != name[i]) return false;
    at += name.size();
    return true;
  };
  if (is("infinity") || is("inf"))
    value = std::numeric_limits<F>::infinity();
  else if (is("nan"))
    value = std::numeric_limits<F>::quiet_NaN();
  else
    return nullptr;
  return at;
}

inline constexpr double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// The nearest number, where it is a product or a quotient of two doubles that are exact. A float is that, rounded
/// again, unless the double is halfway between two floats, where the first rounding may have hidden to which one the
/// number is nearer.
template <class F>
TAGMA_INLINE bool from_doubles(std::uint64_t digits, std::int64_t power, F& value) {
  constexpr std::int64_t most = 22;
  if (digits > std::uint64_t{1} << 53 || power < -most || power > most) return false;
  const auto whole = static_cast<double>(digits);
  const double number = power < 0 ? whole / exact_powers[-power] : whole * exact_powers[power];
  value = static_cast<F>(number);
  constexpr std::uint64_t rest = 0x1fffffff, half = 0x10000000;
  return std::is_same_v<F, double> || (std::bit_cast<std::uint64_t>(number) & rest) != half;
}

}  // namespace detail

/// Reads a number at the beginning of a text: `-`, digits with a point in, before or behind them, and an exponent; or
/// "inf", "infinity", "nan" of any case. A number that is too large is infinite, one that is too small 0 or close to
/// it.
/// @returns where the number ends, or nullptr if there is none
template <class F>
  requires std::is_floating_point_v<F>
[[nodiscard]] inline const char* read_number(const char* at, const char* end, F& value) {
  const bool negative = at != end && *at == '-';
  at += negative ? 1 : 0;
  std::uint64_t digits = 0;
  const char* const begin = at;
  for (; at != end && detail::is_digit(*at); ++at) digits = digits * 10 + static_cast<unsigned>(*at - '0');
  auto count = at - begin;
  std::int64_t power = 0;
  if (at != end && *at == '.') {
    const char* const fraction = ++at;
    at = detail::take_digits(at, end, digits);
    power = fraction - at;
    count -= power;
  }
  if (count == 0) {
    at = detail::read_name(begin, end, value);
    if (negative && at != nullptr) value = -value;
    return at;
  }
  if (at != end && (*at | 0x20) == 'e') {
    const char* mark = at + 1;
    const bool down = mark != end && *mark == '-';
    if (mark != end && (*mark == '-' || *mark == '+')) ++mark;
    if (mark != end && detail::is_digit(*mark)) {
      std::int64_t exponent = 0;
      for (; mark != end && detail::is_digit(*mark); ++mark)
        if (exponent < 0x10000000) exponent = exponent * 10 + (*mark - '0');
      power += down ? -exponent : exponent;
      at = mark;
    }
  }
  F result{};
  if (count > 19) {
    result = detail::read_long<F>({begin, static_cast<std::size_t>(at - begin)}, power);
  } else if (!detail::from_doubles(digits, power, result)) {
    result = detail::nearest<F>(digits, power);
  }
  value = negative ? -result : result;
  return at;
}

/// Reads an integer at the beginning of a text: digits, behind `-` where the type has a sign.
/// @returns where the number ends, or nullptr if there is none that the type holds
template <class I>
  requires std::is_integral_v<I>
[[nodiscard]] inline const char* read_number(const char* at, const char* end, I& value) {
  const auto [last, problem] = std::from_chars(at, end, value);
  return problem == std::errc{} ? last : nullptr;
}

/// Whether all of a text is a number.
template <class T>
[[nodiscard]] bool number_from(std::string_view text, T& value) {
  const char* const end = text.data() + text.size();
  return read_number(text.data(), end, value) == end && !text.empty();
}

}  // namespace tagma::io

#ifndef TAGMA_COMPILED
#include "tagma/io/number.ipp"
#endif
