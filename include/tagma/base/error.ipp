// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of error.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"

namespace tagma {

TAGMA_COLD TAGMA_DECL void text_part::append_to(std::string& to) const {
  const bool is_unsigned = text_ == &numbers[1];
  if (text_ != &numbers[0] && !is_unsigned) {
    to.append(text_, static_cast<std::size_t>(number_));
    return;
  }
  char digits[24];
  std::size_t first = sizeof digits;
  const bool negative = !is_unsigned && number_ < 0;
  auto rest = negative ? 0 - static_cast<std::uint64_t>(number_) : static_cast<std::uint64_t>(number_);
  do digits[--first] = static_cast<char>('0' + rest % 10);
  while ((rest /= 10) != 0);
  if (negative) digits[--first] = '-';
  const char* const text = digits + first;
  to.append(text, sizeof digits - first);
}

TAGMA_COLD TAGMA_DECL void append_parts(std::string& text, std::initializer_list<text_part> parts) {
  for (const text_part& part : parts) part.append_to(text);
}

TAGMA_COLD TAGMA_DECL std::string sentence(std::initializer_list<text_part> parts) {
  std::string text;
  append_parts(text, parts);
  return text;
}

TAGMA_COLD TAGMA_DECL error::error(status_code code, std::string_view text)
    : code_(code), what_(sentence({to_string(code), ": ", text})) {}

TAGMA_COLD TAGMA_DECL void fail(status_code code, text_part text) { throw error(code, sentence({text})); }

TAGMA_COLD TAGMA_DECL void fail(status_code code, std::initializer_list<text_part> parts) {
  throw error(code, sentence(parts));
}

}  // namespace tagma
