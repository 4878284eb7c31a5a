// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What an exception says. The handlers are in one place: each costs a compiler more than the code that needs it.

#include "tagma/base/config.hpp"
#include "tagma/base/no_memory.hpp"

namespace tagma::runtime {

/// How long the text before the first colon and blank is; all of it where there is none.
[[nodiscard]] std::size_t before_colon(std::string_view what) noexcept;

/// The words of an error without the code in front: what is behind the first colon, or all where there is none.
[[nodiscard]] std::string_view without_code(std::string_view what) noexcept;

/// An exception as it is told to others.
struct caught {
  status_code code = status_code::internal;  ///< of a `tagma::error`
  std::string_view what = {};                ///< valid as long as the exception
  bool is_error = false;                     ///< a `tagma::error`
  bool is_known = false;                     ///< a std::exception, or one derived from it
  bool never_fits = false;                   ///< more memory than there will ever be

  /// @param e not empty
  explicit caught(const std::exception_ptr& e) noexcept;

 private:
  void see_error(const error& one) noexcept;
  void see(const std::exception& one) noexcept;
};

}  // namespace tagma::runtime

#ifndef TAGMA_COMPILED
#include "tagma/runtime/caught.ipp"
#endif
