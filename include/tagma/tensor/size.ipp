// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of size.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/tensor/size.hpp"

namespace tagma {

TAGMA_COLD TAGMA_DECL std::string size_text(const tensor_spec& s) {
  double bytes = static_cast<double>(size_of(s.type));
  for (const extent e : s.dims.span())
    if (e > 1) bytes *= static_cast<double>(e);
  int exponent = 0;
  for (; bytes >= 1.5; bytes /= 2) ++exponent;
  return sentence({to_string(s), " of about 2^", exponent, " bytes"});
}

}  // namespace tagma

namespace tagma::detail {

TAGMA_COLD TAGMA_DECL void fail_size(const tensor_spec& s, std::string_view of) {
  if (!s.dims.is_known())
    fail(status_code::invalid_argument,
         {of, "a tensor cannot have shape ", to_string(s.dims), ": every extent is a number that is not negative"});
  fail(status_code::resource_exhausted, {of, "a tensor of ", size_text(s), ", more than a process can address"});
}

}  // namespace tagma::detail
