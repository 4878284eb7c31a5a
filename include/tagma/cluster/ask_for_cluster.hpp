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
  std::map<std::string, std::map<int, std::string>> jobs;
  for (const service::placed_task& t : list.tasks) {
    const bool chosen = t.id == list.self && t.address.ends_with(":0");  // the port: by the system, when it began
    jobs[t.id.job][t.id.task] = chosen ? address : t.address;
  }
  return {cluster(jobs), list.self};
}

}  // namespace tagma
