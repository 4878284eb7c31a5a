// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of run_gate.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/run_gate.hpp"
#include "tagma/transport/broken.hpp"

namespace tagma::service {

TAGMA_DECL void run_gate::enter(const run_number& run, visitor who) {
  bool in = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool held = token_ != 0 && admitted_.count(run) == 0 && !TAGMA_BROKEN(gate_is_open);
    if (held && !ended_) {
      waiting_.emplace(run, std::move(who));
      return;
    }
    in = !held;
    if (in) inside_.insert(run);
  }
  in ? who.go() : who.turned_away();
}

TAGMA_DECL void run_gate::leave(const run_number& run) {
  const std::lock_guard<std::mutex> lock(mutex_);
  inside_.erase(inside_.find(run));
}

TAGMA_DECL std::vector<run_number> run_gate::inside() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {inside_.begin(), inside_.end()};
}

TAGMA_DECL std::pair<bool, std::vector<run_gate::visitor>> run_gate::hold(std::uint64_t token,
                                                                          const std::vector<run_number>& admitted) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (token_ != 0 && token_ != token && !TAGMA_BROKEN(gate_changes_hands)) return {false, {}};
  token_ = token;
  ++times_;
  std::vector<visitor> go;
  for (const run_number& run : admitted) {
    admitted_.insert(run);
    const auto [from, to] = waiting_.equal_range(run);
    for (auto at = from; at != to; ++at) {
      inside_.insert(run);
      go.push_back(std::move(at->second));
    }
    waiting_.erase(from, to);
  }
  return {true, std::move(go)};
}

TAGMA_DECL std::vector<run_gate::visitor> run_gate::open(std::uint64_t token) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<visitor> go;
  if (token_ == 0 || token_ != token || TAGMA_BROKEN(gate_stays_shut)) return go;
  token_ = 0;
  admitted_.clear();
  for (auto& [run, f] : waiting_) {
    inside_.insert(run);
    go.push_back(std::move(f));
  }
  waiting_.clear();
  return go;
}

TAGMA_DECL void run_gate::end() {
  std::multimap<run_number, visitor> gone;  // one of them may own this
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
    gone.swap(waiting_);
  }
  for (const auto& [run, f] : gone) f.turned_away();
}

TAGMA_DECL bool run_gate::is_held_by(std::uint64_t token) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return token_ != 0 && token_ == token;
}

TAGMA_DECL std::uint64_t run_gate::times_held() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return times_;
}

}  // namespace tagma::service
