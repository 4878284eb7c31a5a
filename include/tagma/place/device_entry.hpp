// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A device that there is, as whoever lists the devices of a process or a cluster tells it.

#include "tagma/place/device.hpp"

namespace tagma {

/// Whose memory a device computes in.
enum class memory_kind : std::uint8_t {
  host,  ///< that of the host of its task, as all devices of that task with this kind of memory
  own,   ///< its own
};

/// A device that there is.
struct device_entry {
  device_spec name;  ///< complete: job, replica, task, type and number
  memory_kind memory = memory_kind::host;
};

/// True if both are devices of one task.
[[nodiscard]] constexpr bool is_same_task(const device_spec& a, const device_spec& b) {
  return a.job == b.job && a.replica == b.replica && a.task == b.task;
}

/// True if `device` reads what lies in the memory of the host of `client`, and may write there.
[[nodiscard]] constexpr bool computes_on_host(const device_entry& device, const device_entry& client) {
  return device.memory == memory_kind::host && is_same_task(device.name, client.name);
}

}  // namespace tagma
