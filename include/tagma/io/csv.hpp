// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Fields of records of comma-separated values (RFC 4180), as numbers and texts. What is a default, what is missing and
/// what is refused is as in TensorFlow's decode_csv.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/io/number.hpp"
#include "tagma/tensor/dtype.hpp"

namespace tagma::io {

struct csv_options {
  char delimiter = ',';
  /// Whether a field may stand in quotes, in which delimiters, line ends and doubled quotes belong to it.
  bool quotes = true;
  /// A field with this text is missing, as an empty one is.
  std::string na_value{};
  /// Which fields of a record are read, counted from 0, in increasing order; none: all of them.
  std::vector<std::int64_t> columns{};
};

/// A type that fields are read as.
template <class T>
concept csv_type = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, std::string>;

/// A column: its type, and unless a field is required, the value of one that is missing.
template <csv_type T>
struct csv_column {
  bool required = true;
  T otherwise{};
};
template <csv_type T>
[[nodiscard]] csv_column<T> csv_required() {
  return {};
}
template <csv_type T>
[[nodiscard]] csv_column<T> csv_default(T value) {
  return {false, std::move(value)};
}

/// A column whose type is known when the program runs.
struct csv_field {
  dtype type = dtype::float32;
  bool required = true;
  double number = 0;       ///< of a floating type, if missing
  std::int64_t whole = 0;  ///< of an integer type
  std::string text{};      ///< of a string

  template <csv_type T>
  csv_field(csv_column<T> column) : type(type_of<T>()), required(column.required) {
    if (required) return;
    if constexpr (std::is_floating_point_v<T>)
      number = column.otherwise;
    else if constexpr (std::is_integral_v<T>)
      whole = column.otherwise;
    else
      text = std::move(column.otherwise);
  }
  /// A field that is required.
  /// @param type_ float32, float64, int32, int64 or string
  explicit csv_field(dtype type_) : type(type_) {}

 private:
  template <class T>
  static constexpr dtype type_of() {
    if constexpr (std::is_same_v<T, std::string>)
      return dtype::string;
    else
      return dtype_of<T>;
  }
};

/// What errors call a record: a key such as "file:12" or, without one, its number.
struct record_name {
  std::string_view key{};
  std::int64_t number = 0;
};

/// Takes records apart, one after the other.
class csv_decoder {
 public:
  /// Throws `invalid_argument` for a delimiter that could not be told from quotes and line ends, for another type, and
  /// for columns that do not increase or are not as many as the fields.
  csv_decoder(std::vector<csv_field> fields, csv_options options)
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

  [[nodiscard]] const std::vector<csv_field>& fields() const { return fields_; }

  /// Reads one record, without the line end behind it.
  /// Throws `invalid_argument` for a field that is required and missing, that is no number of its type, or that has
  /// quotes where none may be, and for more or fewer fields than described; it names the record and the field, counted
  /// from 0.
  /// @param to of each field an object of its type, of a string a `std::string_view`, valid as long as the record and
  /// until the next call
  void decode(std::string_view record, std::span<void* const> to, const record_name& name = {}) {
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
    if (c.output < count || (columns.empty() && c.column > static_cast<std::int64_t>(count)))
      fail_count(c.column, name);
  }

 private:
  /// Where a record is being read.
  struct cursor {
    const char* at;
    const char* end;
    std::span<void* const> to;
    const record_name& name;
    std::size_t output = 0;
    std::int64_t column = 0;
    bool more = false;
  };

  [[nodiscard]] static const char* skip_line_ends(const char* at, const char* end) {
    while (at != end && (*at == '\r' || *at == '\n')) ++at;
    return at;
  }
  /// From the end of a field to the beginning of the next one.
  static void go_on(cursor& c, const char* end_of_field) {
    ++c.column;
    c.more = end_of_field != c.end;
    c.at = end_of_field + (c.more ? 1 : 0);
  }

