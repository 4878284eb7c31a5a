// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A kernel for all loops over floats that are data, and one each for those over doubles and over integers of 32 and of
/// 64 bits: each thread takes a few neighbours through the operations of the loop, one after the other. What the next
/// operation takes stays in registers; what is read, and what a later one takes, is in memory of the block. Truth
/// values are the numbers 1 and 0. Results are rounded behind each operation, as in loops of one.

#include <tuple>

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/kernel/elementwise.hpp"
#include "tagma/device/cuda/kernel/fused.hpp"
#include "tagma/device/loop_recipe.hpp"

namespace tagma::device::cuda::detail {

/// A number as a truth value.
struct truth_of {};

/// Operations of such loops. Their numbers are their positions, those of one operand first.
template <class... Op>
struct operation_list {
  static constexpr int count = sizeof...(Op);
  template <int I>
  using at = std::tuple_element_t<static_cast<std::size_t>(I), std::tuple<Op...>>;
};
using operations_of_one =
    operation_list<truth_of, op::broadcast_like, op::negate, op::abs, op::sign, op::square, op::floor, op::ceil,
                   op::round, op::logical_not, op::exp, op::log, op::log1p, op::expm1, op::sqrt, op::rsqrt, op::tanh,
                   op::sigmoid, op::softplus, op::erf, op::sin, op::cos, op::relu>;
using operations_of_two =
    operation_list<op::add, op::subtract, op::multiply, op::divide, op::maximum, op::minimum, op::equal, op::not_equal,
                   op::less, op::less_equal, op::greater, op::greater_equal, op::logical_and, op::logical_or, op::power,
                   op::relu_gradient>;
using integer_operations_of_one =
    operation_list<truth_of, op::broadcast_like, op::negate, op::abs, op::sign, op::square, op::logical_not>;
using integer_operations_of_two =
    operation_list<op::add, op::subtract, op::multiply, op::divide, op::maximum, op::minimum, op::equal, op::not_equal,
                   op::less, op::less_equal, op::greater, op::greater_equal, op::logical_and, op::logical_or>;
/// The operations of loops that compute with a type, behind which is `select`.
template <class T>
struct known_operations {
  using one = std::conditional_t<std::is_integral_v<T>, integer_operations_of_one, operations_of_one>;
  using two = std::conditional_t<std::is_integral_v<T>, integer_operations_of_two, operations_of_two>;
  static constexpr int select_number = one::count + two::count;
};
inline constexpr int truth_number = 0, copy_number = 1;

/// The number of an operation, or -1 if the kernel does not know it.
template <class... One, class... Two>
[[nodiscard]] int number_of_operation(const char* key, operation_list<truth_of, One...>, operation_list<Two...>) {
  const char* const keys[] = {nullptr, &ir::key<One>..., &ir::key<Two>..., &ir::key<op::select>};
  constexpr int last = static_cast<int>(sizeof...(One) + sizeof...(Two)) + 1;
  for (int i = 1; i <= last; ++i)
    if (keys[i] == key) return i;
  return -1;
}

template <class Op, class T>
TAGMA_DEVICE T compute_number(T a) {
  if constexpr (std::is_same_v<Op, truth_of>)
    return a != T(0) ? T(1) : T(0);
  else
    return scalar_kernel<on_cuda, ir::key<Op>>::template apply<T>(a);
}
template <class Op, class T>
TAGMA_DEVICE T compute_number(T a, T b) {
  if constexpr (std::is_same_v<Op, op::logical_and> || std::is_same_v<Op, op::logical_or>)
    return scalar_kernel<on_cuda, ir::key<Op>>::template apply<bool>(a != T(0), b != T(0)) ? T(1) : T(0);
  else
    return scalar_kernel<on_cuda, ir::key<Op>>::template apply<T>(a, b);
}

/// One operation of a loop: its number, up to three operands and where its result is kept, a byte each. Operands are
/// places of the block, loads first, or -1: what the step before has made. A result that only the next step takes is
/// kept nowhere, -1.
class loop_step {
 public:
  loop_step() = default;
  loop_step(int operation, const int* operands, int kept)
      : bytes_(byte(operation, 0) | byte(operands[0], 1) | byte(operands[1], 2) | byte(operands[2], 3) |
               byte(kept, 4)) {}

  [[nodiscard]] TAGMA_DEVICE int operation() const { return at(0); }
  [[nodiscard]] TAGMA_DEVICE int operand(int k) const { return at(k + 1); }
  [[nodiscard]] TAGMA_DEVICE int kept() const { return at(4); }

