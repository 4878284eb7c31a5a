// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Boxes of elements on the CPU: slices, padding, concatenation.

#include <cstring>

#include "tagma/device/cpu/copy.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/movement.hpp"

namespace tagma::device {
namespace cpu::detail {

/// One element over and over again; a template for the same reason as `padded_rows`.
template <class>
struct repeated_element {
  static constexpr std::int64_t length = 64;
  alignas(64) std::byte bytes[length]{};
  bool zeros = true;

  /// @param element of a size that is a power of two; zeros without one
  repeated_element(const std::byte* element, std::size_t size) {
    if (element == nullptr) return;
    for (std::size_t i = 0; i < std::size_t{length}; ++i) {
      bytes[i] = element[i % size];
      zeros = zeros && bytes[i] == std::byte{};
    }
  }
  /// Whole elements.
  void fill(std::byte* to, std::int64_t count) const {
    if (zeros || count < length) {
      zeros ? std::memset(to, 0, static_cast<std::size_t>(count))
            : std::memcpy(to, bytes, static_cast<std::size_t>(count));
      return;
    }
    for (std::int64_t i = 0; i + length <= count; i += length) std::memcpy(to + i, bytes, length);
    std::memcpy(to + count - length, bytes, length);
  }
};

/// A tensor with one element all around it. Trailing axes without any, and the one before them, are one row of bytes;
/// each byte is written once.
/// @tparam Operand `operand`; programs that pad nothing compile nothing of a template
template <class Operand>
class padded_rows {
 public:
  padded_rows(const Operand& from, const Operand& to, const extent* first, const std::byte* value)
      : from_(from), to_(to), first_(first), value_(value, size_of(to.type)), outer_(to.dims.rank) {
    middle_ = row_ = static_cast<std::int64_t>(size_of(to.type));
    bool whole = true;
    while (whole && outer_ > 0) {
      --outer_;
      whole = from.dims[outer_] == to.dims[outer_];
      left_ = first[outer_] * row_;
      middle_ = from.dims[outer_] * row_;
      row_ *= to.dims[outer_];
    }
  }

  /// Rows that are long are shared in parts.
  void write(const run_context& context) const {
    const std::int64_t rows = to_.dims.elements(0, outer_);
    const std::int64_t parts = row_ < 2 * small_copy_task_bytes ? 1 : pieces(row_, small_copy_task_bytes);
    const std::int64_t part = parts == 1 ? row_ : small_copy_task_bytes;
    over_pieces(rows * parts, part, context, [&](std::int64_t i, std::int64_t last) {
      if (parts == 1) return write_rows(i, last);
      for (; i < last; ++i) {
        const std::int64_t begin = i % parts * part;
        write_part(i / parts, begin, row_ - begin < part ? row_ : begin + part);
      }
    });
  }

 private:
  struct neighbours {
    const std::byte* source;  ///< null where there is nothing but the element
    std::int64_t count;
  };
  /// Row `row` and the ones behind it that lie in the tensor as it does.
  [[nodiscard]] neighbours look_at(std::int64_t row) const {
    neighbours found{from_.data, 1};
    std::int64_t step = middle_;
    for (int a = outer_ - 1; a >= 0; --a) {
      const extent size = to_.dims[a], at = row % size - first_[a];
      const bool inside = at >= 0 && at < from_.dims[a];
      if (a == outer_ - 1) found.count = inside ? from_.dims[a] - at : at < 0 ? -at : size - first_[a] - at;
      if (!inside) found.source = nullptr;
      if (found.source != nullptr) found.source += at * step;
      step *= from_.dims[a];
      row /= size;
    }
    return found;
  }

  void write_rows(std::int64_t row, std::int64_t last) const {
    // Of short rows, some are in the cache while first their middles and then their ends are written.
    const std::int64_t together = 1 + 8192 / row_, gap = row_ - middle_;
    while (row < last) {
      auto [source, count] = look_at(row);
      if (count > last - row) count = last - row;
      std::byte* to = to_.data + row * row_;
      row += count;
      if (source == nullptr) {
        value_.fill(to, count * row_);
        continue;
      }
      for (std::int64_t some = 0; count > 0; count -= some, to += some * row_, source += some * middle_) {
        some = count < together ? count : together;
        copy_rows(to + left_, row_, source, middle_, some, middle_);
        if (gap == 0) continue;
        std::byte* right = to + left_ + middle_;
        value_.fill(to, left_);
        if (gap <= repeated_element<Operand>::length)
          copy_rows(right, row_, value_.bytes, 0, some - 1, gap);
        else
          for (std::int64_t i = 0; i + 1 < some; ++i) value_.fill(right + i * row_, gap);
        value_.fill(right + (some - 1) * row_, gap - left_);
      }
    }
  }

  /// Bytes `begin` to `end` of a row.
  void write_part(std::int64_t row, std::int64_t begin, std::int64_t end) const {
    const std::byte* const source = look_at(row).source;
    std::byte* const to = to_.data + row * row_;
    const auto between = [&](std::int64_t i) { return i < begin ? begin : i < end ? i : end; };
    const std::int64_t left = source == nullptr ? end : between(left_);
    const std::int64_t right = source == nullptr ? end : between(left_ + middle_);
    value_.fill(to + begin, left - begin);
    if (right > left) copy_bytes(to + left, source + (left - left_), right - left);
    value_.fill(to + right, end - right);
  }

  const Operand &from_, &to_;
  const extent* first_;
  repeated_element<Operand> value_;
  int outer_;
  std::int64_t left_ = 0, middle_, row_;  // bytes
};

}  // namespace cpu::detail

template <>
struct movement<on_cpu> {
  static void move_box(const operand& from, const extent* from_first, const operand& to, const extent* to_first,
                       const shape& extents, const run_context& context) {
    cpu::box b{extents, from.dims, to.dims, {}, {}};
    for (int a = 0; a < extents.rank; ++a) {
      b.from_first[a] = from_first[a];
      b.to_first[a] = to_first[a];
    }
    cpu::copy_box(to.data, from.data, b, size_of(to.type), context);
  }
  template <class Operand>
  static void pad_box(const Operand& from, const Operand& to, const extent* to_first, const std::byte* value,
                      const run_context& context) {
    if (to.elements() > 0) cpu::detail::padded_rows<Operand>(from, to, to_first, value).write(context);
  }
};

}  // namespace tagma::device
