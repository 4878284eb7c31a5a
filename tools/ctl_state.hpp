// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What tagma-ctl says of tasks and their state: status, devices, containers, variables, queues, reset.

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ctl_cluster.hpp"
#include "ctl_table.hpp"
#include "json_text.hpp"

namespace tagma::tools::ctl {

inline void show_status(asked_cluster& all, const request& given) {
  const auto reports = all.ask_all<service::server_status>(service::message::status);
  table t({"TASK", "ADDRESS", "STATE", "UP", "GRAPHS", "RUNS", "BEGUN", "FAILED", "LINKS", "VARIABLES", "RESIDENT"});
  json_text j;
  j.begin('{').name("tasks").begin('[');
  std::set<std::string> builds;
  for (const auto& r : reports) {
    const service::server_status& s = r.report;
    if (begin_task(j, r)) {
      std::uint64_t variables = 0;
      for (const auto& d : s.devices) variables += d.variable_bytes;
      builds.insert(s.build);
      t.add({short_name(r.task.id), r.task.address, "ok", time_text(s.uptime_ns), std::to_string(s.graphs),
             std::to_string(s.runs), std::to_string(s.runs_begun), std::to_string(s.runs_failed),
             std::to_string(s.connections.size()), bytes_text(variables), bytes_text(s.resident_bytes)});
      j.name("incarnation").value(hex_text(s.incarnation)).name("build").value(s.build);
      j.name("uptime_ns").value(s.uptime_ns).name("resident_bytes").value(s.resident_bytes);
      j.name("graphs").value(s.graphs).name("runs").value(s.runs).name("runs_begun").value(s.runs_begun);
      j.name("runs_failed").value(s.runs_failed).name("variable_bytes").value(variables).name("connections").begin('[');
      for (const auto& c : s.connections) {
        j.begin('{')
            .name("peer")
            .value(short_name(c.peer))
            .name("role")
            .value(c.role)
            .name("incoming")
            .value(c.incoming);
        j.name("incarnation").value(hex_text(c.incarnation)).name("bytes_sent").value(c.bytes_sent);
        j.name("bytes_received").value(c.bytes_received).name("messages_sent").value(c.messages_sent);
        j.name("messages_received").value(c.messages_received).name("queued").value(c.queued);
        j.name("open_calls").value(c.open_calls).name("round_trip_ns").value(c.round_trip_ns);
        j.name("silent_ns").value(c.silent_ns).name("shared_memory").value(c.shared_memory).end('}');
      }
      j.end(']');
    } else {
      t.add({short_name(r.task.id), r.task.address, std::string(to_string(r.problem->code()))});
    }
    j.end('}');
  }
  j.end(']').end('}');
  if (given.json) return print(j.text() + "\n");
  print(t.text());
  for (const std::string& b : builds) print(printable(b) + "\n");
}

inline void show_devices(asked_cluster& all, const request& given) {
  table t({"TASK", "DEVICE", "VARIABLES", "IN USE", "LIMIT"});
  json_text j;
  j.begin('{').name("tasks").begin('[');
  for (const auto& r : all.ask_all<service::server_status>(service::message::status)) {
    if (begin_task(j, r)) {
      j.name("devices").begin('[');
      for (const auto& d : r.report.devices) {
        // A CPU has the memory of its process, of which `status` tells.
        const bool own = d.used_bytes != 0 || d.limit_bytes != 0;
        t.add({short_name(r.task.id), d.name, bytes_text(d.variable_bytes), own ? bytes_text(d.used_bytes) : "-",
               own ? bytes_text(d.limit_bytes) : "-"});
        j.begin('{').name("name").value(d.name).name("variable_bytes").value(d.variable_bytes);
        j.name("used_bytes").value(d.used_bytes).name("limit_bytes").value(d.limit_bytes).end('}');
      }
      j.end(']');
    }
    j.end('}');
  }
  j.end(']').end('}');
  print(given.json ? j.text() + "\n" : t.text());
}

inline void show_containers(asked_cluster& all, const request& given) {
  table t({"TASK", "CONTAINER", "KEEPS APART", "VARIABLES", "BYTES", "OTHERS", "GRAPHS"});
  json_text j;
  j.begin('{').name("tasks").begin('[');
  for (const auto& r : all.ask_all<service::container_list>(service::message::list_containers)) {
    if (begin_task(j, r)) {
      j.name("containers").begin('[');
      for (const auto& c : r.report.containers) {
        const char* const apart = c.kept_apart == isolation::runs ? "runs" : "variables";
        t.add({short_name(r.task.id), "'" + c.name + "'", apart, std::to_string(c.variables),
               bytes_text(c.variable_bytes), std::to_string(c.others), std::to_string(c.graphs)});
        j.begin('{').name("name").value(c.name).name("keeps_apart").value(std::string_view(apart));
        j.name("variables").value(c.variables).name("variable_bytes").value(c.variable_bytes);
        j.name("others").value(c.others).name("graphs").value(c.graphs).end('}');
      }
      j.end(']');
    }
    j.end('}');
  }
  j.end(']').end('}');
  print(given.json ? j.text() + "\n" : t.text());
}

/// What a container of a task has.
struct container_report {
  service::placed_task task;
  std::string container;
  service::resource_list resources;
};

/// Of all containers, or of the one that is asked for; it is a problem if no task has that.
[[nodiscard]] inline std::vector<container_report> containers_of(asked_cluster& all, const request& given) {
  std::vector<std::pair<service::placed_task, std::string>> questions;
  if (given.container) {
    for (const auto& t : all.tasks()) questions.emplace_back(t, *given.container);
  } else {
    for (const auto& r : all.ask_all<service::container_list>(service::message::list_containers))
      for (const auto& c : r.report.containers) questions.emplace_back(r.task, c.name);
  }
  std::vector<container_report> found;
  bool one_answers = false;
  const auto reports = all.ask<service::resource_list>(service::message::list_resources, questions, true, true);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    one_answers = one_answers || !reports[i].problem || reports[i].problem->code() == status_code::not_found;
    if (!reports[i].problem) found.push_back({reports[i].task, questions[i].second, reports[i].report});
  }
  if (given.container && one_answers && found.empty())
    all.add_problem(sentence({"no task has a container '", *given.container, "'"}));
  return found;
}

