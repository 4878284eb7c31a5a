// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of master.hpp: in the compiled half, or else in each file that includes it.

#include <memory>
#include <string>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/ask_for_cluster.hpp"
#include "tagma/cluster/master.hpp"
#include "tagma/cluster/session.hpp"
#include "tagma/cluster/session_checkpoints.hpp"

namespace tagma {

namespace detail {

TAGMA_DECL service::kept_session open_for_client(transport::network& by, const cluster& members,
                                                 const service::open_session& what, const any_program& program,
                                                 const transport::options& as,
                                                 const std::shared_ptr<service::last_told>& told,
                                                 const run_limits& opening) {
  cluster_session_options how;
  how.link = as;
  how.container = what.what.container, how.variable_prefix = what.what.variable_prefix;
  how.seed = what.what.seed, how.kept_apart = what.what.kept_apart;
  how.device_filters = what.device_filters;
  how.connect_ns = what.connect_ns, how.run_ns = what.run_ns, how.again_ns = what.again_ns;
  how.tell_ns = what.tell_ns - what.tell_ns / 4;  // before the client wants to know
  how.stall_ns = what.stall_ns - what.stall_ns / 4;
  how.opening = opening;
  how.told = [told](const std::string& t) { told->set(t); };
  const task_id home{as.self.job, as.self.task};
  const cluster there = reached_cluster(service::tasks_of(members), home, what.what.tasks[0].address);
  const auto session = std::make_shared<cluster_session>(by, there, home, program, how);
  service::kept_session kept;
  std::vector<device_spec> devices;
  for (ir::node_id i = 0; i < program.graph().size(); ++i) devices.push_back(session->device_of(i));
  kept.devices = service::node_devices::of(devices);
  kept.run = [session, told](const std::vector<int>& outputs, const std::vector<named_feed>& feeds,
                             const run_limits& limits) {
    struct silence {  // also where the run has failed
      ~silence() { of.set({}); }
      service::last_told& of;
    };
    const silence then{*told};
    return session->run_outputs(outputs, feeds, limits);
  };
  kept.save = [session](const std::string& name, const save_options& o) { return session->save(name, o); };
  kept.restore = [session](const std::string& name, std::int64_t pause_ns) { return session->restore(name, pause_ns); };
  return kept;
}

}  // namespace detail

TAGMA_DECL service::session_opener open_by_master(transport::network& by, const cluster& members) {
  return [&by, members](const service::open_session& what, const any_program& program, const transport::options& as,
                        const std::shared_ptr<service::last_told>& told, const run_limits& opening) {
    return detail::open_for_client(by, members, what, program, as, told, opening);
  };
}

}  // namespace tagma
