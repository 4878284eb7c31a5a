// SPDX-License-Identifier: BSL-1.0

/// @file
/// The macros of the library, for operations of one's own: TAGMA_FRESH_TYPE, TAGMA_INLINE, TAGMA_DEVICE, and the rules
/// TAGMA_NEEDS_... that functions state. A file that includes this includes tagma/tagma.hpp as well, in either order.
/// The macros stay to the end of the file, or until tagma/without_macros.hpp is included, with which a header ends that
/// others include.

#ifndef TAGMA_WITH_MACROS
#define TAGMA_WITH_MACROS 1
#endif

#include "tagma/expr/rules.hpp"
#include "tagma/place/rules.hpp"

#include "tagma/base/config.hpp"
