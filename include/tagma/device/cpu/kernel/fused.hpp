// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Fused element-wise loops. The type of a loop is its recipe (what it loads, which operations follow), so loops of equal
/// recipe anywhere in a program are one function; extents and strides reach it as run-time numbers.

#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/plan/compile.hpp"

namespace tagma::device::cpu {

/// Elements that one instruction sequence handles.
inline constexpr int lanes = 8;
/// Elements that make a task of their own.
inline constexpr std::int64_t task_elements = 32768;

/// A tensor that a loop reads: its element type, and whether neighbours are neighbours in memory or all the same.
template <dtype Type, bool Contiguous>
struct load_of {
  using stored_type = stored<Type>;
  using value = pack<compute_t<stored_type>, lanes>;
  static constexpr bool contiguous = Contiguous;
  static constexpr std::int64_t stride = Contiguous ? static_cast<std::int64_t>(sizeof(stored_type)) : 0;

  TAGMA_INLINE static value whole(const std::byte* from, std::int64_t i) {
    const auto* p = reinterpret_cast<const stored_type*>(from);
    if constexpr (Contiguous) return load<lanes>(p + i);
    else return first(p);
  }
  TAGMA_INLINE static value part(const std::byte* from, std::int64_t i, int n) {
    const auto* p = reinterpret_cast<const stored_type*>(from);
    if constexpr (Contiguous) return load<lanes>(p + i, n);
    else return first(p);
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
template <const ir::op_info& Operation, dtype Type, int A, int B, int C>
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

/// Calls the body of an operation with as many operands as it takes.
template <class Body, class Out, int A, int B, int C, class Slots>
TAGMA_INLINE Out call_body(Slots& s) {
  if constexpr (requires { Body::template apply<Out>(slot<A>(s)); }) return Body::template apply<Out>(slot<A>(s));
  else if constexpr (requires { Body::template apply<Out>(slot<A>(s), slot<B>(s)); })
    return Body::template apply<Out>(slot<A>(s), slot<B>(s));
  else
    return Body::template apply<Out>(slot<A>(s), slot<B>(s), slot<C>(s));
}

template <int I, class Slots, const ir::op_info& Operation, dtype Type, int A, int B, int C>
TAGMA_INLINE void compute_slot(Slots& s, operation_of<Operation, Type, A, B, C>) {
  using out = typename operation_of<Operation, Type, A, B, C>::value;
  slot<I>(s) = call_body<scalar_kernel<Operation>, out, A, B, C>(s);
}

/// Strides of the axes around the innermost joined one.
struct loop_state final : kernel_state {
  std::int64_t inner = 1, rows = 1;
  int axes = 0;
  std::int64_t extents[max_rank]{};
  std::int64_t strides[ir::max_group_loads + 4][max_rank]{};
};

}  // namespace detail

template <class Loads, class Operations>
struct fused_loop;

template <class... Load, class... Operation>
struct fused_loop<std::tuple<Load...>, std::tuple<Operation...>> {
  static constexpr std::size_t load_count = sizeof...(Load), operation_count = sizeof...(Operation);
  using last = std::tuple_element_t<operation_count - 1, std::tuple<Operation...>>;

  template <class T>
  struct result_type;
  template <const ir::op_info& O, dtype Type, int A, int B, int C>
  struct result_type<operation_of<O, Type, A, B, C>> {
    using type = stored<Type>;
  };
  using result = typename result_type<last>::type;
  using slots = detail::loop_slots<std::make_index_sequence<load_count + operation_count>, typename Load::value...,
                                   typename Operation::value...>;

