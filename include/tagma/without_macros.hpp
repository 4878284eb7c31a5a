// SPDX-License-Identifier: BSL-1.0

/// @file
/// Undefines what tagma/with_macros.hpp has defined. May be included again and again.

#undef TAGMA_WITH_MACROS

#include "tagma/base/epilogue.hpp"
