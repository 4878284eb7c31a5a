// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Fused element-wise loops. The type of a loop is its recipe (what it loads, which operations follow), so loops of
/// equal recipe anywhere in a program are one function; extents and strides reach it as run-time numbers.

#include <tuple>

#include "tagma/base/config.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/kernel_table.hpp"

namespace tagma::op {
struct cast;
}

namespace tagma::device::cpu {

/// Elements that one instruction sequence handles.
inline constexpr int lanes = 8;
/// Elements that make a task of their own.
inline constexpr std::int64_t task_elements = 32768;

/// Computes `n` neighbouring elements; `in` points at the first element of each tensor that the loop reads.
using span_function = void (*)(std::byte* out, const std::byte* const* in, std::int64_t n);

/// A tensor that a loop reads: its element type, and whether neighbours are neighbours in memory or all the same.
template <dtype Type, bool Contiguous>
struct load_of {
  using stored_type = stored<Type>;
  using value = pack<compute_t<stored_type>, lanes>;
  static constexpr bool contiguous = Contiguous;
  static constexpr std::int64_t stride = Contiguous ? static_cast<std::int64_t>(sizeof(stored_type)) : 0;

  TAGMA_INLINE static value whole(const std::byte* from, std::int64_t i) {
    const auto* p = reinterpret_cast<const stored_type*>(from);
    if constexpr (Contiguous)
      return load<lanes>(p + i);
    else
      return first(p);
  }
  /// The last elements of a row, followed by zeros.
  TAGMA_INLINE static void pad(std::byte* to, const std::byte* from, std::int64_t i, std::int64_t n) {
    __builtin_memset(to, 0, sizeof(stored_type) * lanes);
    const std::int64_t count = Contiguous ? n : 1;
    __builtin_memcpy(to, from + i * stride, static_cast<std::size_t>(count) * sizeof(stored_type));
  }

