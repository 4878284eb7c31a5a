// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The work of a branch: a chain of matrix products, each of which waits for the one before.

#include "protocol.hpp"
#include "tagma/base/version.hpp"
#include "tagma/tagma.hpp"

namespace branches {

namespace tg = tagma;

inline constexpr int length = 24;
inline constexpr auto a = tg::placeholder<"a", float, 96, 96>();
inline constexpr auto b = tg::placeholder<"b", float, 96, 96>();

template <int Left, tg::expression X, tg::expression W>
auto chain(const X& x, const W& w) {
  if constexpr (Left == 0)
    return x;
  else
    return chain<Left - 1>(tg::softmax(tg::matmul(x, w)), w);
}

inline tg::tensor<float> matrix(float first) {
  tg::tensor<float> m(tg::shape{96, 96});
  for (tg::extent i = 0; i < m.dims().elements(); ++i) m[i] = first + static_cast<float>(i % 7) / 7;
  return m;
}

}  // namespace branches
