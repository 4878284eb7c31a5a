// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of interpreted_loop.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/interpreted_loop.hpp"

namespace tagma::device::cpu::detail {

[[gnu::cold]] TAGMA_DECL interpreted_state::interpreted_state(const kernel_args& args)
    : extents(args),
      recipe(*static_cast<const loop_recipe*>(args.recipe)),
      result_size(static_cast<std::int64_t>(size_of(args.out.type))) {
  const loop_extents& e = extents;
  if (e.rows == 1 || e.inner == 0 || 2 * e.inner > block_elements || recipe.rows + args.in.size() > most_rows) return;
  rows_at_once = block_elements / e.inner;
  for (std::size_t l = 0; l < args.in.size(); ++l) {
    std::int64_t next = recipe.inputs[l].size * (recipe.inputs[l].repeated ? 1 : e.inner);
    bool dense = !recipe.inputs[l].repeated, same = true;
    for (int a = e.axes; a-- > 0;) {
      if (e.extents[a] == 1) continue;
      dense = dense && e.strides[l][a] == next;
      same = same && e.strides[l][a] == 0;
      next *= e.extents[a];
    }
    rows[l] = same ? rows_of_load::same : dense ? rows_of_load::dense : rows_of_load::other;
  }
}

TAGMA_DECL void repeat_element(std::byte* to, const std::byte* from, std::int64_t size, std::int64_t n) {
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

TAGMA_DECL void interpret(const interpreted_state& s, std::byte* out, const std::byte* const* in, const bool* repeated,
                          std::int64_t n, std::byte* scratch) {
  const loop_recipe& r = s.recipe;
  const std::byte* value[most_loads + most_rows];
  const auto row = [&](std::int16_t i) { return scratch + static_cast<std::size_t>(i) * row_bytes; };
  const std::size_t loads = r.inputs.size();
  for (std::size_t i = 0; i < r.rows; ++i) value[loads + i] = row(static_cast<std::int16_t>(i));
  // The last elements, fewer than a pack, go through copies with zeros behind them.
  constexpr std::int64_t lanes = wide_width;
  const std::int64_t most = n < block_elements ? pieces(n, lanes) * lanes : block_elements;
  constexpr std::size_t widest = std::size_t{wide_width} * 8;
  alignas(64) std::byte padded[most_loads][widest], made[widest];
  const auto pad = [&](std::size_t l, const std::byte* from, std::int64_t count) {
    __builtin_memset(padded[l], 0, widest);
    copy_few(padded[l], from, static_cast<std::size_t>(count * r.inputs[l].size));
    return static_cast<const std::byte*>(padded[l]);
  };
  for (std::size_t l = 0; l < loads; ++l) {
    const loop_input& input = r.inputs[l];
    value[l] = input.row < 0 || (!repeated[l] && input.convert == nullptr) ? in[l] : row(input.row);
    if (!repeated[l]) continue;
    if (input.convert == nullptr) {
      repeat_element(row(input.row), in[l], input.size, most);
    } else {
      const std::byte* const one = pad(l, in[l], 1);
      span_of(input.convert)(made, &one, lanes);
      repeat_element(row(input.row), made, sizeof(float), most);
    }
  }
  for (std::int64_t i = 0, count = 0; i < n; i += count) {
    count = n - i < block_elements ? n - i : block_elements;
    const bool last = count < lanes;
    if (!last) count -= count % lanes;
    const std::int64_t whole = last ? lanes : count;
    for (std::size_t l = 0; l < loads; ++l) {
      const loop_input& input = r.inputs[l];
      if (repeated[l]) continue;
      const std::byte* const from = last ? pad(l, in[l] + i * input.size, count) : in[l] + i * input.size;
      if (input.convert == nullptr)
        value[l] = from;
      else
        span_of(input.convert)(row(input.row), &from, whole);
    }
    for (const loop_call& c : r.calls) {
      const std::byte* from[3];
      for (int k = 0; k < c.operands; ++k) from[k] = value[c.operand[k]];
      std::byte* const result = last ? made : out + i * s.result_size;
      span_of(c.body)(c.result < 0 ? result : row(c.result), from, whole);
    }
    if (last) copy_few(out + i * s.result_size, made, static_cast<std::size_t>(count * s.result_size));
  }
}

[[gnu::noinline]] TAGMA_DECL void interpret_short_rows(const interpreted_state& s, const kernel_args& args,
                                                       std::int64_t first, std::int64_t last, std::byte* scratch) {
  const loop_extents& e = s.extents;
  const std::size_t loads = args.in.size();
  const auto input = [&](std::size_t l) -> const loop_input& { return s.recipe.inputs[l]; };
  // Behind what the recipe keeps, a row of scratch memory for each load that is elsewhere.
  const auto gathered = [&](std::size_t l) { return scratch + (s.recipe.rows + l) * row_bytes; };
  const auto put = [&](std::size_t l, std::int64_t number, const std::byte* from) {
    const std::int64_t bytes = e.inner * input(l).size;
    if (input(l).repeated)
      repeat_element(gathered(l) + number * bytes, from, input(l).size, e.inner);
    else
      __builtin_memcpy(gathered(l) + number * bytes, from, static_cast<std::size_t>(bytes));
  };
  const std::byte *in[most_loads], *row[most_loads];
  bool repeated[most_loads], any_elsewhere = false;
  for (std::size_t l = 0; l < loads; ++l) {
    repeated[l] = s.rows[l] == rows_of_load::same && input(l).repeated;
    in[l] = repeated[l] ? args.in[l].data : gathered(l);
    any_elsewhere = any_elsewhere || s.rows[l] == rows_of_load::other;
    if (s.rows[l] == rows_of_load::same && !repeated[l])
      for (std::int64_t i = 0; i < s.rows_at_once && i < last - first; ++i) put(l, i, args.in[l].data);
  }
  for (std::int64_t r = first; r < last; r += s.rows_at_once) {
    const std::int64_t count = last - r < s.rows_at_once ? last - r : s.rows_at_once;
    for (std::size_t l = 0; l < loads; ++l)
      if (s.rows[l] == rows_of_load::dense) in[l] = args.in[l].data + r * e.inner * input(l).size;
    for (std::int64_t i = 0; any_elsewhere && i < count; ++i) {
      point_at_row(e, args, r + i, row);
      for (std::size_t l = 0; l < loads; ++l)
        if (s.rows[l] == rows_of_load::other) put(l, i, row[l]);
    }
    interpret(s, args.out.data + r * e.inner * s.result_size, in, repeated, count * e.inner, scratch);
  }
}

[[gnu::noinline]] TAGMA_DECL void interpret_part(const kernel_args& args, std::int64_t first, std::int64_t last) {
  const auto& s = *static_cast<const interpreted_state*>(args.state);
  alignas(64) std::byte scratch[most_rows * row_bytes];  // of which rows that are not used are never touched
  const loop_extents& e = s.extents;
  if (s.rows_at_once > 1) return interpret_short_rows(s, args, first, last, scratch);
  const std::byte* in[most_loads];
  bool repeated[most_loads];
  for (std::size_t l = 0; l < args.in.size(); ++l) repeated[l] = s.recipe.inputs[l].repeated;
  if (e.rows == 1) {
    for (std::size_t l = 0; l < args.in.size(); ++l)
      in[l] = args.in[l].data + (repeated[l] ? 0 : first * s.recipe.inputs[l].size);
    return interpret(s, args.out.data + first * s.result_size, in, repeated, last - first, scratch);
  }
  for (std::int64_t r = first; r < last; ++r) {
    point_at_row(e, args, r, in);
    interpret(s, args.out.data + r * e.inner * s.result_size, in, repeated, e.inner, scratch);
  }
}

TAGMA_DECL void run_interpreted(const kernel_args& args, const run_context& context) {
  share_loop(static_cast<const interpreted_state*>(args.state)->extents, args, context, &interpret_part);
}

[[gnu::cold]] TAGMA_DECL owned<kernel_state> prepare_interpreted(const kernel_args& args, const run_context&) {
  return make_owned<interpreted_state>(args);
}

}  // namespace tagma::device::cpu::detail

namespace tagma::device::cpu {

TAGMA_DECL kernel_entry interpreted(const loop_recipe& recipe) {
  kernel_entry entry{&detail::run_interpreted, &detail::prepare_interpreted};
  entry.recipe = &recipe;
  return entry;
}

}  // namespace tagma::device::cpu
