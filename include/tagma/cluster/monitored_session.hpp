// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Training that goes on when a server was lost: a session that is made again, restored, and asked again.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/checkpoint.hpp"
#include "tagma/cluster/service/checkpoint_folder.hpp"
#include "tagma/cluster/service/inquiry.hpp"
#include "tagma/cluster/service/threads.hpp"
#include "tagma/cluster/session.hpp"
#include "tagma/cluster/session_checkpoints.hpp"
#include "tagma/runtime/run_limits.hpp"

namespace tagma {

/// What is called around runs, by the thread that asks for them; those that are empty are not. Runs that are done again
/// are seen again by `before_run`.
struct run_hooks {
  std::function<void(cluster_session&)> session_made{};  ///< and restored, if it was
  std::function<void()> before_run{};
  std::function<void(const std::vector<any_tensor>&)> after_run{};  ///< of those that were well
};

/// How training is kept going. Times are nanoseconds.
struct monitored_options {
  bool chief = true;          ///< makes variables, restores and saves; others wait until all variables are there
  std::string checkpoints{};  ///< "model" for "model-1", "model-2", ...; empty: none
  std::int64_t save_every_ns = 600'000'000'000;  ///< by the chief, behind a run; 0: never
  std::uint32_t keep = 5;                        ///< of the checkpoints; 0: all
  std::int64_t wait_ns = 7'200'000'000'000;      ///< for servers and for the chief, each time
  std::int64_t again_ns = 1'000'000'000;         ///< between attempts
};

/// A session of a program over a cluster that is made again when it must be.
///
/// A run that ends with Aborted or Unavailable is done again in a new session; no other is. The chief gives that the
/// newest checkpoint, the first of which it makes before any run: updates since then are lost, on all servers, and
/// those that others make while it does so may be. Without checkpoints, variables of a server that was started anew
/// begin anew, and those of others may have been updated by the run that is done again.
///
/// For one thread.
class monitored_session {
 public:
  /// Waits for the servers, and for the chief. Throws DeadlineExceeded if they are not there in time, and what is no
  /// matter of waiting.
  /// @param by outlives it
  monitored_session(transport::network& by, cluster members, task_id home, any_program program,
                    cluster_session_options session = {}, monitored_options options = {},
                    std::vector<run_hooks> hooks = {});

  /// As of `cluster_session`. Limits are those of the run with all its repetitions, and of what is waited for between
  /// them.
  /// @{
  std::vector<any_tensor> run(const std::vector<output_name>& outputs, const std::vector<named_feed>& feeds = {},
                              const run_limits& limits = {}) {
    return repeated([&](const run_limits& left) { return session_->run(outputs, feeds, left); }, limits);
  }
  std::vector<any_tensor> run_outputs(const std::vector<int>& outputs, const std::vector<named_feed>& feeds,
                                      const run_limits& limits = runtime::no_limits) {
    return repeated([&](const run_limits& left) { return session_->run_outputs(outputs, feeds, left); }, limits);
  }
  /// @}
  /// Saves the next checkpoint now, as the chief does from time to time.
  saved_checkpoint save();

  /// The session of the last run, or a new one if that has ended before there was one.
  [[nodiscard]] cluster_session& session() {
    if (session_ == nullptr) begin({});
    return *session_;
  }
  /// How often a session was made.
  [[nodiscard]] int sessions() const { return sessions_; }

 private:
  void begin(const run_limits& limits);
  void attempt();
  template <class Run>
  std::vector<any_tensor> repeated(const Run& run, const run_limits& limits);
  /// Limits of what has begun at a time, as they are now.
  [[nodiscard]] run_limits left_of(run_limits all, std::int64_t begun) const;
  void save_in_time();
  [[nodiscard]] static bool is_loss(const error& e) {
    return e.code() == status_code::aborted || e.code() == status_code::unavailable;
  }

  transport::network& network_;
  cluster members_;
  task_id home_;
  any_program program_;
  cluster_session_options how_;
  monitored_options options_;
  std::vector<run_hooks> hooks_;
  std::unique_ptr<cluster_session> session_;
  std::int64_t saved_ns_;
  std::int64_t number_ = 0;  // of the last checkpoint
  int sessions_ = 0;
};

/// A variable of a program that no task of a cluster has yet; empty if all are there. Throws Unavailable for a task
/// that does not come.
[[nodiscard]] inline std::string missing_variable(transport::network& by, const cluster& members,
                                                  const any_program& program, const cluster_session_options& options) {
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

inline monitored_session::monitored_session(transport::network& by, cluster members, task_id home, any_program program,
                                            cluster_session_options session, monitored_options options,
                                            std::vector<run_hooks> hooks)
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

inline void monitored_session::attempt() {
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

inline void monitored_session::begin(const run_limits& limits) {
  session_.reset();
  const std::int64_t begun = network_.now(), until = begun + options_.wait_ns;
  const runtime::run_guard stops(limits);
  for (;;) {
    try {
      how_.opening = left_of(limits, begun);
      attempt();
      break;
    } catch (const error& e) {
      if (!is_loss(e)) throw;
      if (network_.now() >= until)
        fail(status_code::deadline_exceeded, {"the cluster is not there: ", runtime::without_code(e.what())});
    }
    service::pause_for(options_.again_ns, left_of(limits, begun));
    if (const status_code reason = stops.over(); reason != status_code::ok)
      stops.explain(reason, " while the session was made again");
  }
  how_.opening = {};  // what may stop it is not there for longer
}

inline run_limits monitored_session::left_of(run_limits all, std::int64_t begun) const {
  if (all.timeout_ns > 0) all.timeout_ns = std::max<std::int64_t>(begun + all.timeout_ns - network_.now(), 1);
  return all;
}

template <class Run>
std::vector<any_tensor> monitored_session::repeated(const Run& run, const run_limits& limits) {
  const std::int64_t begun = network_.now();
  std::vector<any_tensor> results;
  // There is none if the last run has ended before there was another one.
  if (session_ == nullptr) begin(limits);
  for (;;) {
    for (const run_hooks& h : hooks_)
      if (h.before_run) h.before_run();
    try {
      results = run(left_of(limits, begun));
      break;
    } catch (const error& e) {
      if (!is_loss(e)) throw;
    }
    begin(left_of(limits, begun));
  }
  for (const run_hooks& h : hooks_)
    if (h.after_run) h.after_run(results);
  save_in_time();
  return results;
}

inline void monitored_session::save_in_time() {
  const bool saves = options_.chief && !options_.checkpoints.empty() && options_.save_every_ns > 0;
  if (!saves || network_.now() - saved_ns_ < options_.save_every_ns) return;
  try {
    save();
  } catch (const error& e) {
    if (!is_loss(e)) throw;  // else the next run finds that out
  }
}

inline saved_checkpoint monitored_session::save() {
  if (session_ == nullptr) begin({});
  const saved_checkpoint made =
      session_->save(options_.checkpoints + "-" + std::to_string(number_ + 1), {.keep = options_.keep});
  ++number_;
  saved_ns_ = network_.now();
  return made;
}

}  // namespace tagma
