// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of devices.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/devices.hpp"
#include "tagma/cluster/text.hpp"

namespace tagma {

TAGMA_DECL device_spec task_device(const task_id& id) {
  device_spec spec;
  spec.job = device_text(id.job);
  spec.replica = 0;
  spec.task = id.task;
  return spec;
}

TAGMA_DECL device_spec task_device(const task_id& id, std::string_view type, int number) {
  device_spec spec = task_device(id);
  spec.type = device_text(type);
  spec.id = number;
  return spec;
}

TAGMA_DECL replica_device_setter setter_of(const cluster& c, replica_device_setter setter) {
  const std::string_view job = setter.ps_device.spec.job.view();
  setter.ps_tasks = 0;
  if (job.empty() || !c.has_job(job)) return setter;
  if (!c.is_dense(job))
    fail(status_code::invalid_argument, {"variables are shared among tasks 0, 1, 2 and so on of job \"", job,
                                         "\", and the cluster lacks some of them"});
  if (c.num_tasks(job) > device_counts::most_tasks)
    fail(status_code::invalid_argument,
         {"job \"", job, "\" has ", c.num_tasks(job), " tasks, and variables are shared among ",
          device_counts::most_tasks, " at most"});
  setter.ps_tasks = c.num_tasks(job);
  return setter;
}

}  // namespace tagma
