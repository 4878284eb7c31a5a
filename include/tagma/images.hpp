// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Pictures: PNG with `TAGMA_WITH_PNG=1` and libpng, JPEG with `TAGMA_WITH_JPEG=1` and libjpeg, decoded by functions of
/// C++ and by nodes of graphs. Graphs need tagma/tagma.hpp as well, in either order.

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

#include "tagma/expr/op/decode_image.hpp"

#include "tagma/io/png.hpp"

#include "tagma/io/jpeg.hpp"

#include "tagma/io/decode_image.hpp"

#include "tagma/device/cpu/kernel/decode_image.hpp"

#include "tagma/base/epilogue.hpp"
