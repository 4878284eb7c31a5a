// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Initializers of variables, with the names that Keras has for them. Random ones are keyed by the seed of the session
/// and the name of the variable. Operations of the same names are told apart by their element type: `random_normal(0,
/// 1)` is an initializer, `random_normal<float, 3>(0, 1)` three numbers.

#include "tagma/expr/variable.hpp"

namespace tagma {

/// Every element 0. The default of biases.
inline constexpr static_initializer<initializer_kind::zeros> zeros{};
/// Every element 1. The default of the scales of normalisations.
inline constexpr static_initializer<initializer_kind::ones> ones{};
/// Uniform within sqrt(6 / (fan_in + fan_out)); Glorot and Bengio 2010. The default of kernels. The fans of [height,
/// width, in, out] are height * width * in and height * width * out, those of [in, out] are in and out.
inline constexpr static_initializer<initializer_kind::glorot_uniform> glorot_uniform{};
/// Truncated normal of variance 2 / (fan_in + fan_out); Glorot and Bengio 2010.
inline constexpr static_initializer<initializer_kind::glorot_normal> glorot_normal{};
/// Uniform within sqrt(6 / fan_in); He et al. 2015.
inline constexpr static_initializer<initializer_kind::he_uniform> he_uniform{};
/// Truncated normal of variance 2 / fan_in; He et al. 2015.
inline constexpr static_initializer<initializer_kind::he_normal> he_normal{};

namespace detail {
[[nodiscard]] inline carried_initializer make_initializer(initializer_kind kind, double first, double second) {
  carried_initializer i;
  i.value.integer = static_cast<std::int64_t>(kind);
  i.value.number = first;
  i.value.second = second;
  return i;
}
}  // namespace detail

/// Every element `value`.
[[nodiscard]] inline carried_initializer filled_with(double value) {
  return detail::make_initializer(initializer_kind::constant, value, 0);
}
/// Uniform in [low, high).
[[nodiscard]] inline carried_initializer random_uniform(double low, double high) {
  return detail::make_initializer(initializer_kind::uniform, low, high);
}
/// Normal with a mean and a standard deviation.
[[nodiscard]] inline carried_initializer random_normal(double mean = 0, double stddev = 1) {
  return detail::make_initializer(initializer_kind::normal, mean, stddev);
}
/// Normal, redrawn where it is more than two standard deviations from the mean.
[[nodiscard]] inline carried_initializer truncated_normal(double mean = 0, double stddev = 1) {
  return detail::make_initializer(initializer_kind::truncated_normal, mean, stddev);
}

}  // namespace tagma
