// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of shape.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/tensor/shape.hpp"

namespace tagma::detail {

TAGMA_COLD TAGMA_DECL void fail_rank(std::size_t rank) {
  fail(status_code::invalid_argument, {"a shape has at most ", max_rank, " axes, not ", rank});
}

}  // namespace tagma::detail

namespace tagma {

TAGMA_COLD TAGMA_DECL std::string to_string(const shape& s) {
  std::string text = sentence({"["});
  for (int i = 0; i < s.rank; ++i) {
    if (i > 0) text_part(", ").append_to(text);
    (s[i] == dyn ? text_part("?") : text_part(s[i])).append_to(text);
  }
  text_part("]").append_to(text);
  return text;
}

}  // namespace tagma
