// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/site.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "support/errors.hpp"
#include "tagma/parts.hpp"
#include "tagma/programs.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8>();
const tg::cluster two_servers({{"ps", {"a:1", "b:1"}}, {"worker", {"c:1", "d:1"}}});

/// Variables on parameter servers by turns, all else on a worker.
tg::any_program shared_network() {
  const auto make = [] {
    const auto loss = tg::mean(tg::square(tg::dense<"b", 3>(tg::dense<"a", 4>(x, tg::relu))));
    return tg::outputs(loss, tg::minimize(loss, tg::adam{}));
  };
  return tg::any_program(tg::compile([=] { return tg::on<tg::replica_device_setter{.ps_tasks = 2}>(make()); }),
                         {"loss", "train"});
}

std::string device_of(const tg::cluster_site& site, const tg::any_program& p, std::string_view name) {
  for (tg::ir::node_id i = 0; i < p.graph().size(); ++i)
    if (p.graph()[i].name == name && p.graph()[i].suffix.empty())
      return std::string(tg::device_spelling(site.device_of(i)).view());
  return "";
}

TEST_CASE("tasks are listed in the order of their jobs") {
  const auto all = tg::devices_of(two_servers);
  REQUIRE(all.size() == 4);
  CHECK(all[0].id == tg::task_id{"ps", 0});
  CHECK(all[1].id == tg::task_id{"ps", 1});
  CHECK(all[3].id == tg::task_id{"worker", 1});
}

TEST_CASE("a program that asks for nothing is with its client") {
  const tg::any_program p(tg::compile([] { return tg::outputs(tg::exp(x)); }), {"y"});
  const tg::cluster_site site(p, tg::devices_of(two_servers), {"worker", 1});
  for (tg::ir::node_id i = 0; i < p.graph().size(); ++i)
    CHECK(tg::device_spelling(site.device_of(i)).view() == "/job:worker/replica:0/task:1/device:CPU:0");
}

TEST_CASE("variables are on parameter servers by turns, with their slots and updates") {
  const tg::any_program p = shared_network();
  const tg::cluster_site site(p, tg::devices_of(two_servers), {"worker", 1});
  std::set<std::string> servers;
  for (const char* const name : {"a/kernel", "a/bias", "b/kernel", "b/bias"}) servers.insert(device_of(site, p, name));
  CHECK(servers ==
        std::set<std::string>{"/job:ps/replica:0/task:0/device:CPU:0", "/job:ps/replica:0/task:1/device:CPU:0"});
  CHECK(device_of(site, p, "x") == "/job:worker/replica:0/task:1/device:CPU:0");
  const tg::ir::graph_view g = p.graph();
  for (tg::ir::node_id i = 0; i < g.size(); ++i)
    if (g.info(i).is(tg::ir::op_kind::update)) CHECK(site.view().task[i] == site.view().task[g.inputs(i)[0]]);
  const tg::ir::cut_graph cut = tg::ir::cut(g, site.view());
  REQUIRE(cut.parts.size() == 4);
  CHECK(cut.parts[0].graph.view().size() > 0);
  CHECK(cut.parts[2].graph.view().size() == 0);  // worker 0 has nothing to do
}

TEST_CASE("a variable that a server has stays there, with its slots and updates") {
  const tg::any_program p = shared_network();
  const auto device = [](int task) { return tg::task_device({"ps", task}, "CPU", 0); };
  const auto all = tg::devices_of(two_servers);
  const tg::cluster_site fresh(p, all, {"worker", 1});
  const std::string_view names[] = {"a/kernel", "a/bias", "b/kernel", "b/bias"};
  // Each is on the server where the rule would not put it.
  tg::variable_homes homes;
  for (const std::string_view name : names) {
    const bool on_first = device_of(fresh, p, name) == "/job:ps/replica:0/task:0/device:CPU:0";
    homes[std::string(name)] = device(on_first ? 1 : 0);
  }
  const tg::cluster_site site(p, all, {"worker", 1}, homes);
  for (const std::string_view name : names) {
    CHECK(device_of(site, p, name) != device_of(fresh, p, name));
    CHECK(device_of(site, p, name) == tg::device_spelling(homes.find(name)->second).view());
  }
  const tg::ir::graph_view g = p.graph();
  for (tg::ir::node_id i = 0; i < g.size(); ++i)
    if (g.info(i).is(tg::ir::op_kind::update))
      for (const tg::ir::node_id in : g.inputs(i))
        if (g.info(in).is(tg::ir::op_kind::variable) && g[in].name == g[g.inputs(i)[0]].name)
          CHECK(site.view().task[i] == site.view().task[in]);
  homes["a/bias"] = device(7);
  CHECK(tg::test::text_of([&] {
          const tg::cluster_site gone(p, all, {"worker", 1}, homes);
        }).find("'/job:ps/replica:0/task:7/device:CPU:0' of 'a/bias'") != std::string::npos);
}

TEST_CASE("devices of a task are told apart in its part") {
  const tg::any_program p(tg::compile([] { return tg::outputs(tg::on<"/job:ps/task:1/device:CPU:1">(tg::exp(x))); }),
                          {"y"});
  auto tasks = tg::devices_of(two_servers);
  tasks[1].cpus = 2;
  const tg::cluster_site site(p, tasks, {"worker", 0});
  const tg::ir::cut_graph cut = tg::ir::cut(p.graph(), site.view());
  const tg::ir::graph_view part = cut.parts[1].graph.view();
  bool found = false;
  for (tg::ir::node_id i = 0; i < part.size(); ++i)
    if (part.info(i).name == "exp") {
      found = true;
      CHECK(tg::device_spelling(part.request(i)).view() == "/device:CPU:1");
    }
  CHECK(found);
}

TEST_CASE("what no task has is named") {
  const auto text = [](const tg::any_program& p, const tg::task_id& home) {
    return tg::test::text_of([&] { const tg::cluster_site site(p, tg::devices_of(two_servers), home); });
  };
  const tg::any_program p(tg::compile([] { return tg::outputs(tg::on<"/job:ps/task:7">(tg::exp(x))); }), {"y"});
  CHECK(text(p, {"worker", 0}).find("/job:ps/task:7") != std::string::npos);
  CHECK(text(shared_network(), {"chief", 0}).find("task 0 of job \"chief\"") != std::string::npos);
}

}  // namespace
