// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Records of a CSV file, whose fields in quotes may have line ends.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/io/buffered_reader.hpp"

namespace tagma::io {

struct csv_reader_options {
  char delimiter = ',';
  bool quotes = true;
  /// How many records at the beginning are not given, such as one with the names of the columns.
  std::int64_t skip_header_records = 0;
  /// How long a record may be: a quote that is never closed makes one of the whole rest of a file.
  std::size_t max_record_bytes = std::size_t{64} << 20;
};

/// The records of a CSV file, each without the line end behind it: lines, joined where a line end stands in quotes. The
/// key is `name:line`, counted from 1, of the line where the record begins. `next` throws `invalid_argument` where the
/// file ends inside quotes, and `resource_exhausted` for a record longer than the bound.
class csv_reader {
 public:
  explicit csv_reader(buffered_reader in, const csv_reader_options& options = {})
      : in_(std::move(in)), options_(options), to_skip_(options.skip_header_records) {
    if (to_skip_ < 0)
      fail(status_code::invalid_argument,
           {"skip_header_records is ", to_skip_, ", expected a number that is not negative"});
  }

  [[nodiscard]] bool next(std::string_view& value) {
    for (; to_skip_ > 0; --to_skip_)
      if (!read(value)) return false;
    return read(value);
  }
  [[nodiscard]] std::string key() const { return sentence({in_.name(), ":", line_}); }

 private:
  bool read(std::string_view& value) {
    line_ += lines_;
    lines_ = 0;
    std::size_t length = 0, seen = 0;
    state_ = state::field_start;
    while (true) {
      length = in_.find('\n', seen);
      const bool last = length == std::string_view::npos;
      value = in_.peek(last ? SIZE_MAX : length + 1);
      if (last) length = value.size();
      if (length > options_.max_record_bytes) fail_long();
      if (last && length == 0) return false;
      ++lines_;
      if (!options_.quotes || (seen == 0 && has_no_quote(length)) || !stays_open(value.substr(seen, length - seen))) {
        value = in_.take(last ? length : length + 1).substr(0, length);
        if (value.ends_with('\r')) value.remove_suffix(1);
        return true;
      }
      if (last) fail_open();
      seen = length + 1;
    }
  }

  /// Whether there is no quote in the next bytes. Looks for the next one in all that is there, once for many lines.
  bool has_no_quote(std::size_t length) {
    const std::uint64_t here = in_.position();
    if (here + length > next_quote_) {
      const std::string_view all = in_.buffered();
      next_quote_ = here + std::min(all.find('"'), all.size());
    }
    return here + length <= next_quote_;
  }

  enum class state : std::uint8_t { field_start, field, quoted, quote };

  /// Whether a field in quotes goes on behind this line, or part of a line.
  bool stays_open(std::string_view line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      switch (state_) {
        case state::field_start:
          state_ = c == '"' ? state::quoted : c == options_.delimiter ? state::field_start : state::field;
          break;
        case state::quote:
          if (c == '"') {
            state_ = state::quoted;
            break;
          }
          [[fallthrough]];
        case state::field:
          state_ = c == options_.delimiter ? state::field_start : state::field;
          break;
        case state::quoted: {
          i = std::min(line.find('"', i), line.size());
          if (i < line.size()) state_ = state::quote;
          break;
        }
      }
    }
    return state_ == state::quoted;
  }

  [[noreturn]] TAGMA_COLD void fail_long() const {
    fail(status_code::resource_exhausted,
         {key(), ": the record is longer than ", options_.max_record_bytes, " bytes; a quote may not be closed"});
  }
  [[noreturn]] TAGMA_COLD void fail_open() const {
    fail(status_code::invalid_argument, {key(), ": the file ends inside a field in quotes"});
  }

  buffered_reader in_;
  csv_reader_options options_;
  std::int64_t to_skip_, line_ = 1, lines_ = 0;
  std::uint64_t next_quote_ = 0;  // no quote stands between here and there
  state state_ = state::field_start;
};

}  // namespace tagma::io