 private:
  [[nodiscard]] static std::uint64_t byte(int value, int position) {
    return static_cast<std::uint64_t>(static_cast<std::uint8_t>(value)) << (8 * position);
  }
  [[nodiscard]] TAGMA_DEVICE int at(int position) const {
    return static_cast<std::int8_t>(static_cast<std::uint8_t>(bytes_ >> (8 * position)));
  }
  std::uint64_t bytes_ = 0;
};

/// Bytes of the memory that every block may have.
inline constexpr std::size_t block_memory = 48u << 10;

/// What a loop is made of.
struct number_loop_arguments {
  loop_arguments<most_loads> loop;
  dtype types[most_loads];  ///< of loads
  bool contiguous[most_loads];
  dtype out = dtype::none;
  std::int32_t loads = 0, steps = 0;
  std::int32_t kept = 0;  ///< places of the block
  loop_step step[most_rows];
};

/// What threads of such a loop do.
/// @tparam T float, double, or an integer of 32 or 64 bits
/// @tparam AtOnce pieces that a thread takes at a time: for so many it looks at each step once
template <class T, int AtOnce>
struct number_loop {
  using arguments = number_loop_arguments;
  using of_one = typename known_operations<T>::one;
  using of_two = typename known_operations<T>::two;
  static constexpr int select_number = known_operations<T>::select_number;
  static constexpr int width = static_cast<int>(16 / sizeof(T)), at_once = AtOnce;
  struct piece {
    T at[static_cast<unsigned>(width)];
  };
  struct values {
    piece of[static_cast<unsigned>(at_once)];
  };

  /// True for the types of what such a loop reads and writes.
  [[nodiscard]] static constexpr bool knows(dtype type) {
    return type == dtype_of<T> || type == dtype::boolean || (std::is_same_v<T, float> && device::detail::is_half(type));
  }
  /// True for integers that it reads as well, since all of them are numbers of T; what it does with them is a cast.
  [[nodiscard]] static constexpr bool casts(dtype type) {
    return std::is_floating_point_v<T> && (type == dtype::uint8 || type == dtype::int8 || type == dtype::int16);
  }
  /// Threads of a block, whose memory has room for what they keep.
  [[nodiscard]] static int threads_for(std::int32_t kept) {
    static_assert((most_loads + most_rows) * sizeof(values) * 16 <= block_memory);
    int threads = 128;
    while (static_cast<std::size_t>(kept * threads) * sizeof(values) > block_memory) threads /= 2;
    return threads;
  }
  static void launch_over(const arguments& a, const run_context& context) {
    const int threads = threads_for(a.kept);
    geometry g = geometry::over(pieces(a.loop.chunks, at_once), threads);
    g.shared = static_cast<std::size_t>(a.kept * threads) * sizeof(values);
    launch<number_loop>(g, context, a);
  }

  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    piece* const kept = reinterpret_cast<piece*>(at.shared) + at.thread;
    const std::int64_t all = at.count();
    for (std::int64_t c = at.index(); c < a.loop.chunks; c += at_once * all) {
      piece_place p[static_cast<unsigned>(at_once)];
      TAGMA_UNROLL
      for (int h = 0; h < at_once; ++h) p[h].find(a.loop, c + h * all);
      for (int l = 0; l < a.loads; ++l) read(a, l, p, kept + l * at_once * at.threads, at.threads);
      values last{};
      for (int s = 0; s < a.steps; ++s) {
        const loop_step step = a.step[s];
        values x = fetch(step.operand(0), last, kept, at.threads);
        if (step.operation() < of_one::count) {
          compute_one(step.operation(), x, last);
        } else {
          const values y = fetch(step.operand(1), last, kept, at.threads);
          if (step.operation() < select_number)
            compute_two(step.operation() - of_one::count, x, y, last);
          else
            last = select_of(x, y, fetch(step.operand(2), last, kept, at.threads));
        }
        if (step.kept() < 0) continue;
        TAGMA_UNROLL
        for (int h = 0; h < at_once; ++h) kept[(step.kept() * at_once + h) * at.threads] = last.of[h];
      }
      write(a, last, p);
    }
  }

 private:
  /// Where the neighbours of a piece are.
  struct piece_place {
    std::int64_t row, inner;

