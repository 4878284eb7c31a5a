// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// NVIDIA's GPUs. For files that nvcc compiles; such a file includes tagma/tagma.hpp as well.

#include "tagma/device/cuda/driver.hpp"
#include "tagma/device/stream/dispatch.hpp"
#include "tagma/device/stream/memory_pool.hpp"
#include "tagma/device/stream/pinned_pool.hpp"
