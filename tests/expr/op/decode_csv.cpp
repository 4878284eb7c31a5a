// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/decode_csv.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "tagma/control_flow.hpp"
#include "tagma/readers.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using text = std::string_view;
using texts = tg::tensor<text>;
using tg::test::text_of;

constexpr auto records = tg::placeholder<"records", text, tg::dyn>();
constexpr auto one_record = tg::placeholder<"one_record", text>();

}  // namespace

TEST_CASE("fields that are missing take their values, of records of any shape", "[scenario 106]") {
  const auto [a, b] = tg::decode_csv(one_record, 3.0f, std::int32_t{4});
  const auto square = tg::placeholder<"square", text, 2, 2>();
  const auto c = tg::decode_csv(square, std::int64_t{5});
  tg::session s(tg::compile([=, a_ = a, b_ = b] { return tg::outputs(a_, b_, c); }));
  const auto [first, second] = s.run(tg::fetch(a, b), one_record = "1,\"\"");
  CHECK(first == 1.0f);
  CHECK(second == 4);
  CHECK(s.run(c, square = texts({2, 2}, {"1", "2", "\"\"", "4"})) == tg::tensor<std::int64_t>({2, 2}, {1, 2, 5, 4}));
}

TEST_CASE("texts keep what is theirs", "[scenario 107]") {
  const auto [n, t] = tg::decode_csv(records, tg::required<double>, tg::required<text>);
  tg::session s(tg::compile([=, n_ = n, t_ = t] { return tg::outputs(n_, t_); }));
  const auto both =
      s.run(tg::fetch(n, t), records = texts({4}, {"\"1.0\",\"ab , c\"", "2,\"a\nbc\"", " 3 ,\"ab\"\"c\"", "4, abc "}));
  CHECK(std::get<0>(both) == tg::tensor<double>({4}, {1, 2, 3, 4}));
  CHECK(std::get<1>(both) == texts({4}, {"ab , c", "a\nbc", "ab\"c", " abc "}));
}

TEST_CASE("values of missing fields may be computed, and others in the next run") {
  const auto otherwise = tg::placeholder<"otherwise", float>();
  const auto name = tg::placeholder<"name", text>();
  const auto [a, b] = tg::decode_csv(records, otherwise * 2.0f, name);
  tg::session s(tg::compile([=, a_ = a, b_ = b] { return tg::outputs(a_, b_); }));
  for (const float value : {1.0f, 2.0f, 2.0f}) {
    const std::string own = "no name " + std::to_string(value);
    const auto got = s.run(tg::fetch(a, b), records = texts({2}, {",x", "7,"}), otherwise = value, name = own);
    CHECK(std::get<0>(got) == tg::tensor<float>({2}, {2 * value, 7}));
    CHECK(std::get<1>(got) == texts({2}, {"x", own}));
  }
}

TEST_CASE("the value of a missing text is part of the program") {
  const auto [who, where, pay] = tg::decode_csv<tg::csv_format{.na_value = "-"}>(
      records, tg::text_constant<"nobody at all">, tg::text_constant<"">, 1.5f);
  const auto alone = tg::decode_csv(records, tg::text_constant<"12345678">);
  tg::session s(tg::compile([=, a = who, b = where, c = pay] { return tg::outputs(a, b, c, alone); }));
  for (int run = 0; run < 2; ++run) {
    const auto got =
        s.run(tg::fetch(who, where, pay), records = texts({4}, {"\"\",,", "-,\"-\",-", "x,y,2", "\"a\"\"b\", c ,3"}));
    CHECK(std::get<0>(got) == texts({4}, {"nobody at all", "nobody at all", "x", "a\"b"}));
    CHECK(std::get<1>(got) == texts({4}, {"", "", "y", " c "}));
    CHECK(std::get<2>(got) == tg::tensor<float>({4}, {1.5f, 1.5f, 2, 3}));
    CHECK(s.run(alone, records = texts({2}, {"\"\"", "123456789"})) == texts({2}, {"12345678", "123456789"}));
  }
}

