// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Numbers that a program carries, as elements of tensors.

#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/tensor/dtype.hpp"

namespace tagma::runtime::detail {

template <class T>
TAGMA_INLINE void store_as(std::byte* to, const T& value) {
  std::memcpy(to, &value, sizeof value);
}
/// Writes a number as an element of a type: what is not floating takes the integer, of which it has the lowest bytes.
void store_scalar(std::byte* to, dtype type, double number, std::int64_t integer);
/// The same where the number is all there is: integers are without its fraction, and the nearest there are of 64 bits.
void store_scalar(std::byte* to, dtype type, double number);

}  // namespace tagma::runtime::detail

#ifndef TAGMA_COMPILED
#include "tagma/runtime/scalar.ipp"
#endif
