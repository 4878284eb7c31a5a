// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Queues of tuples of tensors: for C++ programs, `queue`, and as nodes of graphs, `queue_of`. Graphs need
/// tagma/tagma.hpp as well, in either order.

// Before the headers that include them: compilers print the way to a header before its sentences.
#include "tagma/base/fixed_string.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/place/rules.hpp"

#include "tagma/place/device.hpp"

#include "tagma/expr/expression.hpp"

#include "tagma/expr/name.hpp"

#include "tagma/expr/placeholder.hpp"

#include "tagma/expr/variable.hpp"

#include "tagma/expr/resource.hpp"

#include "tagma/expr/op/elementwise.hpp"

#include "tagma/expr/op/compare.hpp"

#include "tagma/expr/op/view.hpp"

#include "tagma/expr/op/reduce.hpp"
#include "tagma/expr/op/slice.hpp"
#include "tagma/expr/op/state.hpp"

#include "tagma/expr/op/gather.hpp"

#include "tagma/expr/op/queue.hpp"

#include "tagma/runtime/late_steps.hpp"

#include "tagma/data/queue_arguments.hpp"

#include "tagma/data/queue.hpp"
#include "tagma/device/cpu/kernel/queue.hpp"
#include "tagma/runtime/waiting_steps.hpp"

#include "tagma/base/epilogue.hpp"
