// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of copy.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/copy.hpp"

namespace tagma::device::cpu {

TAGMA_DECL void copy_bytes(std::byte* to, const std::byte* from, std::int64_t bytes) {
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

}  // namespace tagma::device::cpu

namespace tagma::device::cpu::detail {

TAGMA_COLD TAGMA_DECL void run_pieces(std::int64_t count, std::int64_t bytes, const runtime::run_context& context,
                                      const piecewise& work) {
  const std::int64_t each = bytes > 0 ? bytes : 1;
  const bool small = count <= 2 * copy_task_bytes / each;
  const std::int64_t per_task = 1 + (small ? small_copy_task_bytes : copy_task_bytes) / each;
  const std::int64_t tasks = pieces(count, per_task);
  if (tasks <= 2) return work.some(work.object, 0, count);
  context.threads->parallel_for(
      tasks, [&](std::int64_t t) { work.some(work.object, t * per_task, t + 1 == tasks ? count : (t + 1) * per_task); },
      small ? runtime::helpers::awake : runtime::helpers::woken);
}

}  // namespace tagma::device::cpu::detail

namespace tagma::device::cpu {

TAGMA_DECL void copy_rows(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
                          std::int64_t count, std::int64_t bytes) {
  using detail::copy_two_pieces;
  if (bytes < 1) return;
  const auto copy = bytes < 2     ? &copy_two_pieces<1>
                    : bytes < 4   ? &copy_two_pieces<2>
                    : bytes < 8   ? &copy_two_pieces<4>
                    : bytes < 16  ? &copy_two_pieces<8>
                    : bytes < 32  ? &copy_two_pieces<16>
                    : bytes <= 64 ? &copy_two_pieces<32>
                                  : nullptr;
  if (copy != nullptr) return copy(to, to_step, from, from_step, count, bytes);
  for (std::int64_t i = 0; i < count; ++i, to += to_step, from += from_step) copy_bytes(to, from, bytes);
}

TAGMA_DECL void copy_box(std::byte* to, const std::byte* from, const box& b, std::size_t size,
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
  // Finds where a row begins.
  const auto look = [&](std::int64_t row, extent* at, const std::byte*& source, std::byte*& target) {
    for (int a = outer - 1; a >= 0; --a) {
      at[a] = row % b.extents[a];
      row /= b.extents[a];
      source += at[a] * from_stride[a];
      target += at[a] * to_stride[a];
    }
  };
  // Parts of long rows, as many as two threads share evenly, or four, of whole lines of the cache.
  if (bytes >= copy_task_bytes && context.threads->threads() > 1) {
    const std::int64_t part = pieces(bytes, 4 * pieces(bytes, 4 * copy_task_bytes) * 64) * 64;
    const std::int64_t parts = pieces(bytes, part);
    return context.threads->parallel_for(
        rows * parts,
        [&](std::int64_t task) {
          extent at[max_rank]{};
          const std::byte* source = from;
          std::byte* target = to;
          look(task / parts, at, source, target);
          const std::int64_t begin = task % parts * part, rest = bytes - begin;
          copy_bytes(target + begin, source + begin, rest < part ? rest : part);
        },
        rows * bytes <= 2 * copy_task_bytes ? runtime::helpers::awake : runtime::helpers::woken);
  }
  over_pieces(rows, bytes, context, [&](std::int64_t first, std::int64_t last) {
    extent at[max_rank]{};
    const std::byte* source = from;
    std::byte* target = to;
    look(first, at, source, target);
    const int inner = outer - 1;
    for (std::int64_t row = first; row < last;) {
      const std::int64_t more = inner < 0 ? 1 : b.extents[inner] - at[inner];
      const std::int64_t count = more < last - row ? more : last - row;
      const std::int64_t from_step = inner < 0 ? 0 : from_stride[inner], to_step = inner < 0 ? 0 : to_stride[inner];
      copy_rows(target, to_step, source, from_step, count, bytes);
      row += count;
      if (row == last) return;
      // To the first row of the next ones.
      source -= at[inner] * from_step;
      target -= at[inner] * to_step;
      at[inner] = 0;
      for (int a = inner - 1; a >= 0; --a) {
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

}  // namespace tagma::device::cpu
