// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Messages of tf.train.SequenceExample as nodes of graphs, `parse_sequence_example`. Graphs need tagma/tagma.hpp as
/// well, in either order; files of them are read by tagma/readers.hpp.

// Before the headers that include them: compilers print the way to a header before its sentences.
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
#include "tagma/expr/op/slice.hpp"
#include "tagma/expr/op/state.hpp"

#include "tagma/expr/op/gather.hpp"

#include "tagma/expr/literal.hpp"

#include "tagma/expr/op/parse_example.hpp"
#include "tagma/expr/op/parse_sequence_example.hpp"
#include "tagma/expr/op/text_constant.hpp"

#include "tagma/runtime/late_steps.hpp"

#include "tagma/device/cpu/kernel/parse_example.hpp"
#include "tagma/device/cpu/kernel/parse_sequence_example.hpp"
#include "tagma/device/cpu/kernel/text_constant.hpp"
#include "tagma/io/sequence_example.hpp"
#include "tagma/runtime/waiting_steps.hpp"

#include "tagma/base/epilogue.hpp"
