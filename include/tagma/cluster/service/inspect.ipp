// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of inspect.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <chrono>
#include <tuple>

#include "tagma/base/config.hpp"
#include "tagma/cluster/devices.hpp"
#include "tagma/cluster/service/container_visit.hpp"
#include "tagma/cluster/service/facts.hpp"
#include "tagma/cluster/service/inspect.hpp"
#include "tagma/device/cpu/build_info.hpp"
#include "tagma/runtime/stored_variable.hpp"

namespace tagma::service {

TAGMA_COLD TAGMA_DECL container_option worker_view::find(const std::string& name) const {
  const auto found = states.find(name);
  if (found != states.end()) return found->second;
  std::string known;
  for (const auto& [other, c] : states) append_parts(known, {known.empty() ? "" : ", ", "'", other, "'"});
  fail(status_code::not_found,
       {"there is no container '", name, "' here", known.empty() ? ", nor any other" : "; there are ", known});
}

TAGMA_COLD TAGMA_DECL std::uint32_t worker_view::graphs_of(const std::string& name) const {
  std::uint32_t count = 0;
  for (const auto& part : parts) count += part->what().container == name;
  return count;
}

namespace detail {

TAGMA_COLD TAGMA_DECL std::vector<server_status::device> devices_of(const worker_view& v) {
  std::vector<server_status::device> all{{to_string(task_device(v.self, "CPU", 0))}};
  for (int d = 0; v.others && d < v.others->devices(); ++d) {
    const runtime::memory_use memory = v.others->memory(d);
    all.push_back({to_string(task_device(v.self, v.others->type(), d)), 0, static_cast<std::uint64_t>(memory.used),
                   static_cast<std::uint64_t>(memory.limit)});
  }
  for (const auto& [name, c] : v.states)
    container_option(c).state()->each([&](runtime::resource& r) {
      if (r.kind() != "variable") return;
      const auto& variable = static_cast<const runtime::stored_variable&>(r);
      // Variables are on the devices of the worker.
      const auto at = static_cast<std::size_t>(variable.device() + 1);
      if (at < all.size()) all[at].variable_bytes += variable.bytes();
    });
  return all;
}

TAGMA_COLD TAGMA_DECL server_status status_of(const worker_view& v) {
  server_status s;
  s.self = v.self, s.incarnation = v.incarnation, s.build = build_info();
  s.uptime_ns = v.uptime_ns, s.resident_bytes = resident_bytes(), s.graphs = static_cast<std::uint32_t>(v.parts.size());
  run_list runs;
  for (const auto& part : v.parts) part->list_runs(runs, v.now_ns);
  for (const run_list::run& r : runs.runs) s.runs += r.asked;
  s.runs_begun = v.runs_begun, s.runs_failed = v.runs_failed;
  s.devices = devices_of(v);
  s.connections = v.connections;
  return s;
}

TAGMA_COLD TAGMA_DECL container_list containers_of(const worker_view& v) {
  container_list all;
  for (const auto& [name, c] : v.states) {
    container_list::entry e;
    e.name = name, e.graphs = v.graphs_of(name);
    const counted<runtime::state_container> state = container_option(c).state();
    e.kept_apart = state->access() == nullptr ? isolation::runs : isolation::variables;
    state->each([&](runtime::resource& r) {
      if (r.kind() != "variable") {
        ++e.others;
        return;
      }
      ++e.variables;
      e.variable_bytes += static_cast<const runtime::stored_variable&>(r).bytes();
    });
    all.containers.push_back(std::move(e));
  }
  return all;
}

TAGMA_COLD TAGMA_DECL resource_list resources_of(const worker_view& v, const std::string& name) {
  resource_list all;
  v.find(name).state()->each([&](runtime::resource& r) { all.resources.push_back(entry_of(r)); });
  std::sort(all.resources.begin(), all.resources.end(),
            [](const auto& a, const auto& b) { return std::tie(a.kind, a.name) < std::tie(b.kind, b.name); });
  return all;
}

TAGMA_COLD TAGMA_DECL inspection value_of(const worker_view& view, const read_variable& m, std::int64_t within_ns) {
  const container_option in = view.find(m.container);
  const counted<runtime::resource> found = in.state()->find("variable", m.name);
  if (!found)
    fail(status_code::not_found, {"there is no variable '", m.name, "' in container '", m.container, "' here"});
  auto& v = static_cast<runtime::stored_variable&>(*found);
  if (!v.initialized()) v.refuse_to_read();
  const container_visit reading(*in.state(), false, timeout(std::chrono::nanoseconds(within_ns)));
  const runtime::pinned_version version(v);
  runtime::aligned_bytes copy;
  const std::byte* const elements = v.read(*version, copy);
  inspection answer;
  answer.body = variable_value{v.spec(), norms_of({elements, v.spec().type, v.spec().dims})}.body();
  if (m.elements && v.bytes() > 0)
    answer.bulk = std::make_shared<const std::string>(reinterpret_cast<const char*>(elements), v.bytes());
  return answer;
}

TAGMA_COLD TAGMA_DECL inspection reset_of(const worker_view& v, const std::string& name) {
  inspection answer;
  reset_result r;
  const container_option in = v.find(name);
  in.state()->each([&](runtime::resource& one) { answer.gone.emplace_back(&one); });
  r.resources = answer.gone.size();
  for (const auto& part : v.parts)
    if (part->what().container == name) part->begin_reset(), ++r.graphs;
  in.state()->reset();
  answer.body = r.body();
  return answer;
}

}  // namespace detail

TAGMA_COLD TAGMA_DECL inspection inspect(const worker_view& v, message kind, const std::string& body,
                                         std::int64_t time_left_ns) {
  const auto bulk = [](std::string bytes) {
    return inspection{{}, std::make_shared<const std::string>(std::move(bytes)), {}};
  };
  switch (kind) {
    case message::status:
      return bulk(detail::status_of(v).body());
    case message::list_containers:
      return bulk(detail::containers_of(v).body());
    case message::list_resources:
      return bulk(detail::resources_of(v, body).body());
    case message::list_runs: {
      run_list all;
      for (const auto& part : v.parts) part->list_runs(all, v.now_ns);
      for (const auto& [graph, told] : v.opening)
        if (std::string text = told->get(); !text.empty())
          all.runs.push_back({graph, 0, {}, false, 0, {}, std::move(text)});
      return bulk(all.body());
    }
    case message::read_variable:
      return detail::value_of(v, read_variable::read(body), time_left_ns);
    case message::reset_container:
      return detail::reset_of(v, body);
    default:
      fail(status_code::unimplemented, {"messages of kind ", static_cast<int>(kind), " look into nothing"});
  }
}

}  // namespace tagma::service
