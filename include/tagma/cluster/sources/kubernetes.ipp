// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of kubernetes.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/sources/kubernetes.hpp"
#include "tagma/cluster/text.hpp"

namespace tagma::sources {

namespace detail {

TAGMA_DECL cluster cluster_of_pods(const std::vector<pod_set>& sets, std::string_view service, int port) {
  cluster_builder builder;
  for (const pod_set& s : sets) {
    builder.add_job(s.job, "TAGMA_PODS");
    for (int pod = 0; pod < s.pods; ++pod)
      builder.add_task(s.job, pod, sentence({s.name, "-", pod, ".", service, ":", port}),
                       sentence({"TAGMA_PODS: pod ", s.name, "-", pod}));
  }
  return std::move(builder).finish();
}

/// Which of the pods this is, as far as HOSTNAME tells.
TAGMA_DECL role_options task_of_pod(const environment& variables, const std::vector<pod_set>& sets) {
  const auto host = variables.find("HOSTNAME");
  const std::optional<pod_name> pod = host ? pod_name_from(*host) : std::nullopt;
  if (!pod) return {};
  for (const pod_set& s : sets) {
    if (s.name != pod->set) continue;
    if (pod->number >= s.pods)
      fail(status_code::invalid_argument,
           {"HOSTNAME: this is pod ", *host, ", and TAGMA_PODS has pods 0 to ", s.pods - 1, " of ", s.name});
    const auto index = variables.find_number("JOB_COMPLETION_INDEX", 0, cluster_limits::tasks - 1);
    if (index && *index != pod->number)
      fail(status_code::invalid_argument,
           {"JOB_COMPLETION_INDEX is ", *index, ", and HOSTNAME is ", *host, ": which pod is this?"});
    return {s.job, pod->number};
  }
  return {};
}

}  // namespace detail

TAGMA_DECL std::vector<pod_set> pod_sets_from(std::string_view text, std::string_view where) {
  std::vector<pod_set> sets;
  for (const std::string_view entry : tagma::detail::comma_list(text, where)) {
    const std::size_t equals = entry.find('='), colon = entry.rfind(':');
    if (equals == std::string_view::npos || colon == std::string_view::npos || colon < equals)
      fail(status_code::invalid_argument, {where, ": ", tagma::detail::quote(entry),
                                           " is no job, its set and its number of pods, as in ps=trainer-ps:2"});
    pod_set set;
    set.job = std::string(entry.substr(0, equals));
    set.name = std::string(entry.substr(equals + 1, colon - equals - 1));
    check_job_name(set.job, where);
    set.pods = static_cast<int>(tagma::detail::number_between(entry.substr(colon + 1), 1, cluster_limits::tasks,
                                                              sentence({where, ", job \"", set.job, "\""})));
    if (!parse_address(set.name + "-0:1"))
      fail(status_code::invalid_argument,
           {where, ", job \"", set.job, "\": ", tagma::detail::quote(set.name), " is no name of a set of pods"});
    sets.push_back(std::move(set));
  }
  return sets;
}

TAGMA_DECL std::optional<pod_name> pod_name_from(std::string_view host) {
  host = host.substr(0, host.find('.'));
  const std::size_t dash = host.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  const std::string_view digits = host.substr(dash + 1);
  const std::optional<std::int64_t> number = tagma::detail::whole_number(digits);
  if (!number || *number >= cluster_limits::tasks || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
  return pod_name{std::string(host.substr(0, dash)), static_cast<int>(*number)};
}

TAGMA_DECL bool has_kubernetes(const environment& variables) { return variables.has("TAGMA_PODS"); }

TAGMA_DECL finding kubernetes(const environment& variables) {
  const std::vector<pod_set> sets = pod_sets_from(variables.need("TAGMA_PODS", "Kubernetes"), "TAGMA_PODS");
  const std::string service = variables.need("TAGMA_POD_SERVICE", "TAGMA_PODS");
  const int port = variables.find_number("TAGMA_PORT", 1, 65535).value_or(customary_port);
  finding said;
  said.members = detail::cluster_of_pods(sets, service, port);
  said.options = detail::task_of_pod(variables, sets);
  return said;
}

}  // namespace tagma::sources
