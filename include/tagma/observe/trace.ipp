// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of trace.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/observe/trace.hpp"

namespace tagma {

TAGMA_DECL void trace::add(const runtime::traced_step& step) noexcept {
  const mutex_lock lock(mutex_);
  try {
    append(step);
  } catch (...) {
    ++lost_;  // no memory for a record: the run goes on
  }
}

TAGMA_DECL std::size_t trace::size() const {
  const mutex_lock lock(mutex_);
  return events_.size();
}

TAGMA_DECL std::size_t trace::lost() const {
  const mutex_lock lock(mutex_);
  return lost_;
}

TAGMA_DECL std::string trace::json() const {
  const std::string all[] = {events({begin_ns_})};
  return json_of(all);
}

TAGMA_DECL std::string trace::json_of(array_view<const std::string> parts) {
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  const char* between = "";
  for (const std::string& p : parts) append_parts(text, {between, p}), between = ",\n";
  return text + "\n]}\n";
}

TAGMA_DECL std::string trace::events(const part& of) const {
  const mutex_lock lock(mutex_);
  const auto process = [&](std::size_t device) { return static_cast<std::size_t>(of.first_process) + device; };
  std::string text;
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    const std::string shown = sentence({of.task, of.task.empty() ? "" : " ", runtime::short_name(devices_[d])});
    text += sentence({d == 0 ? "" : ",\n", "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":", process(d),
                      ",\"args\":{\"name\":", json::quoted(shown), "}}"});
    std::size_t threads = 0;
    for (std::size_t t = 0; t < lanes_.size(); ++t) {
      const lane& l = lanes_[t];
      const std::string name = l.queue.empty() ? sentence({"thread ", threads++}) : l.queue;
      if (l.queue.empty() || l.device == d)
        text += sentence({",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":", process(d), ",\"tid\":", t,
                          ",\"args\":{\"name\":", json::quoted(name), "}}"});
    }
  }
  for (const event& e : events_)
    append_parts(text, {",\n", e.name, process(e.device), ",\"tid\":", e.lane,
                        ",\"ts\":", microseconds(e.begin_ns - of.origin_ns),
                        ",\"dur\":", microseconds(e.end_ns - e.begin_ns), e.arguments});
  return text;
}

TAGMA_DECL void trace::save(const std::string& path) const {
  const std::string text = json();
  const std::string_view pieces[] = {text};
  replace_file(path, pieces);
}

TAGMA_DECL void trace::append(const runtime::traced_step& s) {
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
  events_.push_back(
      {sentence({"{\"name\":", json::quoted(name), ",\"cat\":\"", category, "\",\"ph\":\"X\",\"pid\":"}),
       sentence({",\"args\":{\"node\":", n.source, ",\"run\":", s.run, ",\"inputs\":\"", inputs, "\",\"output\":\"",
                 to_string(s.out.type), " ", to_string(s.out.dims), "\",\"bytes\":", bytes, "}}"}),
       device, lane_of(s.queue, device), s.begin_ns, s.end_ns});
}

TAGMA_DECL std::string trace::microseconds(std::int64_t ns) {
  const std::int64_t size = ns < 0 ? -ns : ns;  // of what began before the origin
  return sentence({ns < 0 ? "-" : "", size / 1000, ".", std::to_string(1000 + size % 1000).substr(1)});
}

TAGMA_DECL std::size_t trace::number_of(std::vector<device_spec>& known, const device_spec& device) {
  for (std::size_t d = 0; d < known.size(); ++d)
    if (known[d] == device) return d;
  known.push_back(device);
  return known.size() - 1;
}

TAGMA_DECL std::size_t trace::lane_of(std::string_view queue, std::size_t device) {
  const pthread_t self = pthread_self();
  for (std::size_t t = 0; t < lanes_.size(); ++t)
    if (lanes_[t].queue == queue &&
        (queue.empty() ? pthread_equal(lanes_[t].thread, self) != 0 : lanes_[t].device == device))
      return t;
  lanes_.push_back({self, std::string(queue), device});
  return lanes_.size() - 1;
}

TAGMA_DECL run_limits trace_to(trace& timeline) {
  run_limits l;
  l.trace = &timeline;
  return l;
}

}  // namespace tagma
