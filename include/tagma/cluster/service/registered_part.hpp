// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A part of a graph on a worker, with its session and the runs that are under way.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/cluster/service/kept_session.hpp"
#include "tagma/cluster/service/meeting.hpp"
#include "tagma/cluster/service/messages.hpp"
#include "tagma/cluster/service/outcomes.hpp"
#include "tagma/cluster/service/reports.hpp"
#include "tagma/cluster/service/worker_options.hpp"
#include "tagma/runtime/any_session.hpp"

namespace tagma::service {

/// One run of a part, from when it is first heard of.
struct run_state {
  run_state(std::uint64_t graph, std::uint64_t step, post out) : edges(graph, step, std::move(out)) {}
  meeting edges;
  cancellation stop;
  atomic<std::int64_t> asked_ns{0};  ///< when it was asked for; 0: only others have said something of it
  atomic<bool> done{false};          ///< it has ended here; perhaps not for others
  std::optional<error> ended_by;     ///< with the part's lock: why somebody else has ended it
};

/// Says of a run that it is under way, while this lives.
class under_way {
 public:
  under_way(run_state& run, std::int64_t now_ns) : run_(run) { run_.asked_ns.store(now_ns | 1, memory_order::relaxed); }
  under_way(const under_way&) = delete;
  under_way& operator=(const under_way&) = delete;
  ~under_way() { run_.done.store(true, memory_order::relaxed); }

 private:
  run_state& run_;
};

/// A part of a graph, and its session: one of this process, or one over the cluster that is driven from here.
class registered_part {
 public:
  registered_part(add_part what, const any_program& program, const container& state, const worker_options& options,
                  post out);
  registered_part(add_part what, const any_program& program, kept_session runs, std::shared_ptr<last_told> told,
                  const worker_options& options);

  /// Runs are kept until they have ended; nothing for one that has, for more than `most_runs` at a time, and for a part
  /// that goes.
  [[nodiscard]] std::shared_ptr<run_state> run(std::uint64_t step);
  /// True if the part takes this edge from another one, or hands it over.
  /// @{
  [[nodiscard]] bool takes(std::int32_t edge) const { return takes_.count(edge) != 0; }
  [[nodiscard]] bool sends(std::int32_t edge) const { return sends_.count(edge) != 0; }
  /// @}
  /// Why `run` gives nothing.
  [[nodiscard]] error why_not(std::uint64_t step);
  static constexpr std::size_t most_runs = 4096;
  void end(std::uint64_t step, const error* why);
  /// The client has the answers of all runs before this one; those that wait for nothing any more end.
  void acknowledge(std::uint64_t before);
  /// What became of runs that were asked for.
  [[nodiscard]] service::outcomes& outcomes() { return outcomes_; }
  /// Ends all runs.
  /// @returns which these were, and those before that an error has ended and whose end the client has not seen: who
  /// waits for something of them elsewhere may not know it yet
  std::vector<std::uint64_t> abort(const error& why);
  /// The part goes: ends all runs, and none begins any more, whoever still holds the part.
  void close(const error& why);
  /// Its container is about to be reset: runs end with an error that says so, those under way and those to come.
  void begin_reset();
  /// Why a run has failed: the container was reset, it was ended from elsewhere, or what it has thrown.
  [[nodiscard]] error reason_of(const error& caught, const run_state* run = nullptr);
  /// Adds the runs that are under way.
  void list_runs(run_list& to, std::int64_t now_ns);

  /// @name The lease: a part goes some time after the connection of its client has
  /// @{
  /// A connection of its client is there.
  void owned_by(const void* connection);
  /// A connection has gone. The number of the lease that begins; 0 if the client has another connection.
  [[nodiscard]] std::uint64_t lapse(const void* connection);
  /// False if the client has come back since that lease began.
  [[nodiscard]] bool lapses(std::uint64_t lease);
  /// @}

  [[nodiscard]] const add_part& what() const { return what_; }
  [[nodiscard]] session<any_program>& plans() { return *session_; }
  /// The session over the cluster; nullptr if it is one of this process.
  [[nodiscard]] kept_session* driven() { return driven_.has_value() ? &*driven_ : nullptr; }
  [[nodiscard]] const any_program& program() const { return program_; }

 private:
  /// Nothing of this run is kept any more, whoever still sends what belongs to it.
  void note_failed(std::uint64_t step, const error& why) {
    failed_.emplace(step, why);
    while (failed_.size() > most_runs) failed_.erase(failed_.begin());
  }

  add_part what_;
  any_program program_;
  std::optional<session<any_program>> session_;
  std::optional<kept_session> driven_;
  std::shared_ptr<last_told> told_;  // by that one
  post out_;
  std::set<std::int32_t> takes_, sends_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<run_state>> runs_;
  std::map<std::uint64_t, error> failed_;  // the last ones that were ended by an error
  bool reset_ = false;
  std::optional<error> closed_;
  service::outcomes outcomes_;
  const void* owner_ = nullptr;  // a connection
  std::uint64_t lease_ = 0;
};

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/registered_part.ipp"
#endif
