// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Records of a CSV file, whose fields in quotes may have line ends.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/io/buffered_reader.hpp"

namespace tagma::io {

/// How a file of CSV falls into records.
struct csv_reader_options {
  char delimiter = ',';
  bool quotes = true;
  /// How many records at the beginning are not given, such as one with the names of the columns.
  std::int64_t skip_header_records = 0;
  /// How long a record may be: a quote that is never closed makes one of the whole rest of a file.
  std::size_t max_record_bytes = std::size_t{64} << 20;
};

/// The records of a CSV file, each without the line end behind it: lines, joined where a line end stands in quotes. The
/// byte order mark of UTF-8, EF BB BF, with which some programs begin a file, belongs to none. The key is `name:line`,
/// counted from 1, of the line where the record begins. `next` throws `invalid_argument` where the file ends inside
/// quotes, and `resource_exhausted` for a record longer than the bound.
class csv_reader {
 public:
  explicit csv_reader(buffered_reader in, const csv_reader_options& options = {});

  /// Gets the next record; false at the end.
  [[nodiscard]] bool next(std::string_view& value);
  /// The key of the record that `next` gave.
  [[nodiscard]] std::string key() const { return sentence({in_.name(), ":", line_}); }

 private:
  bool read(std::string_view& value);

  /// Whether there is no quote in the next bytes. Looks for the next one in all that is there, once for many lines.
  bool has_no_quote(std::size_t length);

  enum class state : std::uint8_t { field_start, field, quoted, quote };

  /// Whether a field in quotes goes on behind this line, or part of a line.
  bool stays_open(std::string_view line);
  /// What a character outside of quotes leads to.
  [[nodiscard]] state behind(char c);

  [[noreturn]] void fail_long() const;
  [[noreturn]] void fail_open() const;

  buffered_reader in_;
  csv_reader_options options_;
  std::int64_t to_skip_, line_ = 1, lines_ = 0;
  std::uint64_t next_quote_ = 0;  // no quote stands between here and there
  state state_ = state::field_start;
  std::int64_t field_ = 0;  // of the record, where quotes were looked for
};

}  // namespace tagma::io

#ifndef TAGMA_COMPILED
#include "tagma/io/csv_reader.ipp"
#endif
