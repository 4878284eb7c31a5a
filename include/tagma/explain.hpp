// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a program looks like after compilation, what it was compiled with, what its tensors hold, and what its runs do
/// with their time: for people who want to know why.

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

#include "tagma/device/cpu/build_info.hpp"
#include "tagma/graph/placement.hpp"
#include "tagma/plan/print.hpp"
#include "tagma/tensor/print.hpp"

#include "tagma/observe/trace.hpp"

#include "tagma/base/epilogue.hpp"
