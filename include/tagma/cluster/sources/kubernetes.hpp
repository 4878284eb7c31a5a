// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Pods of Kubernetes whose names end in a number: those of a StatefulSet, "trainer-ps-0", and of an indexed Job. Their
/// names are known before they run; which sets belong together nobody but their manifest says:
///
///     TAGMA_PODS=ps=trainer-ps:2,worker=trainer-worker:4     jobs, the sets of their tasks, and how many pods each has
///     TAGMA_POD_SERVICE=trainer                              the headless service, with its namespace if another's
///     TAGMA_PORT=2222                                        of each pod; 2222 if it is not set
///
/// Task 3 of job "worker" is then trainer-worker-3.trainer:2222, and HOSTNAME, which Kubernetes sets, tells a pod which
/// one it is; in an indexed Job JOB_COMPLETION_INDEX says the same.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/cluster/environment.hpp"
#include "tagma/cluster/sources/finding.hpp"

namespace tagma::sources {

/// The pods of a job.
struct pod_set {
  std::string job;
  std::string name;  ///< of the StatefulSet or the Job
  int pods = 0;
};

/// Reads "ps=trainer-ps:2,worker=trainer-worker:4". Throws `invalid_argument`, which begins with `where`.
[[nodiscard]] std::vector<pod_set> pod_sets_from(std::string_view text, std::string_view where);

/// The set and the number of a pod: "trainer-ps" and 0 for "trainer-ps-0". The name of a host may go on behind a dot.
struct pod_name {
  std::string set;
  int number = 0;
};
[[nodiscard]] std::optional<pod_name> pod_name_from(std::string_view host);

/// True if TAGMA_PODS is set.
[[nodiscard]] bool has_kubernetes(const environment& variables);

/// The cluster of these sets, and which pod of it this process is in; no task where HOSTNAME is none of them. Throws
/// `invalid_argument`, which names the variable.
[[nodiscard]] finding kubernetes(const environment& variables);

}  // namespace tagma::sources

#ifndef TAGMA_COMPILED
#include "tagma/cluster/sources/kubernetes.ipp"
#endif
