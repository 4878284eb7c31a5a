// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of json.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

#include "tagma/base/config.hpp"
#include "tagma/base/json.hpp"

namespace tagma::json {

TAGMA_DECL reader::reader(std::string_view text, int depth) : text_(text), depth_left_(depth), depth_(depth) {
  if (text.size() > std::numeric_limits<std::uint32_t>::max()) stop("longer than 4 GiB");
}

TAGMA_DECL kind reader::next() {
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

TAGMA_DECL bool reader::string(std::string& out) {
  out.clear();
  return expect(kind::string) && characters(&out);
}

TAGMA_DECL bool reader::number(std::string_view& digits) {
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

TAGMA_DECL bool reader::skip() {
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

TAGMA_DECL bool reader::end() {
  blanks();
  return good() && (at_ == text_.size() || stop("expected the end of the text"));
}

TAGMA_DECL void reader::blanks() {
  while (peek(' ') || peek('\t') || peek('\n') || peek('\r')) ++at_;
}

TAGMA_COLD TAGMA_DECL bool reader::stop(std::string reason) {
  if (good()) reason_ = std::move(reason);
  return false;
}

TAGMA_DECL bool reader::expect(kind wanted) {
  const kind found = next();
  if (found == wanted) return true;
  return stop(found == kind::none ? std::string("expected a value")
                                  : sentence({"expected ", to_string(wanted), ", found ", to_string(found)}));
}

TAGMA_DECL bool reader::open(kind wanted) {
  if (!expect(wanted)) return false;
  if (depth_left_ == 0) return stop(sentence({"nested deeper than ", depth_}));
  --depth_left_;
  ++at_;
  blanks();
  return true;
}

TAGMA_DECL bool reader::characters(std::string* out) {
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

TAGMA_DECL const char* reader::escape(std::size_t at, std::uint32_t& code, std::size_t& length) const {
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

TAGMA_DECL bool reader::hex4(std::size_t at, std::uint32_t& code) const {
  if (at + 6 > text_.size() || text_[at] != '\\' || text_[at + 1] != 'u') return false;
  const char* first = text_.data() + at + 2;
  const auto [last, error] = std::from_chars(first, first + 4, code, 16);
  return error == std::errc() && last == first + 4;
}

TAGMA_DECL void reader::append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code < 0x80) return put(code);
  const int tail = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr std::uint32_t lead[] = {0, 0xc0, 0xe0, 0xf0};
  put(lead[tail] | code >> (6 * tail));
  for (int i = tail - 1; i >= 0; --i) put(0x80u | (code >> (6 * i) & 0x3fu));
}

TAGMA_DECL bool reader::unique(std::vector<std::uint32_t>& positions) {
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

TAGMA_DECL int reader::compare_names(std::size_t a, std::size_t b) const {
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

TAGMA_DECL std::uint32_t reader::code_at(std::size_t& at) const {
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

TAGMA_DECL void append_quoted(std::string& out, std::string_view text) {
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

TAGMA_DECL std::string quoted(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

}  // namespace tagma::json