 private:
  TAGMA_INLINE static value first(const stored_type* p) {
    if constexpr (std::is_same_v<stored_type, float16> || std::is_same_v<stored_type, bfloat16>)
      return splat<value>(static_cast<float>(*p));
    else
      return splat<value>(*p);
  }
};

/// An operation of a loop. Operands count loads first, then earlier operations.
template <const char& Operation, dtype Type, int A, int B, int C>
struct operation_of {
  using value = pack<compute_t<stored<Type>>, lanes>;
};

namespace detail {

template <int Index, class Value>
struct loop_slot {
  Value value;
};

template <class Indices, class... Values>
struct loop_slots;
template <std::size_t... I, class... Values>
struct loop_slots<std::index_sequence<I...>, Values...> : loop_slot<static_cast<int>(I), Values>... {};

template <int I, class Value>
TAGMA_INLINE Value& slot(loop_slot<I, Value>& s) {
  return s.value;
}

/// What a load gives in each round. One element for all lanes is read before the loop, since the compiler cannot know
/// that no store changes it.
template <class Load>
struct held_load {
  typename Load::value value;
  TAGMA_INLINE explicit held_load(const std::byte* from) : value(Load::whole(from, 0)) {}
  TAGMA_INLINE typename Load::value operator()(const std::byte*, std::int64_t) const { return value; }
};
template <class Load>
requires Load::contiguous struct held_load<Load> {
  TAGMA_INLINE explicit held_load(const std::byte*) {}
  TAGMA_INLINE typename Load::value operator()(const std::byte* from, std::int64_t i) const {
    return Load::whole(from, i);
  }
};

/// Calls the body of an operation with as many operands as it takes.
template <class Body, class Out, int A, int B, int C, class Slots>
TAGMA_INLINE Out call_body(Slots& s) {
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
  using from = typename std::remove_cvref_t<decltype(slot<A>(s))>::value_type;
  if constexpr (&Operation == &ir::key<op::cast> && wider_than_float<from>)
    return convert<Stored>(slot<A>(s));
  else
    return call_body<scalar_kernel<Operation>, Out, A, B, C>(s);
}

template <int I, class Slots, const char& Operation, dtype Type, int A, int B, int C>
TAGMA_INLINE void compute_slot(Slots& s, operation_of<Operation, Type, A, B, C>) {
  using out = typename operation_of<Operation, Type, A, B, C>::value;
  // So that an operation gives the same bytes wherever loops begin and end.
  if constexpr (same<stored<Type>, typename out::value_type>)
    slot<I>(s) = separate(call_body<scalar_kernel<Operation>, out, A, B, C>(s));
  else
    slot<I>(s) = separate(call_for_half<Operation, out, stored<Type>, A, B, C>(s));
}

/// What a loop knows of its extents: strides of the axes around the innermost joined one, and its function.
struct loop_state final : kernel_state {
  span_function span = nullptr;
  std::int64_t inner = 1, rows = 1;
  std::int64_t result_size = 1;
  int axes = 0;
  std::int64_t extents[max_rank]{};
  std::int64_t steps[ir::max_group_loads + 4]{};  ///< bytes from an element to its neighbour, 0 where it is stretched
  std::int64_t strides[ir::max_group_loads + 4][max_rank]{};
};

/// Rows `first` to `last` of a loop.
inline void run_rows(const kernel_args& args, const loop_state& s, std::int64_t first, std::int64_t last) {
  const std::byte* in[ir::max_group_loads + 4];
  for (std::int64_t row = first; row < last; ++row) {
    for (std::size_t l = 0; l < args.in.size(); ++l) in[l] = args.in[l].data;
    std::int64_t rest = row;
    for (int a = s.axes; a-- > 0;) {
      const std::int64_t at = rest % s.extents[a];
      rest /= s.extents[a];
      for (std::size_t l = 0; l < args.in.size(); ++l) in[l] += at * s.strides[l][a];
    }
    s.span(args.out.data + row * s.inner * s.result_size, in, s.inner);
  }
}

/// Elements `first` to `last` of a loop that is one row.
inline void run_elements(const kernel_args& args, const loop_state& s, std::int64_t first, std::int64_t last) {
  const std::byte* in[ir::max_group_loads + 4];
  for (std::size_t l = 0; l < args.in.size(); ++l) in[l] = args.in[l].data + first * s.steps[l];
  s.span(args.out.data + first * s.result_size, in, last - first);
}

/// Runs a loop, on several threads if it is long. The split depends on the extents alone.
inline void run_loop(const kernel_args& args, const run_context& context) {
  const auto& s = *static_cast<const loop_state*>(args.state);
  const bool one_row = s.rows == 1;
  const std::int64_t count = one_row ? s.inner : s.rows;
  const std::int64_t each = one_row ? task_elements : 1 + (task_elements - 1) / (s.inner > 0 ? s.inner : 1);
  const auto some = [&](std::int64_t t) {
    const std::int64_t first = t * each, last = first + each < count ? first + each : count;
    if (one_row)
      run_elements(args, s, first, last);
    else
      run_rows(args, s, first, last);
  };
  if (count <= 2 * each) {
    if (one_row)
      run_elements(args, s, 0, count);
    else
      run_rows(args, s, 0, count);
    return;
  }
  context.threads->parallel_for(pieces(count, each), some);
}

/// Works out the strides of a loop.
[[gnu::cold]] inline owned<kernel_state> prepare_loop(const kernel_args& args, span_function span,
                                                      const bool* contiguous) {
  auto state = make_owned<loop_state>();
  const shape &out = args.out.dims, &declared = args.declared_out;
  const std::size_t loads = args.in.size();
  const auto stretched = [&](std::size_t l, int axis) {
    return plan::detail::is_stretched(args.declared[l], declared, axis);
  };
  const int joined = plan::detail::innermost_axes(declared, loads, stretched);
  state->span = span;
  state->result_size = static_cast<std::int64_t>(size_of(args.out.type));
  state->axes = out.rank - joined;
  for (int a = state->axes; a < out.rank; ++a) state->inner *= out[a];
  for (int a = 0; a < state->axes; ++a) {
    state->extents[a] = out[a];
    state->rows *= out[a];
  }
  for (std::size_t l = 0; l < loads; ++l) {
    const shape& in = args.in[l].dims;
    auto stride = static_cast<std::int64_t>(size_of(args.in[l].type));
    state->steps[l] = contiguous[l] ? stride : 0;
    for (int a = in.rank - 1; a >= 0; --a) {
      const int axis = a + out.rank - in.rank;
      if (axis < state->axes) state->strides[l][axis] = stretched(l, axis) ? 0 : stride;
      stride *= in[a];
    }
  }
  return state;
}

}  // namespace detail

template <class Loads, class Operations>
struct fused_loop;

template <class... Load, class... Operation>
struct fused_loop<types<Load...>, types<Operation...>> {
  static constexpr std::size_t load_count = sizeof...(Load), operation_count = sizeof...(Operation);
  using last = std::tuple_element_t<operation_count - 1, std::tuple<Operation...>>;

