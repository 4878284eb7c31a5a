// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of record.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/io/record.hpp"

namespace tagma::io {

TAGMA_DECL bool whole_file_reader::next(std::string_view& value) {
  if (done_) return false;
  done_ = true;
  value_.clear();
  (void)in_.append(value_, unknown_length);
  value = value_;
  return true;
}

TAGMA_DECL bool identity_reader::next(std::string_view& value) {
  if (done_) return false;
  done_ = true;
  value = text_;
  return true;
}

}  // namespace tagma::io
