// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The steps of all runs of a server, for as long as somebody wants them.

#include <cstdint>
#include <string>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/observe/trace.hpp"

namespace tagma::service {

/// A timeline that does not grow for ever.
class recording final : public runtime::trace_sink {
 public:
  static constexpr std::size_t most = 200'000;  ///< steps; others are counted

  void add(const runtime::traced_step& step) noexcept override {
    if (over_.load(memory_order::relaxed)) return;
    if (timeline_.size() < most)
      timeline_.add(step);
    else
      left_out_.fetch_add(1, memory_order::relaxed);
  }
  /// Runs that go on are not recorded any more.
  void end() { over_.store(true, memory_order::relaxed); }

  [[nodiscard]] std::string events(const trace::part& of) const { return timeline_.events(of); }
  [[nodiscard]] std::uint64_t left_out() const {
    return left_out_.load(memory_order::relaxed) + static_cast<std::uint64_t>(timeline_.lost());
  }

 private:
  trace timeline_;
  atomic<std::uint64_t> left_out_{0};
  atomic<bool> over_{false};
};

}  // namespace tagma::service
