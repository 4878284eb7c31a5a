// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A strict reader of JSON (RFC 8259) for the headers of files, and the quoting of strings for writers. It builds
/// nothing: whoever reads asks for one value after the other, so that a text of millions of values takes no memory
/// beside its own. Stricter than the RFC where that leaves a choice: duplicate names, invalid UTF-8, unpaired
/// surrogates and a byte order mark are errors. Numbers are given as they are written.

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"

namespace tagma::json {

/// What a value is. `none` stands where there is no value.
enum class kind : std::uint8_t { none, null, boolean, number, string, array, object };

/// "nothing", "null", "a boolean", "a number", "a string", "an array" or "an object".
[[nodiscard]] constexpr std::string_view to_string(kind k) {
  constexpr std::string_view names[] = {"nothing",  "null",     "a boolean", "a number",
                                        "a string", "an array", "an object"};
  return names[static_cast<std::size_t>(k)];
}

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

/// Whether all of a text is well-formed UTF-8.
[[nodiscard]] constexpr bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_sequence(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// Reads a text from its beginning to its end. Each function takes the value that comes next and returns true, or
/// returns false: then `position()` and `reason()` say where and why the text is not what was asked for, and every
/// later call returns false.
///
///     json::reader r(text);
///     const bool good = r.members([&](std::string_view name) { return name == "x" ? r.string(x) : r.skip(); }) &&
///     r.end();
class reader {
 public:
  /// @param text shorter than 4 GiB
  /// @param depth of nested arrays and objects at most
  explicit reader(std::string_view text, int depth = 64) : text_(text), depth_left_(depth), depth_(depth) {
    if (text.size() > std::numeric_limits<std::uint32_t>::max()) stop("longer than 4 GiB");
  }

  /// What the next value is, as far as its first character tells.
  [[nodiscard]] kind next() {
    blanks();
    if (!good() || at_ == text_.size()) return kind::none;
    switch (text_[at_]) {
      case '{':
        return kind::object;
      case '[':
        return kind::array;
      case '"':
        return kind::string;
      case 't':
      case 'f':
        return kind::boolean;
      case 'n':
        return kind::null;
      default:
        return peek('-') || peek_digit() ? kind::number : kind::none;
    }
  }

  /// The text of a string, its escape sequences replaced.
  bool string(std::string& out) {
    out.clear();
    return expect(kind::string) && characters(&out);
  }

  /// A number as it is written: "-12", "0.5e3". Of any size and precision.
  bool number(std::string_view& digits) {
    if (!expect(kind::number)) return false;
    const std::size_t first = at_;
    const auto some = [&] {
      if (!peek_digit()) return stop("expected a digit");
      while (peek_digit()) ++at_;
      return true;
    };
    accept('-');
    if (!accept('0') && !some()) return false;
    if (accept('.') && !some()) return false;
    if (accept('e') || accept('E')) {
      if (!accept('+')) accept('-');
      if (!some()) return false;
    }
    digits = text_.substr(first, at_ - first);
    return true;
  }

  /// An array: `element()` takes one value of it, and returns whether to go on.
  template <class Element>
  bool elements(Element&& element) {
    if (!open(kind::array)) return false;
    if (!accept(']')) {
      do {
        if (!element()) return false;
        blanks();
      } while (accept(','));
      if (!accept(']')) return stop("expected ',' or ']'");
    }
    return close();
  }

  /// An object: `member(name)` takes the value of that name, and returns whether to go on. That a name appears twice is
  /// found at the end of the object.
  template <class Member>
  bool members(Member&& member) {
    if (!open(kind::object)) return false;
    std::vector<std::uint32_t> positions;
    std::string name;
    if (!accept('}')) {
      do {
        blanks();
        positions.push_back(static_cast<std::uint32_t>(at_));
        if (!peek('"')) return stop("expected a name in quotes");
        if (!characters(&name)) return false;
        blanks();
        if (!accept(':')) return stop("expected ':'");
        if (!member(std::string_view(name))) return false;
        blanks();
      } while (accept(','));
      if (!accept('}')) return stop("expected ',' or '}'");
    }
    return unique(positions) && close();
  }

  /// Any value, checked and forgotten.
  bool skip() {
    std::string_view ignored;
    switch (next()) {
      case kind::object:
        return members([this](std::string_view) { return skip(); });
      case kind::array:
        return elements([this] { return skip(); });
      case kind::string:
        return characters(nullptr);
      case kind::number:
        return number(ignored);
      case kind::none:
        break;
      default:
        for (const std::string_view word : {"true", "false", "null"})
          if (text_.substr(at_).starts_with(word)) return (at_ += word.size(), true);
    }
    return stop("expected a value");
  }

  /// Nothing but blanks until the end of the text.
  bool end() {
    blanks();
    return good() && (at_ == text_.size() || stop("expected the end of the text"));
  }

  /// The byte at which reading stopped, and why; no reason if it has not.
  [[nodiscard]] std::size_t position() const { return at_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  [[nodiscard]] bool good() const { return reason_.empty(); }
  [[nodiscard]] bool peek(char c) const { return at_ < text_.size() && text_[at_] == c; }
  [[nodiscard]] bool peek_digit() const { return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; }
  bool accept(char c) { return peek(c) && (++at_, true); }
  void blanks() {
    while (peek(' ') || peek('\t') || peek('\n') || peek('\r')) ++at_;
  }
  TAGMA_COLD bool stop(std::string reason) {
    if (good()) reason_ = std::move(reason);
    return false;
  }
  bool expect(kind wanted) {
    const kind found = next();
    if (found == wanted) return true;
    return stop(found == kind::none ? std::string("expected a value")
                                    : sentence({"expected ", to_string(wanted), ", found ", to_string(found)}));
  }
  bool open(kind wanted) {
    if (!expect(wanted)) return false;
    if (depth_left_ == 0) return stop(sentence({"nested deeper than ", depth_}));
    --depth_left_;
    ++at_;
    blanks();
    return true;
  }
  bool close() { return (++depth_left_, true); }

  /// A string in quotes; its text goes to `out` unless that is null.
  bool characters(std::string* out) {
    if (out != nullptr) out->clear();
    ++at_;
    while (at_ < text_.size()) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') return (++at_, true);
      if (c < 0x20) return stop("a control character in a string");
      if (c == '\\') {
        std::uint32_t code = 0;
        std::size_t length = 0;
        if (const char* problem = escape(at_, code, length)) return stop(problem);
        if (out != nullptr) append_utf8(*out, code);
        at_ += length;
        continue;
      }
      const std::size_t length = utf8_sequence(text_.substr(at_));
      if (length == 0) return stop("invalid UTF-8");
      if (out != nullptr) out->append(text_.substr(at_, length));
      at_ += length;
    }
    return stop("a string without closing quote");
  }

  /// The code point and the length of an escape sequence, or what is wrong with it.
  const char* escape(std::size_t at, std::uint32_t& code, std::size_t& length) const {
    constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    const char c = at + 1 < text_.size() ? text_[at + 1] : '\0';
    if (const std::size_t i = letters.find(c); i != letters.npos) {
      code = static_cast<unsigned char>(meanings[i]);
      length = 2;
      return nullptr;
    }
    std::uint32_t low = 0;
    if (!hex4(at, code) || (code >= 0xdc00 && code <= 0xdfff)) return "an invalid escape sequence";
    length = 6;
    if (code >= 0xd800 && code <= 0xdbff) {
      if (!hex4(at + 6, low) || low < 0xdc00 || low > 0xdfff) return "an unpaired surrogate";
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      length = 12;
    }
    return nullptr;
  }

  bool hex4(std::size_t at, std::uint32_t& code) const {
    if (at + 6 > text_.size() || text_[at] != '\\' || text_[at + 1] != 'u') return false;
    const char* first = text_.data() + at + 2;
    const auto [last, error] = std::from_chars(first, first + 4, code, 16);
    return error == std::errc() && last == first + 4;
  }

  static void append_utf8(std::string& out, std::uint32_t code) {
    const auto put = [&](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (code < 0x80) return put(code);
    const int tail = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    constexpr std::uint32_t lead[] = {0, 0xc0, 0xe0, 0xf0};
    put(lead[tail] | code >> (6 * tail));
    for (int i = tail - 1; i >= 0; --i) put(0x80u | (code >> (6 * i) & 0x3fu));
  }

  bool unique(std::vector<std::uint32_t>& positions) {
    std::sort(positions.begin(), positions.end(), [&](std::uint32_t a, std::uint32_t b) {
      const int order = compare_names(a, b);
      return order != 0 ? order < 0 : a < b;
    });
    std::size_t first = text_.size();
    for (std::size_t i = 1; i < positions.size(); ++i)
      if (positions[i] < first && compare_names(positions[i - 1], positions[i]) == 0) first = positions[i];
    if (first == text_.size()) return true;
    std::string name;
    at_ = first;
    characters(&name);
    at_ = first;
    return stop(sentence({"the name \"", name, "\" appears twice"}));
  }

  /// Orders two strings that were read, given by the positions of their quotes, by their characters.
  [[nodiscard]] int compare_names(std::size_t a, std::size_t b) const {
    while (true) {
      const auto x = static_cast<unsigned char>(text_[++a]), y = static_cast<unsigned char>(text_[++b]);
      if (x == '\\' || y == '\\') {
        const std::uint32_t s = code_at(a), t = code_at(b);
        if (s != t) return s < t ? -1 : 1;
      } else if (x != y) {
        return x == '"' ? -1 : y == '"' ? 1 : x < y ? -1 : 1;
      } else if (x == '"') {
        return 0;
      }
    }
  }
  /// One more than the code point of the character at `at`, 0 for the closing quote; moves to its last byte.
  std::uint32_t code_at(std::size_t& at) const {
    if (text_[at] == '"') return 0;
    std::uint32_t code = static_cast<unsigned char>(text_[at]);
    std::size_t length = 1;
    if (code == '\\') {
      (void)escape(at, code, length);
    } else if (code >= 0x80) {
      length = utf8_sequence(text_.substr(at));
      code &= 0x7fu >> length;
      for (std::size_t i = 1; i < length; ++i) code = code << 6 | (static_cast<unsigned char>(text_[at + i]) & 0x3fu);
    }
    at += length - 1;
    return code + 1;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_left_;
  int depth_;
  std::string reason_;
};

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
