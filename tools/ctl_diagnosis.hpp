// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What tagma-ctl finds out by asking all: who reaches whom, who waits for whom, and numbers for Prometheus.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ctl_state.hpp"

namespace tagma::tools::ctl {

/// Asks each task to ask each other one, and whether all know the same cluster.
inline void examine(asked_cluster& all, const request& given) {
  std::vector<service::placed_task> well, ill;
  std::map<task_id, std::uint64_t> incarnations;
  const auto statuses = all.ask_all<service::server_status>(service::message::status);
  for (const auto& s : statuses) {
    (s.problem ? ill : well).push_back(s.task);
    if (!s.problem) incarnations[s.task.id] = s.report.incarnation;
  }
  // Round by round, so that each is asked by one at a time; those that are not well cost their time once.
  std::vector<task_report<service::probe_result>> probes;
  std::vector<service::placed_task> whom;
  const auto probe = [&](const std::vector<std::pair<service::placed_task, service::placed_task>>& pairs) {
    std::vector<std::pair<service::placed_task, std::string>> questions;
    for (const auto& [from, to] : pairs) {
      questions.emplace_back(from, service::probe{to.id}.body());
      whom.push_back(to);
    }
    for (auto& r : all.ask<service::probe_result>(service::message::probe, questions, false))
      probes.push_back(std::move(r));
  };
  for (std::size_t shift = 0; shift < well.size(); ++shift) {
    std::vector<std::pair<service::placed_task, service::placed_task>> pairs;
    for (std::size_t i = 0; i < well.size(); ++i) pairs.emplace_back(well[i], well[(i + shift) % well.size()]);
    probe(pairs);
  }
  std::vector<std::pair<service::placed_task, service::placed_task>> hopeless;
  for (const auto& from : well)
    for (const auto& to : ill) hopeless.emplace_back(from, to);
  probe(hopeless);
  table t({"FROM", "TO", "STATE", "ROUND TRIP", "TO CONNECT"});
  json_text j;
  j.begin('{').name("pairs").begin('[');
  for (std::size_t i = 0; i < probes.size(); ++i) {
    const auto& p = probes[i];
    const service::probe_result& r = p.report;
    j.begin('{').name("from").value(short_name(p.task.id)).name("to").value(short_name(whom[i].id));
    j.name("ok").value(!p.problem.has_value());
    if (p.problem) {
      t.add({short_name(p.task.id), short_name(whom[i].id), std::string(to_string(p.problem->code()))});
      j.name("error").value(std::string_view(p.problem->what())).end('}');
      continue;
    }
    t.add({short_name(p.task.id), short_name(whom[i].id), "ok", time_text(r.round_trip_ns), time_text(r.connect_ns)});
    j.name("address").value(r.address).name("round_trip_ns").value(r.round_trip_ns);
    j.name("connect_ns").value(r.connect_ns).end('}');
    if (const auto known = incarnations.find(whom[i].id); known != incarnations.end() && known->second != r.incarnation)
      all.add_problem(sentence({short_name(p.task.id), " finds another process at ", r.address, " than tagma-ctl at ",
                                whom[i].address, ", where ", short_name(whom[i].id), " is"}));
  }
  j.end(']');
  // What they know of the cluster, and what they were compiled with.
  std::vector<std::pair<service::placed_task, std::string>> everybody;
  for (const auto& task : well) everybody.emplace_back(task, std::string());
  std::map<std::string, std::string> clusters, builds;  // with one that says so
  for (const auto& r : all.ask<service::task_list>(service::message::list_tasks, everybody, false)) {
    if (r.problem) continue;
    std::string text;
    for (const auto& task : r.report.tasks)
      append_parts(text, {text.empty() ? "" : ", ", short_name(task.id), " at ", task.address});
    clusters.emplace(text, short_name(r.task.id));
  }
  for (const auto& s : statuses)
    if (!s.problem) builds.emplace(s.report.build, short_name(s.task.id));
  if (clusters.size() > 1)
    all.add_problem(
        sentence({"tasks know different clusters: ", clusters.begin()->second, " has ", clusters.begin()->first, "; ",
                  clusters.rbegin()->second, " has ", clusters.rbegin()->first}));
  j.name("builds").begin('[');
  for (const auto& [build, one] : builds) j.value(build);
  j.end(']').name("problems").begin('[');
  for (const std::string& p : all.problems()) j.value(p);
  j.end(']').end('}');
  if (given.json) return print(j.text() + "\n");
  print(t.text());
  if (builds.size() > 1)
    for (const auto& [build, one] : builds) print(printable(one + " is " + build) + "\n");
  if (!all.is_ill()) print("all is well\n");
}

/// Runs under way, each with what its parts wait for.
inline void explain_waits(asked_cluster& all, const request& given) {
  using key = std::pair<std::uint64_t, std::uint64_t>;
  std::map<key, std::vector<std::pair<task_id, service::run_list::run>>> runs;
  std::set<task_id> silent;
  for (const auto& r : all.ask_all<service::run_list>(service::message::list_runs)) {
    if (r.problem) silent.insert(r.task.id);
    for (const auto& run : r.report.runs) runs[{run.graph, run.step}].emplace_back(r.task.id, run);
  }
  request everything = given;
  everything.container.reset();
  std::vector<container_report> waiting = containers_of(all, everything);
  const auto each_waited_for = [&](const auto& use) {
    for (const container_report& c : waiting)
      for (const auto& e : c.resources.resources)
        if (e.adding > 0 || e.taking > 0) use(c, e);
  };
  std::string text;
  json_text j;
  j.begin('{').name("runs").begin('[');
  for (const auto& [id, parts] : runs) {
    std::int64_t age = 0;
    for (const auto& [task, run] : parts) age = std::max(age, run.age_ns);
    append_parts(text, {"run ", id.second, " of graph ", hex_text(id.first), " in container '",
                        parts[0].second.container, "', for ", time_text(age), "\n"});
    j.begin('{').name("graph").value(hex_text(id.first)).name("step").value(id.second);
    j.name("container").value(parts[0].second.container).name("age_ns").value(age).name("tasks").begin('[');
    std::set<task_id> waits, causes;
    for (const auto& [task, run] : parts) {
      j.begin('{').name("task").value(short_name(task)).name("asked").value(run.asked).name("edges").begin('[');
      for (const auto& e : run.edges) {
        constexpr const char* ways[] = {"comes", "arrives", "wanted"};
        const std::string peer = short_name(e.peer);
        const std::string lost = silent.count(e.peer) != 0 ? ", which does not answer" : "";
        append_parts(text, {"  ", short_name(task), " "});
        if (e.waits == service::run_list::wait::comes)
          append_parts(text, {"waits for edge ", e.number, " from ", peer, lost, "\n"}), waits.insert(task),
              causes.insert(e.peer);
        else if (e.waits == service::run_list::wait::arrives)
          append_parts(text, {"receives edge ", e.number, " from ", peer, lost, "\n"}), waits.insert(task);
        else
          append_parts(text, {"keeps edge ", e.number, " until ", peer, " wants it", lost, "\n"}), waits.insert(task);
        j.begin('{').name("edge").value(e.number).name("waits").value(
            std::string_view(ways[static_cast<int>(e.waits)]));
        j.name("peer").value(peer).end('}');
      }
      j.end(']');
      if (!run.note.empty()) j.name("note").value(run.note);
      j.end('}');
      if (!run.note.empty()) append_parts(text, {"  ", short_name(task), ": ", run.note, "\n"});
      if (!run.edges.empty() || !run.note.empty()) continue;
      append_parts(
          text, {"  ", short_name(task), run.asked ? " waits for no other task" : " has not been asked for it", "\n"});
      if (!run.asked) continue;
      each_waited_for([&, here = task, in = run.container](const container_report& c, const auto& e) {
        if (c.task.id == here && c.container == in) append_parts(text, {"    there: ", service::waits_text(e), "\n"});
      });
    }
    j.end(']').name("all_wait_for").begin('[');
    for (const task_id& cause : causes) {
      if (waits.count(cause) != 0) continue;
      append_parts(text, {"  so it is ", short_name(cause), " that others wait for\n"});
      j.value(short_name(cause));
    }
    j.end(']').end('}');
  }
  if (runs.empty()) text += "no runs are under way\n";
  j.end(']').name("resources").begin('[');
  bool first = true;
  each_waited_for([&](const container_report& c, const auto& e) {
    if (first) text += "somebody waits at\n";
    first = false;
    append_parts(text, {"  ", short_name(c.task.id), " container '", c.container, "': ", service::waits_text(e), "\n"});
    j.begin('{')
        .name("task")
        .value(short_name(c.task.id))
        .name("container")
        .value(c.container)
        .name("kind")
        .value(e.kind);
    j.name("name").value(e.name).name("size").value(e.size).name("adding").value(e.adding).name("taking").value(
        e.taking);
    j.end('}');
  });
  j.end(']').end('}');
  print(given.json ? j.text() + "\n" : printable(text));
}

/// Prometheus' text format: https://prometheus.io/docs/instrumenting/exposition_formats/
class metrics {
 public:
  using labels = std::vector<std::pair<const char*, std::string>>;

