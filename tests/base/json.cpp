// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/json.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace json = tagma::json;
using oracle = nlohmann::json;
using namespace std::string_literals;

namespace {

bool same(const json::value& mine, const oracle& theirs) {
  if (theirs.is_null()) return mine.is_null();
  if (theirs.is_boolean()) return mine.is_bool() && mine.as_bool() == theirs.get<bool>();
  if (theirs.is_string()) return mine.is_string() && mine.as_string() == theirs.get<std::string>();
  if (theirs.is_number_unsigned() && theirs.get<std::uint64_t>() > std::uint64_t{INT64_MAX})
    return !mine.is_integer() && mine.as_double() == theirs.get<double>();
  if (theirs.is_number_integer()) return mine.is_integer() && mine.as_integer() == theirs.get<std::int64_t>();
  if (theirs.is_number()) return mine.is_number() && !mine.is_integer() && mine.as_double() == theirs.get<double>();
  if (theirs.is_array()) {
    if (!mine.is_array() || mine.as_array().size() != theirs.size()) return false;
    for (std::size_t i = 0; i < theirs.size(); ++i)
      if (!same(mine.as_array()[i], theirs[i])) return false;
    return true;
  }
  if (!mine.is_object() || mine.as_object().size() != theirs.size()) return false;
  for (const auto& [name, content] : theirs.items())
    if (mine.find(name) == nullptr || !same(mine.at(name), content)) return false;
  return true;
}

}  // namespace

TEST_CASE("texts read as another reader reads them") {
  const std::string corpus[] = {
      "null", "true", "false", " \t\r\n 1 ", "0", "-0", "-1", "9223372036854775807", "-9223372036854775808",
      "9223372036854775808", "18446744073709551615", "123456789012345678901234567890", "0.5", "-2.25e3", "1E+2", "1e-2",
      "1.7976931348623157e308", "5e-324", "1e-400", "-1e-400", "0.1", "3.141592653589793238462643383279", "0e10",
      "0.0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001e-300",
      R"("")", R"("plain")", R"("\"\\\/\b\f\n\r\t")",
      R"("\u0041\u00e4\u20ac\ud83d\ude00\u0000\uFFFF\u07ff\u0800\u007F")",
      "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\x7f\"", "[]", "[ ]", "{}", "{ }", "[1,[2,[3,[]]],{}]",
      R"({"a":1,"b":[true,null,{"c":"d"}],"":"empty"})", R"( { "x" : 1 , "y" : [ 1 , 2 ] } )",
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}   )",
      // Texts that are not JSON.
      "", " ", "nul", "nulll", "True", "+1", "01", "-", "-a", "1.", ".5", "1.e3", "1e", "1e+", "0x10", "1 2", "NaN",
      "Infinity", "1e400", "-1e400", "1e99999999999999999999", "\"", "\"abc", R"("\)", R"("\x")", R"("\u12")",
      R"("\u12g4")", R"("\u+123")", R"("\ud83d")", R"("\ud83dx")", R"("\ud83d\u0041")", R"("\ude00")", "\"\n\"",
      "\"\x01\"", "\"\x80\"", "\"\xc0\xaf\"", "\"\xc1\xbf\"", "\"\xe0\x9f\xbf\"", "\"\xed\xa0\x80\"",
      "\"\xf0\x8f\xbf\xbf\"",
      "\"\xf4\x90\x80\x80\"", "\"\xf5\x80\x80\x80\"", "\"\xe2\x82\"", "\"\xc3\"", "[", "]", "[1", "[1,", "[1,]", "[,1]",
      "[1 2]", "{", "}", "{1:2}", R"({"a")", R"({"a":)", R"({"a":1)", R"({"a":1,)", R"({"a":1,})", R"({"a" 1})",
      R"({a:1})", R"({'a':1})", R"({"a":1]})", "[1}", "// x\n1", "1 // x", "1,", "\xff", "\0"s,
  };
  for (const std::string& text : corpus) {
    INFO(text);
    const oracle theirs = oracle::parse(text, nullptr, false);
    const json::parsed mine = json::try_parse(text);
    CHECK(static_cast<bool>(mine) == !theirs.is_discarded());
    if (mine && !theirs.is_discarded()) CHECK(same(mine.root, theirs));
  }
}

TEST_CASE("every prefix of a text is refused at its end") {
  const std::string text = R"({"a": [1.5e3, true, "x\u20ac"], "b": {"c": null}})";
  REQUIRE(json::try_parse(text));
  for (std::size_t n = 0; n < text.size(); ++n) {
    INFO(text.substr(0, n));
    const auto cut = json::try_parse(std::string_view(text).substr(0, n));
    CHECK_FALSE(cut);
    CHECK(cut.position <= n);
  }
}

