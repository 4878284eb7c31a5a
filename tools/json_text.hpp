// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Writing JSON value by value, with the commas where they belong.

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "refusal.hpp"
#include "tagma/base/json.hpp"
#include "tagma/tensor/shape.hpp"

namespace tagma::tools {

/// A JSON text that grows. Names of members stand before their values: `j.name("nodes").value(3)`.
class json_text {
 public:
  json_text& begin(char bracket) {
    separate();
    text_ += bracket;
    first_ = true;
    return *this;
  }
  json_text& end(char bracket) {
    text_ += bracket;
    first_ = false;
    return *this;
  }
  json_text& name(std::string_view n) {
    separate();
    quote(n);
    text_ += ':';
    first_ = true;
    return *this;
  }
  /// A number that JSON does not have, infinite or none, is null.
  template <class T>
  requires std::is_arithmetic_v<T> json_text& value(T v) {
    separate();
    if constexpr (std::is_same_v<T, bool>) {
      text_ += v ? "true" : "false";
    } else {
      if constexpr (std::is_floating_point_v<T>)
        if (!std::isfinite(v)) return text_ += "null", *this;
      char digits[32];
      text_.append(digits, std::to_chars(digits, digits + sizeof digits, v).ptr);
    }
    return *this;
  }
  json_text& value(std::string_view v) {
    separate();
    quote(v);
    return *this;
  }
  json_text& null() {
    separate();
    text_ += "null";
    return *this;
  }
  /// Extents; null where one is open.
  json_text& value(const shape& dims) {
    begin('[');
    for (const extent e : dims.span()) e == dyn ? null() : value(e);
    return end(']');
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void separate() {
    if (!first_) text_ += ',';
    first_ = false;
  }
  /// A name may be any bytes; those that are no text are spelt out.
  void quote(std::string_view t) { json::append_quoted(text_, json::is_utf8(t) ? std::string(t) : printable(t)); }

  std::string text_;
  bool first_ = true;
};

}  // namespace tagma::tools
