// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/session.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/comes.hpp"
#include "support/cut_network.hpp"
#include "support/errors.hpp"
#include "support/servers.hpp"
#include "tagma/control_flow.hpp"
#include "tagma/parts.hpp"
#include "tagma/program_files.hpp"
#include "tagma/programs.hpp"
#include "tagma/queues.hpp"
#include "tagma/readers.hpp"
#include "tagma/tagma.hpp"

namespace {

using namespace std::chrono_literals;

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
  // A connection that met the server on its way down is Unavailable, and there may be one more that it has left.
  const auto next_answer = [&](const char* what) {
    std::string said;
    for (int i = 0; i < 100 && (i == 0 || said.find("Unavailable") == 0); ++i)
      said = tg::test::text_of([&] { session.run({what}); });
    return said;
  };
  const std::string next = next_answer("more_b");
  INFO(next);
  CHECK(next.find("/job:ps/replica:0/task:1") != std::string::npos);
  CHECK(next.find("was started anew") != std::string::npos);
  // What the variable is now is not what the session has made of it.
  const std::string read = next_answer("b");
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

/// Texts that go from the first server to the second, to the worker, and back: as they are, joined, as numbers, by way
/// of a queue, and as a branch has them.
tg::any_program letters() {
  return tg::any_program(
      tg::compile([] {
        constexpr auto line = tg::placeholder<"line", std::string_view, tg::dyn>();
        constexpr tg::queue_of<"letters", tg::queue_options{.capacity = 4}, tg::spec<std::string_view>> q;
        const auto first = tg::on<"/job:ps/task:0">(tg::concat<0>(line, line));
        const auto second = tg::on<"/job:ps/task:1">(tg::concat<0>(line, first));
        const auto far = tg::on<"/job:worker/task:0">(tg::concat<0>(second, second));
        const auto back = tg::on<"/job:ps/task:0">(tg::reshape<-1, 2>(far));
        const auto numbers = tg::on<"/job:worker/task:0">(tg::decode_raw<float, 1>(first));
        const auto put = tg::on<"/job:ps/task:1">(tg::enqueue_many(q, first));
        const auto taken = tg::on<"/job:worker/task:0">(tg::concat<0>(
            tg::reshape<1>(tg::on<"/job:ps/task:1">(tg::dequeue(q))), tg::reshape<1>(tg::text_constant<"behind">)));
        return tg::outputs(first, second, far, back, numbers, put, taken);
      }),
      {"first", "second", "far", "back", "numbers", "put", "taken"});
}
std::vector<std::string> texts_of(const tg::any_tensor& t) {
  std::vector<std::string> all;
  for (const std::string_view one : t.as<std::string_view>()) all.emplace_back(one);
  return all;
}
std::vector<std::string> repeated(const std::vector<std::string>& texts, int times) {
  std::vector<std::string> all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), texts.begin(), texts.end());
  return all;
}
/// Texts of a batch: empty ones, short ones, and some that wait until they are wanted.
std::vector<std::string> some_texts(std::mt19937& random) {
  std::vector<std::string> all(random() % 5);
  for (std::string& t : all) {
    const std::size_t longest[] = {1, 5, 300, 40'000, 1'000'000};
    t.resize(random() % longest[random() % 5]);
    for (std::size_t i = 0; i < t.size(); i += 1 + random() % 97) t[i] = static_cast<char>(random());
  }
  return all;
}
tg::tensor<std::string_view> tensor_of(const std::vector<std::string>& texts) {
  tg::tensor<std::string_view> t({static_cast<tg::extent>(texts.size())});
  for (std::size_t i = 0; i < texts.size(); ++i) t[static_cast<tg::extent>(i)] = texts[i];
  t.own_characters();
  return t;
}

TEST_CASE("texts are handed over from task to task, as results and to be read there") {
  servers all(two_and_one);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  const auto runs = [&](unsigned seed, const tg::cluster_session_options& how) {
    tg::cluster_session session(all.network, two_and_one, {"worker", 0}, letters(), how);
    std::mt19937 random(seed);
    for (int run = 0; run < 15; ++run) {
      const std::vector<std::string> texts = some_texts(random);
      const auto given = tensor_of(texts);
      const auto got = session.run({"second", "back", "first", "far"}, {tg::feed_to("line", given)});
      if (texts_of(got[0]) != repeated(texts, 3)) return false;
      if (texts_of(got[1]) != repeated(texts, 6) || got[1].dims() != tg::shape{3 * given.dims()[0], 2}) return false;
      if (texts_of(got[2]) != repeated(texts, 2)) return false;
      if (texts_of(got[3]) != repeated(texts, 6)) return false;
    }
    return true;
  };
  bool other = false;
  std::thread second([&, how = all.client()] { other = runs(2, how); });
  const bool one = runs(1, all.client());
  second.join();
  CHECK(one);
  CHECK(other);
}

TEST_CASE("texts that were handed over are numbers, and wait in queues") {
  servers all(two_and_one);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  tg::cluster_session session(all.network, two_and_one, {"worker", 0}, letters(), all.client());
  const std::string one("\0\0\x80\x3f", 4), zero(4, '\0');
  const auto given = tensor_of({one, zero});
  const auto got = session.run({"numbers", "put"}, {tg::feed_to("line", given)});
  CHECK(got[0].as<float>()[2] == 1.0f);
  CHECK(got[0].as<float>()[3] == 0.0f);
  for (const std::string& expected : repeated({one, zero}, 2))
    CHECK(texts_of(session.run("taken")) == std::vector<std::string>{expected, "behind"});
  // A text of another length is an error of the task that reads it.
  const auto odd = tensor_of({"abc"});
  const std::string problem = tg::test::text_of([&] { session.run("numbers", tg::feed_to("line", odd)); });
  INFO(problem);
  CHECK(problem.starts_with("InvalidArgument: "));
  CHECK(problem.find("/job:worker/replica:0/task:0") != std::string::npos);
}

TEST_CASE("branches and loops read texts that were handed over") {
  servers all(two_and_one);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  const tg::any_program program(
      tg::compile([] {
        constexpr auto line = tg::placeholder<"line", std::string_view, 2>();
        constexpr auto chosen = tg::placeholder<"chosen", bool>();
        constexpr auto x = tg::placeholder<"x", float>();
        const auto there = tg::on<"/job:ps/task:0">(tg::concat<0>(line, line));
        const auto either = tg::on<"/job:worker/task:0">(tg::cond(
            chosen, [=](auto y) { return y + tg::sum(tg::decode_raw<float, 1>(there)); },
            [=](auto y) { return y - tg::sum(tg::decode_raw<float, 1>(there)); }, x));
        const auto [i, total] = tg::while_loop(
            tg::carry(x, x), [](auto k, auto) { return k < 3.0f; },
            [=](auto k, auto sum) { return tg::next(k + 1.0f, sum + tg::sum(tg::decode_raw<float, 1>(there))); });
        return tg::outputs(either, tg::on<"/job:worker/task:0">(total * 1.0f));
      }),
      {"either", "often"});
  tg::cluster_session session(all.network, two_and_one, {"worker", 0}, program, all.client());
  const std::string one("\0\0\x80\x3f", 4), zero(4, '\0');
  const auto given = tensor_of({one, zero});
  for (const bool chosen : {true, false}) {
    const auto got = session.run({"either", "often"},
                                 {tg::feed_to("line", given), tg::feed_to("chosen", chosen), tg::feed_to("x", 0.0f)});
    CHECK(got[0].as<float>()[0] == (chosen ? 2.0f : -2.0f));
    CHECK(got[1].as<float>()[0] == 6.0f);
  }
}

TEST_CASE("runs end at their limits while texts are to come or on their way, and the next one has its own texts") {
  servers all(two_and_one);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  tg::cluster_session session(all.network, two_and_one, {"worker", 0}, letters(), all.client());
  // Nobody has enqueued: the worker waits for the text of a server, which waits for its queue.
  CHECK(tg::test::code_of([&] { session.run("taken", tg::timeout(20ms)); }) == tg::status_code::deadline_exceeded);
  std::mt19937 random(3);
  const std::vector<std::string> large(3, std::string(900'000, 'l'));
  const auto given = tensor_of(large);
  const auto small = tensor_of({"", "s"});
  int ended = 0, well = 0;
  for (int i = 0; i < 40; ++i) {
    tg::cancellation stop;
    std::thread stops([&, us = random() % 6000] {
      std::this_thread::sleep_for(std::chrono::microseconds(us));
      stop.cancel();
    });
    try {
      well += texts_of(session.run("back", tg::feed_to("line", given), tg::stop_with(stop))) == repeated(large, 6);
    } catch (const tg::error& e) {
      INFO(e.what());
      CHECK(e.code() == tg::status_code::cancelled);
      ++ended;
    }
    stops.join();
    REQUIRE(texts_of(session.run("back", tg::feed_to("line", small))) == repeated({"", "s"}, 6));
  }
  CHECK(ended + well == 40);
  session.run("put", tg::feed_to("line", small));
  CHECK(texts_of(session.run("taken", tg::timeout(20s))) == std::vector<std::string>{"", "behind"});
}

TEST_CASE("texts that are more than a connection buffers end the run, and say so") {
  tg::transport::memory::network network;
  servers all(two_and_one, network);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  all.with.link.limits.buffered_bytes = 1'000'000;
  all.workers[{"worker", 0}].reset();
  all.start({"worker", 0}, "c:1");
  tg::cluster_session session(network, two_and_one, {"ps", 0}, letters(), all.client());
  const auto large = tensor_of({std::string(3'000'000, 'l')}), small = tensor_of({"s"});
  const std::string problem = tg::test::text_of([&] { session.run("back", tg::feed_to("line", large)); });
  INFO(problem);
  CHECK(problem.starts_with("ResourceExhausted: "));
  CHECK(problem.find("1000000 is what a connection buffers") != std::string::npos);
  CHECK(texts_of(session.run("back", tg::feed_to("line", small))) == repeated({"s"}, 6));
}

TEST_CASE("texts pass though connections are cut, or the run says what it has lost") {
  tg::transport::memory::network memory;
  cut_network network(memory);
  servers all(two_and_one, network);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  tg::cluster_session session(network, two_and_one, {"worker", 0}, letters(), all.client());
  std::mt19937 random(4);
  for (int i = 0; i < 12; ++i) {
    const std::vector<std::string> texts = some_texts(random);
    const auto given = tensor_of(texts);
    network.plan(cut_at::arrived, i % 2 == 0 ? message::tensor : message::wanted,
                 i % 3 == 0   ? "c:1"
                 : i % 3 == 1 ? "a:1"
                              : "b:1");
    try {
      CHECK(texts_of(session.run("back", tg::feed_to("line", given), tg::timeout(20s))) == repeated(texts, 6));
    } catch (const tg::error& e) {
      INFO(e.what());
      CHECK((e.code() == tg::status_code::unavailable || e.code() == tg::status_code::aborted));
    }
  }
  network.plan(cut_at::arrived, message::tensor, "nowhere", 0);
  const auto last = tensor_of({"last"});
  CHECK(texts_of(session.run("back", tg::feed_to("line", last))) == repeated({"last"}, 6));
}

}  // namespace
