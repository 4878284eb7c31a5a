// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Timelines of runs, in the format of Chrome's tracing (the "Trace Event Format", complete events and metadata), which
/// ui.perfetto.dev and chrome://tracing draw.

#include <string>
#include <vector>

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

  void add(const runtime::traced_step& step) noexcept override {
    const mutex_lock lock(mutex_);
    try {
      append(step);
    } catch (...) {
      ++lost_;  // no memory for a record: the run goes on
    }
  }

  /// Steps recorded so far, and those that there was no memory for.
  [[nodiscard]] std::size_t size() const {
    const mutex_lock lock(mutex_);
    return size_;
  }
  [[nodiscard]] std::size_t lost() const {
    const mutex_lock lock(mutex_);
    return lost_;
  }

  /// The timeline as JSON: times in microseconds since this object was made.
  [[nodiscard]] std::string json() const {
    const mutex_lock lock(mutex_);
    std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      text += sentence({d == 0 ? "" : ",\n", "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":", d,
                        ",\"args\":{\"name\":", json::quoted(runtime::short_name(devices_[d])), "}}"});
      std::size_t threads = 0;
      for (std::size_t t = 0; t < lanes_.size(); ++t) {
        const lane& l = lanes_[t];
        const std::string name = l.queue.empty() ? sentence({"thread ", threads++}) : l.queue;
        if (l.queue.empty() || l.device == d)
          text += sentence({",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":", d, ",\"tid\":", t,
                            ",\"args\":{\"name\":", json::quoted(name), "}}"});
      }
    }
    return text + events_ + "\n]}\n";
  }

  /// Writes the timeline to a file, all of it or nothing. Throws as `replace_file` does.
  void save(const std::string& path) const {
    const std::string text = json();
    const std::string_view pieces[] = {text};
    replace_file(path, pieces);
  }

 private:
  void append(const runtime::traced_step& s) {
    const plan::plan_node& n = s.node;
    std::string inputs;
    std::int64_t bytes = bytes_of(s.out);
    for (const runtime::operand& o : s.in) {
      inputs += sentence({inputs.empty() ? "" : ", ", to_string(o.type), " ", to_string(o.dims)});
      bytes += bytes_of(o);
    }
    const std::size_t device = number_of(devices_, s.device);
    const std::string name = n.name.empty() ? std::string(n.op->name) : sentence({n.op->name, " ", n.name, n.suffix});
    const std::string_view category = n.op == &ir::info<plan::transfer> ? "transfer"
                                      : n.op->is(ir::op_kind::update)   ? "update"
                                      : s.loop                          ? "loop"
                                                                        : "kernel";
    events_ += sentence({",\n{\"name\":",
                         json::quoted(name),
                         ",\"cat\":\"",
                         category,
                         "\",\"ph\":\"X\",\"pid\":",
                         device,
                         ",\"tid\":",
                         lane_of(s.queue, device),
                         ",\"ts\":",
                         microseconds(s.begin_ns - begin_ns_),
                         ",\"dur\":",
                         microseconds(s.end_ns - s.begin_ns),
                         ",\"args\":{\"node\":",
                         n.source,
                         ",\"run\":",
                         s.run,
                         ",\"inputs\":\"",
                         inputs,
                         "\",\"output\":\"",
                         to_string(s.out.type),
                         " ",
                         to_string(s.out.dims),
                         "\",\"bytes\":",
                         bytes,
                         "}}"});
    ++size_;
  }

  [[nodiscard]] static std::int64_t bytes_of(const runtime::operand& o) { return tagma::bytes_of({o.type, o.dims}); }
  /// "12.345".
  [[nodiscard]] static std::string microseconds(std::int64_t ns) {
    return sentence({ns / 1000, ".", std::to_string(1000 + ns % 1000).substr(1)});
  }
  /// The place of a device in the order in which devices appeared.
  [[nodiscard]] static std::size_t number_of(std::vector<device_spec>& known, const device_spec& device) {
    for (std::size_t d = 0; d < known.size(); ++d)
      if (known[d] == device) return d;
    known.push_back(device);
    return known.size() - 1;
  }
  /// Who does one step after the other: a thread, or a queue of a device.
  struct lane {
    pthread_t thread{};
    std::string queue;
    std::size_t device = 0;
  };
  /// The place of a queue, or of the calling thread, in the order in which they appeared.
  [[nodiscard]] std::size_t lane_of(std::string_view queue, std::size_t device) {
    const pthread_t self = pthread_self();
    for (std::size_t t = 0; t < lanes_.size(); ++t)
      if (lanes_[t].queue == queue &&
          (queue.empty() ? pthread_equal(lanes_[t].thread, self) != 0 : lanes_[t].device == device))
        return t;
    lanes_.push_back({self, std::string(queue), device});
    return lanes_.size() - 1;
  }

  mutable mutex mutex_;
  std::string events_;
  std::vector<lane> lanes_;
  std::vector<device_spec> devices_{ir::local_device("CPU", 0)};  // in the order in which they appeared
  std::size_t size_ = 0;
  std::size_t lost_ = 0;
  std::int64_t begin_ns_;
};

/// Records the steps of a run: give it to `run`.
[[nodiscard]] inline run_limits trace_to(trace& timeline) {
  run_limits l;
  l.trace = &timeline;
  return l;
}

}  // namespace tagma
