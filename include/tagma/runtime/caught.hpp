// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What an exception says. The handlers are in one place: each costs a compiler more than the code that needs it.

#include <new>

#include "tagma/base/config.hpp"
#include "tagma/base/no_memory.hpp"

namespace tagma::runtime {

/// How long the text before the first colon and blank is; all of it where there is none.
[[nodiscard]] TAGMA_COLD inline std::size_t before_colon(std::string_view what) noexcept {
  for (std::size_t i = 0; i + 1 < what.size(); ++i)
    if (what[i] == ':' && what[i + 1] == ' ') return i;
  return what.size();
}

/// The words of an error without the code in front: what is behind the first colon, or all where there is none.
[[nodiscard]] TAGMA_COLD inline std::string_view without_code(std::string_view what) noexcept {
  const std::size_t colon = before_colon(what);
  return colon == what.size() ? what : std::string_view(what.data() + colon + 2, what.size() - colon - 2);
}

/// An exception as it is told to others.
struct caught {
  status_code code = status_code::internal;  ///< of a `tagma::error`
  std::string_view what = {};                ///< valid as long as the exception
  bool is_error = false;                     ///< a `tagma::error`
  bool is_known = false;                     ///< a std::exception, or one derived from it
  bool never_fits = false;                   ///< more memory than there will ever be

  /// @param e not empty
  TAGMA_COLD explicit caught(const std::exception_ptr& e) noexcept {
    try {
      std::rethrow_exception(e);
    } catch (const tagma::never_fits& one) {
      never_fits = true;
      see_error(one);
    } catch (const error& one) {
      see_error(one);
    } catch (const std::bad_alloc&) {
      code = status_code::resource_exhausted;
      what = "the host has no room for what it needs";
      is_known = true;
    } catch (const std::exception& one) {
      see(one);
    } catch (...) {
    }
  }

 private:
  void see_error(const error& one) noexcept {
    code = one.code();
    is_error = true;
    see(one);
  }
  void see(const std::exception& one) noexcept {
    what = one.what();
    is_known = true;
  }
};

}  // namespace tagma::runtime
