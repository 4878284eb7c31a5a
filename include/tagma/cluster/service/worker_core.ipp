// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of worker_core.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <chrono>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/checkpoint_messages.hpp"
#include "tagma/cluster/service/elements.hpp"
#include "tagma/cluster/service/permissions.hpp"
#include "tagma/cluster/service/worker_core.hpp"
#include "tagma/device/operation_faces.hpp"
#include "tagma/device/program_file.hpp"
#include "tagma/runtime/bound_plan.hpp"
#include "tagma/runtime/caught.hpp"
#include "tagma/transport/broken.hpp"

namespace tagma::service {

namespace detail {

/// How long a server that stops waits for those who take its last answers, in nanoseconds.
inline constexpr std::int64_t answers_ns = 1'000'000'000;

TAGMA_COLD TAGMA_DECL error server_stops() { return {status_code::aborted, "the server stops"}; }

}  // namespace detail

TAGMA_DECL worker_core::worker_core(transport::network& by, worker_options options)
    : network_(by),
      options_(std::move(options)),
      started_ns_(by.now()),
      folder_(options_.checkpoints, {options_.link.self.job, options_.link.self.task}, options_.checkpoint_chain),
      crew_(options_.most_runs),
      drivers_(options_.most_runs) {
  if (options_.others != nullptr) start_others();
}

TAGMA_COLD TAGMA_DECL void worker_core::start_others() {
  counted<runtime::accelerator> started(options_.others->start(options_.others_use).release());
  if (started->devices() == 0) {
    tell(sentence({"there is no ", options_.others->type, " here; programs are placed on the CPU"}));
    options_.others = nullptr;
    return;
  }
  others_ = std::move(started);
  device_offer offer{std::string(options_.others->type), others_->devices(), {}};
  for (const ir::operation_face* const f : device::operations::operation_faces()) {
    const ir::op_info& op = f->info();
    if (op.has_step() && !op.on_host && options_.others->has_kernel(op)) offer.operations.emplace_back(op.name);
  }
  std::sort(offer.operations.begin(), offer.operations.end());
  offer_.others.push_back(std::move(offer));
}

TAGMA_DECL container worker_core::state(const std::string& name, isolation kept_apart) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = states_.find(name);
  if (found != states_.end()) return found->second;
  if (!name.empty()) runtime::check_container_name(name);
  return states_.emplace(name, kept_apart == isolation::runs ? container() : container(kept_apart)).first->second;
}

TAGMA_DECL std::shared_ptr<registered_part> worker_core::find(std::uint64_t graph) {
  pass();
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = parts_.find(graph);
  return found == parts_.end() ? nullptr : found->second;
}

TAGMA_DECL std::shared_ptr<registered_part> worker_core::find_to_run(std::uint64_t graph) {
  if (std::shared_ptr<registered_part> found = find(graph)) return found;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stopped_) throw detail::server_stops();
  return nullptr;
}

TAGMA_DECL std::shared_ptr<run_state> worker_core::run_of(const edge_of_run& e, bool takes) {
  const std::shared_ptr<registered_part> part = find(e.graph);
  if (part == nullptr || !(takes ? part->takes(e.edge) : part->sends(e.edge))) return nullptr;
  return part->run(TAGMA_BROKEN(steps_not_told_apart) ? 0 : e.step);
}

TAGMA_DECL error worker_core::why_not_taken(const edge_of_run& e) {
  const std::shared_ptr<registered_part> part = find(e.graph);
  if (part != nullptr && part->takes(e.edge)) return part->why_not(e.step);
  return {status_code::aborted, "nobody waits for a tensor of this run"};
}

TAGMA_DECL void worker_core::send_to(const placed_task& to, transport::outgoing m) {
  std::shared_ptr<outlet> out;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!stopped_) {
      std::shared_ptr<outlet>& o = outlets_[to.address];
      if (o == nullptr)
        o = std::make_shared<outlet>(network_, to.address, options_.link, to.id, options_.peers_ns,
                                     [core = weak_from_this(), at = to.address](const error& why) {
                                       if (const auto alive = core.lock()) alive->lose(at, why);
                                     });
      out = o;
    }
  }
  if (out != nullptr) return out->post(std::move(m));
  if (m.attempt != nullptr) m.attempt->ended(std::make_exception_ptr(detail::server_stops()));
}

