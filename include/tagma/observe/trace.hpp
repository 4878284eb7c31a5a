// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Timelines of runs, in the format of Chrome's tracing (the "Trace Event Format", complete events and metadata), which
/// ui.perfetto.dev and chrome://tracing draw.

#include <string>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/json.hpp"
#include "tagma/base/replace_file.hpp"
#include "tagma/graph/local_devices.hpp"
#include "tagma/plan/transfer.hpp"
#include "tagma/runtime/device.hpp"
#include "tagma/runtime/gate.hpp"
#include "tagma/runtime/trace.hpp"

namespace tagma {

/// Collects the steps of the runs that are told to: `session.run(train, trace_to(timeline), ...)`. Must outlive them.
/// The times of steps on devices with queues, such as GPUs, are those at which the device did them; such a run is
/// issued step by step, where others replay a recorded graph.
class trace final : public runtime::trace_sink {
 public:
  trace() : begin_ns_(runtime::now_ns()) {}

  /// Called by sessions for each step.
  TAGMA_DECL void add(const runtime::traced_step& step) noexcept override;

  /// Steps recorded so far, and those that there was no memory for.
  [[nodiscard]] std::size_t size() const;
  /// Steps that there was no memory for.
  [[nodiscard]] std::size_t lost() const;

  /// The timeline as JSON: times in microseconds since this object was made.
  [[nodiscard]] std::string json() const;

  /// Its part of a timeline of several processes: events with a ',' and a line between them.
  struct part {
    std::int64_t origin_ns = 0;  ///< of times, on the clock of this process
    int first_process = 0;       ///< devices are shown as processes with numbers from here on
    std::string_view task{};     ///< in front of the names of devices
  };
  /// These events, with the numbers and names that `of` says.
  [[nodiscard]] std::string events(const part& of) const;
  /// Joins such parts.
  [[nodiscard]] static std::string json_of(array_view<const std::string> parts);

  /// Writes the timeline to a file, all of it or nothing. Throws as `replace_file` does.
  void save(const std::string& path) const;

 private:
  void append(const runtime::traced_step& s);

  [[nodiscard]] static std::int64_t bytes_of(const runtime::operand& o) { return tagma::bytes_of({o.type, o.dims}); }
  /// "12.345".
  [[nodiscard]] static std::string microseconds(std::int64_t ns);
  /// The place of a device in the order in which devices appeared.
  [[nodiscard]] static std::size_t number_of(std::vector<device_spec>& known, const device_spec& device);
  /// Who does one step after the other: a thread, or a queue of a device.
  struct lane {
    pthread_t thread{};
    std::string queue;
    std::size_t device = 0;
  };
  /// The place of a queue, or of the calling thread, in the order in which they appeared.
  [[nodiscard]] std::size_t lane_of(std::string_view queue, std::size_t device);

  /// A step: its event as text, around the numbers that depend on who shows it.
  struct event {
    std::string name, arguments;
    std::size_t device, lane;
    std::int64_t begin_ns, end_ns;
  };

  mutable mutex mutex_;
  std::vector<event> events_;
  std::vector<lane> lanes_;
  std::vector<device_spec> devices_{ir::local_device("CPU", 0)};  // in the order in which they appeared
  std::size_t lost_ = 0;
  std::int64_t begin_ns_;
};

/// Records the steps of a run: give it to `run`.
[[nodiscard]] run_limits trace_to(trace& timeline);

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/observe/trace.ipp"
#endif