inline void show_variables(asked_cluster& all, const request& given) {
  struct row {
    const container_report* in;
    const service::resource_list::entry* variable;
    service::element_norms norms{};
    bool has_norms = false;
  };
  const std::vector<container_report> found = containers_of(all, given);
  std::vector<row> rows;
  std::vector<std::pair<service::placed_task, std::string>> questions;
  for (const container_report& c : found)
    for (const auto& e : c.resources.resources)
      if (e.kind == "variable") {
        rows.push_back({&c, &e});
        if (e.initialized) questions.emplace_back(c.task, service::read_variable{c.container, e.name, false}.body());
      }
  if (given.norms) {
    const auto values = all.ask<service::variable_value>(service::message::read_variable, questions, false);
    std::size_t at = 0;
    for (row& r : rows) {
      if (!r.variable->initialized) continue;
      r.has_norms = !values[at].problem.has_value();
      r.norms = values[at++].report.norms;
    }
  }
  std::vector<std::string> head{"TASK", "CONTAINER", "VARIABLE", "TYPE", "DEVICE", "BYTES"};
  if (given.norms)
    for (const char* h : {"LEAST", "MOST", "MEAN", "L1", "L2", "NOT FINITE"}) head.emplace_back(h);
  table t(head);
  json_text j;
  j.begin('{').name("variables").begin('[');
  for (const row& r : rows) {
    const service::resource_list::entry& v = *r.variable;
    std::vector<std::string> cells{short_name(r.in->task.id),
                                   "'" + r.in->container + "'",
                                   v.name,
                                   to_string(v.spec),
                                   v.device,
                                   v.initialized ? bytes_text(static_cast<std::uint64_t>(v.size)) : "no value yet"};
    j.begin('{').name("task").value(short_name(r.in->task.id)).name("container").value(r.in->container);
    j.name("name").value(v.name).name("dtype").value(to_string(v.spec.type)).name("shape").value(v.spec.dims);
    j.name("device").value(v.device).name("bytes").value(v.size).name("initialized").value(v.initialized);
    if (r.has_norms) {
      const service::element_norms& n = r.norms;
      for (const double x : {n.least, n.most, n.mean, n.l1, n.l2}) cells.push_back(real_text(x));
      cells.push_back(std::to_string(n.not_finite));
      j.name("least").value(n.least).name("most").value(n.most).name("mean").value(n.mean).name("l1").value(n.l1);
      j.name("l2").value(n.l2).name("not_finite").value(n.not_finite);
    }
    j.end('}');
    t.add(std::move(cells));
  }
  j.end(']').end('}');
  print(given.json ? j.text() + "\n" : t.text());
}

