// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/session.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/comes.hpp"
#include "support/cut_network.hpp"
#include "support/errors.hpp"
#include "support/servers.hpp"
#include "tagma/parts.hpp"
#include "tagma/program_files.hpp"
#include "tagma/programs.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using tg::service::message;
using tg::test::cut_at;
using tg::test::cut_network;
using tg::test::servers;

const tg::cluster two_and_one({{"ps", {"a:1", "b:1"}}, {"worker", {"c:1"}}});

/// Two counters on two tasks, of which a run raises both; what it hands out is large enough to be bulk.
tg::any_program counters() {
  return tg::any_program(tg::compile([] {
                           const auto a = tg::on<"/job:ps/task:0">(tg::variable<"a", float, 600000>(tg::zeros));
                           const auto b = tg::on<"/job:ps/task:1">(tg::variable<"b", float, 600000>(tg::zeros));
                           const auto more_a = tg::on<"/job:ps/task:0">(tg::assign_add(a, tg::ones_like(a)));
                           const auto more_b = tg::on<"/job:ps/task:1">(tg::assign_add(b, tg::ones_like(b)));
                           const auto read_a = tg::on<"/job:ps/task:0">(a * 1.0f);
                           const auto read_b = tg::on<"/job:ps/task:1">(b * 1.0f);
                           return tg::outputs(more_a, more_b, read_a, read_b);
                         }),
                         {"more_a", "more_b", "a", "b"});
}
float first(const tg::any_tensor& t) { return static_cast<const float*>(t.view().data)[0]; }

TEST_CASE("a run is done once, wherever its connection is cut") {
  tg::transport::memory::network memory;
  cut_network network(memory);
  servers all(two_and_one, network);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  tg::cluster_session session(network, two_and_one, {"worker", 0}, counters(), all.client());
  float expected = 0;
  for (const cut_at where :
       {cut_at::before_request, cut_at::behind_request, cut_at::arrived, cut_at::before_reply, cut_at::in_reply})
    for (const char* const at : {"a:1", "b:1"})
      for (const int times : {1, 3}) {
        INFO("at point " << static_cast<int>(where) << ", " << times << " times");
        network.plan(where, message::run_part, at, times);
        const auto got = session.run({"more_a", "more_b"});
        // One that has been sent may be answered before the cut.
        if (where != cut_at::behind_request) CHECK(network.left() == 0);
        ++expected;
        CHECK(first(got[0]) == expected);
        CHECK(first(got[1]) == expected);
      }
  const auto found = session.run({"a", "b"});
  CHECK(first(found[0]) == expected);
  CHECK(first(found[1]) == expected);
}

TEST_CASE("several threads lose one connection again and again, and each run is done once") {
  tg::transport::memory::network memory;
  cut_network network(memory);
  servers all(two_and_one, network);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  tg::cluster_session session(network, two_and_one, {"worker", 0}, counters(), all.client());
  std::vector<std::thread> threads;
  constexpr int each = 10;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < each; ++i) session.run({"more_a", "more_b"});
    });
  for (int i = 0; i < 12; ++i) {
    network.plan(static_cast<cut_at>(i % 5), message::run_part, i % 2 == 0 ? "a:1" : "b:1");
    std::this_thread::yield();
  }
  for (auto& t : threads) t.join();
  network.plan(cut_at::arrived, message::run_part, "nowhere", 0);
  const auto found = session.run({"a", "b"});
  CHECK(first(found[0]) == 3 * each);
  CHECK(first(found[1]) == 3 * each);
}

