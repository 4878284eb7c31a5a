// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of byte_source.hpp: in the compiled half, or else in each file that includes it.

#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/io/byte_source.hpp"

namespace tagma::io {

TAGMA_DECL std::size_t file_source::read(std::span<std::byte> to) {
  const std::size_t n = file_.read_some(to.data(), to.size());
  taken_ += n;
  return n;
}

TAGMA_DECL std::size_t memory_source::read(std::span<std::byte> to) {
  const std::size_t n = left_.size() < to.size() ? left_.size() : to.size();
  if (n > 0) std::memcpy(to.data(), left_.data(), n);
  left_.remove_prefix(n);
  return n;
}

}  // namespace tagma::io
