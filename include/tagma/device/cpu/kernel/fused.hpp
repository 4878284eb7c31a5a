// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Fused element-wise loops on the CPU, over packs of elements.

#include "tagma/base/config.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/device/cpu/kernel/half_bits.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/kernel_table.hpp"
#include "tagma/device/loop.hpp"

namespace tagma::op {
struct cast;
}

namespace tagma::device {

namespace cpu {

/// Elements that make a task of their own.
inline constexpr std::int64_t task_elements = 32768;
/// The same of a loop with at most twice as many, which threads share that are awake.
inline constexpr std::int64_t small_task_elements = 16384;

/// The longest rows of which a loop computes several at once, and those with one element of a tensor for each row.
inline constexpr std::int64_t short_row = 64, short_row_of_columns = 32;
inline constexpr std::int64_t bytes_of_copies = 8192;

/// Computes `n` neighbouring elements, as many as whole packs have; `in` points at the first element of each tensor
/// that the loop reads.
using span_function = void (*)(std::byte* out, const std::byte* const* in, std::int64_t n);

/// What a load or an operation of a loop gives in each round.
template <int W, class Step>
using loop_value = pack<compute_t<typename Step::stored_type>, W>;

namespace detail {

/// What a load gives in each round. One element for all lanes is read before the loop, since the compiler cannot know
/// that no store changes it.
template <int W, class Load>
struct held_load {
  using stored_type = typename Load::stored_type;
  using value_type = loop_value<W, Load>;
  value_type value;
  TAGMA_INLINE explicit held_load(const std::byte* from)
      : value(broadcast<value_type>(static_cast<compute_t<stored_type>>(*reinterpret_cast<const stored_type*>(from)))) {
  }
  TAGMA_INLINE value_type operator()(const std::byte*, std::int64_t) const { return value; }
};
template <int W, class Load>
requires Load::contiguous struct held_load<W, Load> {
  using stored_type = typename Load::stored_type;
  TAGMA_INLINE explicit held_load(const std::byte*) {}
  TAGMA_INLINE loop_value<W, Load> operator()(const std::byte* from, std::int64_t i) const {
    return load<W>(reinterpret_cast<const stored_type*>(from) + i);
  }
};

/// Calls the body of an operation with as many operands as it takes. Each device has its own such function:
/// nvcc takes none of the GPU that gives vectors.
template <class Body, class Out, int A, int B, int C, class Slots>
TAGMA_INLINE Out call_body(Slots& s) {
  using device::detail::slot;
  if constexpr (requires { Body::template apply<Out>(slot<A>(s)); })
    return Body::template apply<Out>(slot<A>(s));
  else if constexpr (requires { Body::template apply<Out>(slot<A>(s), slot<B>(s)); })
    return Body::template apply<Out>(slot<A>(s), slot<B>(s));
  else
    return Body::template apply<Out>(slot<A>(s), slot<B>(s), slot<C>(s));
}

/// The result of an operation whose type has 16 bits. A cast of what is wider than a float rounds it once, here: a
/// float in between would be rounded as well.
template <const char& Operation, class Out, class Stored, int A, int B, int C, class Slots>
TAGMA_INLINE Out call_for_half(Slots& s) {
  using device::detail::slot;
  using from = typename std::remove_cvref_t<decltype(slot<A>(s))>::value_type;
  if constexpr (&Operation == &ir::key<op::cast> && wider_than_float<from>)
    return convert<Stored>(slot<A>(s));
  else
    return call_body<scalar_kernel<on_cpu, Operation>, Out, A, B, C>(s);
}

template <int W, int I, class Slots, const char& Operation, dtype Type, int A, int B, int C>
TAGMA_INLINE void compute_slot(Slots& s, operation_of<Operation, Type, A, B, C>) {
  using out = loop_value<W, operation_of<Operation, Type, A, B, C>>;
  // So that an operation gives the same bytes wherever loops begin and end.
  using device::detail::slot;
  if constexpr (&Operation == &ir::key<op::cast>)  // no product or sum, and g++ would load lanes one by one
    slot<I>(s) = call_for_half<Operation, out, stored<Type>, A, B, C>(s);
  else if constexpr (same<stored<Type>, typename out::value_type>)
    slot<I>(s) = separate(call_body<scalar_kernel<on_cpu, Operation>, out, A, B, C>(s));
  else
    slot<I>(s) = separate(call_for_half<Operation, out, stored<Type>, A, B, C>(s));
}

/// What is said of an operation.
/// @{
template <const char& Operation, dtype Type, int A, int B, int C>
[[nodiscard]] constexpr std::size_t longest_wide(operation_of<Operation, Type, A, B, C>) {
  return longest_wide_loop<Operation>;
}
template <const char& Operation, dtype Type, int A, int B, int C>
[[nodiscard]] constexpr bool has_doubles(operation_of<Operation, Type, A, B, C>) {
  return computes_doubles<Operation>;
}
/// @}
/// What a loop knows of its extents, and its function.
struct loop_state final : kernel_state {
  explicit loop_state(const kernel_args& args) : extents(args) {}
  loop_extents extents;
  span_function span = nullptr;
  std::int64_t result_size = 1;
  std::int64_t steps[most_loads]{};      ///< bytes from an element to its neighbour, 0 where it is stretched
  std::int64_t row_steps[most_loads]{};  ///< bytes from row to row, if rows are computed together
  bool repeated[most_loads]{};           ///< one row is every row, and copied next to itself
  std::int64_t copies = 0;               ///< how often; 0: rows are computed one by one
  std::int64_t wide = 0;                 ///< elements of whole packs for a row, where rows are not joined, or 0
  std::int64_t lanes = default_width;    ///< those of the longest packs
};

/// Computes `n` neighbouring elements. What remains of the last pack goes through copies, with zeros behind it, of
/// which one is enough for all loops: so much less is compiled for each.
[[gnu::cold, gnu::noinline]] inline void run_span(const loop_state& s, std::byte* out, const std::byte* const* in,
                                                  std::size_t loads, std::int64_t n) {
  const std::int64_t rest = n % s.lanes, whole = n - rest;
  if (whole > 0) s.span(out, in, whole);
  if (rest == 0) return;
  constexpr std::size_t widest = 64;  // bytes of the longest packs
  alignas(64) std::byte padded[most_loads][widest], made[widest];
  const std::byte* from[most_loads];
  for (std::size_t l = 0; l < loads; ++l) {
    from[l] = in[l];
    if (s.steps[l] == 0) continue;
    __builtin_memset(padded[l], 0, widest);
    copy_few(padded[l], in[l] + whole * s.steps[l], static_cast<std::size_t>(rest * s.steps[l]));
    from[l] = padded[l];
  }
  s.span(made, from, s.lanes);
  copy_few(out + whole * s.result_size, made, static_cast<std::size_t>(rest * s.result_size));
}

/// Where the tensors that a loop reads have row `row`.
inline void point_at_row(const loop_extents& e, const kernel_args& args, std::int64_t row, const std::byte** in) {
  for (std::size_t l = 0; l < args.in.size(); ++l) in[l] = args.in[l].data;
  std::int64_t rest = row;
  for (int a = e.axes; a-- > 0;) {
    const std::int64_t at = a > 0 ? rest % e.extents[a] : rest;
    if (a > 0) rest /= e.extents[a];
    for (std::size_t l = 0; l < args.in.size(); ++l) in[l] += at * e.strides[l][a];
  }
}

/// Rows that follow each other in memory are one long row, next to which what is repeated is, as often as fits. Where a
/// tensor has an element for each row, that is computed in whole packs, beyond its end, where the next row is put.
/// @return the first row that is not done, because packs would reach beyond the last one
[[gnu::cold, gnu::noinline]] inline std::int64_t run_short_rows(const kernel_args& args, const loop_state& s,
                                                                std::int64_t first, std::int64_t last) {
  alignas(64) std::byte space[bytes_of_copies], made[8 * short_row_of_columns];
  const std::byte* in[most_loads];
  std::int64_t steps[most_loads];
  const std::int64_t n = s.extents.inner, bytes = n * s.result_size;
  const std::int64_t end = s.wide > 0 ? last - s.copies + 1 : last, each = s.wide > 0 ? 1 : s.copies;
  const std::size_t loads = args.in.size();
  std::byte *to = space, *out = args.out.data + first * bytes;
  bool apart = true;
  for (std::size_t l = 0; l < loads; ++l) {
    apart = apart && args.in[l].data != args.out.data;
    in[l] = s.repeated[l] ? to : args.in[l].data + first * s.row_steps[l];
    steps[l] = s.repeated[l] ? 0 : each * s.row_steps[l];
    const std::int64_t row = s.repeated[l] ? n * s.steps[l] : 0;
    for (std::int64_t i = 0; row > 0 && i < s.copies && i < last - first + s.wide; ++i, to += row)
      __builtin_memcpy(to, args.in[l].data, static_cast<std::size_t>(row));
  }
  // A result in the place of what is read ends where its row does.
  const bool beyond = s.wide > 0 && !apart;
  for (; first < end; first += each, out += each * bytes) {
    if (s.wide > 0)
      s.span(beyond ? made : out, in, s.wide);
    else
      run_span(s, out, in, loads, n * (end - first < each ? end - first : each));
    if (beyond) copy_few(out, made, static_cast<std::size_t>(bytes));
    for (std::size_t l = 0; l < loads; ++l) in[l] += steps[l];
  }
  return first < last ? first : last;
}

/// Rows `first` to `last` of a loop. Out of line: what it keeps in registers, loops of one row would save as well.
[[gnu::cold, gnu::noinline]] inline void run_rows(const kernel_args& args, const loop_state& s, std::int64_t first,
                                                  std::int64_t last) {
  const loop_extents& e = s.extents;
  const std::byte* in[most_loads];
  if (s.copies > 0) first = run_short_rows(args, s, first, last);
  // What remains of a row is computed with the elements before it once more, in a whole pack, where these are still
  // there: the result is not in the place of what is read.
  const std::int64_t rest = e.inner % s.lanes;
  std::int64_t again = e.inner > s.lanes && rest != 0 ? e.inner - s.lanes : 0;
  for (std::size_t l = 0; l < args.in.size(); ++l)
    if (args.in[l].data == args.out.data) again = 0;
  const std::int64_t whole = again > 0 ? e.inner - rest : e.inner;
  for (std::int64_t row = first; row < last; ++row) {
    point_at_row(e, args, row, in);
    std::byte* const out = args.out.data + row * e.inner * s.result_size;
    run_span(s, out, in, args.in.size(), whole);
    if (again == 0) continue;
    for (std::size_t l = 0; l < args.in.size(); ++l) in[l] += again * s.steps[l];
    s.span(out + again * s.result_size, in, s.lanes);
  }
}

/// Elements `first` to `last` of a loop that is one row.
inline void run_elements(const kernel_args& args, const loop_state& s, std::int64_t first, std::int64_t last) {
  const std::byte* in[most_loads];
  for (std::size_t l = 0; l < args.in.size(); ++l) in[l] = args.in[l].data + first * s.steps[l];
  run_span(s, args.out.data + first * s.result_size, in, args.in.size(), last - first);
}

/// A part of a loop, of elements or of rows: one copy of the code. Cold, as all around the functions of loops: what is
/// compiled for size takes less time to compile.
[[gnu::cold, gnu::noinline]] inline void run_part(const kernel_args& args, std::int64_t first, std::int64_t last) {
  const auto& s = *static_cast<const loop_state*>(args.state);
  if (s.extents.rows == 1)
    run_elements(args, s, first, last);
  else
    run_rows(args, s, first, last);
}

/// Runs the parts of a loop, on several threads if it is long. The split depends on the extents alone.
[[gnu::cold, gnu::noinline]] inline void share_loop(const loop_extents& e, const kernel_args& args,
                                                    const run_context& context,
                                                    void (*part)(const kernel_args&, std::int64_t, std::int64_t)) {
  const bool one_row = e.rows == 1;
  const std::int64_t count = one_row ? e.inner : e.rows;
  const bool small = e.rows * e.inner <= 2 * task_elements;
  const std::int64_t elements = small ? small_task_elements : task_elements;
  std::int64_t each = one_row ? elements : 1 + (elements - 1) / (e.inner > 0 ? e.inner : 1);
  if (count < 2 * each) return part(args, 0, count);
  // As many as two threads share evenly, or four, of whole lines of the cache.
  const std::int64_t parts = (count / each + 4) & ~std::int64_t{3}, line = one_row ? 63 : 0;
  each = (count / parts + 1 + line) & ~line;
  context.threads->parallel_for(
      pieces(count, each),
      [&](std::int64_t t) {
        const std::int64_t first = t * each;
        part(args, first, first + each < count ? first + each : count);
      },
      small ? runtime::helpers::awake : runtime::helpers::woken);
}
inline void run_loop(const kernel_args& args, const run_context& context) {
  const auto& s = *static_cast<const loop_state*>(args.state);
  if (s.extents.rows == 1 && s.extents.inner < 2 * small_task_elements)
    return run_elements(args, s, 0, s.extents.inner);  // as `share_loop` would, by a shorter way
  share_loop(s.extents, args, context, &run_part);
}

/// Finds out whether a loop computes short rows together: from row to row, each tensor takes steps of one length.
[[gnu::cold]] inline void look_at_rows(const kernel_args& args, loop_state& s, std::int64_t lanes) {
  const loop_extents& e = s.extents;
  if (e.rows < 4 || e.inner < 1 || e.inner > short_row) return;
  bool columns = false;
  std::int64_t bytes = 0;
  for (std::size_t l = 0; l < args.in.size(); ++l) {
    std::int64_t step = -1, stride = 0;
    for (int a = e.axes; a-- > 0; stride *= e.extents[a]) {
      if (e.extents[a] == 1) continue;
      if (step < 0) step = stride = e.strides[l][a];
      if (e.strides[l][a] != stride) return;
    }
    s.row_steps[l] = step;
    const std::int64_t row = e.inner * s.steps[l];
    if (row == 0) columns = columns || step > 0;
    if (row > 0 && step > 0 && step != row) return;
    s.repeated[l] = row > 0 && step == 0;
    if (step == 0) bytes += row;
  }
  if (!columns) {
    const std::int64_t most = bytes > 0 ? bytes_of_copies / bytes : e.rows;
    s.copies = most > 16 ? most / 16 * 16 : most;
  } else if (e.inner <= short_row_of_columns && e.inner % lanes != 0) {
    s.wide = pieces(e.inner, lanes) * lanes;
    s.copies = pieces(s.wide, e.inner);
  }
}

/// Works out the strides of a loop.
/// @param lanes those of its longest packs
[[gnu::cold]] inline owned<kernel_state> prepare_loop(const kernel_args& args, span_function span,
                                                      const bool* contiguous, std::int64_t lanes) {
  auto state = make_owned<loop_state>(args);
  state->span = span;
  state->lanes = lanes;
  state->result_size = static_cast<std::int64_t>(size_of(args.out.type));
  for (std::size_t l = 0; l < args.in.size(); ++l)
    if (contiguous[l]) state->steps[l] = static_cast<std::int64_t>(size_of(args.in[l].type));
  look_at_rows(args, *state, lanes);
  return state;
}

}  // namespace detail
}  // namespace cpu

template <class... Load, class... Operation>
struct fused_loop<on_cpu, types<Load...>, types<Operation...>> {
  static constexpr std::size_t load_count = sizeof...(Load), operation_count = sizeof...(Operation);
  using result = typename detail::last_of<Operation...>::stored_type;

