// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Graphs, local sessions and the CPU: what most programs include. No network, no JSON, no files.

// Each header comes after those that it includes: compilers print the chain of includes before every sentence, and it
// stays two lines long.
#include "tagma/base/fixed_string.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/place/rules.hpp"

#include "tagma/base/bytes.hpp"
#include "tagma/base/version.hpp"
#include "tagma/place/device.hpp"
#include "tagma/place/partition.hpp"

#include "tagma/expr/expression.hpp"

#include "tagma/expr/name.hpp"

#include "tagma/expr/placeholder.hpp"

#include "tagma/expr/resource.hpp"

#include "tagma/expr/variable.hpp"

#include "tagma/expr/op/elementwise.hpp"

#include "tagma/expr/op/compare.hpp"

#include "tagma/expr/op/arithmetic.hpp"
#include "tagma/expr/op/view.hpp"

#include "tagma/expr/op/math.hpp"

#include "tagma/expr/op/reduce.hpp"
#include "tagma/expr/op/transpose.hpp"

#include "tagma/expr/op/matmul.hpp"
#include "tagma/expr/op/moments.hpp"
#include "tagma/expr/op/softmax.hpp"
#include "tagma/expr/op/state.hpp"

#include "tagma/expr/op/gather.hpp"
#include "tagma/expr/op/normalize.hpp"
#include "tagma/expr/op/slice.hpp"
#include "tagma/expr/op/top_k.hpp"
#include "tagma/expr/op/window.hpp"

#include "tagma/expr/op/concat.hpp"
#include "tagma/expr/op/control.hpp"
#include "tagma/expr/op/conv.hpp"
#include "tagma/expr/op/fill.hpp"
#include "tagma/expr/op/gradient.hpp"
#include "tagma/expr/op/loop.hpp"
#include "tagma/expr/op/pool.hpp"
#include "tagma/expr/op/random.hpp"
#include "tagma/expr/op/scan.hpp"
#include "tagma/expr/operators.hpp"

#include "tagma/expr/op/positions.hpp"

#include "tagma/expr/op/attention.hpp"

#include "tagma/expr/on.hpp"
#include "tagma/expr/scope.hpp"

#include "tagma/nn/activations.hpp"
#include "tagma/nn/average_gradients.hpp"
#include "tagma/nn/cells.hpp"
#include "tagma/nn/clip.hpp"
#include "tagma/nn/layers.hpp"
#include "tagma/nn/losses.hpp"

#include "tagma/nn/conv_layers.hpp"
#include "tagma/nn/metrics.hpp"
#include "tagma/nn/training_options.hpp"

#include "tagma/nn/optimizers.hpp"
#include "tagma/nn/own_optimizer.hpp"
#include "tagma/nn/partitioned_variable.hpp"
#include "tagma/nn/recurrent.hpp"

#include "tagma/nn/attention.hpp"
#include "tagma/nn/image_layers.hpp"
#include "tagma/nn/norm_layers.hpp"
#include "tagma/nn/repeat.hpp"
#include "tagma/nn/sequential.hpp"
#include "tagma/nn/volume_layers.hpp"
#include "tagma/nn/weighted_losses.hpp"

#include "tagma/plan/program.hpp"
#include "tagma/plan/trainable_variables.hpp"

#include "tagma/runtime/run_check.hpp"
#include "tagma/runtime/session.hpp"

#include "tagma/device/cpu/executor.hpp"
#include "tagma/device/cpu/initial_numbers.hpp"
#include "tagma/device/cpu/kernel/cell.hpp"
#include "tagma/device/cpu/kernel/concat.hpp"
#include "tagma/device/cpu/kernel/conv.hpp"
#include "tagma/device/cpu/kernel/elementwise.hpp"
#include "tagma/device/cpu/kernel/gather.hpp"
#include "tagma/device/cpu/kernel/matmul.hpp"
#include "tagma/device/cpu/kernel/moments.hpp"
#include "tagma/device/cpu/kernel/optimizers.hpp"
#include "tagma/device/cpu/kernel/pool.hpp"
#include "tagma/device/cpu/kernel/random.hpp"
#include "tagma/device/cpu/kernel/reduce.hpp"
#include "tagma/device/cpu/kernel/scan.hpp"
#include "tagma/device/cpu/kernel/slice.hpp"
#include "tagma/device/cpu/kernel/softmax.hpp"
#include "tagma/device/cpu/kernel/state.hpp"
#include "tagma/device/cpu/kernel/top_k.hpp"
#include "tagma/device/cpu/kernel/transfer.hpp"
#include "tagma/device/cpu/kernel/transpose.hpp"
#include "tagma/device/cpu/kernel_table.hpp"

#ifdef TAGMA_COMPILED
#include "tagma/device/cpu/compiled_kernels.hpp"
#endif

// By a macro, since this header has nothing of it for those who do not ask.
#if defined(TAGMA_LATE)
#define TAGMA_LATE_HEADER "tagma/late.hpp"
#include TAGMA_LATE_HEADER
#undef TAGMA_LATE_HEADER
#endif

#include "tagma/base/epilogue.hpp"
