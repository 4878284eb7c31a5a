// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of session_checkpoints.hpp: in the compiled half, or else in each file that includes it.

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/checkpoint.hpp"
#include "tagma/cluster/service/checkpoint_rounds.hpp"
#include "tagma/cluster/service/master_messages.hpp"
#include "tagma/cluster/session_checkpoints.hpp"

namespace tagma {

/// Throws Aborted if a server that has variables of the program is another one than when it got its part, Unavailable
/// for one that is not there.
TAGMA_DECL void cluster_session::check_servers() const {
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    if (!has_state_[t]) continue;
    const std::optional<transport::identity> who = outlets_[t]->peer();
    const std::string name = to_string(task_device(tasks_[t].id));
    if (!who.has_value()) fail(status_code::unavailable, {name, ": the connection was lost; nothing was saved"});
    if (who->incarnation != servers_[t])
      fail(status_code::aborted, {name, ": the server was started anew since it got graph ", graph_,
                                  ", and what its variables were is lost; nothing was saved"});
  }
}

TAGMA_DECL std::string cluster_session::ask_master(service::message kind, std::string body) {
  service::task_round one(asked_);
  one.ask(0, kind, std::move(body));
  one.wait();
  return one.body(0);
}

TAGMA_DECL saved_checkpoint cluster_session::save(const std::string& name, const save_options& how) {
  if (by_server())
    return service::saved_session::read(
               ask_master(service::message::save_session, service::save_session{graph_, name, how}.body()))
        .made;
  return service::checkpoint_rounds(asked_, options_.container).save(name, how, [&] { check_servers(); });
}

TAGMA_DECL restored_checkpoint cluster_session::restore(const std::string& name, std::int64_t pause_ns) {
  if (by_server())
    return service::restored_session::read(
               ask_master(service::message::restore_session, service::restore_session{graph_, name, pause_ns}.body()))
        .made;
  std::vector<service::name_list> wanted(tasks_.size());
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    std::set<std::string> names;
    const ir::graph_view g = parts_[t].graph();
    for (ir::node_id i = 0; i < g.size(); ++i)
      if (g.info(i).is(ir::op_kind::variable))
        names.insert(runtime::name_in_container(options_.variable_prefix, g[i].name, g[i].suffix));
    wanted[t].names = {names.begin(), names.end()};
  }
  return service::checkpoint_rounds(asked_, options_.container).restore(name, pause_ns, wanted);
}

}  // namespace tagma
