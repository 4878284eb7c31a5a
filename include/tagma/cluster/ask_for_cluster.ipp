// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of ask_for_cluster.hpp: in the compiled half, or else in each file that includes it.

#include <map>

#include "tagma/base/config.hpp"
#include "tagma/cluster/ask_for_cluster.hpp"
#include "tagma/cluster/service/inquiry.hpp"

namespace tagma {

namespace detail {

TAGMA_DECL cluster reached_cluster(const std::vector<service::placed_task>& tasks, const task_id& self,
                                   const std::string& address) {
  std::map<std::string, std::map<int, std::string>> jobs;
  for (const service::placed_task& t : tasks) {
    const bool chosen = t.id == self && t.address.ends_with(":0");
    jobs[t.id.job][t.id.task] = chosen ? address : t.address;
  }
  return cluster(jobs);
}

}  // namespace detail

TAGMA_DECL described_cluster ask_for_cluster(transport::network& by, const std::string& address,
                                             const cluster_session_options& options) {
  service::inquiry one(by, options.link, options.connect_ns);
  service::inquiry_answer answer;
  try {
    answer = one.ask(service::inquiry_question{{{"", -1}, address}, service::message::list_tasks});
  } catch (const error& e) {
    throw error(e.code(), sentence({"the server at ", address, ": ", runtime::without_code(e.what())}));
  }
  const service::task_list list = service::task_list::read(answer.body);
  return {detail::reached_cluster(list.tasks, list.self, address), list.self};
}

}  // namespace tagma
