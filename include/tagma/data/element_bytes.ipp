// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of element_bytes.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/data/element_bytes.hpp"

namespace tagma::datasets::detail {

TAGMA_DECL std::string_view bytes_reader::take(std::uint64_t n) {
  if (n > left_.size()) wrong();
  const std::string_view some = left_.substr(0, static_cast<std::size_t>(n));
  left_.remove_prefix(static_cast<std::size_t>(n));
  return some;
}

TAGMA_COLD TAGMA_DECL void bytes_reader::wrong() {
  fail(status_code::data_loss, "these bytes are no element of this dataset");
}

TAGMA_DECL void put_length(std::string& to, std::uint64_t n) {
  char bytes[8];
  io::detail::put_little_endian<8>(bytes, n);
  to.append(bytes, sizeof bytes);
}

}  // namespace tagma::datasets::detail
