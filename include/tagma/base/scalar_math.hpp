// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Functions of single numbers, on every device. They are named as functions of packs are, so that a formula is written
/// once for both: after `using scalar_math::sqrt;`, numbers find these, and packs by their type those of their own.

#include "tagma/base/config.hpp"

namespace tagma::scalar_math {

/// Functions of the C library for float and double.
#define TAGMA_SCALAR_FUNCTION(name, builtin)                             \
  TAGMA_DEVICE float name(float x) { return __builtin_##builtin##f(x); } \
  TAGMA_DEVICE double name(double x) { return __builtin_##builtin(x); }
TAGMA_SCALAR_FUNCTION(abs, fabs)
TAGMA_SCALAR_FUNCTION(exp, exp)
TAGMA_SCALAR_FUNCTION(expm1, expm1)
TAGMA_SCALAR_FUNCTION(log, log)
TAGMA_SCALAR_FUNCTION(log1p, log1p)
TAGMA_SCALAR_FUNCTION(sqrt, sqrt)
TAGMA_SCALAR_FUNCTION(tanh, tanh)
TAGMA_SCALAR_FUNCTION(erf, erf)
TAGMA_SCALAR_FUNCTION(sin, sin)
TAGMA_SCALAR_FUNCTION(cos, cos)
TAGMA_SCALAR_FUNCTION(floor, floor)
TAGMA_SCALAR_FUNCTION(ceil, ceil)
/// The nearest integer, halves to even.
TAGMA_SCALAR_FUNCTION(round, nearbyint)
#undef TAGMA_SCALAR_FUNCTION

/// x^y, as the C library has it.
TAGMA_DEVICE float pow(float x, float y) { return __builtin_powf(x, y); }
TAGMA_DEVICE double pow(double x, double y) { return __builtin_pow(x, y); }

/// `a` where the condition holds, otherwise `b`.
template <class T>
TAGMA_DEVICE T select(bool condition, T a, T b) {
  return condition ? a : b;
}
/// The larger number; a NaN if either is one.
template <class T>
TAGMA_DEVICE T max(T a, T b) {
  return a > b || a != a ? a : b;
}
/// The smaller number; a NaN if either is one.
template <class T>
TAGMA_DEVICE T min(T a, T b) {
  return a < b || a != a ? a : b;
}
/// -1, 0 or 1; a zero and a NaN are themselves.
template <class T>
TAGMA_DEVICE T sign(T x) {
  return x > T(0) ? T(1) : x < T(0) ? T(-1) : x;
}
/// 1 / (1 + e^-x), without overflow.
template <class T>
TAGMA_DEVICE T sigmoid(T x) {
  const T e = exp(-abs(x));
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}
/// ln(1 + e^x), without overflow.
template <class T>
TAGMA_DEVICE T softplus(T x) {
  return (x < T(0) ? T(0) : x) + log1p(exp(-abs(x)));
}

}  // namespace tagma::scalar_math
