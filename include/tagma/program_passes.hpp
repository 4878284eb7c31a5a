// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Passes over programs that are data: `behind_passes(program, passes<fold_batch_norm>)`, with the passes of
/// <tagma/passes.hpp>. Needs tagma/tagma.hpp as well, in either order.

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

#include "tagma/expr/op/arithmetic.hpp"
#include "tagma/expr/op/view.hpp"

#include "tagma/expr/op/math.hpp"

#include "tagma/expr/op/reduce.hpp"
#include "tagma/expr/op/transpose.hpp"

#include "tagma/expr/op/matmul.hpp"

#include "tagma/expr/op/slice.hpp"
#include "tagma/expr/op/window.hpp"

#include "tagma/expr/op/conv.hpp"

#include "tagma/expr/on.hpp"

#include "tagma/plan/program.hpp"

#include "tagma/plan/passes.hpp"

#include "tagma/device/cpu/kernel/keep.hpp"
#include "tagma/graph/pass/fold_activation.hpp"
#include "tagma/graph/pass/fold_batch_norm.hpp"
#include "tagma/graph/pass/fold_frozen.hpp"
#include "tagma/plan/heap_program.hpp"
#include "tagma/plan/rewritten_program.hpp"

#include "tagma/base/epilogue.hpp"
