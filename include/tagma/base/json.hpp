// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A strict reader of JSON (RFC 8259) for file headers and configurations, and the quoting of strings for writers.
/// Stricter than the RFC where it leaves a choice: duplicate names, invalid UTF-8, unpaired surrogates, numbers beyond
/// double and a byte order mark are errors.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tagma/base/error.hpp"

namespace tagma::json {

struct member;
class value;
using array = std::vector<value>;
/// Members in the order of the text.
using object = std::vector<member>;

/// Any JSON value. A number without fraction and exponent that fits is an int64, every other number is a double.
class value {
 public:
  value() = default;
  template <class T>
    requires(!std::is_same_v<std::remove_cvref_t<T>, value>)
  explicit value(T&& content) : content_(std::forward<T>(content)) {}

  [[nodiscard]] bool is_null() const { return is<std::monostate>(); }
  [[nodiscard]] bool is_bool() const { return is<bool>(); }
  [[nodiscard]] bool is_integer() const { return is<std::int64_t>(); }
  [[nodiscard]] bool is_number() const { return is<std::int64_t>() || is<double>(); }
  [[nodiscard]] bool is_string() const { return is<std::string>(); }
  [[nodiscard]] bool is_array() const { return is<array>(); }
  [[nodiscard]] bool is_object() const { return is<object>(); }

  /// "null", "a boolean", "an integer", "a number", "a string", "an array" or "an object".
  [[nodiscard]] std::string_view kind() const {
    constexpr std::string_view names[] = {"null",     "a boolean", "an integer", "a number",
                                          "a string", "an array",  "an object"};
    return names[content_.index()];
  }

  /// The content. Each throws `invalid_argument` if the value is of another kind; `as_double` takes integers too.
  [[nodiscard]] bool as_bool() const { return get<bool>("a boolean"); }
  [[nodiscard]] std::int64_t as_integer() const { return get<std::int64_t>("an integer"); }
  [[nodiscard]] double as_double() const {
    return is_integer() ? static_cast<double>(as_integer()) : get<double>("a number");
  }
  [[nodiscard]] const std::string& as_string() const { return get<std::string>("a string"); }
  [[nodiscard]] const array& as_array() const { return get<array>("an array"); }
  [[nodiscard]] const object& as_object() const { return get<object>("an object"); }

  /// The member of an object, or null if there is none or this is not an object.
  [[nodiscard]] inline const value* find(std::string_view name) const;
  /// The member of an object. Throws `not_found` if there is none, `invalid_argument` if this is not an object.
  [[nodiscard]] inline const value& at(std::string_view name) const;

 private:
  template <class T>
  [[nodiscard]] bool is() const {
    return std::holds_alternative<T>(content_);
  }
  template <class T>
  [[nodiscard]] const T& get(std::string_view wanted) const {
    if (!is<T>())
      fail(status_code::invalid_argument, "JSON: expected " + std::string(wanted) + ", found " + std::string(kind()));
    return *std::get_if<T>(&content_);
  }

  std::variant<std::monostate, bool, std::int64_t, double, std::string, array, object> content_;
};

/// A name and a value inside an object.
struct member {
  std::string name;
  value content;
};

inline const value* value::find(std::string_view name) const {
  if (!is_object()) return nullptr;
  for (const member& m : as_object())
    if (m.name == name) return &m.content;
  return nullptr;
}

inline const value& value::at(std::string_view name) const {
  for (const member& m : as_object())
    if (m.name == name) return m.content;
  fail(status_code::not_found, "JSON: no member \"" + std::string(name) + "\"");
}

/// What a text may cost at most.
struct limits {
  std::size_t bytes = 100'000'000;
  int depth = 64;  ///< Nested arrays and objects.
};

/// A value, or the byte at which the text stops being JSON and the reason.
struct parsed {
  value root;
  std::size_t position = 0;
  std::string reason;  ///< Empty if the text was parsed.

