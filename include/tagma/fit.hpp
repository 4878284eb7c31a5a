// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Training over datasets: epochs, validation, checkpoints, early ends, curves.

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

#include "tagma/io/safetensors.hpp"
#include "tagma/train/fit.hpp"

#include "tagma/base/epilogue.hpp"
