// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Sorts on the CPU, by the digits of ordered words: the least significant one first, each leaving what it finds equal
/// as it was.

#include "tagma/device/cpu/copy.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/ordered.hpp"
#include "tagma/expr/op/sort.hpp"

namespace tagma::device::cpu {

namespace detail {

/// Puts the positions 0 to n - 1 in the order of their words, the lower position first of equal ones.
/// @param word gives the word of a position
/// @param order room for n positions, where they are put
/// @param other room for as many
template <class Word>
void order_by(const Word& word, std::int64_t n, std::int64_t* order, std::int64_t* other) {
  constexpr std::size_t digits = sizeof(word(0));
  constexpr std::int64_t few = 32;
  if (n <= few) {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto own = word(i);
      std::int64_t at = i;
      for (; at > 0 && word(order[at - 1]) > own; --at) order[at] = order[at - 1];
      order[at] = i;
    }
    return;
  }
  const auto digit = [&word](std::int64_t i, std::size_t d) {
    return static_cast<std::size_t>(word(i) >> (8 * d)) & 255;
  };
  std::int64_t counts[digits][256]{};
  for (std::int64_t i = 0; i < n; ++i)
    for (std::size_t d = 0; d < digits; ++d) ++counts[d][digit(i, d)];
  std::int64_t* const result = order;
  for (std::int64_t i = 0; i < n; ++i) order[i] = i;
  for (std::size_t d = 0; d < digits; ++d) {
    if (counts[d][digit(0, d)] == n) continue;  // all have the same
    std::int64_t next = 0;
    for (std::int64_t& count : counts[d]) {
      const std::int64_t first = next;
      next += count;
      count = first;
    }
    for (std::int64_t i = 0; i < n; ++i) other[counts[d][digit(order[i], d)]++] = order[i];
    std::swap(order, other);
  }
  if (order != result) std::memcpy(result, order, static_cast<std::size_t>(n) * sizeof(std::int64_t));
}

template <class T>
void argsort(const kernel_args& args, const run_context& context) {
  const shape& dims = args.in[0].dims;
  const std::int64_t n = dims[dims.rank - 1], rows = dims.elements(0, dims.rank - 1);
  const auto flip = static_cast<word_of<T>>(args.attributes[0] != 0 ? ~std::uint64_t{0} : 0);
  std::int64_t* const other = static_cast<scratch<std::int64_t>*>(args.state)->data();
  over_pieces(rows, 128 * n, context, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t r = first; r < last; ++r) {
      const T* const row = args.in[0].as<const T>() + r * n;
      order_by([row, flip](std::int64_t i) { return static_cast<word_of<T>>(ordered_word(row[i]) ^ flip); }, n,
               args.out.as<std::int64_t>() + r * n, other + r * n);
    }
  });
}

}  // namespace detail

template <>
struct kernel<ir::key<op::argsort>> {
  template <dtype, dtype In, dtype...>
  static constexpr kernel_entry entry{&detail::argsort<stored<In>>,
                                      [](const kernel_args& args, const run_context&) -> owned<kernel_state> {
                                        return make_owned<scratch<std::int64_t>>(args.out.elements());
                                      }};
};

}  // namespace tagma::device::cpu
