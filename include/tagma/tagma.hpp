// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Graphs, local sessions and the CPU: what most programs include. No network, no JSON, no files.

#include "tagma/device/cpu/executor.hpp"
#include "tagma/device/cpu/kernel/concat.hpp"
#include "tagma/device/cpu/kernel/conv.hpp"
#include "tagma/device/cpu/kernel/elementwise.hpp"
#include "tagma/device/cpu/kernel/gather.hpp"
#include "tagma/device/cpu/kernel/matmul.hpp"
#include "tagma/device/cpu/kernel/optimizers.hpp"
#include "tagma/device/cpu/kernel/pool.hpp"
#include "tagma/device/cpu/kernel/random.hpp"
#include "tagma/device/cpu/kernel/reduce.hpp"
#include "tagma/device/cpu/kernel/slice.hpp"
#include "tagma/device/cpu/kernel/softmax.hpp"
#include "tagma/device/cpu/kernel/state.hpp"
#include "tagma/device/cpu/kernel/top_k.hpp"
#include "tagma/device/cpu/kernel/transpose.hpp"
#include "tagma/device/cpu/kernel_table.hpp"
#include "tagma/expr/op/control.hpp"
#include "tagma/expr/op/fill.hpp"
#include "tagma/expr/op/gradient.hpp"
#include "tagma/expr/operators.hpp"
#include "tagma/nn/activations.hpp"
#include "tagma/nn/clip.hpp"
#include "tagma/nn/conv_layers.hpp"
#include "tagma/nn/layers.hpp"
#include "tagma/nn/losses.hpp"
#include "tagma/nn/optimizers.hpp"
#include "tagma/runtime/session.hpp"
