// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of registered_part.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/registered_part.hpp"
#include "tagma/expr/op/exchange.hpp"
#include "tagma/transport/broken.hpp"

namespace tagma::service {

TAGMA_DECL registered_part::registered_part(add_part what, const any_program& program, const container& state,
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
                      .gpu = options.others_use,
                      .state = state,
                      .variable_prefix = TAGMA_BROKEN(prefix_forgotten) ? std::string() : what_.variable_prefix},
      options.others);
  const ir::graph_view g = program_.graph();
  for (ir::node_id i = 0; i < g.size(); ++i) {
    if (g[i].op == &ir::rules<op::receive> || g[i].op == &ir::rules<op::receive_open>)
      takes_.insert(static_cast<std::int32_t>(g.attributes(i)[0]));
    if (g[i].op == &ir::rules<op::send>) sends_.insert(static_cast<std::int32_t>(g.attributes(i)[0]));
  }
}

TAGMA_DECL registered_part::registered_part(add_part what, const any_program& program, kept_session runs,
                                            std::shared_ptr<last_told> told, const worker_options& options)
    : what_(std::move(what)),
      program_(program),
      driven_(std::move(runs)),
      told_(std::move(told)),
      outcomes_(what_.first_step, {options.outcomes, options.outcome_bytes}) {}

TAGMA_DECL std::shared_ptr<run_state> registered_part::run(std::uint64_t step) {
  pass();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return nullptr;
  // One that has not ended goes on, also if later ones have, and more of these than are remembered.
  if (const auto found = runs_.find(step); found != runs_.end()) return found->second;
  if (outcomes_.is_over(step) || failed_.count(step) != 0 || runs_.size() >= most_runs) return nullptr;
  return runs_.emplace(step, std::make_shared<run_state>(what_.graph, step, out_)).first->second;
}

TAGMA_DECL error registered_part::why_not(std::uint64_t step) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto ended = failed_.find(step); ended != failed_.end()) return ended->second;
  if (closed_) return *closed_;
  return {status_code::aborted,
          sentence({"run ", step, " is over, or more than ", most_runs, " of its graph are under way"})};
}

TAGMA_DECL void registered_part::end(std::uint64_t step, const error* why) {
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

TAGMA_DECL void registered_part::acknowledge(std::uint64_t before) {
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

TAGMA_DECL void registered_part::owned_by(const void* connection) {
  const std::lock_guard<std::mutex> lock(mutex_);
  owner_ = connection;
}

TAGMA_DECL std::uint64_t registered_part::lapse(const void* connection) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (owner_ != nullptr && owner_ != connection) return 0;
  owner_ = nullptr;
  return ++lease_;
}

TAGMA_DECL bool registered_part::lapses(std::uint64_t lease) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return (owner_ == nullptr || TAGMA_BROKEN(lease_goes_on)) && lease_ == lease;
}

TAGMA_COLD TAGMA_DECL void registered_part::begin_reset() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    reset_ = true;
  }
  (void)abort(reason_of(error(status_code::aborted, "")));
}

TAGMA_COLD TAGMA_DECL error registered_part::reason_of(const error& caught, const run_state* run) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!reset_ && run != nullptr && run->ended_by.has_value() && caught.code() == status_code::cancelled)
    return *run->ended_by;
  if (!reset_) return caught;
  return {status_code::aborted,
          sentence({"container '", what_.container, "' was reset; sessions that are opened now begin anew"})};
}

TAGMA_COLD TAGMA_DECL void registered_part::list_runs(run_list& to, std::int64_t now_ns) {
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

TAGMA_DECL void registered_part::close(const error& why) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = why;
  }
  (void)abort(why);
}

TAGMA_DECL std::vector<std::uint64_t> registered_part::abort(const error& why) {
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
