// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of no_memory.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/base/no_memory.hpp"

namespace tagma {

TAGMA_COLD TAGMA_DECL std::string bytes_text(std::int64_t bytes) {
  constexpr std::string_view units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 2048) return sentence({bytes, " bytes"});
  std::size_t unit = 0;
  std::int64_t tenths = bytes / 1024 * 10 + bytes % 1024 * 10 / 1024;
  for (; tenths >= 10240 && unit < 5; ++unit) tenths /= 1024;
  return sentence({tenths / 10, ".", tenths % 10, " ", units[unit], " (", bytes, " bytes)"});
}

TAGMA_COLD TAGMA_DECL no_memory::no_memory(std::int64_t bytes, std::string_view purpose)
    : error(status_code::resource_exhausted,
            sentence({"the host has no room for ", bytes_text(bytes), ", which ", purpose, " asks for"})) {}

TAGMA_COLD TAGMA_DECL no_memory::no_memory(const no_memory& e, std::string_view where, std::string_view held)
    : error(status_code::resource_exhausted,
            sentence({where, where.empty() ? "" : ": ", std::string_view(e.what()).substr(code_length), held})) {}

TAGMA_COLD TAGMA_DECL void fail_never_fits(std::initializer_list<text_part> parts) {
  throw never_fits(status_code::resource_exhausted, sentence(parts));
}

TAGMA_COLD TAGMA_DECL void fail_no_memory(std::size_t count, std::size_t size, std::string_view purpose) {
  constexpr auto most = static_cast<std::size_t>(INT64_MAX);
  throw no_memory(static_cast<std::int64_t>(count > most / size ? most : count * size), purpose);
}

}  // namespace tagma
