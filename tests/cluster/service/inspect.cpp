// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/service/inspect.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "support/comes.hpp"
#include "support/errors.hpp"
#include "support/servers.hpp"
#include "tagma/cluster/service/inquiry.hpp"
#include "tagma/graph_builder.hpp"
#include "tagma/parts.hpp"
#include "tagma/program_files.hpp"
#include "tagma/programs.hpp"
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
namespace service = tagma::service;
using service::message;
using tg::feed_to;
using tg::test::servers;

const tg::cluster two({{"ps", {"a:1"}}, {"worker", {"b:1"}}});
const service::placed_task ps{{"ps", 0}, "a:1"}, worker{{"worker", 0}, "b:1"};

constexpr auto x = tg::placeholder<"x", float, 3>();

/// A variable at the parameter server, an update there, and a product at the worker.
tg::any_program sums() {
  const auto total = tg::on<"/job:ps/task:0">(tg::variable<"total", float, 3>(tg::zeros));
  const auto add = tg::on<"/job:ps/task:0">(tg::assign_add(total, x));
  const auto twice = tg::on<"/job:worker/task:0">(total * 2.0f);
  return tg::any_program(tg::compile([=] { return tg::outputs(add, twice); }), {"add", "twice"});
}

struct looking {
  explicit looking(servers& all) : inquiry(all.network, all.client().link, 20'000'000'000) {}

  template <class Report>
  Report bulk(const service::placed_task& whom, message kind, const std::string& body = {}) {
    return Report::read(inquiry.ask({whom, kind, body}).bulk_text());
  }
  template <class Report>
  Report body(const service::placed_task& whom, message kind, const std::string& body = {}) {
    return Report::read(inquiry.ask({whom, kind, body}).body);
  }

  service::inquiry inquiry;
};

TEST_CASE("a server says how it is, and what its containers have") {
  servers all(two);
  looking look(all);
  tg::cluster_session_options options = all.client();
  options.container = "trial";
  tg::cluster_session session(all.network, two, {"worker", 0}, sums(), options);
  const tg::tensor<float> numbers({3}, {1.0f, -2.0f, 3.0f});
  session.run("add", feed_to("x", numbers));
  session.run("twice");

  const auto status = look.bulk<service::server_status>(ps, message::status);
  CHECK(status.self == tg::task_id{"ps", 0});
  CHECK(status.incarnation == 1);
  CHECK(status.build.find("tagma") == 0);
  CHECK(status.uptime_ns > 0);
  CHECK(status.graphs == 1);
  CHECK(status.runs_begun == 2);
  CHECK(status.runs_failed == 0);
  REQUIRE(status.devices.size() == 1);
  CHECK(status.devices[0].name == "/job:ps/replica:0/task:0/device:CPU:0");
  CHECK(status.devices[0].variable_bytes == 12);
  bool session_is_there = false, worker_is_there = false;
  for (const auto& c : status.connections) {
    session_is_there = session_is_there || (c.incoming && c.role == "client" && c.messages_received > 0);
    worker_is_there = worker_is_there || (c.peer == tg::task_id{"worker", 0} && c.role == "server");
  }
  CHECK(session_is_there);
  CHECK(worker_is_there);

  const auto containers = look.bulk<service::container_list>(ps, message::list_containers);
  REQUIRE(containers.containers.size() == 1);
  CHECK(containers.containers[0].name == "trial");
  CHECK(containers.containers[0].kept_apart == tg::isolation::variables);
  CHECK(containers.containers[0].variables == 1);
  CHECK(containers.containers[0].variable_bytes == 12);
  CHECK(containers.containers[0].graphs == 1);

  const auto resources = look.bulk<service::resource_list>(ps, message::list_resources, "trial");
  REQUIRE(resources.resources.size() == 1);
  CHECK(resources.resources[0].kind == "variable");
  CHECK(resources.resources[0].name == "total");
  CHECK(resources.resources[0].spec == tg::tensor_spec{tg::dtype::float32, {3}});
  CHECK(resources.resources[0].initialized);
  CHECK(resources.resources[0].size == 12);

  const auto value =
      look.inquiry.ask({ps, message::read_variable, service::read_variable{"trial", "total", true}.body()});
  const auto norms = service::variable_value::read(value.body).norms;
  CHECK(norms.least == -2);
  CHECK(norms.most == 3);
  CHECK(norms.mean == Approx(2.0 / 3));
  CHECK(norms.l1 == 6);
  CHECK(norms.l2 == Approx(std::sqrt(14.0)));
  REQUIRE(value.bulk.size() == 12);
  CHECK(reinterpret_cast<const float*>(value.bulk.data())[2] == 3);
  const auto without =
      look.inquiry.ask({ps, message::read_variable, service::read_variable{"trial", "total", false}.body()});
  CHECK(without.body == value.body);
  CHECK(without.bulk.empty());
}

TEST_CASE("what a server has not is named, and so is who is not there") {
  servers all(two);
  looking look(all);
  const auto text = [&](message kind, const std::string& body) {
    return tg::test::text_of([&] { (void)look.inquiry.ask({ps, kind, body}); });
  };
  CHECK(text(message::list_resources, "trail") == "NotFound: there is no container 'trail' here, nor any other");
  (void)all.workers[ps.id]->state("trial");
  CHECK(text(message::list_resources, "trail") == "NotFound: there is no container 'trail' here; there are 'trial'");
  CHECK(text(message::reset_container, "trail").find("'trail'") != std::string::npos);
  CHECK(text(message::read_variable, service::read_variable{"trial", "w", false}.body()) ==
        "NotFound: there is no variable 'w' in container 'trial' here");
  CHECK(text(message::probe, service::probe{{"worker", 4}}.body()).find("task 4 of job \"worker\"") !=
        std::string::npos);
  CHECK(text(message::probe, "x").find("InvalidArgument: message 'probe'") == 0);
  CHECK(text(static_cast<message>(77), "").find("Unimplemented: messages of kind 77") == 0);

  all.workers.erase(worker.id);
  service::inquiry brief(all.network, all.client().link, 200'000'000);
  const auto answers = brief.ask({{ps, message::list_containers, {}}, {worker, message::list_containers, {}}});
  CHECK(!answers[0].problem.has_value());
  CHECK(answers[1].problem.has_value());
}

TEST_CASE("a run that waits is seen, with what it waits for, and a reset ends it") {
  servers all(two);
  looking look(all);
  // The parameter server waits at a queue, the worker for what the parameter server makes of it.
  constexpr tg::queue_of<"work", tg::queue_options{.capacity = 4}, tg::spec<float>> queue;
  const auto item = tg::on<"/job:ps/task:0">(tg::dequeue(queue));
  const auto result = tg::on<"/job:worker/task:0">(item * 2.0f);
  const tg::any_program program(tg::compile([=] { return tg::outputs(result); }), {"result"});
  tg::cluster_session session(all.network, two, {"worker", 0}, program, all.client());
  std::string text;
  std::thread run([&] { text = tg::test::text_of([&] { session.run("result"); }); });

  tg::test::comes([&] {
    const auto resources = look.bulk<service::resource_list>(ps, message::list_resources);
    return resources.resources.size() == 1 && resources.resources[0].taking == 1;
  });
  const auto resources = look.bulk<service::resource_list>(ps, message::list_resources);
  CHECK(resources.resources[0].kind == "queue");
  CHECK(resources.resources[0].detail == "FIFO queue 'work' of float32 []");
  CHECK(resources.resources[0].capacity == 4);
  CHECK(resources.resources[0].size == 0);
  CHECK(!resources.resources[0].closed);
  service::run_list runs;
  tg::test::comes([&] {
    runs = look.bulk<service::run_list>(worker, message::list_runs);
    return runs.runs.size() == 1 && runs.runs[0].edges.size() == 1;
  });
  CHECK(runs.runs[0].asked);
  CHECK(runs.runs[0].edges[0].waits == service::run_list::wait::comes);
  CHECK(runs.runs[0].edges[0].peer == ps.id);
  CHECK(look.bulk<service::run_list>(ps, message::list_runs).runs[0].graph == runs.runs[0].graph);
  CHECK(look.bulk<service::server_status>(ps, message::status).runs == 1);

  const auto reset = look.body<service::reset_result>(ps, message::reset_container);
  CHECK(reset.resources == 1);
  CHECK(reset.graphs == 1);
  run.join();
  INFO(text);
  CHECK(text.find("Aborted: /job:") == 0);
  CHECK(text.find("container '' was reset") != std::string::npos);
  CHECK(tg::test::text_of([&] { session.run("result"); }).find("container '' was reset") != std::string::npos);
  CHECK(look.bulk<service::resource_list>(ps, message::list_resources).resources.empty());
  tg::test::comes([&] { return look.bulk<service::server_status>(ps, message::status).runs == 0; });
  CHECK(look.bulk<service::server_status>(ps, message::status).runs_failed == 2);
}

TEST_CASE("a server whose threads all wait is looked into, and helped") {
  servers all(two, 1);
  looking look(all);
  constexpr tg::queue_of<"work", tg::queue_options{.capacity = 4}, tg::spec<float>> queue;
  const auto item = tg::on<"/job:ps/task:0">(tg::dequeue(queue));
  const tg::any_program program(tg::compile([=] { return tg::outputs(item); }), {"item"});
  tg::cluster_session session(all.network, two, {"ps", 0}, program, all.client());
  std::vector<std::string> texts(3);
  std::vector<std::thread> runs;
  for (std::string& text : texts) runs.emplace_back([&] { text = tg::test::text_of([&] { session.run("item"); }); });
  tg::test::comes([&] {
    const auto resources = look.bulk<service::resource_list>(ps, message::list_resources);
    return resources.resources.size() == 1 && resources.resources[0].taking == 1;
  });
  CHECK(look.bulk<service::run_list>(ps, message::list_runs).runs.size() == 1);
  CHECK(look.body<service::reset_result>(ps, message::reset_container).graphs == 1);
  for (std::thread& run : runs) run.join();
  for (const std::string& text : texts) CHECK(text.find("container '' was reset") != std::string::npos);
}

TEST_CASE("a server reaches another one, or says why not") {
  servers all(two);
  looking look(all);
  const auto reached = look.body<service::probe_result>(ps, message::probe, service::probe{worker.id}.body());
  CHECK(reached.address == "b:1");
  CHECK(reached.incarnation == 2);
  CHECK(reached.connect_ns > 0);
  CHECK(reached.round_trip_ns > 0);
  CHECK(look.body<service::probe_result>(ps, message::probe, service::probe{ps.id}.body()).incarnation == 1);
  all.workers.erase(worker.id);
  service::inquiry brief(all.network, all.client().link, 400'000'000);
  const std::string text = tg::test::text_of([&] {
    (void)brief.ask({ps, message::probe, service::probe{worker.id}.body()});
  });
  INFO(text);
  CHECK(text.find("b:1") != std::string::npos);
}

TEST_CASE("a container that keeps runs apart is read between runs") {
  servers all(two);
  looking look(all);
  tg::cluster_session_options options = all.client();
  options.kept_apart = tg::isolation::runs;
  tg::cluster_session session(all.network, two, {"worker", 0}, sums(), options);
  const tg::tensor<float> numbers({3}, {1.0f, NAN, 3.0f});
  session.run("add", feed_to("x", numbers));
  const auto containers = look.bulk<service::container_list>(ps, message::list_containers);
  CHECK(containers.containers[0].kept_apart == tg::isolation::runs);
  const auto value =
      look.body<service::variable_value>(ps, message::read_variable, service::read_variable{"", "total", false}.body());
  CHECK(value.norms.not_finite == 1);
  CHECK(value.norms.most == 3);
}

}  // namespace
