// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Fused element-wise loops on the GPU. A thread takes a few neighbouring elements at a time, by loads of up to 16
/// bytes.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/kernel/loop_apart.hpp"
#include "tagma/device/kernel_then_loop.hpp"
#include "tagma/device/loop.hpp"

namespace tagma::op {
struct cast;
}

namespace tagma::device {

namespace cuda::detail {

/// Elements that lie side by side in memory.
template <class T, int Width>
struct neighbours {
  T element[static_cast<unsigned>(Width)];

  /// @param aligned the address is a multiple of the size of them all, and there are as many
  /// @param n how many there are, at most `Width`
  TAGMA_DEVICE void read(const std::byte* from, bool aligned, int n) {
    using whole = typename word<sizeof(T) * static_cast<std::size_t>(Width)>::type;
    if (aligned) {
      const whole w = *reinterpret_cast<const whole*>(from);
      memcpy(static_cast<void*>(element), &w, sizeof w);
      return;
    }
    const T* p = reinterpret_cast<const T*>(from);
    for (int i = 0; i < Width; ++i) element[i] = i < n ? p[i] : T{};
  }
  TAGMA_DEVICE void write(std::byte* to, bool aligned, int n) const {
    using whole = typename word<sizeof(T) * static_cast<std::size_t>(Width)>::type;
    if (aligned) {
      whole w;
      memcpy(&w, element, sizeof w);
      *reinterpret_cast<whole*>(to) = w;
      return;
    }
    T* p = reinterpret_cast<T*>(to);
    for (int i = 0; i < Width; ++i)
      if (i < n) p[i] = element[i];
  }
};

/// What a load or an operation of a loop gives for each element.
template <class Step>
using loop_value = compute_t<typename Step::stored_type>;

/// Calls the body of an operation with as many operands as it takes.
template <class Body, class Out, int A, int B, int C, class Slots>
TAGMA_DEVICE Out call_body(Slots& s) {
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
TAGMA_DEVICE Out call_for_half(Slots& s) {
  using device::detail::slot;
  using from = std::remove_cvref_t<decltype(slot<A>(s))>;
  if constexpr (&Operation == &ir::key<op::cast> && wider_than_float<from>)
    return widen(narrow<Stored>(to_odd_float(slot<A>(s))));
  else
    return call_body<scalar_kernel<on_cuda, Operation>, Out, A, B, C>(s);
}

template <int I, class Slots, const char& Operation, dtype Type, int A, int B, int C>
TAGMA_DEVICE void compute_slot(Slots& s, operation_of<Operation, Type, A, B, C>) {
  using device::detail::slot;
  using out = loop_value<operation_of<Operation, Type, A, B, C>>;
  if constexpr (is_half<stored<Type>>)
    slot<I>(s) = call_for_half<Operation, out, stored<Type>, A, B, C>(s);
  else
    slot<I>(s) = call_body<scalar_kernel<on_cuda, Operation>, out, A, B, C>(s);
}

/// Where a loop reads, and how far apart in bytes neighbours along the outer axes are, 0 where they are the same.
struct loop_load {
  const std::byte* data = nullptr;
  std::int64_t strides[max_rank]{};
};

/// A loop with its extents. Innermost axes along which all tensors step or stand still together are joined into one.
/// Kernels are given as many loads as they have.
template <std::size_t Loads>
struct loop_arguments {
  std::byte* out = nullptr;
  std::int64_t inner = 1;           ///< elements of the innermost joined axis
  std::int64_t chunks_per_row = 1;  ///< pieces of it that one thread takes at a time
  std::int64_t chunks = 0;
  std::int64_t extents[max_rank]{};  ///< of the axes around it
  std::int32_t axes = 0;
  bool aligned = false;  ///< every whole chunk begins at a multiple of its size
  loop_load loads[Loads > 0 ? Loads : 1];
};

/// The chunk of a loop that a thread works at, and where its row begins in each tensor that the loop reads.
template <std::size_t Loads>
struct loop_chunk {
  std::int64_t element;  ///< of the result
  std::int64_t inner;    ///< within its row
  std::int64_t rows[Loads > 0 ? Loads : 1];

  TAGMA_DEVICE loop_chunk(const loop_arguments<Loads>& a, std::int64_t chunk, int width) {
    std::int64_t row = 0;
    inner = chunk;
    if (a.axes > 0) {
      row = quotient(chunk, a.chunks_per_row);
      inner -= row * a.chunks_per_row;
    }
    inner *= width;
    element = row * a.inner + inner;
    for (std::size_t l = 0; l < Loads; ++l) rows[l] = 0;
    unravel(row, a.extents, a.axes, [&](int axis, std::int64_t at) {
      for (std::size_t l = 0; l < Loads; ++l) rows[l] += at * a.loads[l].strides[axis];
    });
  }
};

}  // namespace cuda::detail

/// What the threads of a loop do.
template <class... Load, class... Operation>
struct fused_loop<on_cuda, types<Load...>, types<Operation...>> {
  static constexpr std::size_t load_count = sizeof...(Load), operation_count = sizeof...(Operation);
  static constexpr int last_slot = static_cast<int>(load_count + operation_count) - 1;
  using arguments = cuda::detail::loop_arguments<load_count>;
  using slots = detail::loop_slots<std::make_index_sequence<load_count + operation_count>,
                                   cuda::detail::loop_value<Load>..., cuda::detail::loop_value<Operation>...>;
  using result = typename detail::last_of<Operation...>::stored_type;

