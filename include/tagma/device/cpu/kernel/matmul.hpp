// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Matrix products on the CPU.

#include "tagma/device/cpu/gemm.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/expr/op/matmul.hpp"

namespace tagma::device::cpu {

namespace detail {

/// Operands of 16-bit floats are widened once, the product is rounded once.
template <class T>
struct widened {
  std::vector<float> values;
  const float* data = nullptr;
  widened(const T* from, std::int64_t count) : values(static_cast<std::size_t>(count)) {
    for (std::int64_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(from[i]);
    data = values.data();
  }
};

/// Multiplications below which splitting one product over threads costs more than it gains.
inline constexpr double product_task = 8e6;

template <class T>
void split_gemm(const gemm_args<T>& g, const run_context& context) {
  const double work = static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  const std::int64_t wanted = static_cast<std::int64_t>(work / product_task);
  if (wanted < 2) return gemm(g);
  // The split depends on the shape alone, so that the bytes do not depend on the number of threads.
  const bool by_rows = g.m >= g.n;
  const std::int64_t length = by_rows ? g.m : g.n;
  const std::int64_t parts = wanted < 8 ? wanted : 8;
  const std::int64_t step = ((length + parts - 1) / parts + 15) / 16 * 16;
  context.threads->parallel_for((length + step - 1) / step, [&](std::int64_t t) {
    gemm_args<T> part = g;
    const std::int64_t first = t * step, count = first + step < length ? step : length - first;
    if (by_rows) {
      part.m = count;
      part.a += g.transpose_a ? first : first * g.lda;
      part.c += first * g.ldc;
    } else {
      part.n = count;
      part.b += g.transpose_b ? first * g.ldb : first;
      part.c += first;
    }
    gemm(part);
  });
}

template <class T>
void matmul(const kernel_args& args, const run_context& context) {
  const shape &x = args.in[0].dims, &y = args.in[1].dims, &out = args.out.dims;
  const bool ta = args.attributes[0] != 0, tb = args.attributes[1] != 0;
  gemm_args<T> g;
  g.transpose_a = ta;
  g.transpose_b = tb;
  g.m = out[out.rank - 2];
  g.n = out[out.rank - 1];
  g.k = ta ? x[x.rank - 2] : x[x.rank - 1];
  g.lda = x[x.rank - 1];
  g.ldb = y[y.rank - 1];
  g.ldc = g.n;
  const T* a = args.in[0].as<const T>();
  const T* b = args.in[1].as<const T>();
  T* c = args.out.as<T>();
  if (out.rank == 2 || (y.rank == 2 && !ta)) {  // the batch of the first operand is more rows
    if (out.rank > 2) g.m = out.sub(0, out.rank - 1).elements();
    g.a = a, g.b = b, g.c = c;
    return split_gemm(g, context);
  }
  const shape batch = out.sub(0, out.rank - 2);
  const auto offset = [&](const shape& s, std::int64_t index) {
    std::int64_t at = 0, stride = s[s.rank - 1] * s[s.rank - 2];
    for (int axis = batch.rank - 1; axis >= 0; --axis) {
      const std::int64_t i = index % batch[axis];
      index /= batch[axis];
      const int own = axis - (out.rank - s.rank);
      if (own < 0) continue;
      if (s[own] != 1) at += i * stride;
      stride *= s[own];
    }
    return at;
  };
  context.threads->parallel_for(batch.elements(), [&](std::int64_t i) {
    gemm_args<T> one = g;
    one.a = a + offset(x, i);
    one.b = b + offset(y, i);
    one.c = c + i * g.m * g.n;
    gemm(one);
  });
}

/// Products of 16-bit floats, in float.
template <class T>
void matmul_half(const kernel_args& args, const run_context& context) {
  const widened<T> a(args.in[0].as<const T>(), args.in[0].elements()),
      b(args.in[1].as<const T>(), args.in[1].elements());
  std::vector<float> c(static_cast<std::size_t>(args.out.elements()));
  operand in[] = {args.in[0], args.in[1]};
  in[0].data = reinterpret_cast<std::byte*>(const_cast<float*>(a.data));
  in[1].data = reinterpret_cast<std::byte*>(const_cast<float*>(b.data));
  kernel_args wide = args;
  wide.in = in;
  wide.out.data = reinterpret_cast<std::byte*>(c.data());
  matmul<float>(wide, context);
  for (std::size_t i = 0; i < c.size(); ++i) args.out.as<T>()[i] = T(c[i]);
}

}  // namespace detail

template <>
struct kernel<ir::info<op::matmul>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry = [] {
    if constexpr (size_of(Out) == 2)
      return kernel_entry{&detail::matmul_half<stored<Out>>};
    else
      return kernel_entry{&detail::matmul<stored<Out>>};
  }();
};

}  // namespace tagma::device::cpu
