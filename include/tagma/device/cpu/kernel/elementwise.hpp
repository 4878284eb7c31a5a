// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Bodies of the element-wise operations, over packs of elements.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/elementwise.hpp"

namespace tagma::device::cpu {

namespace detail {

/// What a body makes, as its result: comparisons make masks.
template <class Out>
TAGMA_INLINE Out as(const Out& result) {
  return result;
}
template <class Out, int B, int W>
TAGMA_INLINE Out as(const mask<B, W>& m) {
  return to_bool(m);
}

}  // namespace detail

#define TAGMA_BODY_OF_ONE(operation, ...)       \
  template <>                                   \
  struct scalar_kernel<ir::key<operation>> {    \
    template <class Out, class P>               \
    TAGMA_INLINE static Out apply(const P& x) { \
      return detail::as<Out>(__VA_ARGS__);      \
    }                                           \
  };
#define TAGMA_BODY_OF_TWO(operation, ...)                   \
  template <>                                               \
  struct scalar_kernel<ir::key<operation>> {                \
    template <class Out, class P>                           \
    TAGMA_INLINE static Out apply(const P& a, const P& b) { \
      return detail::as<Out>(__VA_ARGS__);                  \
    }                                                       \
  };
TAGMA_ELEMENTWISE_BODIES(TAGMA_BODY_OF_ONE, TAGMA_BODY_OF_TWO)
TAGMA_BODY_OF_TWO(op::divide, a / b)
TAGMA_BODY_OF_ONE(op::cast, convert<typename Out::value_type>(x))
TAGMA_BODY_OF_ONE(op::abs, abs(x))
TAGMA_BODY_OF_ONE(op::sign, sign(x))
#undef TAGMA_BODY_OF_ONE
#undef TAGMA_BODY_OF_TWO

template <>
struct scalar_kernel<ir::key<op::select>> {
  template <class Out, class C, class P>
  TAGMA_INLINE static Out apply(const C& condition, const P& a, const P& b) {
    return select(condition, a, b);
  }
};

}  // namespace tagma::device::cpu