TEST_CASE("an error names the byte and the reason") {
  const auto reason = [](std::string_view text) {
    const auto p = json::try_parse(text);
    return std::to_string(p.position) + " " + p.reason;
  };
  CHECK(reason("[1, 2") == "5 expected ',' or ']'");
  CHECK(reason(R"({"a":1 "b":2})") == "7 expected ',' or '}'");
  CHECK(reason(R"({"a" 1})") == "5 expected ':'");
  CHECK(reason("{1:2}") == "1 expected a name in quotes");
  CHECK(reason("[01]") == "2 expected ',' or ']'");
  CHECK(reason("[-]") == "2 expected a digit");
  CHECK(reason("[1e999]") == "1 a number beyond the range of double");
  CHECK(reason("\"a\xff\"") == "2 invalid UTF-8");
  CHECK(reason("\"a\\q\"") == "2 an invalid escape sequence");
  CHECK(reason("\"\\ud800\"") == "1 an unpaired surrogate");
  CHECK(reason("\"a\tb\"") == "2 a control character in a string");
  CHECK(reason("\"abc") == "4 a string without closing quote");
  CHECK(reason("1\0"s) == "1 expected the end of the text");
  CHECK(reason("1 1") == "2 expected the end of the text");
  CHECK(reason("\xef\xbb\xbf{}") == "0 expected a value");
  CHECK_THROWS_WITH(json::parse("[1,", "config.json"), "InvalidArgument: config.json, byte 3: expected a value");
}

TEST_CASE("a name that appears twice in one object is refused where it appears again") {
  const auto twice = json::try_parse(R"({"b":1,"a":2,"\u0062":3,"a":4})");
  CHECK(twice.reason == "the name \"b\" appears twice");
  CHECK(twice.position == 13);
  CHECK(json::try_parse(R"({"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]})"));
  CHECK_FALSE(json::try_parse(R"([{"x":{"a":1,"a":1}}])"));
}

TEST_CASE("depth and size are limited") {
  const auto nested = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  CHECK(json::try_parse(nested(64)));
  CHECK(json::try_parse(nested(65)).reason == "nested deeper than 64");
  CHECK(json::try_parse(nested(65)).position == 64);
  CHECK_FALSE(json::try_parse(std::string(1'000'000, '[')));
  CHECK(json::try_parse(nested(3), {.depth = 3}));
  CHECK_FALSE(json::try_parse(nested(3), {.depth = 2}));
  CHECK(json::try_parse("[1]", {.bytes = 3}));
  CHECK(json::try_parse("[12]", {.bytes = 3}).reason == "longer than 3 bytes");
}

TEST_CASE("values give their content or say what they are") {
  const json::value v = json::parse(R"({"i":7,"d":0.5,"s":"x","b":true,"n":null,"a":[1]})");
  CHECK(v.at("i").as_integer() == 7);
  CHECK(v.at("i").as_double() == 7.0);
  CHECK(v.at("d").as_double() == 0.5);
  CHECK(v.at("s").as_string() == "x");
  CHECK(v.at("b").as_bool());
  CHECK(v.at("n").is_null());
  CHECK(v.at("a").as_array().size() == 1);
  CHECK(v.as_object().front().name == "i");
  CHECK(v.find("z") == nullptr);
  CHECK(v.at("a").find("i") == nullptr);
  CHECK_THROWS_WITH(v.at("z"), "NotFound: JSON: no member \"z\"");
  CHECK_THROWS_WITH(v.at("s").as_integer(), "InvalidArgument: JSON: expected an integer, found a string");
  CHECK_THROWS_WITH(v.at("d").as_integer(), "InvalidArgument: JSON: expected an integer, found a number");
  CHECK_THROWS_WITH(v.at("a").at("x"), "InvalidArgument: JSON: expected an object, found an array");
}

TEST_CASE("quoted strings are what another writer writes and read back") {
  std::string all;
  for (int c = 0; c < 128; ++c) all += static_cast<char>(c);
  for (const std::string& text : {""s, "plain"s, all, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"s, "a/b\"c\\"s}) {
    CHECK(json::quoted(text) == oracle(text).dump());
    CHECK(json::parse(json::quoted(text)).as_string() == text);
  }
  CHECK_THROWS_AS(json::quoted("\xc3"), tagma::error);
}