inline void show_queues(asked_cluster& all, const request& given) {
  table t({"TASK", "CONTAINER", "KIND", "NAME", "SIZE", "CAPACITY", "ADDING", "TAKING", "STATE", "WHAT"});
  json_text j;
  j.begin('{').name("queues").begin('[');
  for (const container_report& c : containers_of(all, given))
    for (const auto& e : c.resources.resources) {
      if (e.kind == "variable") continue;
      const bool is_queue = e.kind == "queue";
      t.add({short_name(c.task.id), "'" + c.container + "'", e.kind, e.name, is_queue ? std::to_string(e.size) : "-",
             is_queue && e.capacity >= 0 ? std::to_string(e.capacity) : "-", std::to_string(e.adding),
             std::to_string(e.taking), e.closed ? "closed" : "open", e.detail});
      j.begin('{').name("task").value(short_name(c.task.id)).name("container").value(c.container);
      j.name("kind").value(e.kind).name("name").value(e.name).name("what").value(e.detail);
      if (is_queue) j.name("size").value(e.size).name("capacity").value(e.capacity).name("closed").value(e.closed);
      j.name("adding").value(e.adding).name("taking").value(e.taking).end('}');
    }
  j.end(']').end('}');
  print(given.json ? j.text() + "\n" : t.text());
}

inline void reset_containers(asked_cluster& all, const request& given) {
  table t({"TASK", "CONTAINER", "RESOURCES", "SESSIONS"});
  json_text j;
  j.begin('{').name("reset").begin('[');
  for (const std::string& name : given.names) {
    std::vector<std::pair<service::placed_task, std::string>> questions;
    for (const auto& task : all.tasks()) questions.emplace_back(task, name);
    bool found = false, one_answers = false;
    for (const auto& r : all.ask<service::reset_result>(service::message::reset_container, questions, false, true)) {
      one_answers = one_answers || !r.problem || r.problem->code() == status_code::not_found;
      if (r.problem) continue;
      found = true;
      t.add({short_name(r.task.id), "'" + name + "'", std::to_string(r.report.resources),
             std::to_string(r.report.graphs)});
      j.begin('{').name("task").value(short_name(r.task.id)).name("container").value(name);
      j.name("resources").value(r.report.resources).name("sessions").value(r.report.graphs).end('}');
    }
    if (one_answers && !found) all.add_problem(sentence({"no task has a container '", name, "'"}));
  }
  j.end(']').end('}');
  print(given.json ? j.text() + "\n" : t.text());
}

inline void stop_servers(asked_cluster& all, const request& given) {
  table t({"TASK", "ADDRESS"});
  json_text j;
  j.begin('{').name("stopped").begin('[');
  struct nothing {
    static nothing read(std::string_view) { return {}; }
  };
  for (const auto& r : all.ask_all<nothing>(service::message::stop)) {
    if (r.problem) continue;
    t.add({short_name(r.task.id), r.task.address});
    j.begin('{').name("task").value(short_name(r.task.id)).end('}');
  }
  j.end(']').end('}');
  print(given.json ? j.text() + "\n" : t.text());
}

}  // namespace tagma::tools::ctl
