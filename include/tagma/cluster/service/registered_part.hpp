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
#include "tagma/expr/op/exchange.hpp"
#include "tagma/runtime/any_session.hpp"
#include "tagma/transport/broken.hpp"

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

  /// Runs are kept until they have ended; nothing for one that has, and for more than `most_runs` at a time.
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
  [[nodiscard]] bool has_owner() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return owner_ != nullptr;
  }
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
  service::outcomes outcomes_;
  const void* owner_ = nullptr;  // a connection
  std::uint64_t lease_ = 0;
};

inline registered_part::registered_part(add_part what, const any_program& program, const container& state,
                                        const worker_options& options, post out)
    : what_(std::move(what)),
      program_(program),
      out_(std::move(out)),
      outcomes_(what_.first_step, {options.outcomes, options.outcome_bytes}) {
  session_.emplace(
      program_,
      session_options{.seed = TAGMA_BROKEN(seed_forgotten) ? 0 : what_.seed,
                      .intra_op_threads = options.intra_op_threads,
                      .inter_op_threads = options.inter_op_threads,
                      .state = state,
                      .variable_prefix = TAGMA_BROKEN(prefix_forgotten) ? std::string() : what_.variable_prefix});
  const ir::graph_view g = program_.graph();
  for (ir::node_id i = 0; i < g.size(); ++i) {
    if (g[i].op == &ir::rules<op::receive> || g[i].op == &ir::rules<op::receive_open>)
      takes_.insert(static_cast<std::int32_t>(g.attributes(i)[0]));
    if (g[i].op == &ir::rules<op::send>) sends_.insert(static_cast<std::int32_t>(g.attributes(i)[0]));
  }
}

inline registered_part::registered_part(add_part what, const any_program& program, kept_session runs,
                                        std::shared_ptr<last_told> told, const worker_options& options)
    : what_(std::move(what)),
      program_(program),
      driven_(std::move(runs)),
      told_(std::move(told)),
      outcomes_(what_.first_step, {options.outcomes, options.outcome_bytes}) {}

inline std::shared_ptr<run_state> registered_part::run(std::uint64_t step) {
  pass();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (outcomes_.is_over(step) || failed_.count(step) != 0 || (runs_.size() >= most_runs && runs_.count(step) == 0))
    return nullptr;
  std::shared_ptr<run_state>& r = runs_[step];
  if (r == nullptr) r = std::make_shared<run_state>(what_.graph, step, out_);
  return r;
}

inline error registered_part::why_not(std::uint64_t step) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto ended = failed_.find(step); ended != failed_.end()) return ended->second;
  return {status_code::aborted,
          sentence({"run ", step, " is over, or more than ", most_runs, " of its graph are under way"})};
}

inline void registered_part::end(std::uint64_t step, const error* why) {
  pass();
  std::shared_ptr<run_state> r;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (why == nullptr) {
      outcomes_.end(step);
    } else {
      outcomes_.refuse(step, *why);
      note_failed(step, *why);
    }
    const auto found = runs_.find(step);
    if (found == runs_.end()) return;
    r = std::move(found->second);
    runs_.erase(found);
    if (why != nullptr) r->ended_by.emplace(*why);
  }
  if (why == nullptr) return;
  r->edges.abort(*why);
  if (!TAGMA_BROKEN(run_not_stopped)) r->stop.cancel();
}

inline void registered_part::acknowledge(std::uint64_t before) {
  outcomes_.acknowledge(before);
  std::vector<std::uint64_t> left;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    failed_.erase(failed_.begin(), failed_.lower_bound(before));
    for (auto at = runs_.begin(); at != runs_.end() && at->first < before; ++at) left.push_back(at->first);
  }
  const error why(status_code::aborted, "the client of the run has given it up");
  for (const std::uint64_t step : left) end(step, &why);
}

inline void registered_part::owned_by(const void* connection) {
  const std::lock_guard<std::mutex> lock(mutex_);
  owner_ = connection;
}

inline std::uint64_t registered_part::lapse(const void* connection) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (owner_ != nullptr && owner_ != connection) return 0;
  owner_ = nullptr;
  return ++lease_;
}

inline bool registered_part::lapses(std::uint64_t lease) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return (owner_ == nullptr || TAGMA_BROKEN(lease_goes_on)) && lease_ == lease;
}

TAGMA_COLD inline void registered_part::begin_reset() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    reset_ = true;
  }
  (void)abort(reason_of(error(status_code::aborted, "")));
}

TAGMA_COLD inline error registered_part::reason_of(const error& caught, const run_state* run) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!reset_ && run != nullptr && run->ended_by.has_value() && caught.code() == status_code::cancelled)
    return *run->ended_by;
  if (!reset_) return caught;
  return {status_code::aborted,
          sentence({"container '", what_.container, "' was reset; sessions that are opened now begin anew"})};
}

TAGMA_COLD inline void registered_part::list_runs(run_list& to, std::int64_t now_ns) {
  std::map<std::uint64_t, std::shared_ptr<run_state>> all;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    all = runs_;
  }
  for (const auto& [step, r] : all) {
    if (r->done.load(memory_order::relaxed)) continue;
    const std::int64_t asked = r->asked_ns.load(memory_order::relaxed);
    run_list::run one{what_.graph, step, what_.container, asked != 0, asked == 0 ? 0 : now_ns - asked, {}};
    for (const meeting::waiting_edge& e : r->edges.waiting()) {
      const bool known = e.peer >= 0 && static_cast<std::size_t>(e.peer) < what_.tasks.size();
      one.edges.push_back({e.number, e.waits, known ? what_.tasks[static_cast<std::size_t>(e.peer)].id : task_id{}});
    }
    if (told_ != nullptr) one.note = told_->get();
    to.runs.push_back(std::move(one));
  }
}

inline std::vector<std::uint64_t> registered_part::abort(const error& why) {
  pass();
  std::map<std::uint64_t, std::shared_ptr<run_state>> all;
  std::vector<std::uint64_t> steps;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    all.swap(runs_);
    if (!TAGMA_BROKEN(one_loss_told))
      for (const auto& [step, e] : failed_) steps.push_back(step);
    for (const auto& [step, r] : all) outcomes_.refuse(step, why), note_failed(step, why), r->ended_by.emplace(why);
  }
  for (const auto& [step, r] : all) {
    steps.push_back(step);
    r->edges.abort(why);
    r->stop.cancel();
  }
  return steps;
}

}  // namespace tagma::service
