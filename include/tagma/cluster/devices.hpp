// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Clusters and names of devices.

#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/cluster/cluster.hpp"
#include "tagma/place/device.hpp"
#include "tagma/place/device_function.hpp"

namespace tagma {

/// A task as a part of device names: "/job:worker/replica:0/task:3".
[[nodiscard]] device_spec task_device(const task_id& id);

/// A device of a task: "/job:ps/replica:0/task:0/device:CPU:0" for type "CPU" and number 0.
[[nodiscard]] device_spec task_device(const task_id& id, std::string_view type, int number);

/// Devices of a task besides CPUs, all of one type.
struct device_offer {
  std::string type;                     ///< "GPU"
  int count = 0;                        ///< "/device:GPU:0" and so on
  std::vector<std::string> operations;  ///< for which they have kernels
};

/// A setter that shares variables among the parameter servers of a cluster: `setter` with as many `ps_tasks` as the job
/// of its `ps_device` has tasks. Without such a job it asks for nothing, as TensorFlow's `replica_device_setter` with
/// such a cluster. Throws `invalid_argument` for a job whose tasks are not 0, 1, 2 and so on, or are more than
/// `device_counts::most_tasks`. A program whose graph the compiler builds has its setter as a constant;
/// `setter_of(cluster).ps_tasks` tells whether it is the one of the cluster.
[[nodiscard]] replica_device_setter setter_of(const cluster& c, replica_device_setter setter = {});

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/cluster/devices.ipp"
#endif
