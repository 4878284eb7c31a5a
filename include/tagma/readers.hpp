// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Readers of records as nodes of graphs, `reader_of`, whose files come from queues, and what takes records apart.
/// Graphs need tagma/tagma.hpp as well, in either order.

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

#include "tagma/expr/literal.hpp"

#include "tagma/expr/op/decode_csv.hpp"
#include "tagma/expr/op/decode_raw.hpp"
#include "tagma/expr/op/parse_example.hpp"
#include "tagma/expr/op/reader.hpp"
#include "tagma/expr/op/text_constant.hpp"

#include "tagma/runtime/late_steps.hpp"

#include "tagma/data/queue_arguments.hpp"

#include "tagma/data/queue.hpp"
#include "tagma/device/cpu/kernel/decode_csv.hpp"
#include "tagma/device/cpu/kernel/decode_raw.hpp"
#include "tagma/device/cpu/kernel/parse_example.hpp"
#include "tagma/device/cpu/kernel/queue.hpp"
#include "tagma/device/cpu/kernel/reader.hpp"
#include "tagma/device/cpu/kernel/text_constant.hpp"
#include "tagma/runtime/waiting_steps.hpp"

#include "tagma/base/epilogue.hpp"