TAGMA_DECL void worker_core::lose(const std::string& address, const error& why) {
  std::vector<std::pair<std::shared_ptr<registered_part>, placed_task>> concerned;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [graph, part] : parts_)
      for (const placed_task& t : part->what().tasks)
        if (t.address == address) {
          concerned.emplace_back(part, t);
          break;
        }
  }
  // What was on its way there is lost as well, and the other task waits for it, if there still is one.
  const std::string said = sentence({"what was on its way from ", transport::to_string(options_.link.self),
                                     " was lost: ", runtime::without_code(why.what())});
  for (const auto& [part, there] : concerned)
    for (const std::uint64_t step : part->abort(why)) {
      transport::outgoing m;
      m.kind = static_cast<std::uint16_t>(message::end_run);
      m.body = end_run{part->what().graph, step, why.code(), said}.body();
      if (!TAGMA_BROKEN(lost_edges_not_told)) send_to(there, std::move(m));
    }
}

TAGMA_DECL std::shared_ptr<registered_part> worker_core::add(const add_part& what,
                                                             const std::vector<std::byte>& bytes) {
  const any_program program = read_program_bytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const std::vector<placed_task> tasks = what.tasks;
  const auto part = std::make_shared<registered_part>(
      what, program, state(TAGMA_BROKEN(container_forgotten) ? "" : what.container, what.kept_apart), options_,
      [core = weak_from_this(), tasks](std::int32_t task, transport::outgoing m) {
        const auto alive = core.lock();
        if (alive != nullptr && task >= 0 && static_cast<std::size_t>(task) < tasks.size())
          return alive->send_to(tasks[static_cast<std::size_t>(task)], std::move(m));
        if (m.attempt != nullptr)
          m.attempt->ended(std::make_exception_ptr(error(status_code::internal, "an edge leads to no task")));
      });
  return add(what.graph, part);
}

TAGMA_DECL std::shared_ptr<registered_part> worker_core::add(std::uint64_t graph,
                                                             std::shared_ptr<registered_part> part) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stopped_) throw detail::server_stops();
  if (!parts_.emplace(graph, part).second) fail(status_code::already_exists, {"graph ", graph, " is known already"});
  return part;
}

TAGMA_DECL void worker_core::keep(const std::shared_ptr<inlet_handler>& by, std::uint64_t graph,
                                  registered_part& part) {
  if (!by->owns(graph, part)) lapse(graph, by.get());
}

TAGMA_DECL void worker_core::lapse(std::uint64_t graph, const void* connection) {
  const std::shared_ptr<registered_part> part = find(graph);
  const std::uint64_t lease = part == nullptr ? 0 : part->lapse(connection);
  if (lease == 0) return;
  network_.after(TAGMA_BROKEN(lease_at_once) ? 0 : options_.lease_ns,
                 [core = weak_from_this(), of = std::weak_ptr(part), graph, lease] {
                   const auto alive = core.lock();
                   const auto there = of.lock();
                   if (alive != nullptr && there != nullptr && there->lapses(lease)) alive->forget(graph);
                 });
}

TAGMA_DECL transport::placement worker_core::place(transport::link& from, const transport::incoming& m) {
  if (const auto no = not_permitted(from, m.kind)) return transport::placement::refused(*no);
  switch (static_cast<message>(m.kind)) {
    case message::add_part:
    case message::open_session:
    case message::run_part:
    case message::commit_save:
    case message::restore_shard:
      return transport::placement::buffered();
    case message::tensor: {
      const edge_of_run e = edge_of_run::read(m.body);
      const std::shared_ptr<run_state> run = run_of(e, true);
      if (run == nullptr) return transport::placement::refused(why_not_taken(e));
      if (e.spec.type == dtype::string && m.bulk_size > options_.link.limits.buffered_bytes) {
        const error why = too_many_texts(e, m.bulk_size, options_.link.limits.buffered_bytes);
        run->edges.refuse(e.edge, why);
        return transport::placement::refused(why);
      }
      transport::placement where = run->edges.place(from, m, e);
      // What somebody waits for is told when it does not come to its end; the rest is over with its run.
      if (where.what() == transport::placement::kind::at ||
          (where.what() == transport::placement::kind::buffer && e.spec.type == dtype::string)) {
        const std::lock_guard<std::mutex> lock(mutex_);
        transfers_[{&from, m.transfer}] = {run, e.edge};
      }
      return where;
    }
    default:
      return transport::placement::refused(
          error(status_code::unimplemented, sentence({"messages of kind ", m.kind, " have no bulk"})));
  }
}

