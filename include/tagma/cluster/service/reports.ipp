// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of reports.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/cluster/service/reports.hpp"
#include "tagma/cluster/service/words.hpp"

namespace tagma::service {

TAGMA_DECL std::string server_status::body() const {
  word_writer to;
  to.text(self.job), to.number(static_cast<std::int32_t>(self.task)), to.number(incarnation), to.text(build);
  to.number(uptime_ns), to.number(resident_bytes), to.number(graphs), to.number(runs);
  to.number(runs_begun), to.number(runs_failed);
  to.number(static_cast<std::uint32_t>(devices.size()));
  for (const device& d : devices)
    to.text(d.name), to.number(d.variable_bytes), to.number(d.used_bytes), to.number(d.limit_bytes);
  to.number(static_cast<std::uint32_t>(connections.size()));
  for (const connection& c : connections) {
    to.flag(c.incoming), to.text(c.peer.job), to.number(static_cast<std::int32_t>(c.peer.task)), to.text(c.role);
    to.number(c.incarnation), to.number(c.bytes_sent), to.number(c.bytes_received);
    to.number(c.messages_sent), to.number(c.messages_received), to.number(c.queued), to.number(c.open_calls);
    to.number(c.round_trip_ns), to.number(c.silent_ns), to.flag(c.shared_memory);
  }
  return to.take();
}

TAGMA_DECL server_status server_status::read(std::string_view body) {
  word_reader from(body, "server_status");
  server_status m;
  m.self.job = from.text(), m.self.task = from.number<std::int32_t>(), m.incarnation = from.number<std::uint64_t>();
  m.build = from.text(), m.uptime_ns = from.number<std::int64_t>(), m.resident_bytes = from.number<std::uint64_t>();
  m.graphs = from.number<std::uint32_t>(), m.runs = from.number<std::uint32_t>();
  m.runs_begun = from.number<std::uint64_t>(), m.runs_failed = from.number<std::uint64_t>();
  m.devices.resize(from.count(28));
  for (device& d : m.devices) {
    d.name = from.text(), d.variable_bytes = from.number<std::uint64_t>();
    d.used_bytes = from.number<std::uint64_t>(), d.limit_bytes = from.number<std::uint64_t>();
  }
  m.connections.resize(from.count(86));
  for (connection& c : m.connections) {
    c.incoming = from.flag(), c.peer.job = from.text(), c.peer.task = from.number<std::int32_t>();
    c.role = from.text(), c.incarnation = from.number<std::uint64_t>();
    c.bytes_sent = from.number<std::uint64_t>(), c.bytes_received = from.number<std::uint64_t>();
    c.messages_sent = from.number<std::uint64_t>(), c.messages_received = from.number<std::uint64_t>();
    c.queued = from.number<std::uint64_t>(), c.open_calls = from.number<std::uint64_t>();
    c.round_trip_ns = from.number<std::int64_t>(), c.silent_ns = from.number<std::int64_t>();
    c.shared_memory = from.flag();
  }
  from.end();
  return m;
}

TAGMA_DECL std::string container_list::body() const {
  word_writer to;
  to.number(static_cast<std::uint32_t>(containers.size()));
  for (const entry& c : containers) {
    to.text(c.name), to.flag(c.kept_apart == isolation::variables), to.number(c.variables);
    to.number(c.variable_bytes), to.number(c.others), to.number(c.graphs);
  }
  return to.take();
}

TAGMA_DECL container_list container_list::read(std::string_view body) {
  word_reader from(body, "container_list");
  container_list m;
  m.containers.resize(from.count(33));
  for (entry& c : m.containers) {
    c.name = from.text(), c.kept_apart = from.flag() ? isolation::variables : isolation::runs;
    c.variables = from.number<std::uint64_t>(), c.variable_bytes = from.number<std::uint64_t>();
    c.others = from.number<std::uint64_t>(), c.graphs = from.number<std::uint32_t>();
  }
  from.end();
  return m;
}

TAGMA_DECL std::string resource_list::body() const {
  word_writer to;
  to.number(static_cast<std::uint32_t>(resources.size()));
  for (const entry& r : resources) {
    to.text(r.kind), to.text(r.name), to.text(r.detail), to.spec(r.spec), to.flag(r.initialized), to.flag(r.closed);
    to.number(r.size), to.number(r.capacity), to.number(r.adding), to.number(r.taking), to.text(r.device);
  }
  return to.take();
}

TAGMA_DECL resource_list resource_list::read(std::string_view body) {
  word_reader from(body, "resource_list");
  resource_list m;
  m.resources.resize(from.count(44));
  for (entry& r : m.resources) {
    r.kind = from.text(), r.name = from.text(), r.detail = from.text(), r.spec = from.spec();
    r.initialized = from.flag(), r.closed = from.flag();
    r.size = from.number<std::int64_t>(), r.capacity = from.number<std::int64_t>();
    r.adding = from.number<std::uint32_t>(), r.taking = from.number<std::uint32_t>(), r.device = from.text();
  }
  from.end();
  return m;
}

TAGMA_DECL std::string read_variable::body() const {
  word_writer to;
  to.text(container), to.text(name), to.flag(elements);
  return to.take();
}

TAGMA_DECL read_variable read_variable::read(std::string_view body) {
  word_reader from(body, "read_variable");
  read_variable m;
  m.container = from.text(), m.name = from.text(), m.elements = from.flag();
  from.end();
  return m;
}

TAGMA_DECL std::string variable_value::body() const {
  word_writer to;
  to.spec(spec), to.number(norms.not_finite);
  to.real(norms.least), to.real(norms.most), to.real(norms.mean), to.real(norms.l1), to.real(norms.l2);
  return to.take();
}

TAGMA_DECL variable_value variable_value::read(std::string_view body) {
  word_reader from(body, "variable_value");
  variable_value m;
  m.spec = from.spec(), m.norms.not_finite = from.number<std::uint64_t>();
  m.norms.least = from.real(), m.norms.most = from.real(), m.norms.mean = from.real();
  m.norms.l1 = from.real(), m.norms.l2 = from.real();
  from.end();
  return m;
}

TAGMA_DECL std::string run_list::body() const {
  word_writer to;
  to.number(static_cast<std::uint32_t>(runs.size()));
  for (const run& r : runs) {
    to.number(r.graph), to.number(r.step), to.text(r.container), to.flag(r.asked), to.number(r.age_ns);
    to.number(static_cast<std::uint32_t>(r.edges.size()));
    for (const edge& e : r.edges) {
      to.number(e.number), to.number(static_cast<std::uint8_t>(e.waits));
      to.text(e.peer.job), to.number(static_cast<std::int32_t>(e.peer.task));
    }
    to.text(r.note);
  }
  return to.take();
}

TAGMA_DECL run_list run_list::read(std::string_view body) {
  word_reader from(body, "run_list");
  run_list m;
  m.runs.resize(from.count(37));
  for (run& r : m.runs) {
    r.graph = from.number<std::uint64_t>(), r.step = from.number<std::uint64_t>(), r.container = from.text();
    r.asked = from.flag(), r.age_ns = from.number<std::int64_t>();
    r.edges.resize(from.count(13));
    for (edge& e : r.edges) {
      e.number = from.number<std::int32_t>();
      const auto waits = from.number<std::uint8_t>();
      if (waits > static_cast<std::uint8_t>(wait::wanted))
        fail(status_code::invalid_argument,
             {"message 'run_list': an edge waits in way ", waits, ", which is not known"});
      e.waits = static_cast<wait>(waits);
      e.peer.job = from.text(), e.peer.task = from.number<std::int32_t>();
    }
    r.note = from.text();
  }
  from.end();
  return m;
}

TAGMA_DECL std::string begin_trace::body() const {
  word_writer to;
  to.number(most_ns);
  return to.take();
}

TAGMA_DECL begin_trace begin_trace::read(std::string_view body) {
  word_reader from(body, "begin_trace");
  begin_trace m;
  m.most_ns = from.number<std::int64_t>();
  from.end();
  if (m.most_ns <= 0 || m.most_ns > 600'000'000'000)
    fail(status_code::invalid_argument, {"message 'begin_trace': ", m.most_ns, " ns are not between 0 and 600 s"});
  return m;
}

TAGMA_DECL std::string end_trace::body() const {
  word_writer to;
  to.number(origin_ns), to.number(first_process), to.text(task);
  return to.take();
}

TAGMA_DECL end_trace end_trace::read(std::string_view body) {
  word_reader from(body, "end_trace");
  end_trace m;
  m.origin_ns = from.number<std::int64_t>(), m.first_process = from.number<std::uint32_t>(), m.task = from.text();
  from.end();
  if (m.first_process > 1'000'000'000)
    fail(status_code::invalid_argument, "message 'end_trace': numbers of processes are below 1,000,000,000");
  return m;
}

TAGMA_DECL std::string ended_trace::body() const {
  word_writer to;
  to.number(left_out);
  return to.take();
}

TAGMA_DECL ended_trace ended_trace::read(std::string_view body) {
  word_reader from(body, "ended_trace");
  ended_trace m;
  m.left_out = from.number<std::uint64_t>();
  from.end();
  return m;
}

TAGMA_DECL std::string reset_result::body() const {
  word_writer to;
  to.number(resources), to.number(graphs);
  return to.take();
}

TAGMA_DECL reset_result reset_result::read(std::string_view body) {
  word_reader from(body, "reset_result");
  reset_result m;
  m.resources = from.number<std::uint64_t>(), m.graphs = from.number<std::uint32_t>();
  from.end();
  return m;
}

TAGMA_DECL std::string probe::body() const {
  word_writer to;
  to.text(whom.job), to.number(static_cast<std::int32_t>(whom.task));
  return to.take();
}

TAGMA_DECL probe probe::read(std::string_view body) {
  word_reader from(body, "probe");
  probe m;
  m.whom.job = from.text(), m.whom.task = from.number<std::int32_t>();
  from.end();
  return m;
}

TAGMA_DECL std::string probe_result::body() const {
  word_writer to;
  to.text(address), to.number(incarnation), to.number(connect_ns), to.number(round_trip_ns);
  return to.take();
}

TAGMA_DECL probe_result probe_result::read(std::string_view body) {
  word_reader from(body, "probe_result");
  probe_result m;
  m.address = from.text(), m.incarnation = from.number<std::uint64_t>();
  m.connect_ns = from.number<std::int64_t>(), m.round_trip_ns = from.number<std::int64_t>();
  from.end();
  return m;
}

TAGMA_COLD TAGMA_DECL std::string waits_text(const resource_list::entry& e) {
  std::string text = e.detail.empty() ? sentence({e.kind, " '", e.name, "'"}) : e.detail;
  if (e.kind == "queue") append_parts(text, {", ", e.size, e.size == 1 ? " element" : " elements"});
  if (e.kind == "queue" && e.capacity >= 0) append_parts(text, {" of ", e.capacity});
  return sentence({text, ": ", e.adding, " wait to add, ", e.taking, " to take"});
}

}  // namespace tagma::service
