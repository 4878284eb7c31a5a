// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of csv.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/io/csv.hpp"

namespace tagma::io {

TAGMA_DECL csv_decoder::csv_decoder(std::vector<csv_field> fields, csv_options options)
    : fields_(std::move(fields)), options_(std::move(options)), unquoted_(fields_.size()) {
  const char delimiter = options_.delimiter;
  if (delimiter == '\r' || delimiter == '\n' || (options_.quotes && delimiter == '"'))
    fail(status_code::invalid_argument, "a delimiter of fields cannot be a line end or a quote");
  plain_ = options_.na_value.empty() && options_.columns.empty() &&
           !(std::string_view("+-.").find(delimiter) != std::string_view::npos || detail::is_digit(delimiter) ||
             ((delimiter | 0x20) >= 'a' && (delimiter | 0x20) <= 'z'));
  for (const csv_field& f : fields_)
    if (f.type != dtype::float32 && f.type != dtype::float64 && f.type != dtype::int32 && f.type != dtype::int64 &&
        f.type != dtype::string)
      fail(status_code::invalid_argument, {"fields are not read as ", to_string(f.type)});
  const std::vector<std::int64_t>& columns = options_.columns;
  if (!columns.empty() && columns.size() != fields_.size())
    fail(status_code::invalid_argument,
         {columns.size(), " columns are selected, and ", fields_.size(), " fields are described"});
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i] < 0 || (i > 0 && columns[i] <= columns[i - 1]))
      fail(status_code::invalid_argument,
           {"selected columns are numbers that increase from 0, and number ", i, " of them is ", columns[i]});
  for (const char c : {delimiter, '\r', '\n', options_.quotes ? '"' : delimiter})
    ends_field_[static_cast<unsigned char>(c)] = true;
  runs_.resize(fields_.size());
  for (std::size_t i = fields_.size(); i-- > 0;)
    runs_[i] = i + 1 < fields_.size() && fields_[i + 1].type == fields_[i].type ? runs_[i + 1] : i + 1;
}

TAGMA_DECL void csv_decoder::decode(std::string_view record, std::span<void* const> to, const record_name& name) {
  cursor c{skip_line_ends(record.data(), record.data() + record.size()), record.data() + record.size(), to, name};
  c.more = c.at != c.end;
  const std::vector<std::int64_t>& columns = options_.columns;
  const std::size_t count = fields_.size();
  while (c.more) {
    if (c.output < count && (columns.empty() || columns[c.output] == c.column)) {
      read_fields(c);
    } else {
      std::string_view passed;
      go_on(c, take(c, passed, passed_));
    }
  }
  if (c.output < count || (columns.empty() && c.column > static_cast<std::int64_t>(count))) fail_count(c.column, name);
}

TAGMA_DECL const char* csv_decoder::skip_line_ends(const char* at, const char* end) {
  while (at != end && (*at == '\r' || *at == '\n')) ++at;
  return at;
}

TAGMA_DECL void csv_decoder::go_on(cursor& c, const char* end_of_field) {
  ++c.column;
  c.more = end_of_field != c.end;
  c.at = end_of_field + (c.more ? 1 : 0);
}

TAGMA_DECL void csv_decoder::read_fields(cursor& c) {
  switch (fields_[c.output].type) {
    case dtype::float32:
      return read_numbers<float>(c);
    case dtype::float64:
      return read_numbers<double>(c);
    case dtype::int32:
      return read_numbers<std::int32_t>(c);
    case dtype::int64:
      return read_numbers<std::int64_t>(c);
    default: {
      std::string_view text;
      const char* const last = take(c, text, unquoted_[c.output]);
      if (is_missing(text)) {
        if (fields_[c.output].required) fail_missing(c);
        text = fields_[c.output].text;
      }
      *static_cast<std::string_view*>(c.to[c.output++]) = text;
      go_on(c, last);
    }
  }
}

TAGMA_DECL const char* csv_decoder::take(const cursor& c, std::string_view& text, std::string& scratch) const {
  const char* at = skip_line_ends(c.at, c.end);
  if (options_.quotes && at != c.end && *at == '"') return take_quoted(at + 1, text, scratch, c);
  const char* const first = at;
  while (at != c.end && !ends_field_[static_cast<unsigned char>(*at)]) ++at;
  text = {first, static_cast<std::size_t>(at - first)};
  if (at != c.end && *at != options_.delimiter)
    fail_field("has a quote or a line end, which only a field in quotes may have", c);
  return at;
}

TAGMA_DECL const char* csv_decoder::take_quoted(const char* at, std::string_view& text, std::string& scratch,
                                                const cursor& c) const {
  const char* const end = c.end;
  bool doubled = false;
  while (true) {
    const auto* const quote =
        at == end ? nullptr : static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
    if (quote == nullptr) fail_field("begins with a quote, and no quote ends it", c);
    text = {at, static_cast<std::size_t>(quote - at)};
    const bool again = quote + 1 != end && quote[1] == '"';
    if (doubled || again) {
      if (!doubled) scratch.clear();
      scratch.append(at, static_cast<std::size_t>(quote - at) + (again ? 1 : 0));
      text = scratch;
    }
    if (!again) {
      at = quote + 1;
      break;
    }
    doubled = true;
    at = quote + 2;
  }
  if (at != end && *at != options_.delimiter)
    fail_field("has a quote inside that is not doubled, or more behind the quote that ends it", c);
  return at;
}

TAGMA_DECL std::string csv_decoder::text_of(const record_name& name) {
  return name.key.empty() ? sentence({"record ", name.number}) : std::string(name.key);
}

TAGMA_COLD TAGMA_DECL void csv_decoder::fail_field(std::string_view what, const cursor& c) {
  fail(status_code::invalid_argument, {text_of(c.name), ": field ", c.column, " ", what});
}

TAGMA_COLD TAGMA_DECL void csv_decoder::fail_missing(const cursor& c) {
  fail_field("is required, and there is nothing in it", c);
}

TAGMA_COLD TAGMA_DECL void csv_decoder::fail_number(std::string_view text, dtype type, const cursor& c) {
  constexpr std::size_t most = 60;
  fail_field(sentence({"is no ", to_string(type), ": '", text.substr(0, most), text.size() > most ? "..." : "", "'"}),
             c);
}

TAGMA_COLD TAGMA_DECL void csv_decoder::fail_count(std::int64_t found, const record_name& name) const {
  if (options_.columns.empty())
    fail(status_code::invalid_argument, {text_of(name), ": has ", found, " fields, expected ", fields_.size()});
  fail(status_code::invalid_argument,
       {text_of(name), ": has ", found, " fields, and number ", options_.columns.back(), " of them is selected"});
}

}  // namespace tagma::io