  struct body {
    template <std::size_t... L, std::size_t... O>
    TAGMA_INLINE static void span(std::byte* out, const std::byte* const* in, std::int64_t n,
                                  std::index_sequence<L...>, std::index_sequence<O...>) {
      constexpr int last_slot = static_cast<int>(load_count + operation_count) - 1;
      auto* to = reinterpret_cast<result*>(out);
      std::int64_t i = 0;
      for (; i + lanes <= n; i += lanes) {
        slots s;
        ((detail::slot<static_cast<int>(L)>(s) = Load::whole(in[L], i)), ...);
        (detail::compute_slot<static_cast<int>(load_count + O)>(s, Operation{}), ...);
        store(to + i, detail::slot<last_slot>(s));
      }
      if (i < n) {
        const int rest = static_cast<int>(n - i);
        slots s;
        ((detail::slot<static_cast<int>(L)>(s) = Load::part(in[L], i, rest)), ...);
        (detail::compute_slot<static_cast<int>(load_count + O)>(s, Operation{}), ...);
        store(to + i, detail::slot<last_slot>(s), rest);
      }
    }
    TAGMA_INLINE static void run(std::byte* out, const std::byte* const* in, std::int64_t n) {
      span(out, in, n, std::make_index_sequence<load_count>{}, std::make_index_sequence<operation_count>{});
    }
    /// Rows `first` to `last` of the loops around.
    TAGMA_INLINE static void run(const kernel_args* args, const detail::loop_state* s, std::int64_t first,
                                 std::int64_t last) {
      const std::byte* in[load_count + 1]{};
      for (std::int64_t row = first; row < last; ++row) {
        for (std::size_t l = 0; l < load_count; ++l) in[l] = args->in[l].data;
        std::int64_t rest = row;
        for (int a = s->axes; a-- > 0;) {
          const std::int64_t at = rest % s->extents[a];
          rest /= s->extents[a];
          for (std::size_t l = 0; l < load_count; ++l) in[l] += at * s->strides[l][a];
        }
        run(args->out.data + row * s->inner * static_cast<std::int64_t>(sizeof(result)), in, s->inner);
      }
    }
  };

  static std::unique_ptr<kernel_state> prepare(const kernel_args& args, const run_context&) {
    auto state = std::make_unique<detail::loop_state>();
    const shape &out = args.out.dims, &declared = args.declared_out;
    const auto stretched = [&](std::size_t l, int axis) {
      return plan::detail::is_stretched(args.declared[l], declared, axis);
    };
    const int joined = plan::detail::innermost_axes(declared, load_count, stretched);
    state->axes = out.rank - joined;
    for (int a = state->axes; a < out.rank; ++a) state->inner *= out[a];
    for (int a = 0; a < state->axes; ++a) {
      state->extents[a] = out[a];
      state->rows *= out[a];
    }
    for (std::size_t l = 0; l < load_count; ++l) {
      const shape& in = args.in[l].dims;
      auto stride = static_cast<std::int64_t>(size_of(args.in[l].type));
      for (int a = in.rank - 1; a >= 0; --a) {
        const int axis = a + out.rank - in.rank;
        if (axis < state->axes) state->strides[l][axis] = stretched(l, axis) ? 0 : stride;
        stride *= in[a];
      }
    }
    return state;
  }

  static void run(const kernel_args& args, const run_context& context) {
    const auto* state = static_cast<const detail::loop_state*>(args.state);
    if (state->rows == 1) {
      const std::int64_t n = state->inner;
      const auto chunk = [&](std::int64_t first, std::int64_t last) {
        const std::byte* in[load_count + 1]{};
        std::size_t l = 0;
        ((in[l] = args.in[l].data + first * Load::stride, ++l), ...);
        dispatch<body>(args.out.data + first * static_cast<std::int64_t>(sizeof(result)),
                       static_cast<const std::byte* const*>(in), last - first);
      };
      if (n <= 2 * task_elements) return chunk(0, n);
      const std::int64_t tasks = (n + task_elements - 1) / task_elements;
      return context.threads->parallel_for(tasks, [&](std::int64_t t) {
        chunk(t * task_elements, t + 1 == tasks ? n : (t + 1) * task_elements);
      });
    }
    const std::int64_t rows_per_task = state->inner >= task_elements ? 1 : task_elements / (state->inner > 0 ? state->inner : 1);
    if (state->rows <= 2 * rows_per_task) return dispatch<body>(&args, state, std::int64_t{0}, state->rows);
    const std::int64_t tasks = (state->rows + rows_per_task - 1) / rows_per_task;
    context.threads->parallel_for(tasks, [&](std::int64_t t) {
      const std::int64_t first = t * rows_per_task;
      dispatch<body>(&args, state, first, first + rows_per_task < state->rows ? first + rows_per_task : state->rows);
    });
  }

  static constexpr kernel_entry entry{&run, &prepare};
};

}  // namespace tagma::device::cpu