TAGMA_DECL void worker_core::forget(std::uint64_t graph) {
  std::shared_ptr<registered_part> gone;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = parts_.find(graph);
    if (found == parts_.end()) return;
    gone = std::move(found->second);
    parts_.erase(found);
  }
  gone->close(error(status_code::aborted, "the client of the graph is gone"));
  (void)crew_.add([gone]() mutable { gone.reset(); });  // its end waits for runs
}

TAGMA_DECL void worker_core::abandoned(transport::link& from, std::uint32_t transfer, const error& why) {
  std::pair<std::shared_ptr<run_state>, std::int32_t> which;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = transfers_.find({&from, transfer});
    if (found == transfers_.end()) return;
    which = std::move(found->second);
    transfers_.erase(found);
  }
  which.first->edges.abandoned(from, transfer, which.second, why);
}

TAGMA_DECL void worker_core::answer_soon(const std::shared_ptr<inlet_handler>& by, std::uint64_t request,
                                         std::function<void()> work, crew& with) {
  const bool taken = with.add([core = shared_from_this(), by, request, work = std::move(work)] {
    try {
      work();
    } catch (...) {
      by->refuse(request, detail::caught_error());
    }
  });
  if (!taken) by->post_refusal(request, detail::server_stops());
}

TAGMA_DECL void worker_core::received(const std::shared_ptr<inlet_handler>& by, transport::link& from,
                                      transport::incoming& m) {
  const std::uint64_t request = m.request;
  if (const auto no = not_permitted(from, m.kind)) {
    // What asks for no answer is left alone.
    if (m.wants_reply) by->post_refusal(request, *no);
    return;
  }
  try {
    switch (static_cast<message>(m.kind)) {
      case message::tensor: {
        const edge_of_run e = edge_of_run::read(m.body);
        std::shared_ptr<run_state> run;
        {
          const std::lock_guard<std::mutex> lock(mutex_);
          if (auto found = transfers_.extract({&from, m.transfer}); !found.empty()) run = found.mapped().first;
        }
        // What was placed has come where a run waits for it, even if the run was told meanwhile that it is over.
        if (run == nullptr) run = run_of(e, true);
        if (run != nullptr) run->edges.received(from, m, e);
        return;
      }
      case message::wanted: {
        const edge_of_run e = edge_of_run::read(m.body);
        if (const auto run = run_of(e, false); run != nullptr) run->edges.wanted(e.edge);
        return;
      }
      case message::end_run: {
        const end_run e = end_run::read(m.body);
        const error why(e.code, e.why);
        if (const auto part = find(e.graph); part != nullptr && !TAGMA_BROKEN(end_of_run_ignored))
          part->end(e.step, e.code == status_code::ok ? nullptr : &why);
        return;
      }
      case message::forget_graph: {
        if (!TAGMA_BROKEN(forget_ignored)) forget(edge_of_run::read(m.body).graph);
        return;
      }
      case message::add_part:
        return answer_soon(by, request,
                           [this, by, request, what = add_part::read(m.body), bytes = std::move(m.buffer)] {
                             const auto part = add(what, bytes);
                             keep(by, what.graph, *part);
                             by->reply(request, added_part{options_.link.self.incarnation}.body());
                           });
      case message::keep_graph: {
        const std::uint64_t graph = edge_of_run::read(m.body).graph;
        if (const auto part = find(graph); part != nullptr) keep(by, graph, *part);
        return by->post_reply(request, {});
      }
      case message::run_part: {
        run_part what = run_part::read(m.body);
        crew& with = drives(what.graph) ? drivers_ : crew_;
        return answer_soon(
            by, request,
            [this, by, request, what = std::move(what), left = m.time_left_ns,
             bytes = std::make_shared<const std::vector<std::byte>>(std::move(m.buffer))] {
              run(by, what, bytes, request, left);
            },
            with);
      }
      case message::list_tasks: {
        const task_list all{{options_.link.self.job, options_.link.self.task}, tasks_of(options_.members)};
        return by->post_reply(request, all.body());
      }
      case message::list_devices:
        return by->post_reply(request, {}, std::make_shared<const std::string>(offer_.body()));
      case message::list_variables:
        return answer_soon(by, request, [this, by, request, name = std::string(m.body)] {
          by->reply(request, {}, std::make_shared<const std::string>(variables_of(name)));
        });
      case message::status:
      case message::list_containers:
      case message::list_resources:
      case message::read_variable:
      case message::list_runs:
      case message::reset_container:
        return inspect_for(by, m);
      case message::probe:
        return probe_for(by, m);
      case message::begin_trace:
        begin_recording(begin_trace::read(m.body).most_ns);
        return by->post_reply(request, {});
      case message::end_trace:
        return answer_soon(by, request, [this, by, request, what = end_trace::read(m.body)] {
          const std::shared_ptr<recording> made = end_recording();
          by->reply(request, ended_trace{made->left_out()}.body(),
                    std::make_shared<const std::string>(
                        made->events({what.origin_ns, static_cast<int>(what.first_process), what.task})));
        });
      case message::open_session:
      case message::save_session:
      case message::restore_session:
        return receive_driven(by, from, m);
      case message::stop:
        if (options_.stop_asked == nullptr)
          fail(status_code::unimplemented, "this server is part of a program, which ends it by itself");
        by->post_reply(request, {});
        return options_.stop_asked();
      default:
        return receive_checkpoint(by, m);
    }
  } catch (...) {
    if (m.wants_reply) by->post_refusal(request, detail::caught_error());
  }
}

