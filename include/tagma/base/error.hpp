// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Run-time errors: a canonical status code and a sentence that names the thing.

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "tagma/base/config.hpp"

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
  constexpr std::string_view names[] = {"OK",           "Cancelled",          "Unknown",      "InvalidArgument",
                                        "DeadlineExceeded", "NotFound",       "AlreadyExists", "PermissionDenied",
                                        "ResourceExhausted", "FailedPrecondition", "Aborted", "OutOfRange",
                                        "Unimplemented", "Internal",          "Unavailable",  "DataLoss"};
  return names[static_cast<std::size_t>(code)];
}

/// Every error that tagma throws. `what()` is the code, a colon and the sentence.
class error : public std::exception {
 public:
  error(status_code code, std::string_view sentence)
      : code_(code), what_(std::string(to_string(code)) + ": " + std::string(sentence)) {}

  [[nodiscard]] status_code code() const noexcept { return code_; }
  [[nodiscard]] const char* what() const noexcept override { return what_.c_str(); }

 private:
  status_code code_;
  std::string what_;
};

/// Throws `error`; kept out of line so that hot code stays small.
[[noreturn]] TAGMA_COLD inline void fail(status_code code, std::string_view sentence) { throw error(code, sentence); }

}  // namespace tagma