TEST_CASE("rows of columns, formats and selected columns") {
  const auto [row, label] =
      tg::decode_csv<tg::csv_format{.delimiter = ';', .quotes = false, .na_value = "NA"}, 1, 2, 4>(
          records, tg::required_row<float, 2>, std::int64_t{-1});
  tg::session s(tg::compile([=, r = row, l = label] { return tg::outputs(r, l); }));
  const auto got = s.run(tg::fetch(row, label), records = texts({2}, {"\"x;1;2;z;7", "y;3;4;\";NA"}));
  CHECK(std::get<0>(got) == tg::tensor<float>({2, 2}, {1, 2, 3, 4}));
  CHECK(std::get<1>(got) == tg::tensor<std::int64_t>({2}, {7, -1}));
  CHECK(s.run(row, records = texts({0}, {})).dims() == tg::shape{0, 2});
}

TEST_CASE("records with keys are named by them") {
  const auto keys = tg::placeholder<"keys", text, tg::dyn>();
  const auto fallback = tg::placeholder<"fallback", float>();
  const auto [a, b] = tg::decode_csv(std::tuple(keys, records), tg::required<std::int32_t>, fallback);
  const auto alone = tg::decode_csv(std::tuple(keys, records), tg::required_row<float, 2>);
  const auto without = tg::decode_csv(records, tg::required<std::int32_t>, fallback);
  const auto c = std::get<0>(without);
  tg::session s(tg::compile([=, a_ = a, b_ = b] { return tg::outputs(a_, b_, alone, c); }));
  const texts named({2}, {"a.csv:7", ""});
  const auto got = s.run(tg::fetch(a, b), keys = named, records = texts({2}, {"1,", "2,3"}), fallback = 0.5f);
  CHECK(std::get<0>(got) == tg::tensor<std::int32_t>({2}, {1, 2}));
  CHECK(std::get<1>(got) == tg::tensor<float>({2}, {0.5f, 3}));
  const auto number = a;
  const auto error = [&](text first, text second, const texts& with) {
    return text_of([&] { (void)s.run(number, keys = with, records = texts({2}, {first, second}), fallback = 0.0f); });
  };
  CHECK_THAT(error("x,2", "1,2", named), Catch::Contains("a.csv:7: field 0 is no int32: 'x'"));
  CHECK_THAT(error("1,2", "x,2", named), Catch::Contains("record 1: field 0 is no int32: 'x'"));
  CHECK_THAT(
      error("1,2", "1,2", texts({3}, {"", "", ""})),
      Catch::StartsWith("InvalidArgument: ") && Catch::Contains("keys [3] are not of the shape of the texts, [2]"));
  CHECK_THAT(text_of([&] {
               (void)s.run(alone, keys = named, records = texts({2}, {"1,2", "1,"}));
             }),
             Catch::Contains("record 1: field 1 is required"));
  CHECK_THAT(text_of([&] { (void)s.run(c, records = texts({1}, {"x,"}), fallback = 0.0f); }),
             Catch::Contains("record 0: field 0 is no int32"));
}