    TAGMA_DEVICE void find(const loop_arguments<most_loads>& a, std::int64_t c) {
      row = a.axes > 0 ? quotient(c, a.chunks_per_row) : 0;
      inner = c < a.chunks ? (c - row * a.chunks_per_row) * width : a.inner;
    }
    [[nodiscard]] TAGMA_DEVICE std::int64_t element(const loop_arguments<most_loads>& a) const {
      return row * a.inner + inner;
    }
    /// How many there are; of a piece that is not, none.
    [[nodiscard]] TAGMA_DEVICE int count(const loop_arguments<most_loads>& a) const {
      const std::int64_t left = a.inner - inner;
      return left < width ? static_cast<int>(left) : width;
    }
    /// Where their row begins in what the loop reads.
    [[nodiscard]] TAGMA_DEVICE const std::byte* in(const loop_arguments<most_loads>& a, int l) const {
      const std::byte* begin = a.loads[l].data;
      if (a.axes > 0)
        unravel(row, a.extents, a.axes, [&](int axis, std::int64_t at) { begin += at * a.loads[l].strides[axis]; });
      return begin;
    }
  };

  TAGMA_DEVICE static values fetch(int from, const values& last, const piece* kept, int threads) {
    if (from < 0) return last;
    values v;
    TAGMA_UNROLL
    for (int h = 0; h < at_once; ++h) v.of[h] = kept[(from * at_once + h) * threads];
    return v;
  }

  template <class Some>
  TAGMA_DEVICE static void for_all(values& out, const Some& some) {
    TAGMA_UNROLL
    for (int h = 0; h < at_once; ++h) {
      TAGMA_UNROLL
      for (int i = 0; i < width; ++i) out.of[h].at[i] = some(h, i);
    }
  }
  /// Finds the operation by halves: all threads of a block go one way.
  template <int First = 0, int End = of_one::count>
  TAGMA_DEVICE static void compute_one(int operation, const values& x, values& out) {
    if constexpr (End - First == 1) {
      for_all(out, [&](int h, int i) { return compute_number<typename of_one::template at<First>>(x.of[h].at[i]); });
    } else {
      constexpr int middle = (First + End) / 2;
      if (operation < middle)
        compute_one<First, middle>(operation, x, out);
      else
        compute_one<middle, End>(operation, x, out);
    }
  }
  template <int First = 0, int End = of_two::count>
  TAGMA_DEVICE static void compute_two(int operation, const values& x, const values& y, values& out) {
    if constexpr (End - First == 1) {
      for_all(out, [&](int h, int i) {
        return compute_number<typename of_two::template at<First>>(x.of[h].at[i], y.of[h].at[i]);
      });
    } else {
      constexpr int middle = (First + End) / 2;
      if (operation < middle)
        compute_two<First, middle>(operation, x, y, out);
      else
        compute_two<middle, End>(operation, x, y, out);
    }
  }
  TAGMA_DEVICE static values select_of(const values& condition, const values& a, const values& b) {
    values out;
    for_all(out, [&](int h, int i) { return condition.of[h].at[i] != T(0) ? a.of[h].at[i] : b.of[h].at[i]; });
    return out;
  }

