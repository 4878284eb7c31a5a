// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A loop of which nvcc has made no kernel, operation by operation. Its front end and the host compiler each work out
/// the loops of a program, and the front end takes two expressions for one if they are equal but for numbers written in
/// place (docs/decisions/0003). Which operations there are, on which types, both know alike, but for sums of gradients
/// of two such expressions. So each loop asks for a kernel of each of its operations alone. Results are rounded behind
/// each operation, where a kernel of the whole loop joins products and sums.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/kernel/kernel.hpp"
#include "tagma/device/cuda/move.hpp"
#include "tagma/device/loop.hpp"

namespace tagma::device::cuda::detail {

/// True if nvcc has made a kernel of a body.
template <class Body>
[[nodiscard]] bool is_made() {
#if TAGMA_CUDA_EMULATION
  if (emulation::lacks_loops()) return false;
  if (emulates()) return true;
#endif
  cudaFuncAttributes attributes{};
  const cudaError_t status = cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(&run_body<Body>));
  ignore(status);
  return status != cudaErrorInvalidResourceHandle && status != cudaErrorInvalidDeviceFunction;
}

/// Operands that the body of an operation takes.
template <class Body, class Out, class A, class B>
[[nodiscard]] constexpr int operands_of_body() {
  if constexpr (requires(A a) { Body::template apply<Out>(a); })
    return 1;
  else if constexpr (requires(A a, B b) { Body::template apply<Out>(a, b); })
    return 2;
  else
    return 3;
}

template <class Step>
inline constexpr dtype type_of_step = dtype::none;
template <dtype Type, bool Contiguous>
inline constexpr dtype type_of_step<load_of<Type, Contiguous>> = Type;
template <const char& Operation, dtype Type, int A, int B, int C>
inline constexpr dtype type_of_step<operation_of<Operation, Type, A, B, C>> = Type;

/// An operation of a loop by itself, over tensors that all step.
/// @tparam Step the loads of the loop, then its operations
template <class Operation, class... Step>
struct operation_apart;
template <const char& Operation, dtype Type, int A, int B, int C, class... Step>
struct operation_apart<operation_of<Operation, Type, A, B, C>, Step...> {
  template <int I>
  using step = std::tuple_element_t<static_cast<std::size_t>(I), std::tuple<Step...>>;
  template <int I>
  using value = compute_t<typename step<I>::stored_type>;
  static constexpr int operands =
      operands_of_body<scalar_kernel<on_cuda, Operation>, compute_t<stored<Type>>, value<A>, value<B>>();
  static constexpr int from[3] = {A, B, C};
  static constexpr std::size_t element_bytes = sizeof(stored<Type>);

  template <int... I>
  static auto loop_of(std::integer_sequence<int, I...>)
      -> fused_loop<on_cuda, types<load_of<type_of_step<step<from[I]>>, true>...>,
                    types<operation_of<Operation, Type, 0, (operands > 1 ? 1 : 0), (operands > 2 ? 2 : 0)>>>;
  using loop = decltype(loop_of(std::make_integer_sequence<int, operands>{}));
};

/// Where what a loop holds is kept: which of some blocks of memory, -1: where it is.
template <std::size_t Slots>
struct places_apart {
  int block[Slots]{};
  int blocks = 0;
};

/// @tparam Apart the operations of the loop, in order
template <std::size_t Loads, class... Apart>
[[nodiscard]] constexpr auto find_places_apart() {
  constexpr std::size_t slots = Loads + sizeof...(Apart);
  constexpr int operands[] = {Apart::operands...};
  constexpr const int* from[] = {Apart::from...};
  places_apart<slots> p;
  int last_use[slots]{};
  bool taken[slots]{};
  for (std::size_t i = 0; i < slots; ++i) p.block[i] = -1;
  for (std::size_t o = 0; o < sizeof...(Apart); ++o)
    for (int k = 0; k < operands[o]; ++k) last_use[from[o][k]] = static_cast<int>(o);
  const auto take = [&](std::size_t slot) {
    int b = 0;
    while (taken[b]) ++b;
    taken[b] = true;
    p.block[slot] = b;
    if (b >= p.blocks) p.blocks = b + 1;
  };
  for (std::size_t o = 0; o < sizeof...(Apart); ++o) {
    for (int k = 0; k < operands[o]; ++k)
      if (p.block[from[o][k]] < 0) take(static_cast<std::size_t>(from[o][k]));
    if (o + 1 < sizeof...(Apart)) take(Loads + o);
    for (int k = 0; k < operands[o]; ++k)
      if (last_use[from[o][k]] == static_cast<int>(o)) taken[p.block[from[o][k]]] = false;
  }
  return p;
}

