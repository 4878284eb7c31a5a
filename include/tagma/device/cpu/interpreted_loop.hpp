// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Fused loops whose recipe is data: block by block in cache, one vectorised body after the other over rows of scratch
/// memory. A body is a loop of one operation, so each result is rounded as in a loop that was compiled, and the bytes
/// are the same. As there, values of 16 bits are floats until they are stored.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/fused.hpp"

namespace tagma::device::cpu {

/// The most values in scratch memory: loads that are converted or repeated, results, and one on its way.
inline constexpr std::size_t most_rows = most_loads + ir::max_group + 1;

/// What a loop does with a block: calls `span` over rows.
struct loop_call {
  span_function span = nullptr;
  std::int16_t operand[3]{};  ///< loads first, then rows of scratch memory
  std::int16_t operands = 0;
  std::int16_t result = 0;  ///< a row, or -1 for the result of the loop
};
/// A tensor that a loop reads: where its elements are, or in a row of scratch memory.
struct loop_input {
  std::int64_t size = 1;            ///< bytes of an element
  bool repeated = false;            ///< one element stands for a whole row
  span_function convert = nullptr;  ///< from 16 bits to float
  std::int16_t row = -1;            ///< of what is repeated or converted
};

/// A fused loop as data.
struct loop_recipe {
  heap_array<loop_input> inputs;
  heap_array<loop_call> calls;
  std::size_t rows = 0;  ///< of scratch memory
};

namespace detail {

/// Elements of a block, of which a few rows fit into the first cache.
inline constexpr std::int64_t block_elements = 512;
inline constexpr std::size_t row_bytes = static_cast<std::size_t>(block_elements) * 8;

struct interpreted_state final : kernel_state {
  explicit interpreted_state(const kernel_args& args)
      : extents(args), recipe(*static_cast<const loop_recipe*>(args.recipe)) {}
  loop_extents extents;
  const loop_recipe& recipe;
  std::int64_t result_size = 1;
};

/// As many copies of an element as a block has.
void repeat_element(std::byte* to, const std::byte* from, std::int64_t size, std::int64_t n);

/// Computes `n` neighbouring elements.
void interpret(const interpreted_state& s, std::byte* out, const std::byte* const* in, std::int64_t n,
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
