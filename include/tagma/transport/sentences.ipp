// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of sentences.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>

#include "tagma/base/config.hpp"
#include "tagma/transport/sentences.hpp"

namespace tagma::transport {

TAGMA_DECL std::string_view sentence_of(const error& e) {
  const std::string_view what = e.what();
  return what.substr(std::min(what.size(), to_string(e.code()).size() + 2));
}

TAGMA_DECL std::string seconds_of(std::int64_t ns) {
  const std::int64_t tenths = std::max<std::int64_t>(ns + 50'000'000, 0) / 100'000'000;
  return sentence({tenths / 10, ".", tenths % 10, " s"});
}

TAGMA_DECL std::string detail::printable(std::string_view text) {
  std::string to(text);
  for (char& c : to)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return to;
}

TAGMA_DECL error detail::error_of(std::uint16_t code, std::string_view text) {
  return {static_cast<status_code>(code), printable(text)};
}

}  // namespace tagma::transport
