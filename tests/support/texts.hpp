// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Tensors, shapes and handles as the comments of examples write them.

#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

#include "tagma/expr/expression.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma::test {

template <class T>
[[nodiscard]] std::string element_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return "'" + std::string(std::string_view(value)) + "'";
  } else {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.4g", static_cast<double>(value));
    return digits;
  }
}

/// "[[1, 2], [3, 4]]", floating numbers with up to four digits.
template <class T>
[[nodiscard]] std::string text(const view<T>& v) {
  if (v.dims().rank == 0) return element_text(v.data()[0]);
  std::string to = "[";
  if (v.dims().rank == 1) {
    for (std::size_t i = 0; i < v.size(); ++i) to += (i == 0 ? "" : ", ") + element_text(v.data()[i]);
  } else {
    const shape inner = v.dims().sub(1, v.dims().rank);
    for (extent i = 0; i < v.dims()[0]; ++i)
      to += (i == 0 ? "" : ", ") + text(view<T>(v.data() + i * inner.elements(), inner));
  }
  return to + "]";
}
template <class T>
[[nodiscard]] std::string text(const tensor<T>& t) {
  return text(view<const T>(t));
}

/// Any other range: "[1, 2]".
template <class Range>
  requires requires(const Range& r) { r.begin(); }
[[nodiscard]] std::string text(const Range& range) {
  std::string to;
  for (const auto& value : range) to += (to.empty() ? "" : ", ") + element_text(value);
  return "[" + to + "]";
}

/// The shape of a handle: "[?, 8]".
template <expression E>
[[nodiscard]] std::string text(const E&) {
  return to_string(E::spec.dims);
}

}  // namespace tagma::test
