// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What puts elements in order, on all devices: unsigned words that are compared in their place.

#include <cstring>
#include <type_traits>

#include "tagma/base/config.hpp"
#include "tagma/base/random.hpp"
#include "tagma/tensor/dtype.hpp"

namespace tagma::device {

/// The unsigned integer of the size of T.
template <class T>
using word_of = std::conditional_t<
    sizeof(T) == 8, std::uint64_t,
    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;

/// The bits of a float's infinity, the largest that are no NaN.
template <class T>
inline constexpr word_of<T> infinity_bits = static_cast<word_of<T>>(dtype_of<T> == dtype::float16    ? 0x7c00
                                                                    : dtype_of<T> == dtype::bfloat16 ? 0x7f80
                                                                    : dtype_of<T> == dtype::float32
                                                                        ? 0x7f800000
                                                                        : 0x7ff0000000000000);

/// A word for an element: the larger the element, the larger the word. NaN is larger than everything, -0 equals 0.
template <class T>
TAGMA_DEVICE word_of<T> ordered_word(const T& x) {
  using word = word_of<T>;
  constexpr auto sign = static_cast<word>(word{1} << (8 * sizeof(T) - 1));
  word bits;
  memcpy(&bits, &x, sizeof bits);
  if constexpr (!std::is_integral_v<T>) {
    const auto magnitude = static_cast<word>(bits & static_cast<word>(~sign));
    if (magnitude > infinity_bits<T>) return static_cast<word>(~word{0});
    return static_cast<word>(bits != magnitude ? sign - magnitude : sign + magnitude);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<word>(bits ^ sign);
  } else {
    return bits;
  }
}

/// The word of position `i` in a random order.
TAGMA_DEVICE std::uint64_t order_word(const random_key& key, std::uint64_t i) {
  std::uint32_t words[4];
  random_words(key, i / 2, 0, words);
  return i % 2 == 0 ? words[0] | std::uint64_t{words[1]} << 32 : words[2] | std::uint64_t{words[3]} << 32;
}

}  // namespace tagma::device
