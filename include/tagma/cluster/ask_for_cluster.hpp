// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A cluster of which one server is known.

#include <map>
#include <string>

#include "tagma/base/config.hpp"
#include "tagma/cluster/cluster.hpp"
#include "tagma/cluster/service/inquiry.hpp"
#include "tagma/cluster/service/messages.hpp"
#include "tagma/cluster/session.hpp"

namespace tagma {

/// A cluster, as one of its servers describes it, and which task that server is.
struct described_cluster {
  cluster members;
  task_id home;
};
/// Asks the server at an address. Throws Unavailable if there is none.
[[nodiscard]] described_cluster ask_for_cluster(transport::network& by, const std::string& address,
                                                const cluster_session_options& options = {});

namespace detail {

/// A cluster in which one task is where it was reached, if the system chose its port when it began.
[[nodiscard]] inline cluster reached_cluster(const std::vector<service::placed_task>& tasks, const task_id& self,
                                             const std::string& address) {
  std::map<std::string, std::map<int, std::string>> jobs;
  for (const service::placed_task& t : tasks) {
    const bool chosen = t.id == self && t.address.ends_with(":0");
    jobs[t.id.job][t.id.task] = chosen ? address : t.address;
  }
  return cluster(jobs);
}

}  // namespace detail

inline described_cluster ask_for_cluster(transport::network& by, const std::string& address,
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