  void read_fields(cursor& c) {
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
  [[nodiscard]] bool is_missing(std::string_view text) const { return text.empty() || text == options_.na_value; }

  /// Reads the fields of a type that stand together. Most are a number and nothing else, which is read without a look
  /// at where it ends.
  template <class T>
  void read_numbers(cursor& c) {
    const std::size_t behind = plain_ ? runs_[c.output] : c.output + 1;
    const char delimiter = options_.delimiter;
    const char* at = c.at;
    const char* const end = c.end;
    std::size_t i = c.output;
    for (void* const* to = c.to.data() + i; i < behind; ++i, ++to) {
      T value{};
      const char* last = io::read_number(at, end, value);
      if (last == nullptr || (last != end && *last != delimiter) || !plain_) {
        c.column += static_cast<std::int64_t>(i - c.output);
        c.output = i;
        c.at = at;
        last = read_other(c, value);
      }
      std::memcpy(*to, &value, sizeof value);
      at = last + 1;
      if (last == end) {
        c.more = false;
        ++i;
        break;
      }
    }
    c.column += static_cast<std::int64_t>(i - c.output);
    c.output = i;
    c.at = at;
  }
  /// Spaces, quotes, nothing.
  template <class T>
  [[nodiscard]] TAGMA_COLD const char* read_other(const cursor& c, T& value) {
    std::string_view text;
    const char* const last = take(c, text, unquoted_[c.output]);
    if (is_missing(text)) {
      value = default_of<T>(c);
    } else {
      std::string_view number = text;
      while (number.starts_with(' ')) number.remove_prefix(1);
      while (number.ends_with(' ')) number.remove_suffix(1);
      if (!number_from(number, value)) fail_number(text, dtype_of<T>, c);
    }
    return last;
  }
  template <class T>
  [[nodiscard]] T default_of(const cursor& c) const {
    const csv_field& field = fields_[c.output];
    if (field.required) fail_missing(c);
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(field.number);
    else
      return static_cast<T>(field.whole);
  }

  /// Takes the text of a field; where it has doubled quotes, `scratch` holds it.
  /// @returns the delimiter behind it or the end
  [[nodiscard]] const char* take(const cursor& c, std::string_view& text, std::string& scratch) const {
    const char* at = skip_line_ends(c.at, c.end);
    if (options_.quotes && at != c.end && *at == '"') return take_quoted(at + 1, text, scratch, c);
    const char* const first = at;
    while (at != c.end && !ends_field_[static_cast<unsigned char>(*at)]) ++at;
    text = {first, static_cast<std::size_t>(at - first)};
    if (at != c.end && *at != options_.delimiter)
      fail_field("has a quote or a line end, which only a field in quotes may have", c);
    return at;
  }
  [[nodiscard]] const char* take_quoted(const char* at, std::string_view& text, std::string& scratch,
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

  [[nodiscard]] static std::string text_of(const record_name& name) {
    return name.key.empty() ? sentence({"record ", name.number}) : std::string(name.key);
  }
  [[noreturn]] TAGMA_COLD static void fail_field(std::string_view what, const cursor& c) {
    fail(status_code::invalid_argument, {text_of(c.name), ": field ", c.column, " ", what});
  }
  [[noreturn]] TAGMA_COLD static void fail_missing(const cursor& c) {
    fail_field("is required, and there is nothing in it", c);
  }
  [[noreturn]] TAGMA_COLD static void fail_number(std::string_view text, dtype type, const cursor& c) {
    constexpr std::size_t most = 60;
    fail_field(sentence({"is no ", to_string(type), ": '", text.substr(0, most), text.size() > most ? "..." : "", "'"}),
               c);
  }
  [[noreturn]] TAGMA_COLD void fail_count(std::int64_t found, const record_name& name) const {
    if (options_.columns.empty())
      fail(status_code::invalid_argument, {text_of(name), ": has ", found, " fields, expected ", fields_.size()});
    fail(status_code::invalid_argument,
         {text_of(name), ": has ", found, " fields, and number ", options_.columns.back(), " of them is selected"});
  }

  std::vector<csv_field> fields_;
  csv_options options_;
  std::vector<std::string> unquoted_;  // of each field, where its text differs from what the record has
  std::string passed_;
  bool ends_field_[256] = {};
  std::vector<std::size_t> runs_;  // of each field, the first one of another type behind it
  bool plain_ = true;              // a number that is read ends where its field does, and is no name of nothing
};

/// Reads records as columns. Throws as `csv_decoder` does.
///
///     auto [ages, names] = io::decode_csv(records, {.delimiter = ';'}, io::csv_default(0.0f),
///                                         io::csv_required<std::string>());
template <csv_type... T>
[[nodiscard]] std::tuple<std::vector<T>...> decode_csv(std::span<const std::string_view> records,
                                                       const csv_options& options, csv_column<T>... columns) {
  csv_decoder decoder(std::vector<csv_field>{csv_field(std::move(columns))...}, options);
  std::tuple<std::vector<T>...> result;
  const auto in_order = [&]<std::size_t... I>(std::index_sequence<I...>) {
    std::tuple<std::conditional_t<std::is_same_v<T, std::string>, std::string_view, T>...> row;
    void* const to[] = {static_cast<void*>(&std::get<I>(row))..., nullptr};
    (std::get<I>(result).reserve(records.size()), ...);
    for (std::size_t i = 0; i < records.size(); ++i) {
      decoder.decode(records[i], {to, sizeof...(T)}, {{}, static_cast<std::int64_t>(i)});
      (std::get<I>(result).emplace_back(std::get<I>(row)), ...);
    }
  };
  in_order(std::index_sequence_for<T...>{});
  return result;
}

}  // namespace tagma::io
