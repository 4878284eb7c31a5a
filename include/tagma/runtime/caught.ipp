// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of caught.hpp: in the compiled half, or else in each file that includes it.

#include <new>

#include "tagma/base/config.hpp"
#include "tagma/runtime/caught.hpp"

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL std::size_t before_colon(std::string_view what) noexcept {
  for (std::size_t i = 0; i + 1 < what.size(); ++i)
    if (what[i] == ':' && what[i + 1] == ' ') return i;
  return what.size();
}

TAGMA_COLD TAGMA_DECL std::string_view without_code(std::string_view what) noexcept {
  const std::size_t colon = before_colon(what);
  return colon == what.size() ? what : std::string_view(what.data() + colon + 2, what.size() - colon - 2);
}

TAGMA_COLD TAGMA_DECL caught::caught(const std::exception_ptr& e) noexcept {
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

TAGMA_COLD TAGMA_DECL void caught::see_error(const error& one) noexcept {
  code = one.code();
  is_error = true;
  see(one);
}

TAGMA_COLD TAGMA_DECL void caught::see(const std::exception& one) noexcept {
  what = one.what();
  is_known = true;
}

}  // namespace tagma::runtime
