// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Where runs of a container wait while somebody takes a picture of its variables.

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"

namespace tagma::service {

/// A graph, and the step of a run of it.
using run_number = std::pair<std::uint64_t, std::uint64_t>;

/// For several threads. Whoever holds it keeps those out that have not begun; nobody waits with a thread.
///
/// A run has parts on several servers. Who wants a state between runs holds all of them, lets those in that have begun
/// somewhere, and has it when no run is open anywhere: each is then done everywhere or nowhere.
class run_gate {
 public:
  /// Who wants to enter.
  struct visitor {
    std::function<void()> go;           ///< calls `leave` at its end
    std::function<void()> turned_away;  ///< instead, where it never may: the server stops
  };

  /// Lets it go when it may, on whatever thread that is.
  void enter(const run_number& run, visitor who);
  void leave(const run_number& run);
  /// Those who are inside.
  [[nodiscard]] std::vector<run_number> inside() const;

  /// Closes it, or keeps it closed, and lets these in.
  /// @param token of who holds it; 0 is nobody
  /// @returns who is to go, without locks; false in the first place if another one holds it
  [[nodiscard]] std::pair<bool, std::vector<visitor>> hold(std::uint64_t token,
                                                           const std::vector<run_number>& admitted);
  /// Opens it, unless another one holds it.
  /// @returns who is to go
  [[nodiscard]] std::vector<visitor> open(std::uint64_t token);
  /// Turns away those who wait and those to come: the server stops.
  void end();
  [[nodiscard]] bool is_held_by(std::uint64_t token) const;
  /// Counts the calls of `hold` of who holds it now.
  [[nodiscard]] std::uint64_t times_held() const;

 private:
  mutable std::mutex mutex_;
  std::uint64_t token_ = 0, times_ = 0;
  std::set<run_number> admitted_;
  std::multiset<run_number> inside_;
  std::multimap<run_number, visitor> waiting_;
  bool ended_ = false;
};

/// A run that has entered, until it leaves: early, or at the end of this.
class inside_gate {
 public:
  inside_gate(run_gate& of, const run_number& run) : of_(&of), run_(run) {}
  ~inside_gate() { leave(); }
  inside_gate(const inside_gate&) = delete;
  inside_gate& operator=(const inside_gate&) = delete;
  void leave() {
    if (run_gate* const of = std::exchange(of_, nullptr); of != nullptr) of->leave(run_);
  }

 private:
  run_gate* of_;
  run_number run_;
};

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/run_gate.ipp"
#endif
