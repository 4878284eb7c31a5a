// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Run-time errors: a canonical status code and a sentence that names the thing.

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/library.hpp"

namespace tagma {

/// The canonical status codes, with TensorFlow's and gRPC's names and numbers.
enum class status_code : std::uint8_t {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15,
};

/// "InvalidArgument" and so on.
[[nodiscard]] constexpr std::string_view to_string(status_code code) {
  constexpr const char* names[] = {
      "OK",       "Cancelled",     "Unknown",          "InvalidArgument",   "DeadlineExceeded",
      "NotFound", "AlreadyExists", "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
      "Aborted",  "OutOfRange",    "Unimplemented",    "Internal",          "Unavailable",
      "DataLoss"};
  return names[static_cast<std::size_t>(code)];
}

/// A line of a program. Unlike std::source_location it works with clang 14, too.
struct source_line {
  const char* file = "";
  int line = 0;

  /// The line of the call whose default argument this is.
  [[nodiscard]] static constexpr source_line here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

/// A part of a sentence: text or a whole number. Text has a constructor for each form that it comes in, since a
/// template for all of them would be instantiated for every length of a literal. A part is two words, since programs
/// are full of lists of them.
class text_part {
 public:
  constexpr text_part(const char* text) : text_(text), number_(static_cast<std::int64_t>(__builtin_strlen(text))) {}
  constexpr text_part(std::string_view text) : text_(text.data()), number_(static_cast<std::int64_t>(text.size())) {}
  constexpr text_part(const std::string& text) : text_(text.data()), number_(static_cast<std::int64_t>(text.size())) {}
  template <class Number>
    requires std::is_integral_v<Number>
  constexpr text_part(Number number)
      : text_(&numbers[std::is_unsigned_v<Number> ? 1 : 0]), number_(static_cast<std::int64_t>(number)) {}

  /// Writes the part behind `to`.
  void append_to(std::string& to) const;

 private:
  static constexpr char numbers[2] = {};

  const char* text_;     // one of `numbers` marks a number, the second one without a sign
  std::int64_t number_;  // or how long the text is
};

/// Appends the parts of a sentence. Out of line, so that a message costs the code around it little.
void append_parts(std::string& text, std::initializer_list<text_part> parts);

/// Joins the parts of a sentence.
[[nodiscard]] std::string sentence(std::initializer_list<text_part> parts);

/// Every error that tagma throws. `what()` is the code, a colon and the sentence.
class error : public std::exception {
 public:
  error(status_code code, std::string_view text);

  /// What kind of error it is.
  [[nodiscard]] status_code code() const noexcept { return code_; }
  /// The sentence, behind the name of the code.
  [[nodiscard]] const char* what() const noexcept override { return what_.c_str(); }

 private:
  status_code code_;
  std::string what_;
};

/// Throws `error`; kept out of line so that hot code stays small. The first takes no string view, which a list of two
/// parts would be tried for as a pair of iterators.
[[noreturn]] void fail(status_code code, text_part text);
[[noreturn]] void fail(status_code code, std::initializer_list<text_part> parts);

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/base/error.ipp"
#endif
