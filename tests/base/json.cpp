// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/json.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "support/json_events.hpp"

namespace json = tagma::json;
using json::kind;
using oracle = nlohmann::json;
using tagma::test::agree;
using tagma::test::read_by_us;
using namespace std::string_literals;

namespace {

/// Texts that are JSON, of everything that the grammar has.
class generator {
 public:
  explicit generator(unsigned seed) : random_(seed) {}

  std::string value(int depth = 0) {
    switch (below(depth < 5 ? 9 : 6)) {
      case 0:
        return "null";
      case 1:
        return below(2) == 0 ? "true" : "false";
      case 2:
      case 3:
        return number();
      case 4:
      case 5:
        return string();
      case 6:
      case 7:
        return list('{', '}', [&] { return string() + blank() + ":" + blank() + value(depth + 1); });
      default:
        return list('[', ']', [&] { return value(depth + 1); });
    }
  }
  std::string number() {
    std::string text = below(2) == 0 ? "-" : "";
    text += below(4) == 0 ? "0" : std::string(1, static_cast<char>('1' + below(9))) + digits(below(22));
    if (below(2) == 0) text += "." + digits(1 + below(20));
    if (below(2) == 0) text += ("eE"s)[below(2)] + ("+-"s).substr(below(3), 1) + digits(1 + below(3));
    return text;
  }
  std::string string() {
    std::string text = "\"";
    for (std::size_t n = below(2) == 0 ? below(3) : below(12); n > 0; --n) text += character();
    return text + '"';
  }
  /// The same with a few bytes changed.
  std::string damaged(std::string text) {
    for (std::size_t n = 1 + below(3); n > 0 && !text.empty(); --n) {
      const std::size_t at = below(text.size());
      const std::string bytes = "{}[]\",:\\\0-.eE+ntfu \x7f\x80\xc3\xed\xf4\xff"s;
      const char byte = below(2) == 0 ? bytes[below(bytes.size())] : static_cast<char>(below(256));
      if (below(3) == 0)
        text.erase(at, 1 + below(3));
      else if (below(2) == 0)
        text.insert(at, 1, byte);
      else
        text[at] = byte;
    }
    return text;
  }
  std::size_t below(std::size_t n) { return random_() % n; }

 private:
  std::string digits(std::size_t n) {
    std::string text;
    while (text.size() < n) text += static_cast<char>('0' + below(10));
    return text;
  }
  std::string blank() { return ("          \t\r\n"s).substr(below(12), below(3)); }
  std::string hex(unsigned code) {
    std::string text = "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) {
      const std::string_view digit = below(2) == 0 ? "0123456789abcdef" : "0123456789ABCDEF";
      text += digit[code >> shift & 15u];
    }
    return text;
  }
  std::string character() {
    switch (below(6)) {
      case 0:
        return "\\"s + ("\"\\/bfnrt"s)[below(8)];
      case 1:
        return hex(static_cast<unsigned>(below(0xd800)));
      case 2:
        return hex(0xd800 + static_cast<unsigned>(below(0x400))) + hex(0xdc00 + static_cast<unsigned>(below(0x400)));
      case 3: {
        constexpr std::string_view wide[] = {"\x7f",         "\xc2\x80",     "\xdf\xbf",         "\xe0\xa0\x80",
                                             "\xed\x9f\xbf", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"};
        return std::string(wide[below(8)]);
      }
      default:
        return std::string(1, static_cast<char>('a' + below(3)));
    }
  }
  template <class Part>
  std::string list(char first, char last, Part part) {
    std::string text = first + blank();
    const std::size_t n = below(5);
    for (std::size_t i = 0; i < n; ++i) text += (i > 0 ? "," + blank() : "") + part() + blank();
    return text + last;
  }

  std::mt19937 random_;
};

}  // namespace

