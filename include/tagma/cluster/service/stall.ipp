// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of stall.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/devices.hpp"
#include "tagma/cluster/service/reports.hpp"
#include "tagma/cluster/service/stall.hpp"
#include "tagma/expr/op/exchange.hpp"

namespace tagma::service {

namespace detail {

/// The tensor that an edge hands over: "'hidden/w' float32 [784, 256]", "matmul float32 [32, 10]".
TAGMA_COLD TAGMA_DECL std::string edge_text(const std::vector<any_program>& parts, std::int32_t edge) {
  for (const any_program& part : parts) {
    const ir::graph_view g = part.graph();
    for (ir::node_id i = 0; i < g.size(); ++i) {
      if (g[i].op != &ir::rules<op::send> || g.attributes(i)[0] != edge) continue;
      const ir::node_id of = g.inputs(i)[0];
      const ir::node_id made = g.info(of).is(ir::op_kind::output) ? g.inputs(of)[0] : of;
      const std::string what = g[of].name.empty() ? std::string(g.info(made).name) : sentence({"'", g[of].name, "'"});
      return g[of].spec.type == dtype::none ? what : sentence({what, " ", to_string(g[of].spec)});
    }
  }
  return sentence({"edge ", edge});
}

}  // namespace detail

TAGMA_COLD TAGMA_DECL std::string who_is_missing(const std::vector<placed_task>& tasks, const task_questions& all,
                                                 std::int64_t lasted_ns) {
  std::string missing;
  for (std::size_t t = 0; t < tasks.size(); ++t)
    if (all[t] != nullptr && !all[t]->answered.load(memory_order::acquire))
      append_parts(missing,
                   {missing.empty() ? "" : ", ", to_string(task_device(tasks[t].id)), " at ", tasks[t].address});
  return sentence({"waiting for ", missing, " for ", lasted_ns / 1'000'000'000, " s"});
}

TAGMA_COLD TAGMA_DECL std::string what_opens(std::uint64_t graph, outlet& master, const wait_limits& limits) {
  gathering all;
  question one(all, {});
  transport::outgoing m;
  m.kind = static_cast<std::uint16_t>(message::list_runs);
  master.ask(std::move(m), 2'000'000'000, one, one.as);
  try {
    all.wait(
        [&](const error&) {
          one.as->end();
          master.drop_unwanted();
        },
        limits);
    for (const run_list::run& r : run_list::read(one.bulk_text()).runs)
      if (r.graph == graph) return r.note;
  } catch (const error&) {  // it is missing itself
  }
  return {};
}

TAGMA_COLD TAGMA_DECL std::string what_lasts(const lasting_run& run) {
  constexpr std::int64_t within_ns = 2'000'000'000;
  struct asked_task {
    std::size_t task;
    std::unique_ptr<question> runs, resources;
  };
  gathering all;
  std::vector<asked_task> asked;
  for (std::size_t t = 0; t < run.tasks.size(); ++t) {
    if (run.parts[t].graph().size() == 0) continue;
    const std::string name = to_string(task_device(run.tasks[t].id));
    asked.push_back({t, std::make_unique<question>(all, name), std::make_unique<question>(all, name)});
    const auto ask = [&](message kind, std::string body, question& with) {
      transport::outgoing m;
      m.kind = static_cast<std::uint16_t>(kind);
      m.body = std::move(body);
      run.outlets[t]->ask(std::move(m), within_ns, with, with.as);
    };
    ask(message::list_runs, {}, *asked.back().runs);
    ask(message::list_resources, run.container, *asked.back().resources);
  }
  // An answer that is an error ends none of the others.
  const auto stop = [&](const error&) {
    if (run.limits.guard.over() == status_code::ok) return;
    for (const asked_task& one : asked) {
      one.runs->as->end();
      one.resources->as->end();
      run.outlets[one.task]->drop_unwanted();
    }
  };
  try {
    all.wait(stop, run.limits);
  } catch (const error&) {  // those that do not answer are named below
  }
  std::string text = sentence({"run ", run.step, " lasts for ", run.lasted_ns / 1'000'000'000, " s"});
  bool found = false;
  const auto say = [&](const std::string& what) {
    append_parts(text, {found ? "; " : ": ", what});
    found = true;
  };
  for (const asked_task& one : asked) {
    const std::string name = to_string(task_device(run.tasks[one.task].id));
    if (!one.runs->answered.load(memory_order::acquire)) {
      say(name + " does not answer");
      continue;
    }
    for (const run_list::run& r : run_list::read(one.runs->bulk_text()).runs) {
      if (r.graph != run.graph || r.step != run.step) continue;
      for (const run_list::edge& e : r.edges)
        say(sentence({name, e.waits == run_list::wait::wanted ? " keeps " : " waits for ",
                      detail::edge_text(run.parts, e.number), e.waits == run_list::wait::wanted ? " for " : " of ",
                      to_string(task_device(e.peer))}));
      if (!r.note.empty()) say(sentence({name, " drives it: ", r.note}));
    }
    if (!one.resources->answered.load(memory_order::acquire)) continue;  // it has no such container
    for (const resource_list::entry& e : resource_list::read(one.resources->bulk_text()).resources) {
      if (e.adding == 0 && e.taking == 0) continue;
      say(sentence({name, ": ", waits_text(e)}));
    }
  }
  if (!found) append_parts(text, {"; it waits for nothing that its tasks know of"});
  return text;
}

}  // namespace tagma::service