/// Bytes of the largest element of any loop.
inline constexpr std::size_t widest_element = 8;

/// Runs a loop of one operation over tensors that all step.
/// @tparam Loop of one operation
template <class Loop>
void run_apart(const std::byte* const* in, std::byte* out, std::int64_t count, const run_context& context) {
  typename Loop::arguments a;
  a.inner = count;
  a.chunks_per_row = a.chunks = pieces(count, Loop::width);
  a.out = out;
  std::uintptr_t all = reinterpret_cast<std::uintptr_t>(out);
  for (std::size_t l = 0; l < Loop::load_count; ++l) {
    a.loads[l].data = in[l];
    all |= reinterpret_cast<std::uintptr_t>(in[l]);
  }
  a.aligned = all % (widest_element * static_cast<std::size_t>(Loop::width)) == 0;
  launch<Loop>(geometry::over(a.chunks), context, a);
}

/// The box of a tensor that a loop reads, as neighbours one behind the other.
template <class Arguments>
[[nodiscard]] moved_box box_of_load(const operand& from, std::size_t l, bool contiguous, const Arguments& numbers) {
  const auto size = static_cast<std::int64_t>(size_of(from.type));
  moved_box box;
  std::int64_t step = numbers.inner;
  for (int a = 0; a < numbers.axes; ++a) step *= numbers.extents[a];
  for (int a = 0; a < numbers.axes; ++a) {
    step /= numbers.extents[a];
    box.add(numbers.extents[a], numbers.loads[l].strides[a] / size, step);
  }
  box.add(numbers.inner, contiguous ? 1 : 0, 1);
  return box;
}
/// True if the elements of a box are one behind the other where they are.
[[nodiscard]] inline bool is_in_place(const moved_box& box) {
  return box.count == 0 || (box.count == 1 && box.from[0] == 1);
}

/// The elements of a tensor that a loop reads, one behind the other: where they are, if they are so, else in `block`.
template <class Arguments>
[[nodiscard]] const std::byte* gather_load(const operand& from, std::size_t l, bool contiguous,
                                           const Arguments& numbers, std::byte* block, const run_context& context) {
  const moved_box box = box_of_load(from, l, contiguous, numbers);
  if (is_in_place(box)) return from.data;
  move(from.data, block, box, size_of(from.type), context);
  return block;
}

/// A loop with the operations `Apart`, which are `operation_apart`.
template <class Loads, class... Apart>
struct loop_apart;
template <class... Load, class... Apart>
struct loop_apart<types<Load...>, Apart...> {
  static constexpr std::size_t loads = sizeof...(Load), operations = sizeof...(Apart);
  static constexpr auto places = find_places_apart<loads, Apart...>();
  /// Bytes of the largest element of this loop.
  static constexpr std::size_t element_bytes = [] {
    std::size_t most = 1;
    for (const std::size_t bytes : {sizeof(typename Load::stored_type)..., Apart::element_bytes...})
      if (bytes > most) most = bytes;
    return most;
  }();

  /// Bytes that a tensor of so many elements takes in the working memory.
  [[nodiscard]] static std::size_t block_bytes(std::int64_t count) {
    return workspace_part(static_cast<std::size_t>(count) * element_bytes);
  }
  static void reserve(std::int64_t count, const run_context& context) {
    resources_of(context).reserve(static_cast<std::size_t>(places.blocks) * block_bytes(count));
  }

  template <class Arguments>
  static void run(const kernel_args& args, const Arguments& numbers, std::int64_t count, const run_context& context) {
    constexpr bool contiguous[] = {Load::contiguous..., true};
    const std::byte* at[loads + operations]{};
    std::size_t o = 0;
    const auto one = [&](auto apart) {
      using operation = decltype(apart);
      const std::byte* in[3]{};
      for (int k = 0; k < operation::operands; ++k) {
        const auto slot = static_cast<std::size_t>(operation::from[k]);
        if (at[slot] == nullptr)
          at[slot] = gather_load(args.in[slot], slot, contiguous[slot], numbers, block(slot, count, context), context);
        in[k] = at[slot];
      }
      std::byte* const out = o + 1 == operations ? args.out.data : block(loads + o, count, context);
      run_apart<typename operation::loop>(in, out, count, context);
      at[loads + o++] = out;
    };
    (one(Apart{}), ...);
  }

 private:
  [[nodiscard]] static std::byte* block(std::size_t slot, std::int64_t count, const run_context& context) {
    return resources_of(context).workspace() + static_cast<std::size_t>(places.block[slot]) * block_bytes(count);
  }
};

}  // namespace tagma::device::cuda::detail
