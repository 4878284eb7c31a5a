// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Matrix products on the GPU: by cuBLASLt, and by plain loops where it has no algorithm. A bias and a relu behind a
/// product are part of its call.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/blas.hpp"
#include "tagma/device/cuda/kernel/fused.hpp"
#include "tagma/device/cuda/move.hpp"
#include "tagma/device/product.hpp"
#include "tagma/expr/op/math.hpp"

namespace tagma::device {
namespace cuda::detail {

/// An axis over which products repeat, and how far apart its neighbours are.
struct batch_axis {
  std::int64_t extent = 1, a = 0, b = 0, c = 0;
};

/// A product of tensors: one call of `problem` for every position of the other axes.
struct batched_product {
  product_problem problem;
  batch_axis outer[max_rank];
  int axes = 0;

  explicit batched_product(const kernel_args& args) {
    const shape &x = args.in[0].dims, &y = args.in[1].dims, &out = args.out.dims;
    problem.type = args.out.type;
    const product_extents p(args);
    problem.transpose_a = p.transpose_a;
    problem.transpose_b = p.transpose_b;
    problem.m = p.m;
    problem.n = p.n;
    problem.k = p.k;
    // Rows of a loop begin anywhere; where is not known before the loop.
    if (has_rows(args)) problem.alignment = static_cast<std::uint32_t>(size_of(problem.type));
    if (p.one) return;
    collect(x, y, out);
    // The longest axis goes to the library, the others are walked.
    int longest = -1;
    for (int i = 0; i < axes; ++i)
      if (longest < 0 || outer[i].extent > outer[longest].extent) longest = i;
    if (longest < 0) return;
    problem.batch = outer[longest].extent;
    problem.stride_a = outer[longest].a;
    problem.stride_b = outer[longest].b;
    problem.stride_c = outer[longest].c;
    for (int i = longest + 1; i < axes; ++i) outer[i - 1] = outer[i];
    --axes;
    // Operands begin where every word may; the matrices of later calls perhaps do not.
    std::int64_t steps = 0;
    for (int i = 0; i < axes; ++i) steps |= outer[i].a | outer[i].b | outer[i].c;
    const auto common =
        static_cast<std::uint32_t>(common_word(static_cast<std::uint64_t>(steps) * size_of(problem.type)));
    if (common < problem.alignment) problem.alignment = common;
  }

  /// Calls of `problem`.
  [[nodiscard]] std::int64_t calls() const {
    std::int64_t n = 1;
    for (int i = 0; i < axes; ++i) n *= outer[i].extent;
    return n;
  }
  /// The elements at which call `index` begins.
  [[nodiscard]] batch_axis at(std::int64_t index) const {
    batch_axis o;
    for (int i = axes - 1; i >= 0; --i) {
      const std::int64_t position = index % outer[i].extent;
      index /= outer[i].extent;
      o.a += position * outer[i].a;
      o.b += position * outer[i].b;
      o.c += position * outer[i].c;
    }
    return o;
  }
  [[nodiscard]] bool is_empty() const { return problem.m == 0 || problem.n == 0 || problem.batch * calls() == 0; }

 private:
  [[nodiscard]] static bool has_rows(const kernel_args& args) {
    bool row = args.out.data == nullptr;
    for (const operand& o : args.in) row = row || o.data == nullptr;
    return row;
  }
  /// The axes before the last two, outermost first, neighbours joined where both operands allow it.
  void collect(const shape& x, const shape& y, const shape& out) {
    const auto own = [&](const shape& s, int axis) {
      const int i = axis - (out.rank - s.rank);
      return i < 0 || s[i] == 1 ? std::int64_t{0} : s.elements(i + 1, s.rank);
    };
    for (int i = 0; i < out.rank - 2; ++i) {
      if (out[i] == 1) continue;
      const batch_axis next{out[i], own(x, i), own(y, i), out.elements(i + 1, out.rank)};
      if (axes > 0 && outer[axes - 1].a == next.a * next.extent && outer[axes - 1].b == next.b * next.extent)
        outer[axes - 1] = {outer[axes - 1].extent * next.extent, next.a, next.b, next.c};
      else
        outer[axes++] = next;
    }
  }
};

/// Products by plain loops, an element of the result each.
template <class T>
struct product_body {
  using C = compute_t<T>;
  struct arguments {
    const T* a;
    const T* b;
    T* c;
    const T* bias;
    product_problem p;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& g) {
    const product_problem& p = g.p;
    const std::int64_t one = p.m * p.n;
    for (std::int64_t i = at.index(); i < one * p.batch; i += at.count()) {
      const std::int64_t batch = quotient(i, one), row = quotient(i - batch * one, p.n);
      const std::int64_t column = i - batch * one - row * p.n;
      const T* a = g.a + batch * p.stride_a + (p.transpose_a ? row : row * p.k);
      const T* b = g.b + batch * p.stride_b + (p.transpose_b ? column * p.k : column);
      const std::int64_t step_a = p.transpose_a ? p.m : 1, step_b = p.transpose_b ? 1 : p.n;
      C total = 0;
      for (std::int64_t k = 0; k < p.k; ++k) total += widen(a[k * step_a]) * widen(b[k * step_b]);
      if (p.after == epilogue::bias || p.after == epilogue::bias_relu) total += widen(g.bias[column]);
      if (p.after == epilogue::relu || p.after == epilogue::bias_relu) total = max(total, C(0));
      g.c[batch * p.stride_c + row * p.n + column] = narrow<T>(total);
    }
  }
};

struct product_state : kernel_state {
  explicit product_state(const kernel_args& args) : product(args) {}
  batched_product product;
  owned<blas_product> library;

