// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of heap_array.hpp: in the compiled half, or else in each file that includes it.

#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"

namespace tagma::detail {

TAGMA_COLD TAGMA_DECL void* make_zeroed(std::size_t count, std::size_t size) {
  if (count == 0) return nullptr;
  void* const data = count > PTRDIFF_MAX / size ? nullptr : ::operator new(count* size, std::nothrow);
  if (data == nullptr) fail_no_memory(count, size, "a table");
  return std::memset(data, 0, count * size);
}

TAGMA_COLD TAGMA_DECL void* make_copies(std::size_t count, std::size_t size, const void* one) {
  auto* const data = static_cast<std::byte*>(make_zeroed(count, size));
  for (std::size_t i = 0; i < count; ++i) std::memcpy(data + i * size, one, size);
  return data;
}

}  // namespace tagma::detail
