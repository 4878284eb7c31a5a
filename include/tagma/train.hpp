// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What outlives a run: files of variables, variables by name, and what a model has of them as a table.

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

#include "tagma/expr/on.hpp"

#include "tagma/plan/program.hpp"

#include "tagma/runtime/run_check.hpp"

#include "tagma/runtime/session.hpp"

#include "tagma/runtime/named_variables.hpp"

#include "tagma/io/safetensors.hpp"
#include "tagma/io/safetensors_index.hpp"
#include "tagma/runtime/summary.hpp"
#include "tagma/train/position.hpp"
#include "tagma/train/restore.hpp"
#include "tagma/train/save.hpp"

#include "tagma/base/epilogue.hpp"