  /// True if cuBLASLt has an algorithm, or need not have one.
  bool choose(const run_context& context, const void* bias = nullptr) {
    if (!libraries_answer() || product.is_empty() || product.problem.k == 0) return true;
    library = blas_product::make(product.problem, context, bias);
    return library != nullptr;
  }
};

inline owned<kernel_state> prepare_matmul(const kernel_args& args, const run_context& context) {
  auto state = make_owned<product_state>(args);
  (void)state->choose(context);
  return state;
}

/// c = a * b and what follows it, for operands of one call.
/// @param library nullptr: by plain loops
template <class T>
void multiply(const product_problem& p, const blas_product* library, const T* a, const T* b, T* c, const T* bias,
              const run_context& context) {
  if (library != nullptr)
    library->run(a, b, c, bias, context);
  else
    launch<product_body<T>>(geometry::over(p.m * p.n * p.batch), context, {a, b, c, bias, p});
}

/// @param bias nullptr if none is added
template <class T>
void run_product(const product_state& s, const kernel_args& args, const T* bias, const run_context& context) {
  if (s.product.is_empty()) return;
  for (std::int64_t i = 0; i < s.product.calls(); ++i) {
    const batch_axis at = s.product.at(i);
    multiply<T>(s.product.problem, s.library.get(), args.in[0].as<const T>() + at.a, args.in[1].as<const T>() + at.b,
                args.out.as<T>() + at.c, bias, context);
  }
}

template <class T>
void matmul(const kernel_args& args, const run_context& context) {
  run_product<T>(*static_cast<const product_state*>(args.state), args, nullptr, context);
}

template <dtype T, int A, int B>
using sum_step = operation_of<ir::key<op::add>, T, A, B, 0>;
template <dtype T, int A>
using relu_step = operation_of<ir::key<op::relu>, T, A, 0, 0>;

/// What a loop over a product comes to, if a library knows it by name. What the loop reads besides may still be too
/// large for a bias.
template <class Loop>
inline constexpr epilogue epilogue_of = epilogue::none;
template <dtype T>
inline constexpr epilogue epilogue_of<fused_loop<on_cuda, types<load_of<T, true>>, types<relu_step<T, 0>>>> =
    epilogue::relu;
template <dtype T>
inline constexpr epilogue
    epilogue_of<fused_loop<on_cuda, types<load_of<T, true>, load_of<T, true>>, types<sum_step<T, 0, 1>>>> =
        epilogue::bias;
template <dtype T>
inline constexpr epilogue
    epilogue_of<fused_loop<on_cuda, types<load_of<T, true>, load_of<T, true>>, types<sum_step<T, 1, 0>>>> =
        epilogue::bias;
template <dtype T>
inline constexpr epilogue epilogue_of<
    fused_loop<on_cuda, types<load_of<T, true>, load_of<T, true>>, types<sum_step<T, 0, 1>, relu_step<T, 2>>>> =
    epilogue::bias_relu;
template <dtype T>
inline constexpr epilogue epilogue_of<
    fused_loop<on_cuda, types<load_of<T, true>, load_of<T, true>>, types<sum_step<T, 1, 0>, relu_step<T, 2>>>> =
    epilogue::bias_relu;

/// A product with its bias and activation in one call, or one after the other where the library has no algorithm for
/// both or the bias is not a row.
template <dtype T, class Apart, epilogue After>
struct product_and_epilogue {
  static constexpr bool has_bias = After == epilogue::bias || After == epilogue::bias_relu;

  struct state final : product_state {
    using product_state::product_state;
    owned<kernel_state> apart;
  };

  static owned<kernel_state> prepare(const kernel_args& args, const run_context& context) {
    auto made = make_owned<state>(args);
    made->product.problem.after = After;
    const bool fits = !has_bias || (args.in[2].data != nullptr && is_row(args.in[2].dims, made->product.problem.n));
    if (!fits || !made->choose(context, has_bias ? args.in[2].data : nullptr))
      made->apart = Apart::entry.prepare(args, context);
    return made;
  }
  static void run(const kernel_args& args, const run_context& context) {
    const auto& s = *static_cast<const state*>(args.state);
    if (s.apart != nullptr) {
      kernel_args apart = args;
      apart.state = s.apart.get();
      return Apart::entry.run(apart, context);
    }
    run_product<stored<T>>(s, args, has_bias ? args.in[2].as<const stored<T>>() : nullptr, context);
  }
  static constexpr kernel_entry entry{&run, &prepare};

 private:
  static bool is_row(const shape& bias, std::int64_t n) {
    return bias.elements() == n && bias.rank > 0 && bias[bias.rank - 1] == n;
  }
};

/// Where no library knows the loop.
template <dtype T, class Apart>
struct product_and_epilogue<T, Apart, epilogue::none> : Apart {};

}  // namespace cuda::detail

template <>
struct kernel<on_cuda, ir::key<op::matmul>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::matmul<stored<Out>>, &cuda::detail::prepare_matmul};
};

template <class Loop, dtype T>
struct kernel_with_loop<on_cuda, ir::key<op::matmul>, Loop, T, T, T>
    : cuda::detail::product_and_epilogue<
          T, kernel_then_loop<&kernel<on_cuda, ir::key<op::matmul>>::template entry<T, T, T>, &Loop::entry, 2>,
          cuda::detail::epilogue_of<Loop>> {};

}  // namespace tagma::device
