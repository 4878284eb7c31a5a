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

/// How records of CSV are read.
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
/// A column that may not be missing.
template <csv_type T>
[[nodiscard]] csv_column<T> csv_required() {
  return {};
}
/// A column that is `value` where it is missing.
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
  csv_decoder(std::vector<csv_field> fields, csv_options options);

  /// The columns.
  [[nodiscard]] const std::vector<csv_field>& fields() const { return fields_; }

  /// Reads one record, without the line end behind it.
  /// Throws `invalid_argument` for a field that is required and missing, that is no number of its type, or that has
  /// quotes where none may be, and for more or fewer fields than described; it names the record and the field, counted
  /// from 0.
  /// @param to of each field an object of its type, of a string a `std::string_view`, valid as long as the record and
  /// until the next call
  void decode(std::string_view record, std::span<void* const> to, const record_name& name = {});

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

  [[nodiscard]] static const char* skip_line_ends(const char* at, const char* end);
  /// From the end of a field to the beginning of the next one.
  static void go_on(cursor& c, const char* end_of_field);

  void read_fields(cursor& c);
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
  [[nodiscard]] const char* take(const cursor& c, std::string_view& text, std::string& scratch) const;
  [[nodiscard]] const char* take_quoted(const char* at, std::string_view& text, std::string& scratch,
                                        const cursor& c) const;

  [[nodiscard]] static std::string text_of(const record_name& name);
  [[noreturn]] static void fail_field(std::string_view what, const cursor& c);
  [[noreturn]] static void fail_missing(const cursor& c);
  [[noreturn]] static void fail_number(std::string_view text, dtype type, const cursor& c);
  [[noreturn]] void fail_count(std::int64_t found, const record_name& name) const;

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

#ifndef TAGMA_COMPILED
#include "tagma/io/csv.ipp"
#endif