TEST_CASE("bad records are named", "[scenario 108][scenario 110]") {
  const auto [a, b] = tg::decode_csv(records, tg::required<std::int32_t>, 1.0f);
  tg::session s(tg::compile([=, a_ = a, b_ = b] { return tg::outputs(a_, b_); }));
  const auto number = a;
  const auto error = [&](text first, text second) {
    return text_of([&] { (void)s.run(number, records = texts({2}, {first, second})); });
  };
  CHECK_THAT(error("1,2", "234a,1"), Catch::StartsWith("InvalidArgument: decode_csv #") &&
                                         Catch::Contains("record 1: field 0 is no int32: '234a'"));
  CHECK_THAT(error("1,2", ",1"), Catch::Contains("record 1: field 0 is required, and there is nothing in it"));
  CHECK_THAT(error("1,2,3", "1,1"), Catch::Contains("record 0: has 3 fields, expected 2"));
  CHECK_THAT(error("1,2", "12345678901,1"), Catch::Contains("record 1: field 0 is no int32"));
  CHECK_THAT(error("1,2", ""), Catch::Contains("record 1: has 0 fields, expected 2"));
  CHECK_THAT(error("1,2,", ""), Catch::Contains("record 0: has 3 fields, expected 2"));
  CHECK_THAT(error("1,2", "+1,1"), Catch::Contains("record 1: field 0 is no int32: '+1'"));
  CHECK_THAT(error("1,2", "1,a\"b"), Catch::Contains("record 1: field 1 has a quote or a line end"));
  CHECK_THAT(error("1,2", "1,\"2\"3"), Catch::Contains("record 1: field 1 has a quote inside that is not doubled"));
  CHECK(s.run(number, records = texts({3}, {" 1 ,", "\r\n2,\"\"", "\"3\", 4"})) ==
        tg::tensor<std::int32_t>({3}, {1, 2, 3}));
  const auto few = tg::decode_csv<tg::csv_format{}, 0, 3>(records, tg::required_row<std::int32_t, 2>);
  tg::session selected(tg::compile([=] { return tg::outputs(few); }));
  CHECK_THAT(text_of([&] { (void)selected.run(few, records = texts({1}, {"1,2,3"})); }),
             Catch::Contains("record 0: has 3 fields, and number 3 of them is selected"));
  CHECK(selected.run(few, records = texts({1}, {"1,,,4,x"})) == tg::tensor<std::int32_t>({1, 2}, {1, 4}));
}

TEST_CASE("random tables come back, whatever is quoted, run after run") {
  const auto [n, t, x] = tg::decode_csv(records, std::int64_t{-1}, tg::required<text>, tg::required<float>);
  tg::session s(tg::compile([=, n_ = n, t_ = t, x_ = x] { return tg::outputs(n_, t_, x_); }));
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const std::size_t count = random() % 40;
    std::vector<std::string> lines(count), names(count);
    std::vector<std::int64_t> numbers(count);
    std::vector<float> floats(count);
    texts in(tg::shape{static_cast<tg::extent>(count)});
    for (std::size_t i = 0; i < count; ++i) {
      names[i] = "t";
      std::string quoted = "\"t";
      for (std::size_t k = random() % 30; k > 0; --k) {
        const char c = "ab\",\n\r "[random() % 7];
        names[i] += c;
        quoted += c;
        if (c == '"') quoted += c;
      }
      numbers[i] = random() % 4 == 0 ? -1 : static_cast<std::int64_t>(random());
      floats[i] = static_cast<float>(random() % 10000) / 64.0f;
      lines[i] = (numbers[i] < 0 ? "" : std::to_string(numbers[i])) + "," + quoted + "\"," + std::to_string(floats[i]);
      in[i] = lines[i];
    }
    const auto got = s.run(tg::fetch(n, t, x), records = in);
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(std::get<0>(got)[i] == numbers[i]);
      CHECK(std::get<1>(got)[i] == names[i]);
      CHECK(std::get<2>(got)[i] == Approx(floats[i]));
    }
  }
}

TEST_CASE("in a loop, the texts of all iterations stay") {
  const auto lines = tg::placeholder<"lines", text, tg::dyn, 2>();
  const auto start = tg::placeholder<"start", float>();
  const auto [sum, names] = tg::scan(tg::carry(start), tg::over<0>(lines), [](auto total, auto row) {
    const auto [value, name] = tg::decode_csv(row, tg::required<float>, tg::required<text>);
    return tg::next(total + tg::sum(value)).emit(name);
  });
  tg::session s(tg::compile([=, a = sum, b = names] { return tg::outputs(a, b); }));
  for (int run = 0; run < 2; ++run) {
    const auto got = s.run(tg::fetch(sum, names), start = 0.0f,
                           lines = texts({2, 2}, {"1,\"a\"\"1\"", "2,\"a\"\"2\"", "3,\"a\"\"3\"", "4,\"a\"\"4\""}));
    CHECK(std::get<0>(got) == 10.0f);
    CHECK(std::get<1>(got) == texts({2, 2}, {"a\"1", "a\"2", "a\"3", "a\"4"}));
  }
}
