// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Functions with branches and loops that a seed chooses.

#include <cmath>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "tagma/control_flow.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;

using values = tg::tensor<double>;
constexpr auto w = tg::placeholder<"w", double>();

[[maybe_unused]] values numbers(const tg::shape& dims, double seed) {
  values t(dims);
  for (tg::extent i = 0; i < dims.elements(); ++i) t[i] = 0.7 * std::sin(seed + 1.7 * static_cast<double>(i));
  return t;
}

/// Random functions of two vectors, in which branches and loops stand in each other: with `Decided`, elements decide;
/// else both branches are computed and all iterations are written out, and `select` takes what is wanted.
template <int Seed, int Depth, int Turn, bool Decided>
auto random_function(const auto& a, const auto& b) {
  constexpr auto key = static_cast<std::uint32_t>(Seed * 97 + Depth * 31 + Turn) * 2654435761u;
  constexpr int kind = static_cast<int>((key >> 13) % (Depth == 0 ? 4 : 8));
  const auto deeper = []<int Next>(std::integral_constant<int, Next>, const auto& c, const auto& d) {
    return random_function<Seed, (Depth == 0 ? 0 : Depth - 1), Turn * 3 + Next, Decided>(c, d);
  };
  if constexpr (kind == 0) {
    return tg::sin(a) * b;
  } else if constexpr (kind == 1) {
    return a * 0.5 + b * w;
  } else if constexpr (kind == 2) {
    return tg::tanh(a - b);
  } else if constexpr (kind == 3) {
    return a * a * 0.3 - b;
  } else if constexpr (kind < 6) {
    const auto test = [&] {
      if constexpr (kind == 4)
        return tg::sum(a) > 0.0;
      else
        return tg::sum(a * b) < 0.1;
    }();
    const auto then = [&](const auto& c, const auto& d) { return deeper(std::integral_constant<int, 0>{}, c, d) + a; };
    const auto otherwise = [&](const auto& c, const auto& d) { return deeper(std::integral_constant<int, 1>{}, d, c); };
    if constexpr (Decided)
      return tg::cond(test, then, otherwise, a, b);
    else
      return tg::select(test, then(a, b), otherwise(a, b));
  } else if constexpr (kind == 6) {
    const auto go_on = [](const auto& n, const auto& c) { return n < 1.0 + 4.0 * tg::sum(c * c); };
    const auto body = [&](const auto& c) { return deeper(std::integral_constant<int, 2>{}, c, b) * 0.8; };
    const auto zero = tg::sum(a * 0.0);
    if constexpr (Decided) {
      const auto [n, end] = tg::while_loop<3>(tg::carry(zero, a), go_on,
                                              [&](const auto& k, const auto& c) { return tg::next(k + 1.0, body(c)); });
      return tg::sin(end);
    } else {
      const auto first = go_on(zero, a);
      const auto one = tg::select(first, body(a), a);
      const auto second = tg::logical_and(first, go_on(zero + 1.0, one));
      const auto two = tg::select(second, body(one), one);
      return tg::sin(tg::select(tg::logical_and(second, go_on(zero + 2.0, two)), body(two), two));
    }
  } else {
    const auto body = [&](const auto& c) { return deeper(std::integral_constant<int, 2>{}, c, b) * 0.7; };
    if constexpr (Decided) {
      const auto [end] = tg::scan<2>(tg::carry(a), tg::over(), [&](const auto& c) { return tg::next(body(c)); });
      return tg::tanh(end);
    } else {
      return tg::tanh(body(body(a)));
    }
  }
}

}  // namespace
