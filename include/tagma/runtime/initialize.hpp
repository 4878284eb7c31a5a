// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Initial values of variables: random numbers keyed by the seed of the session and the name of the variable.

#include "tagma/runtime/session_core.hpp"

namespace tagma::runtime {

/// The number of element `i` of a random initializer.
[[nodiscard]] inline double initial_number(initializer_kind kind, const random_key& key, std::uint64_t i, double a,
                                           double b) {
  if (kind == initializer_kind::uniform) {
    const philox_block r = random_block(key, i);
    return a + (b - a) * uniform01(r[0], r[1]);
  }
  for (std::uint16_t attempt = 0;; ++attempt) {
    const philox_block r = random_block(key, i, attempt);
    const double z = normal_from<double>(uniform01(r[0], r[1]), uniform01(r[2], r[3]));
    if (kind == initializer_kind::normal || (z > -2 && z < 2)) return a + b * z;
  }
}

TAGMA_COLD inline void session_core::initialize(std::size_t i) {
  const plan::plan_variable& v = variables_[i];
  auto kind = static_cast<initializer_kind>(v.initializer);
  double a = v.number, b = 0;
  if (v.initializer == tagma::detail::carried_kind || v.initializer == tagma::detail::literal_kind) {
    const carried_value* value = values_.find(v.key);
    if (value == nullptr) fail(status_code::internal, {"variable '", variable_name(i), "' has lost its initial value"});
    kind = v.initializer == tagma::detail::literal_kind ? initializer_kind::constant
                                                        : static_cast<initializer_kind>(value->integer);
    a = value->number;
    b = value->second;
    if (kind == initializer_kind::data) {
      if (value->bytes.size() > 0) std::memcpy(address_[i], value->bytes.data(), value->bytes.size());
      initialized_[i] = true;
      return;
    }
  }
  // A truncated normal of standard deviation s has variance (0.8796 s)^2; the quotient restores the variance asked for.
  constexpr double truncated = 0.87962566103423978;
  const fans f = fans_of(v.spec.dims);
  switch (kind) {
    case initializer_kind::zeros:
      a = 0;
      kind = initializer_kind::constant;
      break;
    case initializer_kind::ones:
      a = 1;
      kind = initializer_kind::constant;
      break;
    case initializer_kind::derived:
      kind = initializer_kind::constant;
      break;
    case initializer_kind::glorot_uniform:
      b = __builtin_sqrt(6 / (f.in + f.out));
      break;
    case initializer_kind::he_uniform:
      b = __builtin_sqrt(6 / f.in);
      break;
    case initializer_kind::glorot_normal:
      a = 0;
      b = __builtin_sqrt(2 / (f.in + f.out)) / truncated;
      break;
    case initializer_kind::he_normal:
      a = 0;
      b = __builtin_sqrt(2 / f.in) / truncated;
      break;
    default:
      break;
  }
  if (kind == initializer_kind::glorot_uniform || kind == initializer_kind::he_uniform) {
    a = -b;
    kind = initializer_kind::uniform;
  }
  if (kind == initializer_kind::glorot_normal || kind == initializer_kind::he_normal)
    kind = initializer_kind::truncated_normal;
  const random_key key{context_.seed, static_cast<std::uint32_t>(hash_combine(hash_text(v.name), hash_text(v.suffix))),
                       0};
  const std::size_t count = static_cast<std::size_t>(v.spec.dims.elements()), size = size_of(v.spec.type);
  for (std::size_t e = 0; e < count; ++e) {
    const double number = kind == initializer_kind::constant ? a : initial_number(kind, key, e, a, b);
    detail::store_scalar(address_[i] + e * size, v.spec.type, number, static_cast<std::int64_t>(number));
  }
  initialized_[i] = true;
}

}  // namespace tagma::runtime
