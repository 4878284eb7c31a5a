// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of text_lines.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/io/text_lines.hpp"

namespace tagma::io {

TAGMA_DECL text_line_reader::text_line_reader(buffered_reader in, const text_line_options& options)
    : in_(std::move(in)), skip_(options.skip_header_lines) {
  if (skip_ < 0)
    fail(status_code::invalid_argument, {"skip_header_lines is ", skip_, ", expected a number that is not negative"});
}

TAGMA_DECL bool text_line_reader::next(std::string_view& value) {
  in_.skip_byte_order_mark();
  do {
    if (!in_.line(value)) return false;
    ++line_;
  } while (line_ <= skip_);
  if (!value.empty() && value.back() == '\r') value.remove_suffix(1);
  return true;
}

}  // namespace tagma::io