TEST_CASE("who was started anew does not guess: the error names the task and what may have been updated") {
  tg::transport::memory::network memory;
  cut_network network(memory);
  servers all(two_and_one, network);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  tg::cluster_session session(network, two_and_one, {"worker", 0}, counters(), all.client());
  session.run({"more_a", "more_b"});
  // It has done the run, and nobody knows.
  network.plan(cut_at::before_reply, message::run_part, "b:1");
  std::thread restarts([&] {
    CHECK(tg::test::comes([&] { return network.left() == 0; }));
    all.workers[{"ps", 1}].reset();
    all.start({"ps", 1}, "b:1");
  });
  const std::string text = tg::test::text_of([&] { session.run({"more_a", "more_b"}); });
  restarts.join();
  INFO(text);
  // The answer may have reached the client before the server ended.
  if (!text.empty()) {
    CHECK(text.find("/job:ps/replica:0/task:1") != std::string::npos);
    if (text.find("Aborted: ") == 0 && text.find("stops") == std::string::npos)
      CHECK((text.find("'b' there is not known") != std::string::npos ||
             text.find("nothing of run 1 was done there") != std::string::npos));  // it ended before it began the run
  }
  const std::string next = tg::test::text_of([&] { session.run({"more_b"}); });
  INFO(next);
  CHECK(next.find("/job:ps/replica:0/task:1") != std::string::npos);
  CHECK(next.find("was started anew") != std::string::npos);
  // What the variable is now is not what the session has made of it.
  const std::string read = tg::test::text_of([&] { session.run({"b"}); });
  INFO(read);
  CHECK(read.find("Aborted: /job:ps/replica:0/task:1: the server was started anew") == 0);
  CHECK(first(session.run({"a"})[0]) >= 1);
  for (const char* again : {"b", "more_b"})
    CHECK(tg::test::text_of([&] { session.run({again}); }).find("Aborted") == 0);
  tg::cluster_session later(network, two_and_one, {"worker", 0}, counters(), all.client());
  CHECK(first(later.run({"b"})[0]) == 0);
}

TEST_CASE("what has no state is done by whoever is there") {
  tg::transport::memory::network memory;
  cut_network network(memory);
  servers all(two_and_one, network);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  const auto in = tg::placeholder<"in", float, 3>();
  const tg::any_program squares(tg::compile([=] { return tg::outputs(tg::on<"/job:worker/task:0">(in * in)); }), {"y"});
  tg::cluster_session session(network, two_and_one, {"worker", 0}, squares, all.client());
  const tg::tensor<float> three({3}, {3, 3, 3});
  CHECK(first(session.run({"y"}, {tg::feed_to("in", three)})[0]) == 9);
  all.workers[{"worker", 0}].reset();
  all.start({"worker", 0}, "c:1");
  CHECK(first(session.run({"y"}, {tg::feed_to("in", three)})[0]) == 9);
}

TEST_CASE("a graph stays for the time of its lease, and goes then") {
  tg::transport::memory::network memory;
  cut_network network(memory);
  servers all(two_and_one, network);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  all.with.lease_ns = 1;
  all.workers[{"ps", 1}].reset();
  all.start({"ps", 1}, "b:1");
  tg::cluster_session session(network, two_and_one, {"worker", 0}, counters(), all.client());
  session.run({"more_b"});
  // The connection ends when the run has been asked for; its graph goes at once, so that nobody can know.
  network.plan(cut_at::arrived, message::run_part, "b:1");
  const std::string text = tg::test::text_of([&] { session.run({"more_b"}); });
  INFO(text);
  if (!text.empty()) CHECK(text.find("'b' there is not known") != std::string::npos);
  // The program is given to the server again; its state is there.
  const float had = first(session.run({"b"})[0]);
  CHECK((had == 1 || had == 2));
  session.run({"more_b"});
  CHECK(first(session.run({"b"})[0]) == had + 1);
}

TEST_CASE("results that are not kept are told, and are read again by what changes nothing") {
  tg::transport::memory::network memory;
  cut_network network(memory);
  servers all(two_and_one, network);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  all.with.outcome_bytes = 1000;
  all.workers[{"ps", 1}].reset();
  all.start({"ps", 1}, "b:1");
  tg::cluster_session session(network, two_and_one, {"worker", 0}, counters(), all.client());
  network.plan(cut_at::before_reply, message::run_part, "b:1");
  const std::string text = tg::test::text_of([&] { session.run({"more_b"}); });
  INFO(text);
  CHECK(text.find("DataLoss") == 0);
  CHECK(text.find("was done, once") != std::string::npos);
  network.plan(cut_at::before_reply, message::run_part, "b:1");
  CHECK(first(session.run({"b"})[0]) == 1);
  CHECK(network.left() == 0);
}

}  // namespace
