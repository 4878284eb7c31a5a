// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Kernels that most programs have, and that the compiled half has once: products, convolutions, reductions, softmax,
/// optimizers and random numbers of float. The loops that a program fuses are its own, and so are kernels of other
/// element types.

#include "tagma/device/cpu/kernel/conv.hpp"
#include "tagma/device/cpu/kernel/matmul.hpp"
#include "tagma/device/cpu/kernel/moments.hpp"
#include "tagma/device/cpu/kernel/optimizers.hpp"
#include "tagma/device/cpu/kernel/pool.hpp"
#include "tagma/device/cpu/kernel/random.hpp"
#include "tagma/device/cpu/kernel/reduce.hpp"
#include "tagma/device/cpu/kernel/softmax.hpp"
#include "tagma/device/cpu/kernel/state.hpp"
#include "tagma/device/cpu/kernel/transpose.hpp"

/// Before each of them: the file of the library that has them defines it as nothing.
#ifndef TAGMA_COMPILED_KERNEL
#define TAGMA_COMPILED_KERNEL extern
#endif

namespace tagma::device::cpu::detail {

#define TAGMA_A_KERNEL(...) \
  TAGMA_COMPILED_KERNEL template void __VA_ARGS__(const runtime::kernel_args&, const runtime::run_context&)
#define TAGMA_A_PREPARATION(...)                                                              \
  TAGMA_COMPILED_KERNEL template owned<kernel_state> __VA_ARGS__(const runtime::kernel_args&, \
                                                                 const runtime::run_context&)

TAGMA_A_KERNEL(matmul<float>);
TAGMA_A_KERNEL(reduce<float, join_sum>);
TAGMA_A_KERNEL(reduce<float, join_sum, true>);
TAGMA_A_KERNEL(reduce<float, join_max>);
TAGMA_A_KERNEL(fraction<float>);
TAGMA_A_KERNEL(arg_extreme<float, true, false>);
TAGMA_A_KERNEL(arg_extreme<float, true, true>);
TAGMA_A_KERNEL(accumulate<float, true>);
TAGMA_A_KERNEL(accumulate<std::int64_t, true>);
TAGMA_A_KERNEL(sparse_cross_entropy<float, std::uint8_t, false>);
TAGMA_A_KERNEL(sparse_cross_entropy<float, std::uint8_t, true>);
TAGMA_A_KERNEL(sparse_cross_entropy<float, std::int32_t, false>);
TAGMA_A_KERNEL(sparse_cross_entropy<float, std::int32_t, true>);
TAGMA_A_KERNEL(sparse_cross_entropy<float, std::int64_t, false>);
TAGMA_A_KERNEL(sparse_cross_entropy<float, std::int64_t, true>);
TAGMA_A_KERNEL(sparse_cross_entropy_gradient<float, std::uint8_t, false>);
TAGMA_A_KERNEL(sparse_cross_entropy_gradient<float, std::uint8_t, true>);
TAGMA_A_KERNEL(sparse_cross_entropy_gradient<float, std::int32_t, false>);
TAGMA_A_KERNEL(sparse_cross_entropy_gradient<float, std::int32_t, true>);
TAGMA_A_KERNEL(sparse_cross_entropy_gradient<float, std::int64_t, false>);
TAGMA_A_KERNEL(sparse_cross_entropy_gradient<float, std::int64_t, true>);
TAGMA_A_KERNEL(apply_update<op::apply_sgd, float>);
TAGMA_A_KERNEL(apply_update<op::apply_momentum, float>);
TAGMA_A_KERNEL(apply_update<op::apply_rmsprop, float>);
TAGMA_A_KERNEL(apply_update<op::apply_adam, float>);
TAGMA_A_KERNEL(apply_update<op::apply_adamw, float>);
TAGMA_A_KERNEL(random<float, distribution::uniform>);
TAGMA_A_KERNEL(random<float, distribution::normal>);
TAGMA_A_KERNEL(random<float, distribution::truncated>);
TAGMA_A_KERNEL(convolve<float>);
TAGMA_A_KERNEL(moments<float>);
TAGMA_A_KERNEL(transpose_of<4>);
TAGMA_A_KERNEL(pool<max_pool_body<float>, float>);
TAGMA_A_KERNEL(pool<average_pool_body<float>, float>);
TAGMA_A_KERNEL(max_pool_gradient<float>);
TAGMA_A_KERNEL(average_pool_gradient<float>);
TAGMA_A_PREPARATION(prepare_convolution<float, conv_role::forward, own_kinds::none>);
TAGMA_A_PREPARATION(prepare_convolution<float, conv_role::forward, own_kinds::all>);
TAGMA_A_PREPARATION(prepare_convolution<float, conv_role::input_gradient, own_kinds::none>);
TAGMA_A_PREPARATION(prepare_convolution<float, conv_role::input_gradient, own_kinds::all>);
TAGMA_A_PREPARATION(prepare_convolution<float, conv_role::filter_gradient, own_kinds::none>);
TAGMA_A_PREPARATION(prepare_convolution<float, conv_role::filter_gradient, own_kinds::all>);
TAGMA_A_PREPARATION(prepare_moments<float>);

#undef TAGMA_A_KERNEL
#undef TAGMA_A_PREPARATION

}  // namespace tagma::device::cpu::detail

#undef TAGMA_COMPILED_KERNEL
