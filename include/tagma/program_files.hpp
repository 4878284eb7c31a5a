// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Programs in files: `write_program`, `read_program` (docs/program_format.md). Sessions of what is read are those of
/// <tagma/programs.hpp>. Needs tagma/tagma.hpp as well, in either order.

// Before the headers that include them: compilers print the way to a header before its sentences.
#include "tagma/base/fixed_string.hpp"

#include "tagma/expr/rules.hpp"

#include "tagma/place/rules.hpp"

#include "tagma/place/device.hpp"

#include "tagma/expr/expression.hpp"

#include "tagma/expr/op/compare.hpp"

#include "tagma/expr/op/view.hpp"

#include "tagma/expr/op/reduce.hpp"

#include "tagma/expr/op/slice.hpp"

#include "tagma/expr/on.hpp"

#include "tagma/expr/variable.hpp"

#include "tagma/plan/program.hpp"

#include "tagma/runtime/run_check.hpp"

#include "tagma/runtime/session.hpp"

#include "tagma/train/program_file.hpp"

#include "tagma/base/epilogue.hpp"
