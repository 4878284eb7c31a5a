// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of session.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <cstring>
#include <exception>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/cluster/service/elements.hpp"
#include "tagma/cluster/service/feeds.hpp"
#include "tagma/cluster/service/repeated_call.hpp"
#include "tagma/cluster/session.hpp"
#include "tagma/cluster/site.hpp"
#include "tagma/cluster/updates_of_run.hpp"
#include "tagma/device/program_file.hpp"
#include "tagma/runtime/caught.hpp"
#include "tagma/runtime/session_core.hpp"
#include "tagma/runtime/wait_word.hpp"
#include "tagma/transport/broken.hpp"

namespace tagma {

TAGMA_DECL cluster_session::cluster_session(transport::network& by, const cluster& members, const task_id& home,
                                            const any_program& program, cluster_session_options options)
    : network_(by), program_(program), options_(std::move(options)) {
  graph_ = service::draw_number();
  try {
    by_server() ? begin_at_server(members, home) : begin_here(members, home);
    servers_.resize(tasks_.size());
    missing_.resize(tasks_.size());
    lost_.resize(tasks_.size());
    add_parts(has_part_, 0, service::wait_limits(options_.opening));
    options_.opening = {};  // what may stop it is not there for longer
  } catch (...) {
    for (const auto& out : outlets_) out->close();
    throw;
  }
}

TAGMA_DECL void cluster_session::add_task(const cluster& members, const task_id& id) {
  tasks_.push_back({id, to_string(members.task_address(id.job, id.task))});
  outlets_.push_back(
      service::outlet_of_client(network_, tasks_.back().address, options_.link, id, options_.connect_ns, graph_));
}

TAGMA_DECL void cluster_session::begin_here(const cluster& members, const task_id& home) {
  std::vector<task_devices> devices = visible_tasks(devices_of(members), home, options_.device_filters);
  for (const task_devices& d : devices) add_task(members, d.id);
  variable_homes homes;
  learn(devices, homes);
  const cluster_site site(program_, std::move(devices), home, homes);
  cut_ = ir::cut(program_.graph(), site.view());
  for (ir::node_id i = 0; i < program_.graph().size(); ++i) {
    const std::int16_t there = cut_.task[static_cast<std::size_t>(i)];
    devices_.push_back(there == site.view().task[i] ? site.device_of(i)
                                                    : task_device(tasks_[static_cast<std::size_t>(there)].id));
  }
  for (const ir::graph_part& part : cut_.parts) {
    has_part_.push_back(part.graph.view().size() > 0);
    has_state_.push_back(has_state(part.graph.view()));
    parts_.push_back(program_of_part(program_, part));
  }
}

/// All of the program is the part of the home, which takes it for the cluster.
TAGMA_DECL void cluster_session::begin_at_server(const cluster& members, const task_id& home) {
  add_task(members, home);
  cut_.parts.resize(1);
  for (std::size_t o = 0; o < program_.graph().roots.size(); ++o)
    cut_.parts[0].outputs.push_back(static_cast<std::int32_t>(o));
  parts_.push_back(program_);
  has_part_.push_back(true);
  has_state_.push_back(has_state(program_.graph()));
}

TAGMA_DECL transport::outgoing cluster_session::as_session(const service::add_part& what) const {
  transport::outgoing m;
  m.kind = static_cast<std::uint16_t>(service::message::open_session);
  m.body = service::open_session{what,
                                 options_.device_filters,
                                 options_.connect_ns,
                                 options_.run_ns,
                                 options_.again_ns,
                                 options_.told ? options_.tell_ns : 0,
                                 options_.told ? options_.stall_ns : 0}
               .body();
  return m;
}

TAGMA_DECL void cluster_session::take_devices(std::string_view answer) {
  devices_ = service::node_devices::read(answer).devices();
  if (devices_.size() != static_cast<std::size_t>(program_.graph().size()))
    fail(status_code::internal,
         {to_string(tasks_[0].id), " knows devices of ", devices_.size(), " nodes, not of ", program_.graph().size()});
}

TAGMA_DECL cluster_session::~cluster_session() {
  for (std::size_t t = 0; t < outlets_.size(); ++t) {
    if (has_part_[t]) {
      transport::outgoing m;
      m.kind = static_cast<std::uint16_t>(service::message::forget_graph);
      m.body = service::edge_of_run{graph_, 0, 0, {}}.body();
      outlets_[t]->post(std::move(m));
    }
    outlets_[t]->close();
  }
}

TAGMA_DECL service::wait_limits cluster_session::waits_for(const service::task_questions& all,
                                                           const service::wait_limits& limits) {
  service::wait_limits telling(limits);
  telling.tell_after_ns = options_.told ? options_.tell_ns : 0;
  telling.tell = [this, &all, limits](std::int64_t lasted_ns) {
    const std::string by_master = by_server() ? service::what_opens(graph_, *outlets_[0], limits) : std::string();
    options_.told(by_master.empty() ? service::who_is_missing(tasks_, all, lasted_ns) : by_master);
  };
  return telling;
}

TAGMA_DECL void cluster_session::learn(std::vector<task_devices>& devices, variable_homes& homes) {
  service::gathering all;
  const auto ask = [&](service::message kind, const std::string& body) {
    service::task_questions asked;
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      asked.push_back(std::make_unique<service::question>(all, tagma::to_string(tagma::task_device(tasks_[t].id))));
      transport::outgoing m;
      m.kind = static_cast<std::uint16_t>(kind);
      m.body = body;
      outlets_[t]->ask(std::move(m), options_.connect_ns, *asked.back());
    }
    return asked;
  };
  const service::task_questions offers = ask(service::message::list_devices, {});
  const service::task_questions variables = ask(service::message::list_variables, options_.container);
  // There will be no session: nobody is waited for any more.
  all.wait(
      [&](const error&) {
        for (const auto& out : outlets_) out->close();
      },
      waits_for(variables, service::wait_limits(options_.opening)));
  const std::string prefix = runtime::name_in_container(options_.variable_prefix, "");
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    devices[t].others = service::device_offers::read(offers[t]->bulk_text()).others;
    for (const auto& v : service::variable_list::read(variables[t]->bulk_text()).variables) {
      std::string_view name = v.name;
      if (!name.starts_with(prefix)) continue;
      homes.emplace(std::string(name.substr(prefix.size())), task_device(tasks_[t].id, v.device_type, v.device));
    }
  }
}

