// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Containers that a process knows by name, and data sets that are variables of a container. Needs tagma/tagma.hpp as
/// well, in either order.

// Before the headers that include them: compilers print the way to a header before its sentences.
#include "tagma/base/fixed_string.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/place/rules.hpp"

#include "tagma/place/device.hpp"

#include "tagma/expr/expression.hpp"

#include "tagma/expr/name.hpp"

#include "tagma/expr/placeholder.hpp"

#include "tagma/expr/variable.hpp"

#include "tagma/runtime/named_containers.hpp"
#include "tagma/runtime/preload.hpp"

#include "tagma/base/epilogue.hpp"