TEST_CASE("texts read as another reader reads them") {
  const std::string corpus[] = {
      "null",
      "true",
      "false",
      " \t\r\n 1 ",
      "0",
      "-0",
      "-1",
      "9223372036854775807",
      "-9223372036854775808",
      "9223372036854775808",
      "18446744073709551615",
      "123456789012345678901234567890",
      "0.5",
      "-2.25e3",
      "1E+2",
      "1e-2",
      "1.7976931348623157e308",
      "5e-324",
      "1e-400",
      "-1e-400",
      "0.1",
      "3.141592653589793238462643383279",
      "0e10",
      "0.0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001e-300",
      R"("")",
      R"("plain")",
      R"("\"\\\/\b\f\n\r\t")",
      R"("\u0041\u00e4\u20ac\ud83d\ude00\u0000\uFFFF\u07ff\u0800\u007F")",
      "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\x7f\"",
      "[]",
      "[ ]",
      "{}",
      "{ }",
      "[1,[2,[3,[]]],{}]",
      R"({"a":1,"b":[true,null,{"c":"d"}],"":"empty"})",
      R"( { "x" : 1 , "y" : [ 1 , 2 ] } )",
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}   )",
      // Texts that are not JSON.
      "",
      " ",
      "nul",
      "nulll",
      "True",
      "+1",
      "01",
      "-",
      "-a",
      "1.",
      ".5",
      "1.e3",
      "1e",
      "1e+",
      "0x10",
      "1 2",
      "NaN",
      "Infinity",
      "1e400",
      "-1e400",
      "1e99999999999999999999",
      "\"",
      "\"abc",
      R"("\)",
      R"("\x")",
      R"("\u12")",
      R"("\u12g4")",
      R"("\u+123")",
      R"("\ud83d")",
      R"("\ud83dx")",
      R"("\ud83d\u0041")",
      R"("\ude00")",
      "\"\n\"",
      "\"\x01\"",
      "\"\x80\"",
      "\"\xc0\xaf\"",
      "\"\xc1\xbf\"",
      "\"\xe0\x9f\xbf\"",
      "\"\xed\xa0\x80\"",
      "\"\xf0\x8f\xbf\xbf\"",
      "\"\xf4\x90\x80\x80\"",
      "\"\xf5\x80\x80\x80\"",
      "\"\xe2\x82\"",
      "\"\xc3\"",
      "[",
      "]",
      "[1",
      "[1,",
      "[1,]",
      "[,1]",
      "[1 2]",
      "{",
      "}",
      "{1:2}",
      R"({"a")",
      R"({"a":)",
      R"({"a":1)",
      R"({"a":1,)",
      R"({"a":1,})",
      R"({"a" 1})",
      R"({a:1})",
      R"({'a':1})",
      R"({"a":1]})",
      "[1}",
      "// x\n1",
      "1 // x",
      "1,",
      "\xff",
      "\0"s,
  };
  for (const std::string& text : corpus) {
    INFO(text);
    CHECK(agree(text));
  }
}