  /// Elements that a thread takes at a time: 16 bytes of the widest tensor. Long recipes take fewer, since the
  /// operations of each element are written out.
  static constexpr int width = [] {
    std::size_t widest = sizeof(result);
    ((widest = Load::contiguous && sizeof(typename Load::stored_type) > widest ? sizeof(typename Load::stored_type)
                                                                               : widest),
     ...);
    const int most = operation_count > 6 ? 4 : 8, fits = static_cast<int>(16 / widest);
    return fits < most ? fits : most;
  }();

  template <class L>
  using values_of = cuda::detail::neighbours<typename L::stored_type, L::contiguous ? width : 1>;

  TAGMA_DEVICE static void run(const cuda::place& at, const arguments& a) {
    run_all(at, a, std::make_index_sequence<load_count>{}, std::make_index_sequence<operation_count>{});
  }

  using apart =
      cuda::detail::loop_apart<types<Load...>, cuda::detail::operation_apart<Operation, Load..., Operation...>...>;
  /// This is what an operation apart is.
  static constexpr bool is_alone =
      (operation_count == 1 && ... &&
       std::is_same_v<fused_loop, typename cuda::detail::operation_apart<Operation, Load..., Operation...>::loop>);

  [[nodiscard]] static owned<kernel_state> prepare(const kernel_args& args, const run_context& context);
  static void run_loop(const kernel_args& args, const run_context& context);
  static constexpr kernel_entry entry{&run_loop, &prepare};

