// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of png.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/io/png.hpp"

namespace tagma::io::detail {

TAGMA_COLD TAGMA_DECL void fail_without_png(std::string_view name) {
  fail(status_code::unimplemented,
       {name, ": is a PNG: compile with TAGMA_WITH_PNG=1 and link libpng (with CMake, link tagma::png)"});
}

}  // namespace tagma::io::detail
