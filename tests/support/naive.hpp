// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Plain loops over multi-indices, to compare kernels with.

#include <vector>

#include "tagma/tensor/tensor.hpp"

namespace tagma::test {

using index = std::vector<extent>;

/// Calls `visit(index)` for every element of a shape, in order.
template <class Visit>
void for_each_index(const shape& dims, Visit visit) {
  index at(static_cast<std::size_t>(dims.rank));
  for (extent left = dims.elements(); left > 0; --left) {
    visit(at);
    for (int a = dims.rank; a-- > 0;) {
      extent& i = at[static_cast<std::size_t>(a)];
      if (++i < dims[a]) break;
      i = 0;
    }
  }
}

/// Where a tensor of the shape `dims` has the element at an index of a shape that it broadcasts to.
[[nodiscard]] inline extent offset_at(const shape& dims, const index& i) {
  const std::size_t lead = i.size() - static_cast<std::size_t>(dims.rank);
  extent offset = 0;
  for (int a = 0; a < dims.rank; ++a)
    offset = offset * dims[a] + (dims[a] == 1 ? 0 : i[lead + static_cast<std::size_t>(a)]);
  return offset;
}

/// The element of `t` at an index of a shape that it broadcasts to.
template <class T>
[[nodiscard]] T at(const tensor<T>& t, const index& i) {
  return t[offset_at(t.dims(), i)];
}

/// `f` of the elements of all operands, which broadcast to `dims`.
template <class Out, class F, class... T>
[[nodiscard]] tensor<Out> naive_map(const shape& dims, F f, const tensor<T>&... operands) {
  tensor<Out> out(dims);
  extent n = 0;
  for_each_index(dims, [&](const index& i) { out[n++] = static_cast<Out>(f(at(operands, i)...)); });
  return out;
}

/// Elements in a fixed disorder between two numbers.
template <class T>
[[nodiscard]] tensor<T> scattered(const shape& dims, double low, double high, std::uint64_t seed = 1) {
  tensor<T> t(dims);
  std::uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  for (extent i = 0; i < dims.elements(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double unit = static_cast<double>(state >> 11) / 9007199254740992.0;
    t[i] = static_cast<T>(low + (high - low) * unit);
  }
  return t;
}

/// The largest distance of two tensors, relative to the larger of 1 and the expected element; infinite if shapes
/// differ.
template <class T>
[[nodiscard]] double distance(const tensor<T>& found, const tensor<T>& expected) {
  if (!(found.dims() == expected.dims())) return __builtin_huge_val();
  double worst = 0;
  const T *f = found.data(), *x = expected.data();
  for (extent left = expected.dims().elements(); left > 0; --left, ++f, ++x) {
    const double e = static_cast<double>(*x), d = static_cast<double>(*f) - e;
    if (!(*f == *x))
      worst = __builtin_fmax(worst, __builtin_isnan(d) ? __builtin_huge_val()
                                                       : __builtin_fabs(d) / __builtin_fmax(1.0, __builtin_fabs(e)));
  }
  return worst;
}

}  // namespace tagma::test
