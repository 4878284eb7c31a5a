// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A cluster of which one server is known.

#include <map>
#include <memory>
#include <string>

#include "tagma/base/config.hpp"
#include "tagma/cluster/cluster.hpp"
#include "tagma/cluster/service/messages.hpp"
#include "tagma/cluster/service/outlet.hpp"
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
  const auto out = std::make_shared<service::outlet>(by, address, options.link, task_id{"", -1}, options.connect_ns,
                                                     service::loss());
  cluster_session::gathering all;
  cluster_session::question q(all, "the server at " + address);
  transport::outgoing m;
  m.kind = static_cast<std::uint16_t>(service::message::list_tasks);
  out->ask(std::move(m), options.connect_ns, q);
  try {
    all.wait([](const error&) {});
  } catch (const error&) {
    out->close();
    throw;
  }
  out->close();
  const service::task_list list = service::task_list::read(q.body);
  std::map<std::string, std::map<int, std::string>> jobs;
  for (const service::placed_task& t : list.tasks) jobs[t.id.job][t.id.task] = t.address;
  return {cluster(jobs), list.self};
}

}  // namespace tagma
