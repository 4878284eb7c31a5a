// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What elements decide: cond, of two functions one; while_loop, how often. A file that includes this includes
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

#include "tagma/expr/op/elementwise.hpp"

#include "tagma/expr/op/compare.hpp"

#include "tagma/expr/op/view.hpp"

#include "tagma/expr/op/transpose.hpp"

#include "tagma/expr/op/loop.hpp"

#include "tagma/expr/op/branch.hpp"

#include "tagma/base/epilogue.hpp"