 private:
  template <std::size_t... L, std::size_t... O>
  TAGMA_DEVICE static void run_all(const cuda::place& at, const arguments& a, std::index_sequence<L...> l,
                                   std::index_sequence<O...> o) {
    detail::loop_slots<std::index_sequence<L...>, values_of<Load>...> in{};
    const bool one_row = a.axes == 0;  // where neighbours are the same, all are
    if (one_row && a.chunks > 0) (read_once<Load>(detail::slot<static_cast<int>(L)>(in), a.loads[L].data), ...);
    for (std::int64_t c = at.index(); c < a.chunks; c += at.count()) {
      const cuda::detail::loop_chunk<load_count> chunk(a, c, width);
      const std::int64_t left = a.inner - chunk.inner;
      const bool whole = a.aligned && left >= width;
      const int n = left < width ? static_cast<int>(left) : width;
      if (!one_row) (read_once<Load>(detail::slot<static_cast<int>(L)>(in), a.loads[L].data + chunk.rows[L]), ...);
      (read<Load>(detail::slot<static_cast<int>(L)>(in), a.loads[L].data + chunk.rows[L], chunk.inner, whole, n), ...);
      cuda::detail::neighbours<result, width> out;
      TAGMA_UNROLL
      for (int i = 0; i < width; ++i) out.element[i] = element(in, i, l, o);
      out.write(a.out + chunk.element * static_cast<std::int64_t>(sizeof(result)), whole, n);
    }
  }
  template <class L>
  TAGMA_DEVICE static void read(values_of<L>& to, const std::byte* row, std::int64_t inner, bool whole, int n) {
    if constexpr (L::contiguous)
      to.read(row + inner * static_cast<std::int64_t>(sizeof(typename L::stored_type)), whole, n);
  }
  template <class L>
  TAGMA_DEVICE static void read_once(values_of<L>& to, const std::byte* row) {
    if constexpr (!L::contiguous) to.read(row, true, 1);
  }
  template <class In, std::size_t... L, std::size_t... O>
  TAGMA_DEVICE static result element(In& in, int i, std::index_sequence<L...>, std::index_sequence<O...>) {
    slots s;
    ((detail::slot<static_cast<int>(L)>(s) =
          cuda::widen(detail::slot<static_cast<int>(L)>(in).element[Load::contiguous ? i : 0])),
     ...);
    (cuda::detail::compute_slot<static_cast<int>(load_count + O)>(s, Operation{}), ...);
    return cuda::narrow<result>(detail::slot<last_slot>(s));
  }
};

namespace cuda::detail {

/// What a loop knows of its extents; addresses are those of the run.
struct loop_state final : kernel_state {
  loop_arguments<most_loads> numbers;
  std::int64_t elements = 0;
  bool apart = false;  ///< each operation by itself
};

/// Sets the extents of a loop, and returns how many elements it has.
/// @param width elements of a chunk
TAGMA_COLD inline std::int64_t set_extents(loop_arguments<most_loads>& numbers, const kernel_args& args, int width) {
  const loop_extents extents(args);
  numbers.inner = extents.inner;
  numbers.chunks_per_row = pieces(extents.inner, width);
  numbers.chunks = extents.rows * numbers.chunks_per_row;
  numbers.axes = extents.axes;
  for (int a = 0; a < extents.axes; ++a) numbers.extents[a] = extents.extents[a];
  for (std::size_t l = 0; l < args.in.size(); ++l)
    for (int a = 0; a < extents.axes; ++a) numbers.loads[l].strides[a] = extents.strides[l][a];
  return extents.rows * extents.inner;
}
TAGMA_COLD inline owned<loop_state> prepare_loop(const kernel_args& args, int width) {
  auto state = make_owned<loop_state>();
  state->elements = set_extents(state->numbers, args, width);
  return state;
}

/// True if all whole chunks of a loop begin where words of their size may.
[[nodiscard]] inline bool chunks_are_aligned(const kernel_args& args, const loop_arguments<most_loads>& numbers,
                                             int width, const bool* contiguous) {
  if (numbers.axes > 0 && numbers.inner % width != 0) return false;
  const auto fits = [width](const operand& o) {
    return reinterpret_cast<std::uintptr_t>(o.data) % (size_of(o.type) * static_cast<std::size_t>(width)) == 0;
  };
  bool all = fits(args.out);
  for (std::size_t l = 0; l < args.in.size(); ++l) all = all && (!contiguous[l] || fits(args.in[l]));
  return all;
}

/// The first loads of a loop's arguments, as many as its kernel takes.
template <std::size_t Loads>
[[nodiscard]] loop_arguments<Loads> with_loads(const loop_arguments<most_loads>& all) {
  loop_arguments<Loads> a;
  a.out = all.out;
  a.inner = all.inner;
  a.chunks_per_row = all.chunks_per_row;
  a.chunks = all.chunks;
  for (int axis = 0; axis < max_rank; ++axis) a.extents[axis] = all.extents[axis];
  a.axes = all.axes;
  a.aligned = all.aligned;
  for (std::size_t l = 0; l < Loads; ++l) a.loads[l] = all.loads[l];
  return a;
}

}  // namespace cuda::detail

template <class... Load, class... Operation>
owned<kernel_state> fused_loop<on_cuda, types<Load...>, types<Operation...>>::prepare(const kernel_args& args,
                                                                                      const run_context& context) {
  auto state = cuda::detail::prepare_loop(args, width);
  state->apart = !is_alone && !cuda::detail::is_made<fused_loop>();
  if (state->apart) apart::reserve(state->elements, context);
  return state;
}

template <class... Load, class... Operation>
void fused_loop<on_cuda, types<Load...>, types<Operation...>>::run_loop(const kernel_args& args,
                                                                        const run_context& context) {
  static constexpr bool contiguous[] = {Load::contiguous..., true};
  const auto& state = *static_cast<const cuda::detail::loop_state*>(args.state);
  const auto& numbers = state.numbers;
  if (numbers.chunks == 0) return;
  if constexpr (!is_alone)
    if (state.apart) return apart::run(args, numbers, state.elements, context);
  auto a = cuda::detail::with_loads<load_count>(numbers);
  a.out = args.out.data;
  for (std::size_t l = 0; l < load_count; ++l) a.loads[l].data = args.in[l].data;
  a.aligned = cuda::detail::chunks_are_aligned(args, numbers, width, contiguous);
  cuda::launch<fused_loop>(cuda::geometry::over(a.chunks), context, a);
}

}  // namespace tagma::device