TAGMA_DECL void worker_core::run(const std::shared_ptr<inlet_handler>& by, const run_part& m,
                                 const shared_bytes& elements, std::uint64_t request, std::int64_t time_left_ns) {
  if (m.server != 0 && m.server != options_.link.self.incarnation)
    fail(status_code::not_found, {"the server was started anew since it got graph ", m.graph});
  const std::shared_ptr<registered_part> part = find_to_run(m.graph);
  if (part == nullptr)
    fail(status_code::not_found, {"graph ", m.graph,
                                  " is not known here: the server was started anew, was told to forget it, or has "
                                  "waited too long for its client"});
  keep(by, m.graph, *part);
  part->acknowledge(m.answered);
  // What is held are the runs of its parts.
  if (part->driven() != nullptr) return run_inside(by, *part, m, *elements, request, time_left_ns);
  const std::shared_ptr<run_gate> gate = gate_of(part->what().container);
  const std::int64_t until = network_.now() + time_left_ns;
  const auto go = [core = shared_from_this(), by, part, m, elements, request, gate, until] {
    inside_gate inside(*gate, {m.graph, m.step});
    try {
      core->run_inside(by, *part, m, *elements, request, until - core->network_.now(), &inside);
    } catch (...) {
      by->refuse(request, detail::caught_error());
    }
  };
  gate->enter({m.graph, m.step}, {go, [by, request] { by->post_refusal(request, detail::server_stops()); }});
}

TAGMA_DECL void worker_core::run_inside(const std::shared_ptr<inlet_handler>& by, registered_part& part,
                                        const run_part& m, const std::vector<std::byte>& elements,
                                        std::uint64_t request, std::int64_t time_left_ns, inside_gate* inside) {
  switch (part.outcomes().begin(m.step, [by, request](const run_answer& a) { by->reply(request, a.body, a.bulk); })) {
    case outcomes::entrance::fresh:
      break;
    case outcomes::entrance::joined:
    case outcomes::entrance::told:
      return;
    case outcomes::entrance::over:
      fail(status_code::aborted, {"run ", m.step, " is over, and what it came to is not kept any more"});
  }
  if (TAGMA_BROKEN(answered_early)) {
    part_results early;
    early.specs.resize(m.outputs.size());
    by->reply(request, early.body(), {});
  }
  run_answer answer;
  try {
    answer = run(part, m, elements, time_left_ns);
  } catch (...) {
    answer = run_answer::of(detail::caught_error());
  }
  // Whoever has the answer may count on it.
  if (inside != nullptr) inside->leave();
  part.outcomes().finish(m.step, std::move(answer));
}

