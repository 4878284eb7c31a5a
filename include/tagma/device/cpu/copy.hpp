// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Moves boxes of elements from one tensor to another, whatever their type.

#include <cstring>

#include "tagma/device/index.hpp"
#include "tagma/runtime/kernel.hpp"

namespace tagma::device::cpu {

/// Bytes that make a task of their own when memory is moved.
inline constexpr std::int64_t copy_task_bytes = std::int64_t{1} << 18;

/// A box of elements and where it lies in the tensor it comes from and in the one it goes to.
struct box {
  shape extents;
  shape from_dims, to_dims;
  extent from_first[max_rank]{};
  extent to_first[max_rank]{};
};

/// Copies a few bytes; the common sizes without a call.
inline void copy_bytes(std::byte* to, const std::byte* from, std::int64_t bytes) {
  switch (bytes) {
    case 1:
      std::memcpy(to, from, 1);
      return;
    case 2:
      std::memcpy(to, from, 2);
      return;
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 8:
      std::memcpy(to, from, 8);
      return;
    case 16:
      std::memcpy(to, from, 16);
      return;
    default:
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
}

namespace detail {
struct piecewise {
  void (*some)(const void*, std::int64_t, std::int64_t);
  const void* object;
};
inline void run_pieces(std::int64_t count, std::int64_t bytes, const runtime::run_context& context,
                       const piecewise& work) {
  const std::int64_t per_task = 1 + copy_task_bytes / (bytes > 0 ? bytes : 1);
  const std::int64_t tasks = pieces(count, per_task);
  if (tasks <= 2) return work.some(work.object, 0, count);
  context.threads->parallel_for(tasks, [&](std::int64_t t) {
    work.some(work.object, t * per_task, t + 1 == tasks ? count : (t + 1) * per_task);
  });
}
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
inline void copy_box(std::byte* to, const std::byte* from, const box& b, std::size_t size,
                     const runtime::run_context& context) {
  const int rank = b.extents.rank;
  if (b.extents.elements() == 0) return;
  std::int64_t from_stride[max_rank]{}, to_stride[max_rank]{};
  auto f = static_cast<std::int64_t>(size), t = f;
  for (int a = rank - 1; a >= 0; --a) {
    from_stride[a] = f;
    to_stride[a] = t;
    from += b.from_first[a] * f;
    to += b.to_first[a] * t;
    f *= b.from_dims[a];
    t *= b.to_dims[a];
  }
  // Trailing axes that both tensors hold whole, and the one before them, are one row of bytes.
  auto bytes = static_cast<std::int64_t>(size);
  int outer = rank;
  while (outer > 0) {
    --outer;
    bytes *= b.extents[outer];
    if (b.extents[outer] != b.from_dims[outer] || b.extents[outer] != b.to_dims[outer]) break;
  }
  const std::int64_t rows = b.extents.elements(0, outer);
  over_pieces(rows, bytes, context, [&](std::int64_t first, std::int64_t last) {
    extent at[max_rank]{};
    std::int64_t rest = first;
    const std::byte* source = from;
    std::byte* target = to;
    for (int a = outer - 1; a >= 0; --a) {
      at[a] = rest % b.extents[a];
      rest /= b.extents[a];
      source += at[a] * from_stride[a];
      target += at[a] * to_stride[a];
    }
    for (std::int64_t row = first; row < last; ++row) {
      copy_bytes(target, source, bytes);
      for (int a = outer - 1; a >= 0; --a) {
        source += from_stride[a];
        target += to_stride[a];
        if (++at[a] < b.extents[a]) break;
        source -= at[a] * from_stride[a];
        target -= at[a] * to_stride[a];
        at[a] = 0;
      }
    }
  });
}

/// Sets every element to zero; for strings, to the empty string.
inline void fill_zero(const runtime::operand& o) { std::memset(o.data, 0, o.bytes()); }

}  // namespace tagma::device::cpu