  /// One pass over neighbouring elements: everything loaded once, computed in registers, stored once.
  template <int W>
  struct body_of {
    static constexpr int lanes = cpu::lanes_of<W>;
    using slots = detail::loop_slots<std::make_index_sequence<load_count + operation_count>,
                                     cpu::loop_value<W, Load>..., cpu::loop_value<W, Operation>...>;

    template <std::size_t... L, std::size_t... O>
    TAGMA_INLINE static void span(std::byte* out, const std::byte* const* in, std::int64_t n, std::index_sequence<L...>,
                                  std::index_sequence<O...>, const cpu::detail::held_load<W, Load>&... load) {
      constexpr int last_slot = static_cast<int>(load_count + operation_count) - 1;
      const std::byte* const from[load_count + 1]{in[L]...};  // which no store changes
      for (std::int64_t i = 0; i < n; i += lanes) {
        slots s;
        ((detail::slot<static_cast<int>(L)>(s) = load(from[L], i)), ...);
        (cpu::detail::compute_slot<W, static_cast<int>(load_count + O)>(s, Operation{}), ...);
        store(reinterpret_cast<result*>(out) + i, detail::slot<last_slot>(s));
      }
    }
    TAGMA_INLINE static void run(std::byte* out, const std::byte* const* in, std::int64_t n) {
      start(out, in, n, std::make_index_sequence<load_count>{});
    }
    template <std::size_t... L>
    TAGMA_INLINE static void start(std::byte* out, const std::byte* const* in, std::int64_t n,
                                   std::index_sequence<L...> l) {
      span(out, in, n, l, std::make_index_sequence<operation_count>{}, cpu::detail::held_load<W, Load>(in[L])...);
    }
  };
  /// The sizes of all elements, of which each is a bit. Those of 16 bits are floats that are widened and rounded.
  static constexpr std::size_t sizes =
      (sizeof(typename Load::stored_type) | ... | (sizeof(typename Operation::stored_type) | ...));
  static constexpr bool has_halves = (sizes & 2) != 0;
  static constexpr bool has_eight_bytes = (sizes & 8) != 0 || (cpu::detail::has_doubles(Operation{}) || ...);
  /// AVX2 has no instruction by which integers of 64 bits become floats.
  static constexpr bool has_floats_of_long =
      has_eight_bytes && operation_count == 1 && cpu::detail::floating<result> &&
      ((sizeof(typename Load::stored_type) == 8 && !cpu::detail::floating<typename Load::stored_type>)&&...);
  static constexpr bool is_wide = has_floats_of_long ||
                                  ((operation_count <= cpu::detail::longest_wide(Operation{})) || ...) ||
                                  (has_halves && !has_eight_bytes);
  /// Elements of one byte, of which eight are half of the shortest vector.
  static constexpr int width = sizes == 1 ? 2 * cpu::default_width : cpu::default_width;
  static constexpr int wide_width = has_eight_bytes ? cpu::wide_eight : cpu::wide_width;
  struct body : cpu::with_wide<body_of<width>, body_of<wide_width>, is_wide> {};

  static owned<kernel_state> prepare(const kernel_args& args, const run_context&) {
    static constexpr bool contiguous[] = {Load::contiguous..., true};
    auto span = cpu::best_variant<body, std::byte*, const std::byte* const*, std::int64_t>();
    if constexpr (has_halves) span = cpu::detail::loop_of_bits<types<Load...>, types<Operation...>>::or_else(span);
    return cpu::detail::prepare_loop(args, span, contiguous, cpu::lanes_of<(is_wide ? wide_width : width)>);
  }

  static constexpr kernel_entry entry{&cpu::detail::run_loop, &prepare};
};

}  // namespace tagma::device
