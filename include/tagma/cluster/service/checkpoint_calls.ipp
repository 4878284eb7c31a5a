// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of checkpoint_calls.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/checkpoint_calls.hpp"
#include "tagma/cluster/service/container_visit.hpp"
#include "tagma/runtime/run_limits.hpp"

namespace tagma::service {

namespace detail {

/// How long runs wait for one who holds them and is silent, in nanoseconds.
inline constexpr std::int64_t hold_ns = 5'000'000'000;
/// How long files of a save stay that nobody ends, in nanoseconds.
inline constexpr std::int64_t save_ns = 600'000'000'000;

}  // namespace detail

TAGMA_DECL std::shared_ptr<run_gate> worker_core::gate_of(const std::string& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<run_gate>& gate = gates_[name];
  if (gate == nullptr) gate = std::make_shared<run_gate>();
  return gate;
}

TAGMA_DECL void worker_core::go_on(std::vector<run_gate::visitor> waiting) {
  for (run_gate::visitor& one : waiting)
    if (!crew_.add(std::move(one.go))) one.turned_away();
}

TAGMA_DECL open_runs worker_core::hold(const hold_runs& m) {
  const std::shared_ptr<run_gate> gate = gate_of(m.container);
  auto [held, go] = gate->hold(m.token, m.admitted);
  if (!held) fail(status_code::aborted, {"another one holds the runs of container '", m.container, "'"});
  go_on(std::move(go));
  network_.after(detail::hold_ns, [core = weak_from_this(), gate, token = m.token, times = gate->times_held()] {
    const auto alive = core.lock();
    if (alive != nullptr && gate->times_held() == times) alive->go_on(gate->open(token));
  });
  open_runs open;
  open.runs = gate->inside();
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [graph, part] : parts_) {
    // Of a graph that is driven from here, the parts count, each where it is. One whose client does not reach this
    // server counts until its lease is over: the client may reach others, where its run is not done yet.
    if (part->what().container != m.container || part->driven() != nullptr) continue;
    for (const std::uint64_t step : part->outcomes().open()) open.runs.emplace_back(graph, step);
  }
  // One whose answer is out may not have left the gate yet.
  std::sort(open.runs.begin(), open.runs.end());
  open.runs.erase(std::unique(open.runs.begin(), open.runs.end()), open.runs.end());
  if (open.runs.size() > most_listed) open.runs.resize(most_listed);
  return open;
}

TAGMA_DECL std::optional<container> worker_core::known_state(const std::string& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = states_.find(name);
  return found == states_.end() ? std::nullopt : std::optional<container>(found->second);
}

TAGMA_DECL saved_shard worker_core::save(const save_shard& m, std::uint32_t attempt, bool all) try {
  const std::shared_ptr<run_gate> gate = gate_of(m.container);
  const std::optional<container> known = known_state(m.container);
  if (!known.has_value()) {
    folder_.give_up(m.token, attempt);
    return {};
  }
  runtime::state_container& state = *container_option(*known).state();
  const container_visit reading(state, false);
  const picture now(state, all);
  if (m.held && !gate->is_held_by(m.token))
    fail(status_code::failed_precondition, "runs went on before the variables were there");
  go_on(gate->open(m.token));
  saved_shard made = folder_.save(m, now, attempt);
  network_.after(detail::save_ns, [core = weak_from_this(), token = m.token] {
    if (const auto alive = core.lock()) alive->give_up_save(token);
  });
  return made;
} catch (...) {
  folder_.give_up(m.token, attempt);
  throw;
}

TAGMA_DECL void worker_core::give_up_save(std::uint64_t token) {
  (void)crew_.add([core = shared_from_this(), token] { core->folder_.end(token, false); });
}

TAGMA_DECL restored_shard worker_core::restore(const restore_shard& m, const std::vector<std::string>& names) {
  const std::optional<container> known = known_state(m.container);
  if (!known.has_value()) fail(status_code::not_found, {"there is no container '", m.container, "'"});
  runtime::state_container& state = *container_option(*known).state();
  const container_visit writing(state, true);
  return folder_.restore(m, names, state);
}

TAGMA_DECL void worker_core::tell(const std::string& what) const {
  if (options_.told) options_.told(what);
}

