// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of worker_look.hpp: in the compiled half, or else in each file that includes it.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/facts.hpp"
#include "tagma/cluster/service/inspect.hpp"
#include "tagma/cluster/service/probing.hpp"
#include "tagma/cluster/service/worker_look.hpp"
#include "tagma/runtime/stored_variable.hpp"

namespace tagma::service {

TAGMA_COLD TAGMA_DECL worker_view worker_core::look() {
  worker_view v;
  std::vector<std::shared_ptr<outlet>> outlets;
  std::vector<std::shared_ptr<inlet_handler>> inlets;
  v.self = {options_.link.self.job, options_.link.self.task}, v.incarnation = options_.link.self.incarnation;
  v.now_ns = network_.now(), v.uptime_ns = v.now_ns - started_ns_;
  v.runs_begun = runs_begun_.load(memory_order::relaxed), v.runs_failed = runs_failed_.load(memory_order::relaxed);
  v.others = others_;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    v.states = states_;
    for (const auto& [graph, part] : parts_) v.parts.push_back(part);
    for (const auto& [graph, told] : opening_) v.opening.emplace_back(graph, told);
    for (const auto& [address, out] : outlets_) outlets.push_back(out);
    for (const auto& in : inlets_)
      if (auto alive = in.lock()) inlets.push_back(std::move(alive));
  }
  for (const auto& in : inlets)
    if (auto c = in->seen(v.now_ns)) v.connections.push_back(std::move(*c));
  for (const auto& out : outlets)
    if (const auto link = out->current()) v.connections.push_back(connection_of(*link, false, v.now_ns));
  return v;
}

TAGMA_DECL std::string worker_core::variables_of(const std::string& name) {
  variable_list all;
  container known;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = states_.find(name);
    if (found == states_.end()) return all.body();
    known = found->second;
  }
  container_option(known).state()->each([&](const runtime::resource& r) {
    if (r.kind() != "variable") return;
    const auto& v = static_cast<const runtime::stored_variable&>(r);
    all.variables.push_back({v.name(), v.spec(), std::string(v.device_type()), v.device() < 0 ? 0 : v.device()});
  });
  return all.body();
}

TAGMA_COLD TAGMA_DECL void worker_core::inspect_for(const std::shared_ptr<inlet_handler>& by,
                                                    const transport::incoming& m) {
  const auto kind = static_cast<message>(m.kind);
  if (!is_answered_at_once(kind))
    return answer_soon(by, m.request,
                       [this, by, kind, request = m.request, left = m.time_left_ns, body = std::string(m.body)] {
                         inspection a = inspect(look(), kind, body, left);
                         by->reply(request, std::move(a.body), std::move(a.bulk));
                       });
  // By this thread, since those of the crew may all wait for runs, which is when somebody asks, and resets.
  inspection a = inspect(look(), kind, std::string(m.body), m.time_left_ns);
  if (!a.gone.empty()) (void)crew_.add([gone = std::move(a.gone)]() mutable { gone.clear(); });
  by->post_reply(m.request, std::move(a.body), std::move(a.bulk));
}

TAGMA_COLD TAGMA_DECL void worker_core::probe_for(const std::shared_ptr<inlet_handler>& by,
                                                  const transport::incoming& m) {
  const task_id whom = probe::read(m.body).whom;
  if (whom.task < 0) return by->post_reply(m.request, probe_result{{}, options_.link.self.incarnation, 0, 0}.body());
  if (!options_.members.has_task(whom.job, whom.task))
    fail(status_code::not_found, {to_string(whom), " is not in the cluster as this server knows it"});
  transport::options how = options_.link;
  how.wanted_job = whom.job, how.wanted_task = whom.task;
  // Who asks hears what was wrong before its own patience ends.
  probing::start(network_, to_string(options_.members.task_address(whom.job, whom.task)), how, m.time_left_ns / 4 * 3,
                 [by, request = m.request](const error* why, const probe_result& r) {
                   why != nullptr ? by->post_refusal(request, *why) : by->post_reply(request, r.body());
                 });
}

TAGMA_COLD TAGMA_DECL void worker_core::begin_recording(std::int64_t most_ns) {
  const auto made = std::make_shared<recording>();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (recording_ != nullptr) recording_->end();
    recording_ = made;
  }
  network_.after(most_ns, [core = weak_from_this(), of = std::weak_ptr(made)] {
    const auto alive = core.lock();
    const auto there = of.lock();
    if (alive == nullptr || there == nullptr) return;
    const std::lock_guard<std::mutex> lock(alive->mutex_);
    if (alive->recording_ != there) return;
    there->end();
    alive->recording_ = nullptr;
  });
}

TAGMA_COLD TAGMA_DECL std::shared_ptr<recording> worker_core::end_recording() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (recording_ == nullptr)
    fail(status_code::failed_precondition, "nothing is recorded here: nobody has asked for it, or too long ago");
  recording_->end();
  return std::move(recording_);
}

TAGMA_DECL std::shared_ptr<recording> worker_core::recorder() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return recording_;
}

TAGMA_COLD TAGMA_DECL std::optional<server_status::connection> inlet_handler::seen(std::int64_t now_ns) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (link_ == nullptr) return std::nullopt;
  return connection_of(*link_, true, now_ns);
}

}  // namespace tagma::service
