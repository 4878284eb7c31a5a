// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a server answers to those who look into it.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/devices.hpp"
#include "tagma/cluster/service/container_visit.hpp"
#include "tagma/cluster/service/facts.hpp"
#include "tagma/cluster/service/messages.hpp"
#include "tagma/cluster/service/registered_part.hpp"
#include "tagma/cluster/service/reports.hpp"
#include "tagma/device/cpu/build_info.hpp"
#include "tagma/runtime/stored_variable.hpp"

namespace tagma::service {

/// What a server has at a moment.
struct worker_view {
  task_id self;
  std::uint64_t incarnation = 0;
  std::int64_t now_ns = 0, uptime_ns = 0;
  std::uint64_t runs_begun = 0, runs_failed = 0;
  std::map<std::string, container> states;
  std::vector<std::shared_ptr<registered_part>> parts;
  std::vector<std::pair<std::uint64_t, std::shared_ptr<last_told>>> opening;  ///< graphs of sessions that open
  std::vector<server_status::connection> connections;

  /// The container of a name. Throws NotFound, with those that there are.
  [[nodiscard]] container_option find(const std::string& name) const;
  [[nodiscard]] std::uint32_t graphs_of(const std::string& name) const;
};

/// Of a call: its body, and its bulk if there is any.
struct inspection {
  std::string body;
  std::shared_ptr<const std::string> bulk;
  std::vector<counted<runtime::resource>> gone;  ///< left their container; the end of one may wait
};

/// True for those that are answered from what is there, without waiting for anybody.
[[nodiscard]] constexpr bool is_answered_at_once(message kind) { return kind != message::read_variable; }

TAGMA_COLD inline container_option worker_view::find(const std::string& name) const {
  const auto found = states.find(name);
  if (found != states.end()) return found->second;
  std::string known;
  for (const auto& [other, c] : states) append_parts(known, {known.empty() ? "" : ", ", "'", other, "'"});
  fail(status_code::not_found,
       {"there is no container '", name, "' here", known.empty() ? ", nor any other" : "; there are ", known});
}

TAGMA_COLD inline std::uint32_t worker_view::graphs_of(const std::string& name) const {
  std::uint32_t count = 0;
  for (const auto& part : parts) count += part->what().container == name;
  return count;
}

namespace detail {

TAGMA_COLD inline server_status status_of(const worker_view& v) {
  server_status s;
  s.self = v.self, s.incarnation = v.incarnation, s.build = build_info();
  s.uptime_ns = v.uptime_ns, s.resident_bytes = resident_bytes(), s.graphs = static_cast<std::uint32_t>(v.parts.size());
  run_list runs;
  for (const auto& part : v.parts) part->list_runs(runs, v.now_ns);
  for (const run_list::run& r : runs.runs) s.runs += r.asked;
  s.runs_begun = v.runs_begun, s.runs_failed = v.runs_failed;
  server_status::device cpu{to_string(task_device(v.self, "CPU", 0)), 0};
  for (const auto& [name, c] : v.states)
    container_option(c).state()->each([&](runtime::resource& r) {
      if (r.kind() == "variable") cpu.variable_bytes += static_cast<const runtime::stored_variable&>(r).bytes();
    });
  s.devices.push_back(std::move(cpu));
  s.connections = v.connections;
  return s;
}

TAGMA_COLD inline container_list containers_of(const worker_view& v) {
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

TAGMA_COLD inline resource_list resources_of(const worker_view& v, const std::string& name) {
  resource_list all;
  v.find(name).state()->each([&](runtime::resource& r) { all.resources.push_back(entry_of(r)); });
  std::sort(all.resources.begin(), all.resources.end(),
            [](const auto& a, const auto& b) { return std::tie(a.kind, a.name) < std::tie(b.kind, b.name); });
  return all;
}

TAGMA_COLD inline inspection value_of(const worker_view& view, const read_variable& m, std::int64_t within_ns) {
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

TAGMA_COLD inline inspection reset_of(const worker_view& v, const std::string& name) {
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

/// Answers a call of reports.hpp but `probe`. Throws NotFound for what the server has not.
/// @param time_left_ns of the call
[[nodiscard]] TAGMA_COLD inline inspection inspect(const worker_view& v, message kind, const std::string& body,
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
