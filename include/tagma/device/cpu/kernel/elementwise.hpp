// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Bodies of the element-wise operations, over packs of elements.

#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/expr/op/math.hpp"
#include "tagma/expr/op/view.hpp"

namespace tagma::device::cpu {

namespace detail {

/// A comparison as a pack of bool, whatever the packs compared.
template <class Out, class Mask>
TAGMA_INLINE Out as_bool(const Mask& m) {
  return to_bool(m);
}

}  // namespace detail

template <>
struct scalar_kernel<ir::key<op::add>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a, const P& b) {
    return a + b;
  }
};
template <>
struct scalar_kernel<ir::key<op::subtract>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a, const P& b) {
    return a - b;
  }
};
template <>
struct scalar_kernel<ir::key<op::multiply>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a, const P& b) {
    return a * b;
  }
};
template <>
struct scalar_kernel<ir::key<op::divide>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a, const P& b) {
    return a / b;
  }
};
template <>
struct scalar_kernel<ir::key<op::maximum>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a, const P& b) {
    return max(a, b);
  }
};
template <>
struct scalar_kernel<ir::key<op::minimum>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a, const P& b) {
    return min(a, b);
  }
};
template <>
struct scalar_kernel<ir::key<op::power>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a, const P& b) {
    return pow(a, b);
  }
};

template <>
struct scalar_kernel<ir::key<op::equal>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a, const P& b) {
    return detail::as_bool<Out>(a == b);
  }
};
template <>
struct scalar_kernel<ir::key<op::not_equal>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a, const P& b) {
    return detail::as_bool<Out>(a != b);
  }
};
template <>
struct scalar_kernel<ir::key<op::less>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a, const P& b) {
    return detail::as_bool<Out>(a < b);
  }
};
template <>
struct scalar_kernel<ir::key<op::less_equal>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a, const P& b) {
    return detail::as_bool<Out>(a <= b);
  }
};
template <>
struct scalar_kernel<ir::key<op::greater>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a, const P& b) {
    return detail::as_bool<Out>(a > b);
  }
};
template <>
struct scalar_kernel<ir::key<op::greater_equal>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a, const P& b) {
    return detail::as_bool<Out>(a >= b);
  }
};
template <>
struct scalar_kernel<ir::key<op::logical_and>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a, const P& b) {
    return a & b;
  }
};
template <>
struct scalar_kernel<ir::key<op::logical_or>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a, const P& b) {
    return a | b;
  }
};
template <>
struct scalar_kernel<ir::key<op::logical_not>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a) {
    return !a;
  }
};
template <>
struct scalar_kernel<ir::key<op::select>> {
  template <class Out, class C, class P>
  TAGMA_INLINE static Out apply(const C& condition, const P& a, const P& b) {
    return select(condition, a, b);
  }
};
template <>
struct scalar_kernel<ir::key<op::cast>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a) {
    return convert<typename Out::value_type>(a);
  }
};
template <>
struct scalar_kernel<ir::key<op::broadcast_like>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a) {
    return a;
  }
};

template <>
struct scalar_kernel<ir::key<op::negate>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a) {
    return -a;
  }
};
template <>
struct scalar_kernel<ir::key<op::abs>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a) {
    return abs(a);
  }
};
template <>
struct scalar_kernel<ir::key<op::sign>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a) {
    return sign(a);
  }
};
template <>
struct scalar_kernel<ir::key<op::square>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a) {
    return a * a;
  }
};
template <>
struct scalar_kernel<ir::key<op::floor>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a) {
    return floor(a);
  }
};
template <>
struct scalar_kernel<ir::key<op::ceil>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a) {
    return ceil(a);
  }
};
template <>
struct scalar_kernel<ir::key<op::round>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a) {
    return round(a);
  }
};
template <>
struct scalar_kernel<ir::key<op::exp>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a) {
    return exp(a);
  }
};
template <>
struct scalar_kernel<ir::key<op::log>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a) {
    return log(a);
  }
};
template <>
struct scalar_kernel<ir::key<op::log1p>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a) {
    return log1p(a);
  }
};
template <>
struct scalar_kernel<ir::key<op::expm1>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a) {
    return expm1(a);
  }
};
template <>
struct scalar_kernel<ir::key<op::sqrt>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a) {
    return sqrt(a);
  }
};
template <>
struct scalar_kernel<ir::key<op::rsqrt>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a) {
    return rsqrt(a);
  }
};
template <>
struct scalar_kernel<ir::key<op::tanh>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a) {
    return tanh(a);
  }
};
template <>
struct scalar_kernel<ir::key<op::sigmoid>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a) {
    return sigmoid(a);
  }
};
template <>
struct scalar_kernel<ir::key<op::softplus>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a) {
    return softplus(a);
  }
};
template <>
struct scalar_kernel<ir::key<op::erf>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a) {
    return erf(a);
  }
};
template <>
struct scalar_kernel<ir::key<op::sin>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a) {
    return sin(a);
  }
};
template <>
struct scalar_kernel<ir::key<op::cos>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a) {
    return cos(a);
  }
};
template <>
struct scalar_kernel<ir::key<op::relu>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& a) {
    return max(a, splat<P>(typename P::value_type(0)));
  }
};
template <>
struct scalar_kernel<ir::key<op::relu_gradient>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& upstream, const P& y) {
    const P zero = splat<P>(typename P::value_type(0));
    return select(y > zero, upstream, zero);
  }
};

}  // namespace tagma::device::cpu
