// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of outcomes.hpp: in the compiled half, or else in each file that includes it.

#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/messages.hpp"
#include "tagma/cluster/service/outcomes.hpp"
#include "tagma/runtime/caught.hpp"
#include "tagma/transport/broken.hpp"

namespace tagma::service {

TAGMA_DECL run_answer run_answer::of(const error& why) {
  part_results failed;
  failed.code = why.code();
  failed.why = runtime::without_code(why.what());
  return {failed.body(), nullptr};
}

TAGMA_DECL std::size_t outcomes::size_of(const run_answer& a) {
  return a.body.size() + (a.bulk == nullptr ? 0 : a.bulk->size());
}

TAGMA_DECL outcomes::entrance outcomes::begin(std::uint64_t step, asker who) {
  run_answer known;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (over(step)) return entrance::over;
    const auto [at, fresh] = entries_.try_emplace(step);
    if (!at->second.done || TAGMA_BROKEN(done_again)) {
      at->second.askers.push_back(std::move(who));
      return fresh || TAGMA_BROKEN(joined_not_seen) || TAGMA_BROKEN(done_again) ? entrance::fresh : entrance::joined;
    }
    known = at->second.answer;
  }
  who(known);
  return entrance::told;
}

TAGMA_DECL void outcomes::finish(std::uint64_t step, run_answer answer) {
  std::vector<asker> askers;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = entries_.find(step);
    if (found == entries_.end() || found->second.done) return;
    askers.swap(found->second.askers);
    if (TAGMA_BROKEN(one_is_answered)) askers.resize(1);
    if (over(step)) {
      entries_.erase(found);
    } else {
      found->second.done = true;
      found->second.answer = answer;
      ++done_;
      bytes_ += size_of(answer);
      shrink();
    }
  }
  for (const asker& who : askers) who(answer);
}

TAGMA_DECL void outcomes::close(std::uint64_t step) {
  const auto found = entries_.find(step);
  if (found == entries_.end()) return;
  if (!found->second.done) {  // what is under way goes at its end
    found->second.ended = !TAGMA_BROKEN(end_not_kept);
    return;
  }
  --done_;
  bytes_ -= size_of(found->second.answer);
  entries_.erase(found);
}

TAGMA_DECL void outcomes::end(std::uint64_t step) {
  const std::lock_guard<std::mutex> lock(mutex_);
  end_locked(step);
}

TAGMA_DECL void outcomes::refuse(std::uint64_t step, const error& why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (over(step)) return;
  const auto [at, fresh] = entries_.try_emplace(step);
  if (!fresh) return;
  at->second.done = at->second.refused = true;
  at->second.answer = run_answer::of(why);
  ++done_;
  bytes_ += size_of(at->second.answer);
  shrink();
}

TAGMA_DECL void outcomes::end_locked(std::uint64_t step) {
  if (over(step)) return;
  if (!TAGMA_BROKEN(end_not_kept)) note_ended(step);
  close(step);
}

TAGMA_DECL void outcomes::note_ended(std::uint64_t step) {
  if (step >= below_) ended_.insert(step);
  // The numbers of most clients end one after the other: then one number says it of all.
  while (!ended_.empty() && *ended_.begin() == below_) ended_.erase(ended_.begin()), ++below_;
  while (ended_.size() > limits_.runs) {
    below_ = *ended_.begin() + 1;
    ended_.erase(ended_.begin());
  }
}

TAGMA_DECL void outcomes::acknowledge(std::uint64_t before) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto at = entries_.begin(); at != entries_.end() && at->first < before;) close(at++->first);
  if (before <= below_) return;
  below_ = before;
  ended_.erase(ended_.begin(), ended_.lower_bound(before));
}

TAGMA_DECL bool outcomes::is_over(std::uint64_t step) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return over(step);
}

TAGMA_DECL std::vector<std::uint64_t> outcomes::open() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::uint64_t> steps;
  for (const auto& [step, e] : entries_)
    if (!e.refused) steps.push_back(step);
  return steps;
}

TAGMA_DECL void outcomes::shrink() {
  for (auto at = entries_.begin(); bytes_ > limits_.bytes && at != entries_.end(); ++at) {
    run_answer& a = at->second.answer;
    if (!at->second.done || a.bulk == nullptr) continue;
    bytes_ -= size_of(a);
    part_results gone;
    gone.code = status_code::data_loss;
    gone.why = sentence({"run ", at->first, " was done, once, but its results are not kept any more"});
    a = {gone.body(), nullptr};
    bytes_ += size_of(a);
  }
  for (auto at = entries_.begin(); done_ > limits_.runs && at != entries_.end();) {
    const std::uint64_t step = at->first;
    const bool done = at++->second.done;
    if (!done) continue;
    close(step);
    note_ended(step);
  }
}

}  // namespace tagma::service