TAGMA_DECL std::string worker_core::own_series(const std::string& name) const {
  std::string series = "auto." + options_.link.self.job + "." + std::to_string(options_.link.self.task);
  if (!name.empty()) series += ".";
  for (const char c : name)
    series += (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ? c : '.';
  return series.substr(0, 80);
}

TAGMA_DECL void worker_core::begin_own_checkpoints() {
  if (options_.checkpoints.empty() || options_.checkpoint_every_ns <= 0) return;
  std::set<std::string> series;
  const std::string own = own_series("");
  for (const std::string& name : folder_.names()) {
    const numbered_name n = split_checkpoint_name(name);
    if (n.number >= 0 && (n.series == own || n.series.starts_with(own + "."))) series.emplace(n.series);
  }
  for (const std::string& s : series) {
    std::map<std::string, std::string> texts;
    for (const auto& [key, text] : folder_.texts_of(folder_.newest(s))) texts.emplace(key, text);
    std::size_t count = 0, elsewhere = 0;
    (void)folder_.restore_all(s, *container_option(state(texts["container"], isolation::variables)).state(), others_,
                              count, elsewhere);
    tell(sentence({count, " variables of container '", texts["container"], "' are as they were at ", texts["saved"],
                   ", in checkpoint '", folder_.newest(s), "'; updates since then are lost"}));
    if (elsewhere != 0)
      tell(sentence({elsewhere, " of these are on the CPU: the device where they were is not there, or has no room"}));
  }
  save_later();
}

TAGMA_DECL void worker_core::save_later() {
  network_.after(options_.checkpoint_every_ns, [core = weak_from_this()] {
    const auto alive = core.lock();
    if (alive == nullptr) return;
    (void)alive->crew_.add([alive = alive.get()] {
      alive->save_own();
      alive->save_later();
    });
  });
}

TAGMA_DECL void worker_core::save_own() {
  std::vector<std::string> names;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [name, state] : states_) names.push_back(name);
  }
  for (const std::string& name : names) {
    const std::string series = own_series(name);
    const std::uint64_t token = draw_number() | 1;
    try {
      const std::int64_t before = split_checkpoint_name(folder_.newest(series)).number;
      const save_shard how{name, series + "-" + std::to_string(before + 1), token, false, false};
      const saved_shard made = save(how, folder_.begin(token), false);
      const bool changed =
          std::any_of(made.variables.begin(), made.variables.end(), [](const auto& v) { return v.written; });
      if (changed) {
        commit_save what{how.name, token, options_.checkpoints_kept, {{"container", name}, {"cut", "variables"}}};
        if (const std::optional<container> known = known_state(name))
          checkpoint_folder::add_devices(*container_option(*known).state(), what.texts);
        folder_.commit(what, made);
      }
      folder_.end(token, changed);
    } catch (...) {
      folder_.end(token, false);
      tell(sentence({"checkpoint '", series, "' was not made: ", detail::caught_error().what()}));
    }
  }
}

TAGMA_DECL void worker_core::receive_checkpoint(const std::shared_ptr<inlet_handler>& by, transport::incoming& m) {
  const std::uint64_t request = m.request;
  const auto text = [](const std::vector<std::byte>& bytes) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  switch (static_cast<message>(m.kind)) {
    case message::hold_runs:
      return by->post_reply(request, hold(hold_runs::read(m.body)).body());
    case message::save_shard: {
      save_shard what = save_shard::read(m.body);
      const std::uint32_t attempt = folder_.begin(what.token);  // an end_hold behind it may be done first
      return answer_soon(by, request, [this, by, request, attempt, what = std::move(what)] {
        by->reply(request, {}, std::make_shared<const std::string>(save(what, attempt, true).body()));
      });
    }
    case message::commit_save:
      return answer_soon(by, request,
                         [this, by, request, text, what = commit_save::read(m.body), list = std::move(m.buffer)] {
                           folder_.commit(what, saved_shard::read(text(list)));
                           by->reply(request, {});
                         });
    case message::end_hold: {
      const end_hold what = end_hold::read(m.body);
      go_on(gate_of(what.container)->open(what.token));
      what.committed ? folder_.end(what.token, true) : give_up_save(what.token);
      return;
    }
    case message::restore_shard:
      return answer_soon(by, request,
                         [this, by, request, text, what = restore_shard::read(m.body), list = std::move(m.buffer)] {
                           by->reply(request, restore(what, name_list::read(text(list)).names).body());
                         });
    default:
      fail(status_code::unimplemented, {"messages of kind ", m.kind, " are not known"});
  }
}

}  // namespace tagma::service
