// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of initial_value.hpp: in the compiled half, or else in each file that includes it.

#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/runtime/initial_value.hpp"

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL fans fans_of(const shape& dims) {
  if (dims.rank == 0) return {};
  if (dims.rank == 1) return {static_cast<double>(dims[0]), static_cast<double>(dims[0])};
  const auto field = static_cast<double>(dims.elements(0, dims.rank - 2));
  return {field * static_cast<double>(dims[dims.rank - 2]), field * static_cast<double>(dims[dims.rank - 1])};
}

TAGMA_DECL double initial_number(initializer_kind kind, const random_key& key, std::uint64_t i, double a, double b) {
  switch (kind) {
    case initializer_kind::uniform:
    case initializer_kind::glorot_uniform:
    case initializer_kind::he_uniform: {
      const philox_block r = random_block(key, i);
      return detail::between(a, b, uniform01(r[0], r[1]));
    }
    default:
      break;
  }
  for (std::uint16_t attempt = 0;; ++attempt) {
    const philox_block r = random_block(key, i, attempt);
    const double z = normal_from<double>(uniform01(r[0], r[1]), uniform01(r[2], r[3]));
    if (kind == initializer_kind::normal || (z > -2 && z < 2)) return a + b * z;
  }
}

namespace detail {
TAGMA_DECL void write_drawn(std::byte* to, dtype type, initializer_kind kind, double a, double b, const random_key& key,
                            std::uint64_t first, std::uint64_t last) {
  const std::size_t size = size_of(type);
  const bool uniform = kind == initializer_kind::uniform || kind == initializer_kind::glorot_uniform ||
                       kind == initializer_kind::he_uniform;
  std::uint64_t e = first;
  if (uniform && type == dtype::float32)
    e += static_cast<std::uint64_t>(
        write_uniform(reinterpret_cast<float*>(to) + first, a, b, key, first, static_cast<std::int64_t>(last - first)));
  for (; e < last; ++e) {
    const double number = initial_number(kind, key, e, a, b);
    if (type == dtype::float32)
      store_as(to + e * sizeof(float), static_cast<float>(number));
    else
      store_scalar(to + e * size, type, number);
  }
}

TAGMA_COLD TAGMA_DECL void fill_with(std::byte* to, std::size_t all, const std::byte* element, std::size_t size) {
  std::memcpy(to, element, size);
  for (std::size_t done = size; done < all; done *= 2)
    std::memcpy(to + done, to, done < all - done ? done : all - done);
}
}  // namespace detail

TAGMA_COLD TAGMA_DECL void write_initial_value(std::byte* to, const tensor_spec& spec, ir::attribute initializer,
                                               const carried_value* value, double a, const random_key& key,
                                               executor* threads) {
  auto kind = static_cast<initializer_kind>(initializer);
  double b = 0;
  if (initializer == tagma::detail::carried_kind || initializer == tagma::detail::literal_kind) {
    if (value == nullptr) fail(status_code::internal, "a variable has lost its initial value");
    kind = initializer == tagma::detail::literal_kind ? initializer_kind::constant
                                                      : static_cast<initializer_kind>(value->integer);
    a = value->number;
    b = value->second;
    if (kind == initializer_kind::data) {
      if (value->bytes.size() > 0) std::memcpy(to, value->bytes.data(), value->bytes.size());
      return;
    }
  }
  // A truncated normal of standard deviation s has variance (0.8796 s)^2; the quotient restores the variance asked for.
  constexpr double truncated = 0.87962566103423978;
  const fans f = fans_of(spec.dims);
  bool is_drawn = true;
  switch (kind) {
    case initializer_kind::zeros:
      a = 0;
      is_drawn = false;
      break;
    case initializer_kind::ones:
      a = 1;
      is_drawn = false;
      break;
    case initializer_kind::constant:
    case initializer_kind::derived:
      is_drawn = false;
      break;
    case initializer_kind::glorot_uniform:
      b = __builtin_sqrt(6 / (f.in + f.out));
      a = -b;
      break;
    case initializer_kind::he_uniform:
      b = __builtin_sqrt(6 / f.in);
      a = -b;
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
  const auto count = static_cast<std::uint64_t>(spec.dims.elements());
  const std::size_t size = size_of(spec.type);
  std::byte element[8]{};  // rounded here, where denormal numbers stay
  if (!is_drawn) detail::store_scalar(element, spec.type, a);
  // Bytes that are all the same take what the system does for new pages: 4 MiB are two of the largest.
  const std::uint64_t per_task = is_drawn ? 8192 : (4 << 20) / size;
  const auto some = [&](std::int64_t t) {
    const std::uint64_t first = static_cast<std::uint64_t>(t) * per_task, left = count - first;
    const std::uint64_t own = left < per_task ? left : per_task;
    if (is_drawn)
      detail::write_drawn(to, spec.type, kind, a, b, key, first, first + own);
    else
      detail::fill_with(to + first * size, own * size, element, size);
  };
  const auto tasks = static_cast<std::int64_t>((count + per_task - 1) / per_task);
  if (threads == nullptr) {
    for (std::int64_t t = 0; t < tasks; ++t) some(t);
  } else {
    const kernel_scope ready(*threads);  // the caller rounds as the others do
    threads->parallel_for(tasks, some);
  }
}

}  // namespace tagma::runtime
