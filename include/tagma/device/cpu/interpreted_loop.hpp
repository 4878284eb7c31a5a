// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Fused loops whose recipe is data: block by block in cache, one vectorised body after the other over rows of scratch
/// memory. The bytes are those of loops that were compiled.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/fused.hpp"
#include "tagma/device/loop_recipe.hpp"

namespace tagma::device::cpu {

namespace detail {

/// Bodies of recipes are spans.
/// @{
[[nodiscard]] inline loop_body body_of(span_function span) { return reinterpret_cast<loop_body>(span); }
[[nodiscard]] inline span_function span_of(loop_body body) { return reinterpret_cast<span_function>(body); }
/// @}

/// Elements of a block, of which a few rows fit into the first cache.
inline constexpr std::int64_t block_elements = 512;
inline constexpr std::size_t row_bytes = static_cast<std::size_t>(block_elements) * 8;

/// Where the rows of a tensor that a loop reads are: one behind the other, one for all rows of the loop, or elsewhere.
enum class rows_of_load : std::uint8_t { dense, same, other };

struct interpreted_state final : kernel_state {
  explicit interpreted_state(const kernel_args& args);
  loop_extents extents;
  const loop_recipe& recipe;
  std::int64_t result_size = 1;
  std::int64_t rows_at_once = 1;  ///< short rows share a block
  rows_of_load rows[most_loads]{};
};

/// As many copies of an element as a block has.
void repeat_element(std::byte* to, const std::byte* from, std::int64_t size, std::int64_t n);

/// Computes `n` neighbouring elements.
/// @param repeated for each tensor that is read, whether all of them read one element
void interpret(const interpreted_state& s, std::byte* out, const std::byte* const* in, const bool* repeated,
               std::int64_t n, std::byte* scratch);

/// Rows `first` to `last` of a loop whose rows share blocks.
void interpret_short_rows(const interpreted_state& s, const kernel_args& args, std::int64_t first, std::int64_t last,
                          std::byte* scratch);

void interpret_part(const kernel_args& args, std::int64_t first, std::int64_t last);

/// As `run_loop`, with the same split.
void run_interpreted(const kernel_args& args, const run_context& context);

owned<kernel_state> prepare_interpreted(const kernel_args& args, const run_context&);

}  // namespace detail

/// The kernel of a loop.
/// @param recipe outlives all calls
[[nodiscard]] kernel_entry interpreted(const loop_recipe& recipe);

}  // namespace tagma::device::cpu

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/interpreted_loop.ipp"
#endif
