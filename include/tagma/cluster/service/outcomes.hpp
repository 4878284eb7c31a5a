// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What became of the runs of a part: a run that is asked for again, since its answer was lost, is not run again.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"

namespace tagma::service {

/// The answer to `run_part`.
struct run_answer {
  std::string body;                         ///< a `part_results`
  std::shared_ptr<const std::string> bulk;  ///< nothing if there is none

  /// That of a run that has failed.
  [[nodiscard]] static run_answer of(const error& why);
};

/// What is kept of one part. Beyond that, the results of the oldest runs go first, then the knowledge that there was
/// such a run: then it counts as over.
struct outcome_limits {
  std::size_t runs = 4096;               ///< that have an answer which their client has not acknowledged
  std::size_t bytes = 64 * 1024 * 1024;  ///< of their results
};

/// For several threads. Runs have the numbers of steps, of which their client uses each once.
class outcomes {
 public:
  /// Tells somebody who asked for a run what it came to; by any thread.
  using asker = std::function<void(const run_answer&)>;

  /// @param first runs before it are over
  explicit outcomes(std::uint64_t first = 0, const outcome_limits& limits = {}) : limits_(limits), below_(first) {}

  /// What somebody is to do who asks for a run.
  enum class entrance : std::uint8_t {
    fresh,   ///< run it, and call `finish`
    joined,  ///< nothing: it is under way, and its end will be told
    told,    ///< nothing: it was done before, and its answer has been told
    over     ///< refuse it: its client has ended it, or the answer is not kept any more
  };
  [[nodiscard]] entrance begin(std::uint64_t step, asker who);
  /// A run has its answer, which is told to all who asked for it.
  void finish(std::uint64_t step, run_answer answer);
  /// The client has the answer of a run, or wants it no more.
  void end(std::uint64_t step);
  /// A run that was not asked for yet must not begin any more, and has this answer; others end by themselves.
  void refuse(std::uint64_t step, const error& why);
  /// The client has those of all runs before this one.
  void acknowledge(std::uint64_t before);
  /// Whether a run must not begin any more, nor anything of it be kept.
  [[nodiscard]] bool is_over(std::uint64_t step) const;
  /// Runs that have begun here and that their client has not ended.
  [[nodiscard]] std::vector<std::uint64_t> open() const;

 private:
  struct entry {
    bool done = false;
    bool refused = false;
    bool ended = false;  // by its client, while it was under way
    run_answer answer{};
    std::vector<asker> askers{};
  };

  [[nodiscard]] bool over(std::uint64_t step) const {
    // What is known of a run counts, however old it is.
    const auto found = entries_.find(step);
    return found != entries_.end() ? found->second.ended : step < below_ || ended_.count(step) != 0;
  }
  void end_locked(std::uint64_t step);
  void note_ended(std::uint64_t step);
  void close(std::uint64_t step);
  void shrink();
  [[nodiscard]] static std::size_t size_of(const run_answer& a);

  outcome_limits limits_;
  mutable std::mutex mutex_;
  std::uint64_t below_;            // all runs before it are over, but for those that have an entry
  std::set<std::uint64_t> ended_;  // others that are over
  std::map<std::uint64_t, entry> entries_;
  std::size_t done_ = 0, bytes_ = 0;
};

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/outcomes.ipp"
#endif