  template <class T>
  struct result_type;
  template <const char& O, dtype Type, int A, int B, int C>
  struct result_type<operation_of<O, Type, A, B, C>> {
    using type = stored<Type>;
  };
  using result = typename result_type<last>::type;
  using slots = detail::loop_slots<std::make_index_sequence<load_count + operation_count>, typename Load::value...,
                                   typename Operation::value...>;

  /// One pass over neighbouring elements: everything loaded once, computed in registers, stored once. What remains of
  /// the last pack goes through padded copies, so that there is one copy of the code.
  struct body {
    template <std::size_t... L, std::size_t... O>
    TAGMA_INLINE static void span(std::byte* out, const std::byte* const* in, std::int64_t n, std::index_sequence<L...>,
                                  std::index_sequence<O...>, const detail::held_load<Load>&... load) {
      constexpr int last_slot = static_cast<int>(load_count + operation_count) - 1;
      constexpr std::size_t widest = 8 * lanes;
      alignas(64) std::byte padded[load_count + 1][widest];
      const std::byte* from[load_count + 1]{in[L]...};
      std::byte* to = out;
      const std::int64_t rest = n % lanes;
      for (std::int64_t count = n - rest;;) {
        for (std::int64_t i = 0; i < count; i += lanes) {
          slots s;
          ((detail::slot<static_cast<int>(L)>(s) = load(from[L], i)), ...);
          (detail::compute_slot<static_cast<int>(load_count + O)>(s, Operation{}), ...);
          store(reinterpret_cast<result*>(to) + i, detail::slot<last_slot>(s));
        }
        if (to != out) {
          __builtin_memcpy(out + (n - rest) * static_cast<std::int64_t>(sizeof(result)), to,
                           static_cast<std::size_t>(rest) * sizeof(result));
          return;
        }
        if (rest == 0) return;
        (Load::pad(padded[L], from[L], n - rest, rest), ...);
        ((from[L] = padded[L]), ...);
        to = padded[load_count];
        count = lanes;
      }
    }
    TAGMA_INLINE static void run(std::byte* out, const std::byte* const* in, std::int64_t n) {
      if (n > 0) start(out, in, n, std::make_index_sequence<load_count>{});
    }
    template <std::size_t... L>
    TAGMA_INLINE static void start(std::byte* out, const std::byte* const* in, std::int64_t n,
                                   std::index_sequence<L...> l) {
      span(out, in, n, l, std::make_index_sequence<operation_count>{}, detail::held_load<Load>(in[L])...);
    }
  };

  static owned<kernel_state> prepare(const kernel_args& args, const run_context&) {
    static constexpr bool contiguous[] = {Load::contiguous..., true};
    return detail::prepare_loop(args, best_variant<body, std::byte*, const std::byte* const*, std::int64_t>(),
                                contiguous);
  }

  static constexpr kernel_entry entry{&detail::run_loop, &prepare};
};

/// What the CPU has.
struct kernel_set {
  template <const char& Key>
  static constexpr bool has_kernel = !requires {
    cpu::kernel<Key>::missing;
  };
  template <const char& Key>
  static constexpr bool has_loop = !requires {
    scalar_kernel<Key>::missing;
  };
  template <const char& Key>
  using kernel = cpu::kernel<Key>;
  template <dtype Type, bool Contiguous>
  using load = load_of<Type, Contiguous>;
  template <const char& Key, dtype Out, int A, int B, int C>
  using operation = operation_of<Key, Out, A, B, C>;
  template <class Loads, class Operations>
  using loop = fused_loop<Loads, Operations>;
  template <const char& Key, class Loop, dtype Out, dtype... In>
  using kernel_with_loop = kernel_then_loop<&cpu::kernel<Key>::template entry<Out, In...>, &Loop::entry, sizeof...(In)>;
};

}  // namespace tagma::device::cpu
