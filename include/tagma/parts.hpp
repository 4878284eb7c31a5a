// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Programs that are cut into parts, one for each task, which meet at a rendezvous when they run. Needs
/// tagma/tagma.hpp and tagma/programs.hpp as well, in any order.

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

#include "tagma/cluster/site.hpp"
#include "tagma/device/cpu/kernel/exchange.hpp"
#include "tagma/plan/parts.hpp"
#include "tagma/runtime/rendezvous.hpp"

#include "tagma/base/epilogue.hpp"