TAGMA_DECL void cluster_session::add_parts(const std::vector<bool>& which, std::uint64_t first_step,
                                           const service::wait_limits& limits) {
  // Whatever can be thrown is thrown before the first question is asked.
  std::vector<std::shared_ptr<const std::string>> files(tasks_.size());
  for (std::size_t t = 0; t < tasks_.size(); ++t)
    if (which[t]) files[t] = std::make_shared<const std::string>(write_program(parts_[t]));
  service::gathering all;
  service::task_questions asked(tasks_.size());
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    if (!which[t]) continue;
    asked[t] = std::make_unique<service::question>(all, to_string(task_device(tasks_[t].id)));
    const service::add_part what{graph_,
                                 static_cast<std::int32_t>(t),
                                 options_.container,
                                 options_.variable_prefix,
                                 options_.kept_apart,
                                 options_.seed,
                                 tasks_,
                                 first_step};
    transport::outgoing m;
    if (by_server()) {
      m = as_session(what);
    } else {
      m.kind = static_cast<std::uint16_t>(service::message::add_part);
      m.body = what.body();
    }
    service::detail::keep_bulk(m, std::move(files[t]));
    outlets_[t]->ask(std::move(m), options_.run_ns, *asked[t], asked[t]->as);
  }
  all.wait(
      [&](const error&) {
        for (std::size_t t = 0; t < tasks_.size(); ++t) {
          if (asked[t] != nullptr) asked[t]->as->end();
          first_step == 0 ? outlets_[t]->close() : outlets_[t]->drop_unwanted();
        }
      },
      waits_for(asked, limits));
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    if (!which[t]) continue;
    const std::uint64_t server = service::added_part::read(asked[t]->body).server;
    if (by_server() && first_step == 0) take_devices(asked[t]->bulk_text());
    if (first_step == 0 || TAGMA_BROKEN(new_server_taken)) servers_[t] = server;
    if (server == servers_[t] || !has_state_[t]) continue;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      lost_[t] = true;
    }
    fail(status_code::aborted,
         {to_string(task_device(tasks_[t].id)), ": the server was started anew since it got graph ", graph_,
          ", and what its variables were is lost; a new session begins with what it has now"});
  }
}

