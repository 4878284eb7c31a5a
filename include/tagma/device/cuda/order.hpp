// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Positions in order, on the device: one stable sort after another, by the least significant key first. Keys have 32
/// bits, so that there is one sort for all types: elements of 64 bits have two keys, and with several rows the number
/// of the row is the last key.

#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/sort.hpp"
#include "tagma/device/ordered.hpp"

namespace tagma::device::cuda {

namespace detail {

/// @tparam Keys gives the key of a position
template <class Keys>
struct order_keys_body {
  struct arguments {
    Keys keys;
    std::uint32_t* to;
    std::uint32_t* positions;
    std::int64_t count;
    bool first;  ///< positions are not there yet
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    for (std::int64_t i = at.index(); i < a.count; i += at.count()) {
      if (a.first) a.positions[i] = static_cast<std::uint32_t>(i);
      a.to[i] = a.keys.key(a.positions[i]);
    }
  }
};

/// Writes the first `k` of each `n` ordered positions, counted within their row.
struct positions_body {
  struct arguments {
    const std::uint32_t* order;
    std::int64_t* to;
    std::int64_t count, n, k;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    for (std::int64_t i = at.index(); i < a.count; i += at.count()) {
      const std::int64_t row = quotient(i, a.k), first = row * a.n;
      a.to[i] = static_cast<std::int64_t>(a.order[first + i - row * a.k]) - first;
    }
  }
};

/// Elements, the smallest first or the largest.
template <class T>
struct element_keys {
  const T* from;
  bool descending;
  int shift;  ///< of the word, to the bits that are the key
  TAGMA_DEVICE std::uint32_t key(std::uint32_t i) const {
    const word_of<T> word = ordered_word(from[i]);
    return static_cast<std::uint32_t>((descending ? static_cast<word_of<T>>(~word) : word) >> shift);
  }
};
/// Rows of `n` elements.
struct row_number_keys {
  std::int64_t n;
  TAGMA_DEVICE std::uint32_t key(std::uint32_t i) const { return static_cast<std::uint32_t>(quotient(i, n)); }
};

}  // namespace detail

/// Positions that are being sorted, in working memory of the stream.
class ordered_positions {
 public:
  /// Reserves working memory for `count` positions; 2^32 and more are Unimplemented.
  /// @param more bytes behind it, for whoever asks
  static void reserve(std::int64_t count, const run_context& context, std::size_t more = 0) {
    if (!can_be_sorted(count)) fail(status_code::unimplemented, {"the GPU sorts less than 2^32 elements, not ", count});
    resources_of(context).reserve(workspace_part(sort_memory{count}.bytes()) + more);
  }

  ordered_positions(std::int64_t count, const run_context& context)
      : memory_{count}, arrays_(memory_.arrays(resources_of(context).workspace())), context_(context) {}

  /// Puts the positions in the order of elements, NaN as the largest.
  template <class T>
  void sort_elements(const T* from, bool descending) {
    constexpr int bits = sizeof(T) < 4 ? static_cast<int>(8 * sizeof(T)) : 32;
    for (int shift = 0; shift < static_cast<int>(8 * sizeof(T)); shift += bits)
      sort_by(detail::element_keys<T>{from, descending, shift}, bits);
  }
  /// Puts the positions in the order of their keys; those of equal keys stay as they are.
  /// @param bits the lowest bits of keys that count
  template <class Keys>
  void sort_by(const Keys& keys, int bits) {
    launch<detail::order_keys_body<Keys>>(geometry::over(arrays_.count), context_,
                                          {keys, arrays_.keys, arrays_.values, arrays_.count, first_});
    arrays_.bits = bits;
    memory_.sort(arrays_, context_);
    std::swap(arrays_.values, arrays_.sorted_values);
    first_ = false;
  }
  /// The positions, and the last keys in their order.
  [[nodiscard]] const std::uint32_t* get() const { return arrays_.values; }
  [[nodiscard]] const std::uint32_t* keys() const { return arrays_.sorted_keys; }

 private:
  sort_memory memory_;
  sort_arrays arrays_;
  const run_context& context_;
  bool first_ = true;
};

/// Puts the positions of the elements of rows in the order of rows, and in each of the elements. NaN counts as the
/// largest; of equal elements the lower position comes first. There is at least one element.
template <class T>
void sort_rows(ordered_positions& order, const operand& in, bool descending) {
  const std::int64_t n = in.dims[in.dims.rank - 1], rows = quotient(in.elements(), n);
  order.sort_elements(in.as<const T>(), descending);
  if (rows > 1) order.sort_by(detail::row_number_keys{n}, significant_bits(rows - 1));
}

/// Writes the positions of the elements of each row of `in` in their order, as many as a row of `out` has. Memory is
/// that of `ordered_positions::reserve`.
template <class T>
void order_rows(const operand& in, const operand& out, bool descending, const run_context& context) {
  const std::int64_t n = in.dims[in.dims.rank - 1], k = out.dims[out.dims.rank - 1];
  if (out.elements() == 0) return;
  ordered_positions order(in.elements(), context);
  sort_rows<T>(order, in, descending);
  launch<detail::positions_body>(geometry::over(out.elements()), context,
                                 {order.get(), out.as<std::int64_t>(), out.elements(), n, k});
}

}  // namespace tagma::device::cuda
