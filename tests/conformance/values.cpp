// SPDX-License-Identifier: BSL-1.0
#include "conformance/values.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

namespace tagma::conformance {

namespace {

/// What the strings of the suite look at.
const std::vector<std::string>& texts() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> list;
    for (int i = 0; i < 64; ++i) list.push_back("text " + std::to_string(i));
    return list;
  }();
  return all;
}

string_element text_of(double value) { return texts()[static_cast<std::size_t>(std::fabs(value)) % texts().size()]; }

template <class Visit>
auto with_type(dtype type, const Visit& visit) {
  switch (type) {
    case dtype::float64:
      return visit(double{});
    case dtype::float32:
      return visit(float{});
    case dtype::float16:
      return visit(float16{});
    case dtype::bfloat16:
      return visit(bfloat16{});
    case dtype::int64:
      return visit(std::int64_t{});
    case dtype::int32:
      return visit(std::int32_t{});
    case dtype::int16:
      return visit(std::int16_t{});
    case dtype::int8:
      return visit(std::int8_t{});
    default:
      return visit(std::uint8_t{});
  }
}

}  // namespace

extent place(const shape& dims, const position& p) {
  const int lead = static_cast<int>(p.size()) - dims.rank;
  extent at = 0;
  for (int a = 0; a < dims.rank; ++a) at = at * dims[a] + (dims[a] == 1 ? 0 : p[static_cast<std::size_t>(lead + a)]);
  return at;
}

void write_element(std::byte* to, dtype type, double value) {
  if (type == dtype::string) {
    const string_element text = text_of(value);
    std::memcpy(to, &text, sizeof text);
  } else if (type == dtype::boolean) {
    *to = std::byte{value != 0};
  } else {
    with_type(type, [&](auto as) {
      using T = decltype(as);
      T element{};
      if constexpr (std::is_integral_v<T>)  // beyond its range an integer wraps; it holds neither infinity nor NaN
        element = static_cast<T>(std::isfinite(value) ? static_cast<std::int64_t>(value) : 0);
      else if constexpr (sizeof(T) == 2)
        element = T(static_cast<float>(value));
      else
        element = static_cast<T>(value);
      std::memcpy(to, &element, sizeof element);
    });
  }
}

double read_element(const std::byte* from, dtype type) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (type == dtype::string) {
    string_element text;
    std::memcpy(&text, from, sizeof text);
    for (std::size_t i = 0; i < texts().size(); ++i)
      if (text.data() == texts()[i].data()) return text == texts()[i] ? static_cast<double>(i) : nan;
    return nan;
  }
  if (type == dtype::boolean) return *from == std::byte{0} ? 0 : *from == std::byte{1} ? 1 : nan;
  return with_type(type, [&](auto as) {
    using T = decltype(as);
    T element{};
    std::memcpy(&element, from, sizeof element);
    if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>)
      return static_cast<double>(static_cast<float>(element));
    else
      return static_cast<double>(element);
  });
}

void use_own_texts(std::byte* strings, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i, strings += sizeof(string_element)) {
    string_element text;
    std::memcpy(&text, strings, sizeof text);
    for (const std::string& own : texts())
      if (text == own) text = own;
    std::memcpy(strings, &text, sizeof text);
  }
}

double rounded(dtype type, double value) {
  std::byte element[sizeof(string_element)];
  write_element(element, type, value);
  return read_element(element, type);
}

double tolerance(dtype type) {
  switch (type) {
    case dtype::float64:
      return 0x1p-46;
    case dtype::float32:
      return 0x1p-19;
    case dtype::float16:
      return 0.75 * 0x1p-10;
    case dtype::bfloat16:
      return 0.75 * 0x1p-7;
    default:
      return 0;
  }
}

array scattered(dtype type, const shape& dims, double low, double high, std::uint64_t seed) {
  array a(dims);
  std::uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  for (double& v : a.at) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double unit = static_cast<double>(state >> 11) / 9007199254740992.0;
    const double number = low + (high - low) * unit;
    v = is_floating(type) ? rounded(type, number) : rounded(type, std::floor(number));
  }
  return a;
}

}  // namespace tagma::conformance
