// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Programs that are compiled when the process begins: `compile(closure, late)`. A file with TAGMA_LATE compiles all
/// its programs so. Kernels come from <tagma/registry.hpp>. Needs tagma/tagma.hpp as well, in either order.

// Before the headers that include them: compilers print the way to a header before its sentences.
#include "tagma/base/fixed_string.hpp"

#include "tagma/expr/rules.hpp"

#include "tagma/place/rules.hpp"

#include "tagma/place/device.hpp"

#include "tagma/ir/arguments.hpp"

#include "tagma/expr/expression.hpp"

#include "tagma/expr/op/compare.hpp"

#include "tagma/expr/op/view.hpp"

#include "tagma/expr/op/reduce.hpp"

#include "tagma/expr/op/slice.hpp"

#include "tagma/expr/op/concat.hpp"

#include "tagma/expr/op/conv.hpp"

#include "tagma/expr/op/fill.hpp"

#include "tagma/expr/variable.hpp"

#include "tagma/expr/op/state.hpp"

#include "tagma/expr/op/gather.hpp"

#include "tagma/expr/op/filter.hpp"

#include "tagma/expr/op/transpose.hpp"

#include "tagma/expr/op/matmul.hpp"
#include "tagma/expr/op/matmul_integer.hpp"

#include "tagma/expr/op/moments.hpp"

#include "tagma/expr/op/pool.hpp"

#include "tagma/expr/op/random.hpp"

#include "tagma/expr/op/scan.hpp"

#include "tagma/expr/op/top_k.hpp"

#include "tagma/expr/op/sort.hpp"

#include "tagma/expr/op/shuffle.hpp"

#include "tagma/expr/op/softmax.hpp"

#include "tagma/nn/clip.hpp"

#include "tagma/nn/training_options.hpp"

#include "tagma/nn/optimizers.hpp"

#include "tagma/expr/on.hpp"

#include "tagma/plan/program.hpp"

#include "tagma/plan/passes.hpp"

#include "tagma/plan/late_program.hpp"

#include "tagma/runtime/run_check.hpp"

#include "tagma/runtime/session.hpp"

#include "tagma/plan/print_late.hpp"
#include "tagma/runtime/late_session.hpp"

#include "tagma/base/epilogue.hpp"
