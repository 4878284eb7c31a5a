// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Tensors as text, for people: nested brackets, in columns, the middle of long axes left out, as NumPy prints arrays.

#include <charconv>
#include <ostream>
#include <string>
#include <vector>

#include "tagma/tensor/half.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma {

/// How tensors are printed.
struct print_options {
  extent threshold = 1000;  ///< tensors with more elements are shortened
  extent edge = 3;          ///< what is left of each end of an axis then
};

namespace detail {

/// The shortest text that means this number again.
template <class T>
[[nodiscard]] std::string element_text(const T& x) {
  if constexpr (std::is_same_v<T, bool>) {
    return x ? "true" : "false";
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return '"' + std::string(std::string_view(x)) + '"';
  } else if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    return element_text(static_cast<float>(x));
  } else {
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, x).ptr};
  }
}

/// Writes a tensor axis by axis.
template <class T>
class tensor_printer {
 public:
  tensor_printer(const view<const T>& v, const print_options& options) : v_(v), options_(options) {
    shortened_ = static_cast<extent>(v.size()) > options.threshold;
    each(0, 0, [this](extent i) {
      texts_.push_back(element_text(v_[i]));
      if (texts_.back().size() > width_) width_ = texts_.back().size();
    });
  }

  [[nodiscard]] std::string text() {
    write(0);
    return std::move(out_);
  }

 private:
  /// The positions of an axis that are shown; -1 stands for those that are not.
  template <class Some>
  void positions(int axis, const Some& some) const {
    const extent n = v_.dims()[axis];
    const bool cut = shortened_ && n > 2 * options_.edge;
    for (extent i = 0; i < n; ++i) {
      if (cut && i == options_.edge) {
        some(extent{-1});
        i = n - options_.edge;
        if (i == n) break;
      }
      some(i);
    }
  }
  /// Calls `some` for every element that is shown, by its position in the tensor.
  template <class Some>
  void each(int axis, extent first, const Some& some) const {
    if (axis == v_.dims().rank) return some(first);
    positions(axis, [&](extent i) {
      if (i >= 0) each(axis + 1, first + i * v_.dims().elements(axis + 1, v_.dims().rank), some);
    });
  }

  void write(int axis) {
    const int left = v_.dims().rank - axis;  // axes that are still to be written
    if (left == 0) {
      out_.append(width_ - texts_[next_].size(), ' ').append(texts_[next_]);
      ++next_;
      return;
    }
    out_ += '[';
    bool first = true;
    positions(axis, [&](extent i) {
      if (!first && left == 1) out_ += ", ";
      if (!first && left > 1)
        out_.append(",")
            .append(static_cast<std::size_t>(left - 1), '\n')
            .append(static_cast<std::size_t>(axis + 1), ' ');
      first = false;
      if (i < 0)
        out_ += "...";
      else
        write(axis + 1);
    });
    out_ += ']';
  }

  view<const T> v_;
  print_options options_;
  bool shortened_ = false;
  std::vector<std::string> texts_;
  std::size_t width_ = 0, next_ = 0;
  std::string out_;
};

}  // namespace detail

/// The elements of a tensor in brackets, a line for each row, with the fewest digits that mean the same number again. A
/// scalar has no brackets.
/// @{
template <class T>
[[nodiscard]] std::string to_string(const view<T>& v, const print_options& options = {}) {
  return detail::tensor_printer<std::remove_const_t<T>>(v, options).text();
}
template <class T>
[[nodiscard]] std::string to_string(const tensor<T>& t, const print_options& options = {}) {
  return to_string(view<const T>(t), options);
}
template <class T>
std::ostream& operator<<(std::ostream& to, const view<T>& v) {
  return to << to_string(v);
}
template <class T>
std::ostream& operator<<(std::ostream& to, const tensor<T>& t) {
  return to << to_string(t);
}
/// @}

}  // namespace tagma
