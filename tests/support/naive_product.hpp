// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Products of matrices by plain loops, to compare kernels with.

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "support/naive.hpp"
#include "support/sanitizers.hpp"

namespace tagma::test {

/// A matrix of `rows` and `columns` in the type of sums, packed: of one with so much distance between its rows, or of
/// the one that is this one turned. As add_product, it may not be instrumented, which would take most of the time of
/// tests: kernels, which are, read the same elements.
template <class Sum, class T>
UNSANITIZED void widen(const T* from, bool turned, extent distance, extent rows, extent columns, Sum* to) {
  for (extent i = 0; i < rows; ++i)
    for (extent j = 0; j < columns; ++j) {
      const T* const v = from + (turned ? j * distance + i : i * distance + j);
      if constexpr (std::is_arithmetic_v<T>)
        to[i * columns + j] = static_cast<Sum>(*v);
      else
        to[i * columns + j] = static_cast<Sum>(static_cast<float>(*v));
    }
}

/// c[m, n] += a[m, k] * b[k, n]: the terms of an element in order, a row of elements at a time.
template <class Sum>
UNSANITIZED void add_product(const Sum* a, const Sum* b, Sum* c, extent m, extent k, extent n) {
  for (extent i = 0; i < m; ++i)
    for (extent p = 0; p < k; ++p) {
      const Sum factor = a[i * k + p];
      const Sum* const row = b + p * n;
      Sum* const sums = c + i * n;
      for (extent j = 0; j < n; ++j) sums[j] += factor * row[j];
    }
}

/// The sums of a[m, k] times b[k, n], which may be turned and have so much distance between their rows.
template <class Sum, class A, class B>
[[nodiscard]] std::vector<Sum> naive_sums(const A* a, bool turned_a, extent distance_a, const B* b, bool turned_b,
                                          extent distance_b, extent m, extent k, extent n) {
  std::vector<Sum> x(static_cast<std::size_t>(m * k)), y(static_cast<std::size_t>(k * n)),
      sums(static_cast<std::size_t>(m * n));
  widen(a, turned_a, distance_a, m, k, x.data());
  widen(b, turned_b, distance_b, k, n, y.data());
  add_product(x.data(), y.data(), sums.data(), m, k, n);
  return sums;
}

/// [.., m, k] times [.., k, n] of the shape `dims`, with sums of the type `Sum`; `turned_a` and `turned_b` say that an
/// operand has its last two axes exchanged, and its other axes may be stretched.
template <class Sum, class A, class B>
[[nodiscard]] tensor<Sum> naive_product(const tensor<A>& a, const tensor<B>& b, bool turned_a, bool turned_b,
                                        const shape& dims) {
  tensor<Sum> out(dims);
  if (dims.elements() == 0) return out;
  const int last = dims.rank - 1, last_a = a.dims().rank - 1;
  const extent m = dims[last - 1], n = dims[last], k = a.dims()[turned_a ? last_a - 1 : last_a];
  for (Sum& v : out.span()) v = Sum(0);
  if (k == 0) return out;
  shape matrices = dims;  // one element of each
  matrices[last - 1] = matrices[last] = 1;
  extent matrix = 0;
  for_each_index(matrices, [&](const index& i) {
    const std::vector<Sum> sums =
        naive_sums<Sum>(a.data() + offset_at(a.dims(), i), turned_a, turned_a ? m : k,
                        b.data() + offset_at(b.dims(), i), turned_b, turned_b ? k : n, m, k, n);
    std::copy(sums.begin(), sums.end(), out.data() + matrix++ * m * n);
  });
  return out;
}

}  // namespace tagma::test
