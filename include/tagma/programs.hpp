// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Programs as data: graphs that a process runs without having been compiled with them. Such programs link the registry
/// of kernels, `tagma::registry`, or compile the files of tagma/device/cpu/registry/ beside their own
/// (<tagma/registry.hpp>). Needs
/// tagma/tagma.hpp as well, in either order.

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

#include "tagma/runtime/any_session.hpp"

#include "tagma/plan/print.hpp"

#include "tagma/plan/print_any.hpp"

#include "tagma/base/epilogue.hpp"
