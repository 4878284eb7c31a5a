// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Moves boxes of elements from one tensor to another, whatever their type.

#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/device/index.hpp"
#include "tagma/runtime/kernel.hpp"

namespace tagma::device::cpu {

/// Bytes that make a task of their own when memory is moved.
inline constexpr std::int64_t copy_task_bytes = std::int64_t{1} << 18;
/// The same where at most twice as many are moved, which threads share that are awake.
inline constexpr std::int64_t small_copy_task_bytes = std::int64_t{1} << 16;

/// A box of elements and where it lies in the tensor it comes from and in the one it goes to.
struct box {
  shape extents;
  shape from_dims, to_dims;
  extent from_first[max_rank]{};
  extent to_first[max_rank]{};
};

/// Copies a few bytes; the common sizes without a call.
void copy_bytes(std::byte* to, const std::byte* from, std::int64_t bytes);

/// Rows of up to so many bytes are `copy_short_row`'s.
inline constexpr std::int64_t short_row_bytes = 32;

/// Copies a row of at most 32 bytes without a call.
/// @param more whether 16 bytes may be read and written even if the row has fewer: rows that follow each other are
///             written in order, so each makes good what the one before it has spoilt
TAGMA_INLINE void copy_short_row(std::byte* to, const std::byte* from, std::int64_t bytes, bool more) {
  if (bytes >= 16) {
    std::memcpy(to, from, 16);
    std::memcpy(to + bytes - 16, from + bytes - 16, 16);
  } else if (more) {
    std::memcpy(to, from, 16);
  } else {
    for (std::int64_t i = 0; i < bytes; ++i) to[i] = from[i];
  }
}

/// Copies `count` rows of `bytes` bytes, which begin so many bytes apart; short ones without a call for each.
void copy_rows(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step, std::int64_t count,
               std::int64_t bytes);

namespace detail {
/// Rows of `Piece` bytes or more, up to twice that: two pieces, which may overlap.
template <int Piece>
void copy_two_pieces(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
                     std::int64_t count, std::int64_t bytes) {
  const std::int64_t last = bytes - Piece;
  for (std::int64_t i = 0; i < count; ++i, to += to_step, from += from_step) {
    std::memcpy(to, from, Piece);
    std::memcpy(to + last, from + last, Piece);
  }
}

struct piecewise {
  void (*some)(const void*, std::int64_t, std::int64_t);
  const void* object;
};
void run_pieces(std::int64_t count, std::int64_t bytes, const runtime::run_context& context, const piecewise& work);
}  // namespace detail

/// Runs `some(first, last)` over `count` pieces of `bytes` each, on several threads if there is enough to move.
template <class Some>
void over_pieces(std::int64_t count, std::int64_t bytes, const runtime::run_context& context, const Some& some) {
  detail::run_pieces(count, bytes, context,
                     {[](const void* object, std::int64_t first, std::int64_t last) {
                        (*static_cast<const Some*>(object))(first, last);
                      },
                      &some});
}

/// Copies a box.
/// @param size bytes of one element
void copy_box(std::byte* to, const std::byte* from, const box& b, std::size_t size,
              const runtime::run_context& context);

/// Sets every element to zero; for strings, to the empty string.
inline void fill_zero(const runtime::operand& o) { std::memset(o.data, 0, o.bytes()); }

}  // namespace tagma::device::cpu

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/copy.ipp"
#endif
