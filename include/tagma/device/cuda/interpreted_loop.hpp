// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Fused loops that are data, on a GPU: by one kernel, if they compute with floats, doubles, or integers of 32 or of 64
/// bits, else operation by operation, by way of working memory. Both round in the same places.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/number_loop.hpp"

namespace tagma::device::cuda {

namespace detail {

/// Bodies of recipes do one operation over tensors that all step.
using apart_function = void (*)(const std::byte* const* in, std::byte* out, std::int64_t count, const run_context&);
[[nodiscard]] inline apart_function apart_of(loop_body body) { return reinterpret_cast<apart_function>(body); }

struct interpreted_state final : kernel_state {
  number_loop_arguments numbers;
  std::int64_t elements = 0;
  void (*whole)(const number_loop_arguments&, const run_context&) = nullptr;  ///< nullptr: operation by operation
  int width = 1;                        ///< elements that a thread takes at a time
  std::size_t block_bytes = 0;          ///< of a row, where operations are done one by one
  std::int16_t gathered[most_loads]{};  ///< of each load, the block where it is gathered
};

TAGMA_COLD inline owned<kernel_state> prepare_interpreted(const kernel_args& args, const run_context& context) {
  const loop_recipe& recipe = *static_cast<const loop_recipe*>(args.recipe);
  auto state = make_owned<interpreted_state>();
  const auto try_as = [&]<class T>(T) {
    state->elements = set_extents(state->numbers.loop, args, number_loop<T, 1>::width);
    state->width = number_loop<T, 1>::width;
    if (set_steps<T>(state->numbers, recipe, args)) state->whole = &launch_numbers<T>;
  };
  try_as(0.0f);
  if (state->whole == nullptr) try_as(0.0);
  if (state->whole == nullptr) try_as(std::int32_t{});
  if (state->whole == nullptr) try_as(std::int64_t{});
#if TAGMA_CUDA_EMULATION
  if (emulation::lacks_loops()) state->whole = nullptr;
#endif
  if (state->whole != nullptr || state->elements == 0) return state;
  std::size_t blocks = recipe.rows, widest = 1;
  const auto widen_to = [&](dtype type) { widest = size_of(type) > widest ? size_of(type) : widest; };
  for (const loop_call& c : recipe.calls) widen_to(c.type);
  for (std::size_t l = 0; l < args.in.size(); ++l) {
    widen_to(recipe.inputs[l].convert == nullptr ? args.in[l].type : dtype::float32);
    const loop_input& input = recipe.inputs[l];
    std::int16_t& gathered = state->gathered[l] = -1;
    if (is_in_place(box_of_load(args.in[l], l, !input.repeated, state->numbers.loop))) continue;
    const bool has_row = input.row >= 0 && input.convert == nullptr;
    gathered = has_row ? input.row : static_cast<std::int16_t>(blocks++);
  }
  state->block_bytes = workspace_part(static_cast<std::size_t>(state->elements) * widest);
  resources_of(context).reserve(blocks * state->block_bytes);
  return state;
}

/// Operation by operation.
inline void run_one_by_one(const interpreted_state& state, const kernel_args& args, const run_context& context) {
  const loop_recipe& recipe = *static_cast<const loop_recipe*>(args.recipe);
  const std::byte* at[most_loads + most_rows];
  const auto block = [&](std::size_t b) { return resources_of(context).workspace() + b * state.block_bytes; };
  const std::size_t loads = args.in.size();
  for (std::size_t r = 0; r < recipe.rows; ++r) at[loads + r] = block(r);
  for (std::size_t l = 0; l < loads; ++l) {
    const loop_input& input = recipe.inputs[l];
    at[l] = args.in[l].data;
    if (state.gathered[l] >= 0)
      at[l] = gather_load(args.in[l], l, !input.repeated, state.numbers.loop,
                          block(static_cast<std::size_t>(state.gathered[l])), context);
    if (input.convert == nullptr) continue;
    std::byte* const row = block(static_cast<std::size_t>(input.row));
    apart_of(input.convert)(at + l, row, state.elements, context);
    at[l] = row;
  }
  for (const loop_call& c : recipe.calls) {
    const std::byte* from[3]{};
    for (int k = 0; k < c.operands; ++k) from[k] = at[c.operand[k]];
    std::byte* const out = c.result < 0 ? args.out.data : block(static_cast<std::size_t>(c.result));
    apart_of(c.body)(from, out, state.elements, context);
  }
}

inline void run_interpreted(const kernel_args& args, const run_context& context) {
  const auto& state = *static_cast<const interpreted_state*>(args.state);
  if (state.elements == 0) return;
  if (state.whole == nullptr) return run_one_by_one(state, args, context);
  number_loop_arguments a = state.numbers;
  a.loop.out = args.out.data;
  for (std::size_t l = 0; l < args.in.size(); ++l) a.loop.loads[l].data = args.in[l].data;
  a.loop.aligned = chunks_are_aligned(args, a.loop, state.width, a.contiguous);
  state.whole(a, context);
}

}  // namespace detail

/// The kernel of a loop.
/// @param recipe outlives all calls
[[nodiscard]] TAGMA_COLD inline kernel_entry interpreted(const loop_recipe& recipe) {
  return {&detail::run_interpreted, &detail::prepare_interpreted, nullptr, false, &recipe};
}

}  // namespace tagma::device::cuda