TEST_CASE("random texts, sound and damaged, read as another reader reads them") {
  generator random(20240611);
  std::size_t sound = 0, refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = random.value();
    if (!agree(text)) FAIL(text);
    sound += read_by_us(text).good ? 1u : 0u;
    const std::string worse = random.damaged(text);
    if (!agree(worse)) FAIL(worse);
    refused += read_by_us(worse).good ? 0u : 1u;
  }
  CHECK(sound > 15'000);  // the others have a name twice
  CHECK(refused > 5'000);
}

TEST_CASE("numbers are given as they are written, of any size") {
  const char* const numbers[] = {"0",
                                 "-0",
                                 "1e400",
                                 "-1e400",
                                 "1e9223372036854775806",
                                 "1e9223372036854775807",
                                 "1e9223372036854775808",
                                 "-1e9223372036854775807",
                                 "0e99999999999999999999",
                                 "0e-99999999999999999999",
                                 "1e-9223372036854775808",
                                 "10e-9223372036854775808",
                                 "0.0001e9223372036854775807",
                                 "123456789012345678901234567890",
                                 "1E+2",
                                 "0.50"};
  for (const std::string text : numbers) {
    const std::string list = "[ " + text + " ]";
    json::reader in(list);
    std::string_view digits;
    CHECK(in.elements([&] { return in.number(digits); }));
    CHECK(digits == text);
    CHECK(in.end());
  }
}

TEST_CASE("every prefix of a text is refused at its end") {
  const std::string text = R"({"a": [1.5e3, true, "x\u20ac"], "b": {"c": null}})";
  REQUIRE(read_by_us(text).good);
  for (std::size_t n = 0; n < text.size(); ++n) {
    INFO(text.substr(0, n));
    json::reader in(std::string_view(text).substr(0, n));
    CHECK_FALSE(in.skip());
    CHECK(in.position() <= n);
    CHECK_FALSE(in.reason().empty());
    CHECK_FALSE(in.skip());
  }
}

TEST_CASE("an error names the byte and the reason") {
  const auto reason = [](std::string_view text) { return read_by_us(text).problem; };
  CHECK(reason("[1, 2") == "5 expected ',' or ']'");
  CHECK(reason(R"({"a":1 "b":2})") == "7 expected ',' or '}'");
  CHECK(reason(R"({"a" 1})") == "5 expected ':'");
  CHECK(reason("{1:2}") == "1 expected a name in quotes");
  CHECK(reason("[01]") == "2 expected ',' or ']'");
  CHECK(reason("[-]") == "2 expected a digit");
  CHECK(reason("[1.]") == "3 expected a digit");
  CHECK(reason("[1e]") == "3 expected a digit");
  CHECK(reason("[1,]") == "3 expected a value");
  CHECK(reason("\"a\xff\"") == "2 invalid UTF-8");
  CHECK(reason("\"a\\q\"") == "2 an invalid escape sequence");
  CHECK(reason("\"\\ud800\"") == "1 an unpaired surrogate");
  CHECK(reason("\"a\tb\"") == "2 a control character in a string");
  CHECK(reason("\"abc") == "4 a string without closing quote");
  CHECK(reason("1\0"s) == "1 expected the end of the text");
  CHECK(reason("1 1") == "2 expected the end of the text");
  CHECK(reason("\xef\xbb\xbf{}") == "0 expected a value");
  CHECK(reason("1") == "1 ");
}

TEST_CASE("a value of another kind than was asked for stops the reader") {
  const auto asked = [](std::string_view text, auto ask) {
    json::reader in(text);
    CHECK_FALSE(ask(in));
    CHECK_FALSE(in.skip());
    CHECK(in.next() == kind::none);
    return in.reason();
  };
  const auto string = [](json::reader& in) {
    std::string out;
    return in.string(out);
  };
  const auto number = [](json::reader& in) {
    std::string_view out;
    return in.number(out);
  };
  const auto members = [](json::reader& in) { return in.members([](std::string_view) { return true; }); };
  const auto elements = [](json::reader& in) { return in.elements([] { return true; }); };
  CHECK(asked("1", string) == "expected a string, found a number");
  CHECK(asked("\"1\"", number) == "expected a number, found a string");
  CHECK(asked("null", members) == "expected an object, found null");
  CHECK(asked("true", elements) == "expected an array, found a boolean");
  CHECK(asked("{}", elements) == "expected an array, found an object");
  CHECK(asked("", string) == "expected a value");
  CHECK(asked("]", number) == "expected a value");
}

TEST_CASE("a name that appears twice in one object is refused where it appears again") {
  CHECK(read_by_us(R"({"b":1,"a":2,"\u0062":3,"a":4})").problem == "13 the name \"b\" appears twice");
  CHECK(read_by_us(R"({"\ud83d\ude00":1,"\u00e4":2,"b":3,")"
                   "\xc3\xa4\":4,\"\xf0\x9f\x98\x80\":5}")
            .problem == "35 the name \"\xc3\xa4\" appears twice");
  CHECK(read_by_us(R"({"a\"":1,"a":2,"a\\":3,"a\u0022":4})").problem == "23 the name \"a\"\" appears twice");
  CHECK(read_by_us(R"({"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]})").good);
  CHECK_FALSE(read_by_us(R"([{"x":{"a":1,"a":1}}])").good);
}

TEST_CASE("the depth of nesting is limited") {
  const auto nested = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  CHECK(read_by_us(nested(64)).good);
  CHECK(read_by_us(nested(65)).problem == "64 nested deeper than 64");
  CHECK_FALSE(read_by_us(std::string(1'000'000, '[')).good);
  const auto within = [](std::string_view text, int depth) {
    json::reader in(text, depth);
    return in.skip() && in.end();
  };
  CHECK(within(R"([[[]],{"a":{}}])", 3));
  CHECK_FALSE(within("[[[]]]", 2));
}

TEST_CASE("quoted strings are what another writer writes and read back") {
  std::string all;
  for (int c = 0; c < 128; ++c) all += static_cast<char>(c);
  for (const std::string& text : {""s, "plain"s, all, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"s, "a/b\"c\\"s}) {
    CHECK(json::quoted(text) == oracle(text).dump());
    const std::string quoted = json::quoted(text);
    json::reader in(quoted);
    std::string back;
    CHECK(in.string(back));
    CHECK(back == text);
  }
  CHECK_THROWS_AS(json::quoted("\xc3"), tagma::error);
}
