// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// NVIDIA's GPUs: programs of files that include this run on them. For files that nvcc compiles; such a file includes
/// tagma/tagma.hpp as well. Needs nvcc 13, cuBLASLt, cuDNN 9 and CUB, and -lcublasLt -lcudnn when it is linked. All
/// files of a program that share a graph include this, or none does.

#include "tagma/base/fixed_string.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/place/rules.hpp"

#include "tagma/place/device.hpp"

#include "tagma/expr/expression.hpp"

#include "tagma/expr/name.hpp"

#include "tagma/expr/placeholder.hpp"

#include "tagma/expr/variable.hpp"

#include "tagma/expr/op/elementwise.hpp"

#include "tagma/expr/op/compare.hpp"

#include "tagma/expr/op/view.hpp"

#include "tagma/expr/op/reduce.hpp"
#include "tagma/expr/op/transpose.hpp"

#include "tagma/expr/op/matmul.hpp"
#include "tagma/expr/op/matmul_integer.hpp"
#include "tagma/expr/op/moments.hpp"
#include "tagma/expr/op/softmax.hpp"
#include "tagma/expr/op/state.hpp"

#include "tagma/expr/op/gather.hpp"
#include "tagma/expr/op/slice.hpp"
#include "tagma/expr/op/top_k.hpp"

#include "tagma/expr/op/concat.hpp"
#include "tagma/expr/op/conv.hpp"
#include "tagma/expr/op/filter.hpp"
#include "tagma/expr/op/pool.hpp"
#include "tagma/expr/op/random.hpp"
#include "tagma/expr/op/scan.hpp"
#include "tagma/expr/op/sort.hpp"

#include "tagma/expr/op/shuffle.hpp"

#include "tagma/nn/clip.hpp"
#include "tagma/nn/training_options.hpp"

#include "tagma/nn/optimizers.hpp"

#include "tagma/device/cuda/provide.hpp"

#include "tagma/base/epilogue.hpp"
