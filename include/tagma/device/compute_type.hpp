// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The types that elements are computed in, on all devices.

#include "tagma/tensor/half.hpp"

namespace tagma::device {

namespace detail {
template <class T>
struct compute {
  using type = T;
};
template <>
struct compute<float16> {
  using type = float;
};
template <>
struct compute<bfloat16> {
  using type = float;
};
}  // namespace detail

/// The type in which elements of type T are computed: float for the 16-bit floats, T itself for the others.
template <class T>
using compute_t = typename detail::compute<T>::type;

}  // namespace tagma::device
