// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a run tells about its steps to who asks for it.

#include "tagma/runtime/kernel.hpp"

namespace tagma::runtime {

/// A step that has ended, or failed.
struct traced_step {
  const plan::plan_node& node;   ///< what it computes; of a loop, the last of its operations; of a kernel with a loop
                                 ///< behind it, the kernel's
  const device_spec& device;     ///< where it ran
  std::string_view queue;        ///< of the device; empty: the thread that tells
  bool loop = false;             ///< several element-wise operations in one
  array_view<const operand> in;  ///< addresses are those of this run
  const operand& out;
  std::uint64_t run = 0;      ///< counts the runs of the session
  std::int64_t begin_ns = 0;  ///< of the monotonic clock
  std::int64_t end_ns = 0;
};

/// Receives the steps of runs, from the threads that did them, several at once.
class trace_sink {
 public:
  trace_sink() = default;
  trace_sink(const trace_sink&) = delete;
  trace_sink& operator=(const trace_sink&) = delete;
  virtual ~trace_sink() = default;
  virtual void add(const traced_step& step) noexcept = 0;
};

}  // namespace tagma::runtime
