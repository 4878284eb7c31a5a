// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Training that goes on when a server was lost: a session that is made again, restored, and asked again.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/checkpoint.hpp"
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
[[nodiscard]] std::string missing_variable(transport::network& by, const cluster& members, const any_program& program,
                                           const cluster_session_options& options);

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

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/cluster/monitored_session.ipp"
#endif
