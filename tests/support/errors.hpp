// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What actions throw.

#include <string>

#include "tagma/base/error.hpp"

namespace tagma::test {

/// The error that `action` throws, or one with the code `ok`.
template <class Action>
[[nodiscard]] error thrown(const Action& action) {
  try {
    action();
  } catch (const error& e) {
    return e;
  }
  return {status_code::ok, "nothing was thrown"};
}

template <class Action>
[[nodiscard]] status_code code_of(const Action& action) {
  return thrown(action).code();
}

/// Its text, empty if there is none.
template <class Action>
[[nodiscard]] std::string text_of(const Action& action) {
  const error e = thrown(action);
  return e.code() == status_code::ok ? std::string() : e.what();
}

}  // namespace tagma::test
