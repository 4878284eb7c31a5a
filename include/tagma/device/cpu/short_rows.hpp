// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Rows of few elements in order.

#include <cstdint>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/few_rows.hpp"
#include "tagma/device/ordered.hpp"

namespace tagma::device::cpu::detail {

/// Rows of so many elements are put in order by comparisons.
inline constexpr std::int64_t few_to_order = 32;

/// The first positions of rows of at most `few_to_order` elements in the order of their words, the lower position first
/// of equal ones. Elements count those before them, several rows at once, so that nothing is guessed.
template <class T>
struct order_of_short_rows {
  using number = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;  // vectors compare signed ones
  using vector = typename plain_vectors<number>::type;
  static constexpr std::int64_t lanes = plain_vectors<number>::lanes;
  static constexpr auto least = static_cast<number>(sizeof(number) == 8 ? INT64_MIN : INT32_MIN);

  /// @param flip is applied to words
  /// @param k how many positions of each row are wanted
  TAGMA_INLINE static void run(const T* from, std::int64_t rows, std::int64_t n, word_of<T> flip, std::int64_t k,
                               std::int64_t* to) {
    vector words[few_to_order]{}, before[few_to_order];
    std::int64_t unwanted[few_to_order];
    for (std::int64_t first = 0; first < rows; first += lanes) {
      const std::int64_t count = rows - first < lanes ? rows - first : lanes;
      for (std::int64_t r = 0; r < count; ++r)
        for (std::int64_t i = 0; i < n; ++i, ++from)
          reinterpret_cast<number*>(words + i)[r] =
              static_cast<number>(static_cast<word_of<T>>(ordered_word(*from) ^ flip)) ^ least;
      for (std::int64_t i = 0; i < n; ++i) before[i] = vector{} + static_cast<number>(i);
      for (std::int64_t i = 0; i < n; ++i) {
        const vector own = words[i];
        vector sum = before[i];
        for (std::int64_t j = i + 1; j < n; ++j) {
          const vector later = own > words[j];  // -1 for true
          sum -= later;
          before[j] += later;
        }
        before[i] = sum;
      }
      for (std::int64_t r = 0; r < count; ++r, to += k)
        for (std::int64_t i = 0; i < n; ++i) {
          const number at = reinterpret_cast<const number*>(before + i)[r];
          (at < k ? to : unwanted)[at] = i;
        }
    }
  }
};

}  // namespace tagma::device::cpu::detail
