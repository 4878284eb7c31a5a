// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of monitored_session.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <set>

#include "tagma/base/config.hpp"
#include "tagma/cluster/devices.hpp"
#include "tagma/cluster/monitored_session.hpp"
#include "tagma/cluster/service/checkpoint_folder.hpp"
#include "tagma/cluster/service/inquiry.hpp"
#include "tagma/cluster/service/threads.hpp"
#include "tagma/runtime/wait_word.hpp"

namespace tagma {

TAGMA_DECL std::string missing_variable(transport::network& by, const cluster& members, const any_program& program,
                                        const cluster_session_options& options) {
  std::vector<service::inquiry_question> questions;
  for (const task_devices& d : devices_of(members))
    questions.push_back({{d.id, to_string(members.task_address(d.id.job, d.id.task))},
                         service::message::list_variables,
                         options.container});
  std::set<std::string> there;
  const std::vector<service::inquiry_answer> answers =
      service::inquiry(by, options.link, options.connect_ns).ask(questions);
  for (std::size_t t = 0; t < answers.size(); ++t) {
    if (const auto& why = answers[t].problem)
      throw error(why->code(),
                  sentence({to_string(task_device(questions[t].whom.id)), ": ", runtime::without_code(why->what())}));
    for (const auto& v : service::variable_list::read(answers[t].bulk_text()).variables) there.insert(v.name);
  }
  const ir::graph_view g = program.graph();
  for (ir::node_id i = 0; i < g.size(); ++i) {
    if (!g.info(i).is(ir::op_kind::variable)) continue;
    const std::string name = runtime::name_in_container(options.variable_prefix, g[i].name, g[i].suffix);
    if (there.count(name) == 0) return name;
  }
  return {};
}

TAGMA_DECL monitored_session::monitored_session(transport::network& by, cluster members, task_id home,
                                                any_program program, cluster_session_options session,
                                                monitored_options options, std::vector<run_hooks> hooks)
    : network_(by),
      members_(std::move(members)),
      home_(std::move(home)),
      program_(std::move(program)),
      how_(std::move(session)),
      options_(std::move(options)),
      hooks_(std::move(hooks)),
      saved_ns_(by.now()) {
  begin(how_.opening);
}

TAGMA_DECL void monitored_session::attempt() {
  if (!options_.chief) {
    const std::string missing = missing_variable(network_, members_, program_, how_);
    if (!missing.empty())
      fail(status_code::unavailable, {"variable '", missing, "' is not there yet: its chief makes it"});
  }
  session_ = std::make_unique<cluster_session>(network_, members_, home_, program_, how_);
  if (options_.chief && !options_.checkpoints.empty()) {
    try {
      number_ =
          std::max(number_, service::split_checkpoint_name(session_->restore(options_.checkpoints + "-*").name).number);
    } catch (const error& e) {
      if (e.code() != status_code::not_found || number_ > 0) throw;
      save();  // the first one, so that there is one to go back to, whenever a server is lost
    }
  }
  ++sessions_;
  for (const run_hooks& h : hooks_)
    if (h.session_made) h.session_made(*session_);
}

TAGMA_DECL void monitored_session::begin(const run_limits& limits) {
  session_.reset();
  const std::int64_t begun = network_.now(), until = runtime::later(begun, options_.wait_ns);
  const runtime::run_guard stops(limits);
  for (;;) {
    try {
      how_.opening = left_of(limits, begun);
      attempt();
      break;
    } catch (const error& e) {
      // Who takes connections and does not answer in time is not there either.
      const bool is_late = e.code() == status_code::deadline_exceeded && stops.over() == status_code::ok;
      if (!is_loss(e) && !is_late) throw;
      if (network_.now() >= until)
        fail(status_code::deadline_exceeded, {"the cluster is not there: ", runtime::without_code(e.what())});
    }
    service::pause_for(options_.again_ns, left_of(limits, begun));
    if (const status_code reason = stops.over(); reason != status_code::ok)
      stops.explain(reason, " while the session was made again");
  }
  how_.opening = {};  // what may stop it is not there for longer
}

TAGMA_DECL run_limits monitored_session::left_of(run_limits all, std::int64_t begun) const {
  if (all.timeout_ns > 0) all.timeout_ns = std::max<std::int64_t>(all.timeout_ns - (network_.now() - begun), 1);
  return all;
}

TAGMA_DECL void monitored_session::save_in_time() {
  const bool saves = options_.chief && !options_.checkpoints.empty() && options_.save_every_ns > 0;
  if (!saves || network_.now() - saved_ns_ < options_.save_every_ns) return;
  try {
    save();
  } catch (const error& e) {
    if (!is_loss(e)) throw;  // else the next run finds that out
  }
}

TAGMA_DECL saved_checkpoint monitored_session::save() {
  if (session_ == nullptr) begin({});
  const saved_checkpoint made =
      session_->save(options_.checkpoints + "-" + std::to_string(number_ + 1), {.keep = options_.keep});
  ++number_;
  saved_ns_ = network_.now();
  return made;
}

}  // namespace tagma
