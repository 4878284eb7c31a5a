// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Kernels for NVIDIA GPUs. Needs nvcc 13, cuBLASLt, cuDNN 9 and CUB.

#include "tagma/device/cuda/kernel/concat.hpp"
#include "tagma/device/cuda/kernel/elementwise.hpp"
#include "tagma/device/cuda/kernel/fused.hpp"
#include "tagma/device/cuda/kernel/gather.hpp"
#include "tagma/device/cuda/kernel/matmul.hpp"
#include "tagma/device/cuda/kernel/optimizers.hpp"
#include "tagma/device/cuda/kernel/random.hpp"
#include "tagma/device/cuda/kernel/reduce.hpp"
#include "tagma/device/cuda/kernel/slice.hpp"
#include "tagma/device/cuda/kernel/softmax.hpp"
#include "tagma/device/cuda/kernel/top_k.hpp"
#include "tagma/device/cuda/kernel/transpose.hpp"
