// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Records that are the lines of a text.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "tagma/base/error.hpp"
#include "tagma/io/buffered_reader.hpp"

namespace tagma::io {

/// How a text falls into records.
struct text_line_options {
  /// How many lines at the beginning are no records.
  std::int64_t skip_header_lines = 0;
};

/// The lines of a text, without the line feed that ends each but perhaps the last, and without one carriage return
/// before it. An empty line is a record. The byte order mark of UTF-8, EF BB BF, with which some programs begin a text,
/// belongs to no line; TensorFlow gives it as a part of the first one. The key is `name:line`, counted from 1, lines
/// that are skipped among them.
class text_line_reader {
 public:
  /// Throws `invalid_argument` for a negative number of lines.
  explicit text_line_reader(buffered_reader in, const text_line_options& options = {});

  /// Gets the next record; false at the end.
  [[nodiscard]] bool next(std::string_view& value);
  /// The key of the record that `next` gave.
  [[nodiscard]] std::string key() const { return sentence({in_.name(), ":", line_}); }

 private:
  buffered_reader in_;
  std::int64_t skip_, line_ = 0;
};

}  // namespace tagma::io

#ifndef TAGMA_COMPILED
#include "tagma/io/text_lines.ipp"
#endif