  /// Samples of one name stand together, behind what it is.
  void add(const char* name, const char* type, const char* help, const labels& of, const std::string& value) {
    family& f = families_[name];
    if (f.lines.empty()) {
      order_.push_back(name);
      f.lines = sentence({"# HELP ", name, " ", help, "\n# TYPE ", name, " ", type, "\n"});
    }
    f.lines += name;
    for (std::size_t i = 0; i < of.size(); ++i)
      append_parts(f.lines, {i == 0 ? "{" : ",", of[i].first, "=\"", escaped(of[i].second), "\""});
    append_parts(f.lines, {of.empty() ? " " : "} ", value, "\n"});
  }
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const std::string& name : order_) all += families_.at(name).lines;
    return all;
  }

 private:
  struct family {
    std::string lines;
  };
  [[nodiscard]] static std::string escaped(const std::string& label) {
    std::string text;
    for (const char c : json::is_utf8(label) ? label : printable(label)) {
      if (c == '\\' || c == '"') text += '\\';
      if (c == '\n')
        text += "\\n";
      else
        text += c;
    }
    return text;
  }
  std::map<std::string, family> families_;
  std::vector<std::string> order_;
};

inline void show_metrics(asked_cluster& all, const request& given) {
  metrics m;
  const auto seconds = [](std::int64_t ns) { return real_text(static_cast<double>(ns) / 1e9); };
  for (const auto& r : all.ask_all<service::server_status>(service::message::status)) {
    const metrics::labels task{{"job", r.task.id.job}, {"task", std::to_string(r.task.id.task)}};
    m.add("tagma_up", "gauge", "1 if the task answers.", task, r.problem ? "0" : "1");
    if (r.problem) continue;
    const service::server_status& s = r.report;
    m.add("tagma_uptime_seconds", "gauge", "Time since the task started.", task, seconds(s.uptime_ns));
    m.add("tagma_resident_bytes", "gauge", "Memory of the process.", task, std::to_string(s.resident_bytes));
    m.add("tagma_graphs", "gauge", "Parts of graphs that the task has.", task, std::to_string(s.graphs));
    m.add("tagma_runs", "gauge", "Runs that are under way.", task, std::to_string(s.runs));
    m.add("tagma_runs_begun_total", "counter", "Runs that have begun.", task, std::to_string(s.runs_begun));
    m.add("tagma_runs_failed_total", "counter", "Runs that ended with an error.", task, std::to_string(s.runs_failed));
    std::map<std::string, std::size_t> links;
    for (const auto& c : s.connections) ++links[c.role];
    for (const auto& [role, count] : links) {
      metrics::labels of = task;
      of.emplace_back("role", role);
      m.add("tagma_connections", "gauge", "Open connections, by what the other end is.", of, std::to_string(count));
    }
    for (const auto& d : s.devices) {
      metrics::labels of = task;
      of.emplace_back("device", d.name);
      m.add("tagma_device_variable_bytes", "gauge", "Bytes of variables.", of, std::to_string(d.variable_bytes));
      if (d.limit_bytes == 0) continue;
      m.add("tagma_device_used_bytes", "gauge", "Memory of a device in use.", of, std::to_string(d.used_bytes));
      m.add("tagma_device_limit_bytes", "gauge", "Memory of a device that the process may take.", of,
            std::to_string(d.limit_bytes));
    }
  }
  request everything = given;
  everything.container.reset();
  for (const container_report& c : containers_of(all, everything))
    for (const auto& e : c.resources.resources) {
      if (e.kind == "variable") continue;
      const metrics::labels of{{"job", c.task.id.job},
                               {"task", std::to_string(c.task.id.task)},
                               {"container", c.container},
                               {"kind", e.kind},
                               {"name", e.name}};
      if (e.kind == "queue") m.add("tagma_queue_elements", "gauge", "Elements in a queue.", of, std::to_string(e.size));
      m.add("tagma_waiting_to_add", "gauge", "Attempts that wait to add something.", of, std::to_string(e.adding));
      m.add("tagma_waiting_to_take", "gauge", "Attempts that wait for something.", of, std::to_string(e.taking));
    }
  print(m.text());
}

}  // namespace tagma::tools::ctl
