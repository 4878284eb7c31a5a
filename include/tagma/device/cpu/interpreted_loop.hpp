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
inline void repeat_element(std::byte* to, const std::byte* from, std::int64_t size, std::int64_t n) {
  const auto fill = [&]<class T>(T element) {
    __builtin_memcpy(&element, from, sizeof element);
    T* const row = reinterpret_cast<T*>(to);
    for (std::int64_t i = 0; i < n; ++i) row[i] = element;
  };
  switch (size) {
    case 1:
      return fill(std::uint8_t{});
    case 2:
      return fill(std::uint16_t{});
    case 4:
      return fill(std::uint32_t{});
    default:
      return fill(std::uint64_t{});
  }
}

/// Computes `n` neighbouring elements.
inline void interpret(const interpreted_state& s, std::byte* out, const std::byte* const* in, std::int64_t n,
                      std::byte* scratch) {
  const loop_recipe& r = s.recipe;
  const std::byte* value[most_loads + most_rows];
  const auto row = [&](std::int16_t i) { return scratch + static_cast<std::size_t>(i) * row_bytes; };
  const std::size_t loads = r.inputs.size();
  for (std::size_t i = 0; i < r.rows; ++i) value[loads + i] = row(static_cast<std::int16_t>(i));
  const std::int64_t most = n < block_elements ? n : block_elements;
  for (std::size_t l = 0; l < loads; ++l) {
    const loop_input& input = r.inputs[l];
    value[l] = input.row < 0 ? in[l] : row(input.row);
    if (!input.repeated) continue;
    if (input.convert == nullptr) {
      repeat_element(row(input.row), in[l], input.size, most);
    } else {
      std::byte one[sizeof(float)];
      input.convert(one, in + l, 1);
      repeat_element(row(input.row), one, sizeof one, most);
    }
  }
  for (std::int64_t i = 0; i < n; i += block_elements) {
    const std::int64_t count = n - i < block_elements ? n - i : block_elements;
    for (std::size_t l = 0; l < loads; ++l) {
      const loop_input& input = r.inputs[l];
      if (input.repeated) continue;
      const std::byte* const from = in[l] + i * input.size;
      if (input.convert == nullptr)
        value[l] = from;
      else
        input.convert(row(input.row), &from, count);
    }
    for (const loop_call& c : r.calls) {
      const std::byte* from[3];
      for (int k = 0; k < c.operands; ++k) from[k] = value[c.operand[k]];
      c.span(c.result < 0 ? out + i * s.result_size : row(c.result), from, count);
    }
  }
}

[[gnu::noinline]] inline void interpret_part(const kernel_args& args, std::int64_t first, std::int64_t last) {
  const auto& s = *static_cast<const interpreted_state*>(args.state);
  alignas(64) std::byte scratch[most_rows * row_bytes];  // of which rows that are not used are never touched
  const loop_extents& e = s.extents;
  const std::byte* in[most_loads];
  if (e.rows == 1) {
    for (std::size_t l = 0; l < args.in.size(); ++l)
      in[l] = args.in[l].data + (s.recipe.inputs[l].repeated ? 0 : first * s.recipe.inputs[l].size);
    return interpret(s, args.out.data + first * s.result_size, in, last - first, scratch);
  }
  for (std::int64_t r = first; r < last; ++r) {
    point_at_row(e, args, r, in);
    interpret(s, args.out.data + r * e.inner * s.result_size, in, e.inner, scratch);
  }
}

/// As `run_loop`, with the same split.
inline void run_interpreted(const kernel_args& args, const run_context& context) {
  share_loop(static_cast<const interpreted_state*>(args.state)->extents, args, context, &interpret_part);
}

[[gnu::cold]] inline owned<kernel_state> prepare_interpreted(const kernel_args& args, const run_context&) {
  auto state = make_owned<interpreted_state>(args);
  state->result_size = static_cast<std::int64_t>(size_of(args.out.type));
  return state;
}

}  // namespace detail

/// The kernel of a loop.
/// @param recipe outlives all calls
[[nodiscard]] inline kernel_entry interpreted(const loop_recipe& recipe) {
  kernel_entry entry{&detail::run_interpreted, &detail::prepare_interpreted};
  entry.recipe = &recipe;
  return entry;
}

}  // namespace tagma::device::cpu
