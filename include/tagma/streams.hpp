// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Devices with streams, without a device: how plans are run on them, their memory, and a fake to test with.

#include "tagma/base/fixed_string.hpp"
#include "tagma/place/rules.hpp"

#include "tagma/place/device.hpp"

#include "tagma/device/fake/driver.hpp"
#include "tagma/device/stream/dispatch.hpp"
#include "tagma/device/stream/memory_pool.hpp"
#include "tagma/device/stream/pinned_pool.hpp"

#include "tagma/base/epilogue.hpp"
