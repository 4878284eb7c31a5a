// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of session.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/runtime/session.hpp"

namespace tagma::detail {

TAGMA_COLD TAGMA_DECL void refuse_range(const fed_node& to, std::size_t elements, const source_line& at) {
  int open = 0;
  for (const extent e : to.dims.span()) open += e == dyn;
  fail(status_code::invalid_argument,
       {"feed of ", to.operation, " ", to.name.empty() ? sentence({"#", to.node}) : sentence({"'", to.name, "'"}),
        " is a range of ", elements, " elements, which ", open > 1 ? "says too little for " : "does not fit ",
        to_string(to.dims), open > 1 ? ": feed a tagma::tensor" : "", " (run at ", at.file, ":", at.line, ")"});
}

TAGMA_DECL shape shape_for(const fed_node& to, std::size_t elements, const source_line& at) {
  extent known = 1;
  int open = -1;
  shape s = to.dims;
  for (int i = 0; i < s.rank; ++i) {
    if (s[i] != dyn)
      known *= s[i];
    else if (open >= 0)
      refuse_range(to, elements, at);
    else
      open = i;
  }
  if (open >= 0) s[open] = known == 0 ? 0 : static_cast<extent>(elements) / known;
  if (s.elements() != static_cast<extent>(elements)) refuse_range(to, elements, at);
  return s;
}

}  // namespace tagma::detail
