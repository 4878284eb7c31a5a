// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a command says before it ends without having done what it was asked for.

#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "tagma/base/error.hpp"
#include "tagma/base/json.hpp"

namespace tagma::tools {

/// What the shell is told. Scripts depend on the numbers.
enum class exit_status : int {
  ok = 0,
  run_failed = 1,       ///< a run, or writing what came of it
  usage = 2,            ///< the command line makes no sense, by itself or for this program
  program_refused = 3,  ///< the program cannot be read, or is none
  data_refused = 4,     ///< another file cannot be read, or does not fit the program
};

/// A sentence for standard error, and what the shell is told.
struct refusal {
  exit_status status;
  std::string text;
};

[[noreturn]] inline void refuse(exit_status status, std::initializer_list<text_part> parts) {
  throw refusal{status, sentence(parts)};
}

/// The sentence of an error: without its code, which the exit status stands for, and without the line of this command
/// that asked for a run, which means nothing to whoever uses it.
[[nodiscard]] inline std::string sentence_of(const error& e) {
  std::string text = e.what();
  const std::string code = sentence({to_string(e.code()), ": "});
  if (text.starts_with(code)) text.erase(0, code.size());
  if (const std::size_t at = text.rfind(" (run at "); at != text.npos && text.ends_with(')')) text.erase(at);
  return text;
}

/// Does something; its errors end the command with this status.
template <class Do>
decltype(auto) or_refuse(exit_status status, std::string_view before, const Do& something) {
  try {
    return something();
  } catch (const error& e) {
    const std::string why = sentence_of(e);
    refuse(status, {before, why});
  }
}

/// Writes to standard output, at once. Refuses to go on if nobody takes it.
inline void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    refuse(exit_status::run_failed, {"standard output cannot be written"});
}

/// Text of a file for a terminal, which may obey characters that nobody sees: they are spelt out.
[[nodiscard]] inline std::string printable(std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  std::string result;
  while (!text.empty()) {
    const std::size_t length = json::utf8_sequence(text);
    const auto c = static_cast<unsigned char>(text[0]);
    const bool c1 = length == 2 && c == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0;  // such as U+009B, CSI
    const bool shown = length > 0 && !c1 && (c >= 0x20 || c == '\n') && c != 0x7f;
    const std::size_t taken = length == 0 ? 1 : length;
    for (std::size_t i = 0; i < taken; ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if (shown)
        result += text[i];
      else
        result.append("\\x") += {hex[byte >> 4], hex[byte & 15u]};
    }
    text.remove_prefix(taken);
  }
  return result;
}

/// "a, b, c".
template <class Names>
[[nodiscard]] std::string joined(const Names& names) {
  std::string text;
  for (const auto& name : names) append_parts(text, {text.empty() ? "" : ", ", name});
  return text.empty() ? "none" : text;
}

}  // namespace tagma::tools