  [[nodiscard]] explicit operator bool() const { return reason.empty(); }
};

/// Bytes of the well-formed UTF-8 sequence (RFC 3629) at the start of `text`; 0 if there is none.
[[nodiscard]] constexpr std::size_t utf8_sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto in = [&](std::size_t i, unsigned low, unsigned high) { return byte(i) >= low && byte(i) <= high; };
  if (text.empty()) return 0;
  if (in(0, 0x00, 0x7f)) return 1;
  if (in(0, 0xc2, 0xdf)) return in(1, 0x80, 0xbf) ? 2 : 0;
  if (in(0, 0xe0, 0xef)) {
    const unsigned low = byte(0) == 0xe0 ? 0xa0 : 0x80, high = byte(0) == 0xed ? 0x9f : 0xbf;
    return in(1, low, high) && in(2, 0x80, 0xbf) ? 3 : 0;
  }
  if (in(0, 0xf0, 0xf4)) {
    const unsigned low = byte(0) == 0xf0 ? 0x90 : 0x80, high = byte(0) == 0xf4 ? 0x8f : 0xbf;
    return in(1, low, high) && in(2, 0x80, 0xbf) && in(3, 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

namespace detail {

class parser {
 public:
  parser(std::string_view text, const limits& limit) : text_(text), limit_(limit) {}

  parsed document() {
    parsed result;
    bool good = text_.size() <= limit_.bytes || stop("longer than " + std::to_string(limit_.bytes) + " bytes");
    good = good && any(result.root, 0);
    if (good) {
      blanks();
      good = at_ == text_.size() || stop("expected the end of the text");
    }
    if (!good) return {value(), at_, std::move(reason_)};
    return result;
  }

 private:
  [[nodiscard]] bool peek(char c) const { return at_ < text_.size() && text_[at_] == c; }
  [[nodiscard]] bool peek_digit() const { return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; }
  bool accept(char c) { return peek(c) && (++at_, true); }
  bool expect(char c) { return accept(c) || stop(std::string("expected '") + c + "'"); }
  void blanks() {
    while (peek(' ') || peek('\t') || peek('\n') || peek('\r')) ++at_;
  }
  bool stop(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }

  bool any(value& out, int depth) {
    blanks();
    if (peek('{') || peek('[')) {
      if (depth >= limit_.depth) return stop("nested deeper than " + std::to_string(limit_.depth));
      return peek('{') ? members(out, depth + 1) : elements(out, depth + 1);
    }
    if (peek('"')) {
      std::string text;
      if (!string(text)) return false;
      out = value(std::move(text));
      return true;
    }
    if (peek('-') || peek_digit()) return number(out);
    const auto literal = [&](std::string_view word) {
      if (!text_.substr(at_).starts_with(word)) return false;
      at_ += word.size();
      return true;
    };
    if (literal("true")) return (out = value(true), true);
    if (literal("false")) return (out = value(false), true);
    if (literal("null")) return (out = value(), true);
    return stop("expected a value");
  }

  bool elements(value& out, int depth) {
    array list;
    ++at_;
    blanks();
    if (!accept(']')) {
      do {
        if (!any(list.emplace_back(), depth)) return false;
        blanks();
      } while (accept(','));
      if (!accept(']')) return stop("expected ',' or ']'");
    }
    out = value(std::move(list));
    return true;
  }

  bool members(value& out, int depth) {
    object list;
    std::vector<std::size_t> positions;
    ++at_;
    blanks();
    if (!accept('}')) {
      do {
        blanks();
        positions.push_back(at_);
        member& m = list.emplace_back();
        if (!peek('"')) return stop("expected a name in quotes");
        if (!string(m.name)) return false;
        blanks();
        if (!expect(':') || !any(m.content, depth)) return false;
        blanks();
      } while (accept(','));
      if (!accept('}')) return stop("expected ',' or '}'");
    }
    if (!unique(list, positions)) return false;
    out = value(std::move(list));
    return true;
  }

  bool unique(const object& list, const std::vector<std::size_t>& positions) {
    std::vector<std::pair<std::string_view, std::size_t>> names;
    for (std::size_t i = 0; i < list.size(); ++i) names.emplace_back(list[i].name, positions[i]);
    std::sort(names.begin(), names.end());
    std::size_t first = text_.size();
    std::string_view twice;
    for (std::size_t i = 1; i < names.size(); ++i) {
      if (names[i].first != names[i - 1].first || names[i].second >= first) continue;
      first = names[i].second;
      twice = names[i].first;
    }
    if (first == text_.size()) return true;
    at_ = first;
    return stop("the name \"" + std::string(twice) + "\" appears twice");
  }

  bool string(std::string& out) {
    ++at_;
    while (at_ < text_.size()) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') return (++at_, true);
      if (c < 0x20) return stop("a control character in a string");
      if (c == '\\') {
        if (!escape(out)) return false;
        continue;
      }
      const std::size_t length = utf8_sequence(text_.substr(at_));
      if (length == 0) return stop("invalid UTF-8");
      out.append(text_.substr(at_, length));
      at_ += length;
    }
    return stop("a string without closing quote");
  }

  bool escape(std::string& out) {
    constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    const char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (const std::size_t i = letters.find(c); i != letters.npos) {
      out += meanings[i];
      at_ += 2;
      return true;
    }
    std::uint32_t code = 0, low = 0;
    if (!hex4(at_, code) || (code >= 0xdc00 && code <= 0xdfff)) return stop("an invalid escape sequence");
    std::size_t length = 6;
    if (code >= 0xd800 && code <= 0xdbff) {
      if (!hex4(at_ + 6, low) || low < 0xdc00 || low > 0xdfff) return stop("an unpaired surrogate");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      length = 12;
    }
    const auto put = [&](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (code < 0x80) {
      put(code);
    } else {
      const int tail = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
      constexpr std::uint32_t lead[] = {0, 0xc0, 0xe0, 0xf0};
      put(lead[tail] | code >> (6 * tail));
      for (int i = tail - 1; i >= 0; --i) put(0x80u | (code >> (6 * i) & 0x3fu));
    }
    at_ += length;
    return true;
  }

  bool hex4(std::size_t at, std::uint32_t& code) const {
    if (at + 6 > text_.size() || text_[at] != '\\' || text_[at + 1] != 'u') return false;
    const char* first = text_.data() + at + 2;
    const auto [last, error] = std::from_chars(first, first + 4, code, 16);
    return error == std::errc() && last == first + 4;
  }

  bool number(value& out) {
    const std::size_t first = at_;
    const auto digits = [&] {
      if (!peek_digit()) return stop("expected a digit");
      while (peek_digit()) ++at_;
      return true;
    };
    accept('-');
    if (!accept('0') && !digits()) return false;
    bool whole = true;
    if (accept('.')) {
      whole = false;
      if (!digits()) return false;
    }
    if (peek('e') || peek('E')) {
      whole = false;
      ++at_;
      if (peek('+') || peek('-')) ++at_;
      if (!digits()) return false;
    }
    const char *begin = text_.data() + first, *end = text_.data() + at_;
    std::int64_t integer = 0;
    if (whole && std::from_chars(begin, end, integer).ec == std::errc()) return (out = value(integer), true);
    double real = 0;
    const auto status = std::from_chars(begin, end, real).ec;
    if (status == std::errc::result_out_of_range || std::isinf(real)) {
      if (!tiny(text_.substr(first, at_ - first))) {
        at_ = first;
        return stop("a number beyond the range of double");
      }
      real = *begin == '-' ? -0.0 : 0.0;
    }
    out = value(real);
    return true;
  }

  /// Whether a number that does not fit is below the smallest double rather than above the largest.
  static bool tiny(std::string_view number) {
    const std::size_t e = number.find_first_of("eE");
    if (e != number.npos) {
      long exponent = 0;
      const std::size_t sign = number[e + 1] == '+' ? 1 : 0;
      const auto status = std::from_chars(number.data() + e + 1 + sign, number.data() + number.size(), exponent).ec;
      if (status != std::errc()) return number[e + 1] == '-';
      number = number.substr(0, e);
      const std::size_t point = std::min(number.find('.'), number.size());
      const std::size_t leading = std::min(number.find_first_of("123456789"), number.size());
      return exponent + static_cast<long>(point) - static_cast<long>(leading) < 0;
    }
    return number.find_first_of("123456789") > number.find('.');
  }

  std::string_view text_;
  limits limit_;
  std::size_t at_ = 0;
  std::string reason_;
};

}  // namespace detail

/// Reads one JSON value that makes up the whole text.
[[nodiscard]] inline parsed try_parse(std::string_view text, const limits& limit = {}) {
  return detail::parser(text, limit).document();
}

/// Reads one JSON value that makes up the whole text. Throws `invalid_argument` with the position; `what` names the
/// text in that sentence.
[[nodiscard]] inline value parse(std::string_view text, std::string_view what = "JSON", const limits& limit = {}) {
  parsed result = try_parse(text, limit);
  if (!result)
    fail(status_code::invalid_argument,
         std::string(what) + ", byte " + std::to_string(result.position) + ": " + result.reason);
  return std::move(result.root);
}

/// Appends `text` as a JSON string with its quotes. Escapes what must be escaped and nothing else. Throws
/// `invalid_argument` if the text is not UTF-8.
inline void append_quoted(std::string& out, std::string_view text) {
  constexpr std::string_view plain = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt", hex = "0123456789abcdef";
  out += '"';
  while (!text.empty()) {
    const std::size_t length = utf8_sequence(text);
    const auto c = static_cast<unsigned char>(text[0]);
    if (length == 0)
      fail(status_code::invalid_argument, "a string that is not UTF-8 cannot be written as JSON");
    else if (const std::size_t i = plain.find(text[0]); i != plain.npos)
      (out += '\\') += letters[i];
    else if (c < 0x20)
      ((out += "\\u00") += hex[c >> 4]) += hex[c & 15u];
    else
      out.append(text.substr(0, length));
    text.remove_prefix(length);
  }
  out += '"';
}

/// `text` as a JSON string with its quotes.
[[nodiscard]] inline std::string quoted(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

}  // namespace tagma::json
