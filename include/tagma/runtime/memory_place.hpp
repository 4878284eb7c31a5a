// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Where bytes are: on the host, or on a numbered device.

#include <cstddef>

#include "tagma/base/config.hpp"

namespace tagma::runtime {

/// The host, where a device is asked for.
inline constexpr int on_host = -1;

/// An address and where it is valid. On the host, copies of streams want pinned memory.
struct memory_place {
  std::byte* data = nullptr;
  int device = on_host;
};

}  // namespace tagma::runtime
