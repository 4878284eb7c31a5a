// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Large pages for memory of many megabytes.

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstddef>
#include <cstdint>

namespace tagma {

/// Advice, which the system may ignore: large pages spare a loop over many megabytes a tenth of its time or more.
/// @param size bytes of memory that the caller has just allocated and not yet written
inline void advise_large_pages([[maybe_unused]] std::byte* data, [[maybe_unused]] std::size_t size) {
#if defined(MADV_HUGEPAGE)
  const std::uintptr_t before = reinterpret_cast<std::uintptr_t>(data) % 4096;  // advice is for whole pages
  madvise(data - before, size + before, MADV_HUGEPAGE);
#endif
}

}  // namespace tagma
