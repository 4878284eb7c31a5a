// SPDX-License-Identifier: BSL-1.0
#include "tagma/io/csv.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "support/errors.hpp"

namespace io = tagma::io;
using io::csv_default;
using io::csv_required;
using io::decode_csv;
using tagma::test::text_of;

namespace {

template <class... T>
auto columns_of(std::vector<std::string_view> records, const io::csv_options& options, io::csv_column<T>... columns) {
  return decode_csv(records, options, std::move(columns)...);
}
template <class T>
std::vector<T> column_of(std::vector<std::string_view> records, io::csv_column<T> column,
                         const io::csv_options& options = {}) {
  return std::get<0>(columns_of(std::move(records), options, std::move(column)));
}
template <class T>
std::string refused(std::vector<std::string_view> records, io::csv_column<T> column,
                    const io::csv_options& options = {}) {
  return text_of([&] { (void)column_of(std::move(records), std::move(column), options); });
}

using strings = std::vector<std::string>;
using ints = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("fields are read as their types, and what is missing is a default") {
  const auto [a, b] = columns_of({"1,\"\""}, {}, csv_default(3), csv_default(4));
  CHECK(a == ints{1});
  CHECK(b == ints{4});
  const auto [c, d] = columns_of({"1,2", "\"\",4"}, {}, csv_default(5), csv_required<std::int32_t>());
  CHECK(c == ints{1, 5});
  CHECK(d == ints{2, 4});
  const auto [f, g, l, s] =
      columns_of({"0.5,1e300,-9223372036854775808,x", ",,,"}, {}, csv_default(1.5f), csv_default(2.5),
                 csv_default(std::int64_t{7}), csv_default(std::string("none")));
  CHECK(f == std::vector<float>{0.5f, 1.5f});
  CHECK(g == std::vector<double>{1e300, 2.5});
  CHECK(l == std::vector<std::int64_t>{INT64_MIN, 7});
  CHECK(s == strings{"x", "none"});
}

TEST_CASE("texts in quotes and without") {
  CHECK(column_of({"\"1.0\"", "\"ab , c\"", "\"a\nbc\"", "\"ab\"\"c\"", " abc ", "\"\"\"\"", "\"a\"\"b\"\"c\"", "\"\""},
                  csv_default(std::string("-"))) ==
        strings{"1.0", "ab , c", "a\nbc", "ab\"c", " abc ", "\"", "a\"b\"c", "-"});
  const auto [a, b, c] = columns_of({"\"x\"\"1\",y,\"z\"\"3\""}, {}, csv_required<std::string>(),
                                    csv_required<std::string>(), csv_required<std::string>());
  CHECK(a == strings{"x\"1"});
  CHECK(b == strings{"y"});
  CHECK(c == strings{"z\"3"});
  CHECK(column_of({"a\"b", "\"ab\"", "\""}, csv_required<std::string>(), {.quotes = false}) ==
        strings{"a\"b", "\"ab\"", "\""});
  CHECK(column_of({"\r\nab", "\n\"c\""}, csv_required<std::string>()) == strings{"ab", "c"});
}

TEST_CASE("numbers may have spaces and quotes around them, and any delimiter") {
  CHECK(column_of({" 0", "7 ", "\" -3 \"", "\"12\""}, csv_required<std::int32_t>()) == ints{0, 7, -3, 12});
  CHECK(column_of({"inf", "-INF", "1e-3", " .5 "}, csv_required<float>()) ==
        std::vector<float>{INFINITY, -INFINITY, 1e-3f, 0.5f});
  for (const char delimiter : {';', '\t', ' ', '-', '.', 'e', '5', '|'}) {
    const std::string record = std::string("1") + delimiter + "2";
    CAPTURE(delimiter);
    const auto [a, b] = columns_of({record}, {.delimiter = delimiter}, csv_required<float>(), csv_required<double>());
    CHECK(a == std::vector<float>{1});
    CHECK(b == std::vector<double>{2});
  }
}

TEST_CASE("a text of one's own says that a field is missing") {
  const io::csv_options options{.na_value = "-1"};
  CHECK(column_of({"1", "-1", "\"\"", "\"-1\"", "-1.0"}, csv_default(9.0f), options) == std::vector<float>{1, 9, 9, 9, -1});
  CHECK(column_of({"NA", "\"NA\"", "nan"}, csv_default(std::string("-")), {.na_value = "NA"}) ==
        strings{"-", "-", "nan"});
  CHECK(column_of({"NA"}, csv_default(2), {.na_value = "NA"}) == ints{2});
  CHECK(refused({"-1"}, csv_required<float>(), options) ==
        "InvalidArgument: record 0: field 0 is required, and there is nothing in it");
}

TEST_CASE("columns are selected") {
  const auto [b, d] =
      columns_of({"a,1,\"x\"\"y\",2,z", "b,3,c,,"}, {.columns = {1, 3}}, csv_required<std::int32_t>(), csv_default(8));
  CHECK(b == ints{1, 3});
  CHECK(d == ints{2, 8});
  const io::csv_options options{.columns = {0, 3}};
  CHECK(text_of([&] { (void)columns_of({"1,2,3"}, options, csv_default(1), csv_default(1)); }) ==
        "InvalidArgument: record 0: has 3 fields, and number 3 of them is selected");
  CHECK(text_of([&] { (void)columns_of({"1,2,3,4,a\"b"}, options, csv_default(1), csv_default(1)); }) ==
        "InvalidArgument: record 0: field 4 has a quote or a line end, which only a field in quotes may have");
  CHECK(refused({}, csv_default(1), options) == "InvalidArgument: 2 columns are selected, and 1 fields are described");
  CHECK(refused({}, csv_default(1), {.columns = {-1}}) ==
        "InvalidArgument: selected columns are numbers that increase from 0, and number 0 of them is -1");
  const io::csv_options wrong{.columns = {1, 0}};
  CHECK(text_of([&] { (void)columns_of({}, wrong, csv_default(1), csv_default(1)); }) ==
        "InvalidArgument: selected columns are numbers that increase from 0, and number 1 of them is 0");
}

TEST_CASE("what is wrong is named with its record and field") {
  const auto two = [](std::vector<std::string_view> records) {
    return text_of([&] { (void)columns_of(records, {}, csv_default(0.0f), csv_required<std::int32_t>()); });
  };
  CHECK(two({",1", "0.2,3", "3.0,"}) == "InvalidArgument: record 2: field 1 is required, and there is nothing in it");
  CHECK(two({"1,1", "1,234a"}) == "InvalidArgument: record 1: field 1 is no int32: '234a'");
  CHECK(two({"1,99999999999"}) == "InvalidArgument: record 0: field 1 is no int32: '99999999999'");
  CHECK(two({"1,+5"}) == "InvalidArgument: record 0: field 1 is no int32: '+5'");
  CHECK(two({"x" + std::string(100, 'y')}) ==
        "InvalidArgument: record 0: field 0 is no float32: 'x" + std::string(59, 'y') + "...'");
  CHECK(two({"1"}) == "InvalidArgument: record 0: has 1 fields, expected 2");
  CHECK(two({"1,2,3,4"}) == "InvalidArgument: record 0: has 4 fields, expected 2");
  CHECK(two({""}) == "InvalidArgument: record 0: has 0 fields, expected 2");
  CHECK(two({"\n"}) == "InvalidArgument: record 0: has 0 fields, expected 2");
  CHECK(two({"1,2,"}) == "InvalidArgument: record 0: has 3 fields, expected 2");
  CHECK(two({"1,\"2"}) == "InvalidArgument: record 0: field 1 begins with a quote, and no quote ends it");
  CHECK(two({"1,\""}) == "InvalidArgument: record 0: field 1 begins with a quote, and no quote ends it");
  CHECK(two({"1,\"2\"x"}) ==
        "InvalidArgument: record 0: field 1 has a quote inside that is not doubled, or more behind the quote that ends "
        "it");
  CHECK(two({"1,2\r"}) ==
        "InvalidArgument: record 0: field 1 has a quote or a line end, which only a field in quotes may have");
  float a = 0;
  std::int32_t b = 0;
  void* const to[] = {&a, &b};
  io::csv_decoder decoder({csv_required<float>(), csv_required<std::int32_t>()}, {});
  CHECK(text_of([&] { decoder.decode("1,x", to, {"file.csv:7"}); }) ==
        "InvalidArgument: file.csv:7: field 1 is no int32: 'x'");
  decoder.decode("1,2", to, {"file.csv:8"});
  CHECK(a == 1.0f);
  CHECK(b == 2);
  CHECK(text_of([] { (void)io::csv_decoder({io::csv_field(tagma::dtype::int8)}, {}); }) ==
        "InvalidArgument: fields are not read as int8");
  for (const char delimiter : {'\n', '\r', '"'})
    CHECK(refused({}, csv_default(1), {.delimiter = delimiter}) ==
          "InvalidArgument: a delimiter of fields cannot be a line end or a quote");
}

TEST_CASE("random tables are written and read") {
  std::mt19937_64 random(6);
  for (int round = 0; round < 300; ++round) {
    const char delimiter = ",;\t"[random() % 3];
    strings lines, texts;
    std::vector<double> numbers;
    std::vector<std::int64_t> integers;
    for (int i = 0; i < 10; ++i) {
      std::string text;
      for (std::uint64_t n = random() % 6; n > 0; --n) text += "ab\"\n\r,;\t "[random() % 9];
      std::string quoted = "\"";
      for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
      quoted += '"';
      char number[64];
      const auto bits = random();
      double value = 0;
      std::memcpy(&value, &bits, sizeof value);
      if (!std::isfinite(value)) value = 1;
      std::snprintf(number, sizeof number, "%.17g", value);
      const auto integer = static_cast<std::int64_t>(random());
      std::string line = quoted;
      ((line += delimiter) += number) += delimiter;
      lines.push_back(line + std::to_string(integer));
      texts.push_back(text.empty() ? "?" : text);
      numbers.push_back(value);
      integers.push_back(integer);
    }
    const auto [a, b, c] =
        columns_of(std::vector<std::string_view>(lines.begin(), lines.end()), {.delimiter = delimiter},
                   csv_default(std::string("?")), csv_required<double>(), csv_required<std::int64_t>());
    CHECK(a == texts);
    CHECK(b == numbers);
    CHECK(c == integers);
  }
}
