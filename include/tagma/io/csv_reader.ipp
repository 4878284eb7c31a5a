// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of csv_reader.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>

#include "tagma/base/config.hpp"
#include "tagma/io/csv_reader.hpp"

namespace tagma::io {

TAGMA_DECL csv_reader::csv_reader(buffered_reader in, const csv_reader_options& options)
    : in_(std::move(in)), options_(options), to_skip_(options.skip_header_records) {
  if (to_skip_ < 0)
    fail(status_code::invalid_argument,
         {"skip_header_records is ", to_skip_, ", expected a number that is not negative"});
}

TAGMA_DECL bool csv_reader::next(std::string_view& value) {
  for (; to_skip_ > 0; --to_skip_)
    if (!read(value)) return false;
  return read(value);
}

TAGMA_DECL bool csv_reader::read(std::string_view& value) {
  in_.skip_byte_order_mark();
  line_ += lines_;
  lines_ = 0;
  std::size_t length = 0, seen = 0;
  state_ = state::field_start;
  field_ = 0;
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

TAGMA_DECL bool csv_reader::has_no_quote(std::size_t length) {
  const std::uint64_t here = in_.position();
  if (here + length > next_quote_) {
    const std::string_view all = in_.buffered();
    next_quote_ = here + std::min(all.find('"'), all.size());
  }
  return here + length <= next_quote_;
}

TAGMA_DECL bool csv_reader::stays_open(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    switch (state_) {
      case state::field_start:
        state_ = c == '"' ? state::quoted : behind(c);
        break;
      case state::quote:
        if (c == '"') {
          state_ = state::quoted;
          break;
        }
        [[fallthrough]];
      case state::field:
        state_ = behind(c);
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

TAGMA_DECL csv_reader::state csv_reader::behind(char c) {
  if (c != options_.delimiter) return state::field;
  ++field_;
  return state::field_start;
}

TAGMA_COLD TAGMA_DECL void csv_reader::fail_long() const {
  fail(status_code::resource_exhausted,
       {key(), ": the record is longer than ", options_.max_record_bytes, " bytes; a quote may not be closed"});
}

TAGMA_COLD TAGMA_DECL void csv_reader::fail_open() const {
  fail(status_code::invalid_argument, {key(), ": field ", field_, " begins with a quote, and the file ends inside it"});
}

}  // namespace tagma::io
