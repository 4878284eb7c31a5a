// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A strict reader of JSON (RFC 8259) for the headers of files, and the quoting of strings for writers. It builds
/// nothing: whoever reads asks for one value after the other, so that a text of millions of values takes no memory
/// beside its own. Stricter than the RFC where that leaves a choice: duplicate names, invalid UTF-8, unpaired
/// surrogates and a byte order mark are errors. Numbers are given as they are written.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
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
  explicit reader(std::string_view text, int depth = 64);

  /// What the next value is, as far as its first character tells.
  [[nodiscard]] kind next();

  /// The text of a string, its escape sequences replaced.
  bool string(std::string& out);

  /// A number as it is written: "-12", "0.5e3". Of any size and precision.
  bool number(std::string_view& digits);

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
  bool skip();

  /// Nothing but blanks until the end of the text.
  bool end();

  /// The byte at which reading stopped, and why; no reason if it has not.
  [[nodiscard]] std::size_t position() const { return at_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  [[nodiscard]] bool good() const { return reason_.empty(); }
  [[nodiscard]] bool peek(char c) const { return at_ < text_.size() && text_[at_] == c; }
  [[nodiscard]] bool peek_digit() const { return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; }
  bool accept(char c) { return peek(c) && (++at_, true); }
  void blanks();
  bool stop(std::string reason);
  bool expect(kind wanted);
  bool open(kind wanted);
  bool close() { return (++depth_left_, true); }

  /// A string in quotes; its text goes to `out` unless that is null.
  bool characters(std::string* out);

  /// The code point and the length of an escape sequence, or what is wrong with it.
  const char* escape(std::size_t at, std::uint32_t& code, std::size_t& length) const;

  bool hex4(std::size_t at, std::uint32_t& code) const;

  static void append_utf8(std::string& out, std::uint32_t code);

  bool unique(std::vector<std::uint32_t>& positions);

  /// Orders two strings that were read, given by the positions of their quotes, by their characters.
  [[nodiscard]] int compare_names(std::size_t a, std::size_t b) const;
  /// One more than the code point of the character at `at`, 0 for the closing quote; moves to its last byte.
  std::uint32_t code_at(std::size_t& at) const;

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_left_;
  int depth_;
  std::string reason_;
};

/// Appends `text` as a JSON string with its quotes. Escapes what must be escaped and nothing else. Throws
/// `invalid_argument` if the text is not UTF-8.
void append_quoted(std::string& out, std::string_view text);

/// `text` as a JSON string with its quotes.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace tagma::json

#ifndef TAGMA_COMPILED
#include "tagma/base/json.ipp"
#endif