  TAGMA_DEVICE static void read(const arguments& a, int l, const piece_place* p, piece* to, int threads) {
    const dtype type = a.types[l];
    if (type == dtype_of<T>) return read_as<T>(a, l, p, to, threads);
    if constexpr (std::is_same_v<T, float>) {
      if (type == dtype::float16) return read_as<float16>(a, l, p, to, threads);
      if (type == dtype::bfloat16) return read_as<bfloat16>(a, l, p, to, threads);
    }
    if constexpr (std::is_floating_point_v<T>) {
      if (type == dtype::uint8) return read_as<std::uint8_t>(a, l, p, to, threads);
      if (type == dtype::int8) return read_as<std::int8_t>(a, l, p, to, threads);
      if (type == dtype::int16) return read_as<std::int16_t>(a, l, p, to, threads);
    }
    read_as<bool>(a, l, p, to, threads);
  }
  template <class Stored>
  TAGMA_DEVICE static void read_as(const arguments& a, int l, const piece_place* p, piece* to, int threads) {
    values all{};
    TAGMA_UNROLL
    for (int h = 0; h < at_once; ++h) {
      const int n = p[h].count(a.loop);
      const std::byte* const row = p[h].in(a.loop, l);
      if (a.contiguous[l]) {
        neighbours<Stored, width> some;
        some.read(row + p[h].inner * static_cast<std::int64_t>(sizeof(Stored)), a.loop.aligned && n == width, n);
        TAGMA_UNROLL
        for (int i = 0; i < width; ++i) all.of[h].at[i] = static_cast<T>(widen(some.element[i]));
      } else if (n > 0) {
        const auto one = static_cast<T>(widen(*reinterpret_cast<const Stored*>(row)));
        TAGMA_UNROLL
        for (int i = 0; i < width; ++i) all.of[h].at[i] = one;
      }
    }
    TAGMA_UNROLL
    for (int h = 0; h < at_once; ++h) to[h * threads] = all.of[h];
  }
  TAGMA_DEVICE static void write(const arguments& a, const values& all, const piece_place* p) {
    if (a.out == dtype_of<T>) return write_as<T>(a, all, p);
    if constexpr (std::is_same_v<T, float>) {
      if (a.out == dtype::float16) return write_as<float16>(a, all, p);
      if (a.out == dtype::bfloat16) return write_as<bfloat16>(a, all, p);
    }
    write_as<bool>(a, all, p);
  }
  template <class Stored>
  TAGMA_DEVICE static void write_as(const arguments& a, const values& all, const piece_place* p) {
    TAGMA_UNROLL
    for (int h = 0; h < at_once; ++h) {
      const int n = p[h].count(a.loop);
      neighbours<Stored, width> some;
      TAGMA_UNROLL
      for (int i = 0; i < width; ++i) {
        if constexpr (std::is_same_v<Stored, bool>)
          some.element[i] = all.of[h].at[i] != T(0);
        else
          some.element[i] = narrow<Stored>(all.of[h].at[i]);
      }
      some.write(a.loop.out + p[h].element(a.loop) * static_cast<std::int64_t>(sizeof(Stored)),
                 a.loop.aligned && n == width, n);
    }
  }
};

/// Such a loop over tensors of any size: many elements are taken twice as many at once, few by as many threads as they
/// can keep busy.
template <class T>
void launch_numbers(const number_loop_arguments& a, const run_context& context) {
  constexpr std::int64_t many = std::int64_t{1} << 19;  // threads that even a large device does not have at once
  if (a.loop.chunks >= many)
    number_loop<T, 2>::launch_over(a, context);
  else
    number_loop<T, 1>::launch_over(a, context);
}

/// Turns a recipe into steps of such a loop; false if it has types or operations that this does not know.
template <class T>
[[nodiscard]] TAGMA_COLD bool set_steps(number_loop_arguments& a, const loop_recipe& recipe, const kernel_args& args) {
  using loop = number_loop<T, 1>;
  const auto loads = static_cast<int>(args.in.size()), steps = static_cast<int>(recipe.calls.size());
  bool all = loop::knows(args.out.type);
  a.out = args.out.type;
  a.loads = a.kept = loads;
  a.steps = steps;
  for (int l = 0; l < loads; ++l) {
    a.types[l] = args.in[l].type;
    a.contiguous[l] = !recipe.inputs[l].repeated;
    all = all && (loop::knows(a.types[l]) || loop::casts(a.types[l]));
  }
  int place_of[most_rows];  // of rows of the recipe
  for (int& p : place_of) p = -1;
  for (int s = 0; all && s < steps; ++s) {
    const loop_call& call = recipe.calls[s];
    int number = call.type == dtype::boolean ? truth_number : copy_number;
    if (call.operation != &ir::key<op::cast> && call.operation != &ir::key<ir::loop_copy>)
      number =
          number_of_operation(call.operation, typename known_operations<T>::one{}, typename known_operations<T>::two{});
    all = number >= 0 && loop::knows(call.type);
    int operands[3]{};
    for (int k = 0; k < call.operands; ++k) {
      const int from = call.operand[k];
      const bool is_last = s > 0 && from == loads + recipe.calls[s - 1].result;
      if (from < loads && loop::casts(a.types[from])) all = all && call.operation == &ir::key<op::cast>;
      operands[k] = is_last ? -1 : from < loads ? from : place_of[from - loads];
    }
    // Kept if another step than the next takes it before its row is written again.
    bool kept = false, over = call.result < 0;
    for (int t = s + 1; !over && t < steps; ++t) {
      const loop_call& later = recipe.calls[t];
      for (int k = 0; k < later.operands; ++k) kept = kept || (t > s + 1 && later.operand[k] == loads + call.result);
      over = later.result == call.result;
    }
    if (kept && place_of[call.result] < 0) place_of[call.result] = a.kept++;
    a.step[s] = loop_step(number, operands, kept ? place_of[call.result] : -1);
  }
  return all;
}

}  // namespace tagma::device::cuda::detail