TAGMA_DECL void cluster_session::add_missing_parts(const service::wait_limits& limits) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (adding_) {
    limits.guard.check();
    added_.wait(lock, limits.guard);
  }
  struct turn {
    ~turn() {
      of.adding_ = false;
      of.added_.notify_all();
    }
    cluster_session& of;
  };
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    if (!missing_[t]) continue;
    const std::uint64_t first_step = step_;
    adding_ = true;
    const turn mine{*this};
    std::vector<bool> one(tasks_.size());
    one[t] = true;
    std::exception_ptr failed;
    lock.unlock();
    try {
      add_parts(one, first_step, limits);
    } catch (const error& e) {
      if (e.code() == status_code::invalid_argument)
        failed = std::make_exception_ptr(
            error(status_code::aborted, sentence({"a server was started anew, and is another one now: ",
                                                  runtime::without_code(e.what()), "; a new session places anew"})));
      else if (e.code() != status_code::already_exists)
        failed = std::current_exception();
    } catch (...) {
      failed = std::current_exception();
    }
    lock.lock();
    missing_[t] = failed != nullptr && !lost_[t];
    if (failed != nullptr) std::rethrow_exception(failed);
  }
}

TAGMA_DECL cluster_session::planned_run cluster_session::plan_run(const std::vector<int>& wanted) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = planned_.find(wanted);
    if (found != planned_.end()) return found->second;
  }
  std::vector<ir::node_id> nodes;
  for (const int w : wanted) nodes.push_back(program_.graph().roots[static_cast<std::size_t>(w)]);
  if (!plan::has_order(program_.graph(), nodes))  // parts would wait for one another until the end of their time
    fail(status_code::invalid_argument,
         "TAGMA-E067 run: reads and updates of variables wait for one another; order them with tagma::after");
  planned_run made;
  if (by_server())
    made.asked = {wanted};
  else
    made.asked = outputs_of_parts(cut_, wanted);
  for (std::size_t t = 0; t < tasks_.size(); ++t)
    if (!made.asked[t].empty() && !updates_of_run(parts_[t].graph(), made.asked[t]).empty()) made.updates = true;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (planned_.size() >= 256) planned_.clear();
  return planned_.emplace(wanted, std::move(made)).first->second;
}

TAGMA_DECL error cluster_session::explain(std::size_t task, const std::vector<int>& asked, std::uint64_t step,
                                          const service::repeated_call& call, const error& why) const {
  const bool gone = why.code() == status_code::not_found;  // the server, or its memory of this program
  std::string text = asked_.named(task, runtime::without_code(why.what()));
  const std::string updated = updates_of_run(parts_[task].graph(), asked);
  if (gone && call.attempts() == 1)
    append_parts(text, {"; nothing of run ", step, " was done there"});
  else if ((gone || call.lost() || call.attempts() > 1) && !updated.empty())
    append_parts(text, {"; whether run ", step, " has updated ", updated, " there is not known"});
  return error(gone ? status_code::aborted : why.code(), text);
}

TAGMA_DECL void cluster_session::end_run(std::uint64_t step, const std::vector<std::vector<int>>& asked,
                                         const error* why) {
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    if (asked[t].empty() || (why != nullptr && TAGMA_BROKEN(end_not_said))) continue;
    transport::outgoing m;
    m.kind = static_cast<std::uint16_t>(service::message::end_run);
    m.body = service::end_run{graph_, step, why == nullptr ? status_code::ok : why->code(),
                              why == nullptr ? std::string() : std::string(runtime::without_code(why->what()))}
                 .body();
    outlets_[t]->post(std::move(m));
  }
}

TAGMA_DECL std::vector<any_tensor> cluster_session::run(const std::vector<output_name>& outputs,
                                                        const std::vector<named_feed>& feeds,
                                                        const run_limits& limits) {
  if (outputs.empty()) fail(status_code::invalid_argument, "TAGMA-E174 run: takes the name of an output, or several");
  std::vector<int> wanted;
  for (const output_name& o : outputs) {
    wanted.push_back(program_.find_output(o.name()));
    if (wanted.back() < 0)
      fail(status_code::invalid_argument, {"TAGMA-E050 run: what is fetched is no output of this program: ", o.name()});
  }
  return run_outputs(wanted, feeds, limits);
}