TAGMA_DECL run_answer worker_core::run(registered_part& part, const run_part& m, const std::vector<std::byte>& elements,
                                       std::int64_t time_left_ns) {
  const std::shared_ptr<run_state> run = part.run(m.step);
  if (run == nullptr) throw part.why_not(m.step);
  const ir::graph_view g = part.program().graph();
  for (const std::int32_t o : m.outputs)
    if (o < 0 || static_cast<std::size_t>(o) >= g.roots.size())
      fail(status_code::invalid_argument, {"output ", o, " of a part that has ", g.roots.size()});
  std::vector<runtime::node_feed> feeds;
  elements_reader given({elements.data(), elements.size()});
  for (const fed_tensor& f : m.feeds) {
    for (const std::int32_t n : f.nodes)
      if (n < 0 || n >= g.size() || !g.info(n).is(ir::op_kind::placeholder) || !(g[n].spec.type == f.spec.type))
        fail(status_code::invalid_argument, {"node ", n, " is no placeholder for ", to_string(f.spec)});
    feeds.push_back({{f.nodes.data(), f.nodes.size()}, given.take(f.spec)});
  }
  part_results results;
  results.specs.resize(m.outputs.size());
  std::vector<std::string> values(m.outputs.size());
  if (time_left_ns <= 0)
    fail(status_code::deadline_exceeded, {"run ", m.step, " has waited for its turn until its end"});
  run_limits limits[] = {stop_with(run->stop), timeout(std::chrono::nanoseconds(time_left_ns)), {}};
  const std::shared_ptr<recording> recorded = recorder();
  limits[2].trace = recorded.get();
  const runtime::run_numbers numbers{part.what().seed, m.step, &run->edges};
  const under_way marked(*run, network_.now());
  runs_begun_.fetch_add(1, memory_order::relaxed);
  const auto take = [&](std::size_t f, const raw_view& v) {
    if (v.type == dtype::none) return;
    results.specs[f] = {v.type, v.dims};
    add_elements(values[f], v);
  };
  try {
    if (kept_session* const driven = part.driven()) {
      std::vector<named_feed> named;
      for (const runtime::node_feed& f : feeds)
        if (f.nodes.size() != 0) named.push_back({g[f.nodes[0]].name, f.value});
      runtime::join({limits, 2});  // its parts are recorded
      const std::vector<any_tensor> found = driven->run({m.outputs.begin(), m.outputs.end()}, named, limits[0]);
      for (std::size_t f = 0; f < found.size(); ++f) take(f, found[f].view());
    } else {
      part.plans().run_nodes({m.outputs.data(), m.outputs.size()}, {feeds.data(), feeds.size()}, limits,
                             source_line::here(), take, &numbers);
    }
  } catch (...) {
    const error why = part.reason_of(detail::without_line(detail::caught_error()), run.get());
    runs_failed_.fetch_add(1, memory_order::relaxed);
    run->edges.abort(why);
    throw error(why);
  }
  // One result, as large as it may be, is not copied.
  auto bulk = std::make_shared<std::string>(values.empty() ? std::string() : std::move(values[0]));
  for (std::size_t f = 1; f < values.size(); ++f) {
    bulk->resize(aligned(bulk->size()));
    bulk->append(values[f]);
  }
  return {results.body(), std::move(bulk)};
}

TAGMA_DECL void worker_core::stop() {
  std::map<std::uint64_t, std::shared_ptr<registered_part>> parts;
  std::map<std::string, std::shared_ptr<outlet>> outlets;
  std::vector<std::weak_ptr<inlet_handler>> inlets;
  std::map<std::string, std::shared_ptr<run_gate>> gates;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
    parts.swap(parts_);
    outlets.swap(outlets_);
    inlets.swap(inlets_);
    gates.swap(gates_);
  }
  for (const auto& in : inlets)
    if (const auto alive = in.lock()) alive->hurry(detail::answers_ns);
  for (const auto& [graph, part] : parts) part->close(detail::server_stops());
  for (const auto& [name, gate] : gates) gate->end();
  stops_.cancel();
  drivers_.finish();
  crew_.finish();
  const error why(status_code::unavailable, "the server stops");
  for (const auto& in : inlets)
    if (const auto alive = in.lock()) alive->close(why);
  const std::int64_t until = runtime::now_ns() + detail::answers_ns;
  for (const auto& in : inlets)
    if (const auto alive = in.lock()) alive->finish(until, why);
  for (const auto& [address, out] : outlets) out->close();
}

TAGMA_DECL std::shared_ptr<inlet_handler> worker_core::accept() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stopped_) return nullptr;
  std::erase_if(inlets_, [](const auto& in) { return in.expired(); });
  const std::shared_ptr<worker_core> self = shared_from_this();
  inlet_calls calls;
  calls.place = [self](transport::link& from, const transport::incoming& m) { return self->place(from, m); };
  calls.received = [self](const std::shared_ptr<inlet_handler>& by, transport::link& from, transport::incoming& m) {
    self->received(by, from, m);
  };
  calls.abandoned = [self](transport::link& from, std::uint32_t transfer, const error& why) {
    self->abandoned(from, transfer, why);
  };
  calls.lapse = [self](std::uint64_t graph, const void* connection) { self->lapse(graph, connection); };
  const auto made = std::make_shared<inlet_handler>(std::move(calls));
  inlets_.push_back(made);
  return made;
}

}  // namespace tagma::service
