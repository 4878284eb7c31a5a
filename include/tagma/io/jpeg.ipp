// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of jpeg.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/io/jpeg.hpp"

namespace tagma::io::detail {

TAGMA_COLD TAGMA_DECL void fail_without_jpeg(std::string_view name) {
  fail(status_code::unimplemented,
       {name, ": is a JPEG: compile with TAGMA_WITH_JPEG=1 and link libjpeg (with CMake, link tagma::jpeg)"});
}

}  // namespace tagma::io::detail