TAGMA_DECL std::vector<any_tensor> cluster_session::run_outputs(const std::vector<int>& wanted,
                                                                const std::vector<named_feed>& feeds,
                                                                const run_limits& limits) {
  if (limits.pool != run_limits::any_pool || limits.trace != nullptr)
    fail(status_code::invalid_argument, "run: pools of threads and timelines are of local sessions");
  const service::wait_limits waits(limits);
  service::check_feeds(program_.graph(), feeds);
  const planned_run plan = plan_run(wanted);
  const std::int64_t until = runtime::later(network_.now(), options_.run_ns);
  std::int64_t again_until = 0;
  for (;;) {
    add_missing_parts(waits);
    bool again = false;
    try {
      return run(wanted, plan.asked, feeds, !plan.updates && again_until != 0, until, waits, again);
    } catch (const error&) {
      // What changes nothing may be done again, as a run of its own.
      if (again_until == 0) again_until = std::min(until, runtime::later(network_.now(), options_.again_ns));
      if (plan.updates || !again || network_.now() >= again_until) throw;
    }
    waits.guard.check();
    service::pause_for(service::first_wait_ns);
  }
}

TAGMA_DECL std::vector<any_tensor> cluster_session::run(const std::vector<int>& wanted,
                                                        const std::vector<std::vector<int>>& asked,
                                                        const std::vector<named_feed>& feeds, bool by_any_server,
                                                        std::int64_t until, const service::wait_limits& limits,
                                                        bool& again) {
  const open_step now(*this);
  const std::uint64_t step = now.number();
  std::vector<service::part_results> got(tasks_.size());
  service::gathering all;
  std::vector<std::unique_ptr<service::repeated_call>> calls(tasks_.size());
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    if (asked[t].empty()) continue;
    service::run_part what{graph_,
                           step,
                           now.answered(),
                           by_any_server && !has_state_[t] ? 0 : servers_[t],
                           {asked[t].begin(), asked[t].end()},
                           {}};
    auto elements = std::make_shared<const std::string>(service::add_feeds(parts_[t].graph(), feeds, what));
    const auto told = [&, t](const error* why) {
      try {
        if (why != nullptr) {
          if (why->code() == status_code::not_found) {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (!lost_[t]) missing_[t] = again = true;
          }
          const error named = explain(t, asked[t], step, *calls[t], *why);
          return all.come(&named);
        }
        got[t] = service::part_results::read(calls[t]->body());
        if (got[t].code == status_code::ok) return all.come(nullptr);
        if (got[t].code == status_code::unavailable || got[t].code == status_code::data_loss) again = true;
        const error failed(got[t].code, asked_.named(t, got[t].why));
        all.come(&failed);
      } catch (const std::exception& e) {
        const error failed(status_code::internal, e.what());
        all.come(&failed);
      }
    };
    calls[t] =
        std::make_unique<service::repeated_call>(network_, *outlets_[t], service::message::run_part, what.body(),
                                                 std::move(elements), until - network_.now(), options_.again_ns, told);
  }
  for (const auto& c : calls)
    if (c != nullptr) all.expect();
  for (const auto& c : calls)
    if (c != nullptr) c->start();
  service::wait_limits lasting(limits);
  lasting.tell_after_ns = options_.told ? options_.stall_ns : 0;
  lasting.tell = [&](std::int64_t lasted_ns) {
    options_.told(service::what_lasts({graph_, step, lasted_ns, options_.container, tasks_, outlets_, parts_, limits}));
  };
  // A task that is told to stop says what the run came to, all the same: nothing is lost that it took.
  all.wait(
      [&](const error& why) {
        end_run(step, asked, &why);
        for (const auto& c : calls)
          if (c != nullptr) c->give_up(why);
      },
      [&] {
        for (const auto& c : calls)
          if (c != nullptr) c->leave();
      },
      lasting);
  end_run(step, asked, nullptr);
  std::vector<any_tensor> results(wanted.size());
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    if (asked[t].empty()) continue;
    const std::vector<std::byte>& bulk = calls[t]->bulk();
    if (got[t].specs.size() != asked[t].size())
      fail(status_code::internal,
           {to_string(tasks_[t].id), " answers with ", got[t].specs.size(), " tensors, not ", asked[t].size()});
    service::elements_reader elements({bulk.data(), bulk.size()});
    for (std::size_t r = 0; r < got[t].specs.size(); ++r) {
      const raw_view value = elements.take(got[t].specs[r]);
      const std::int32_t output = cut_.parts[t].outputs[static_cast<std::size_t>(asked[t][r])];
      if (value.type == dtype::none || output < 0) continue;
      for (std::size_t k = 0; k < wanted.size(); ++k)
        if (wanted[k] == output) results[k] = any_tensor::copy_of(value);
    }
  }
  return results;
}

}  // namespace tagma
