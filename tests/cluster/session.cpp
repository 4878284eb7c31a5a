// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/session.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <cstring>
#include <mutex>
#include <thread>

#include "support/any_tensors.hpp"
#include "support/comes.hpp"
#include "support/deaf_network.hpp"
#include "support/errors.hpp"
#include "support/servers.hpp"
#include "tagma/graph_builder.hpp"
#include "tagma/parts.hpp"
#include "tagma/program_files.hpp"
#include "tagma/programs.hpp"
#include "tagma/readers.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using tg::dyn;
using tg::feed_to;
using tg::test::same_bytes;
using tg::test::servers;
using tg::test::some;

constexpr auto x = tg::placeholder<"x", float, dyn, 8>();
constexpr auto y = tg::placeholder<"y", float, dyn, 3>();

const tg::cluster two_and_one({{"ps", {"a:1", "b:1"}}, {"worker", {"c:1"}}});

auto model() {
  const auto hidden = tg::dropout(tg::dense<"hidden", 16>(x, tg::relu), 0.25);
  const auto loss = tg::mean(tg::square(tg::dense<"out", 3>(hidden) - y));
  return tg::outputs(loss, tg::minimize(loss, tg::adam{.learning_rate = 0.05}));
}
/// Variables on parameter servers by turns, all else on a worker.
tg::any_program network() {
  return tg::any_program(tg::compile([] { return tg::on<tg::replica_device_setter{.ps_tasks = 2}>(model()); }),
                         {"loss", "train"});
}

TEST_CASE("a model that is trained on a cluster is the model that is trained here") {
  servers all(two_and_one);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  tg::session<tg::any_program> alone(tg::any_program(tg::compile([] { return model(); }), {"loss", "train"}),
                                     {.intra_op_threads = 1, .inter_op_threads = 1});
  tg::cluster_session session(all.network, two_and_one, {"worker", 0}, network(), all.client());
  for (int step = 0; step < 6; ++step) {
    const tg::extent rows = step == 3 ? 1 : 7;
    const auto in = some({rows, 8}, step), out = some({rows, 3}, step + 9);
    const std::vector<tg::named_feed> feeds{feed_to("x", in), feed_to("y", out)};
    const auto expected = alone.run(std::vector<tg::output_name>{"loss", "train"}, feeds);
    const auto found = session.run({"loss", "train"}, feeds);
    REQUIRE(same_bytes(found[0], expected[0]));
  }
}

TEST_CASE("state outlives its session, and another program shares it") {
  servers all(two_and_one);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  const auto count = tg::on<"/job:ps/task:1">(tg::variable<"count", float, 4>(tg::zeros));
  const auto more = tg::on<"/job:ps/task:1">(tg::assign_add(count, 2.0f * tg::ones_like(count)));
  const tg::any_program adds(tg::compile([=] { return tg::outputs(more); }), {"more"});
  {
    tg::cluster_session session(all.network, two_and_one, {"worker", 0}, adds, all.client());
    session.run("more");
    session.run("more");
  }
  // It asks for another place, and gets what there is.
  const auto there = tg::on<"/job:ps/task:0">(tg::variable<"count", float, 4>(tg::zeros));
  const tg::any_program reads(tg::compile([=] { return tg::outputs(there * 10.0f); }), {"ten_times"});
  tg::cluster_session session(all.network, two_and_one, {"worker", 0}, reads, all.client());
  const tg::any_tensor got = session.run("ten_times");
  CHECK(static_cast<const float*>(got.view().data)[3] == 40);
  const auto other = tg::variable<"count", float, 5>(tg::zeros);
  const tg::any_program wrong(tg::compile([=] { return tg::outputs(other * 1.0f); }), {"y"});
  CHECK(tg::test::text_of([&] {
          tg::cluster_session refused(all.network, two_and_one, {"worker", 0}, wrong, all.client());
        }).find("'count' float32 [4]") != std::string::npos);
}

TEST_CASE("several clients train at once, and nothing is lost") {
  constexpr int clients = 4, runs = 25;
  servers all(two_and_one, clients);  // as many parts at a time, and no more
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  const auto make = [] {
    const auto v = tg::variable<"sum", float, 20000>(tg::zeros);
    return tg::outputs(tg::assign_add(v, tg::ones_like(v)), v * 1.0f);
  };
  const tg::any_program program(tg::compile([=] { return tg::on<tg::replica_device_setter{.ps_tasks = 2}>(make()); }),
                                {"add", "sum"});
  std::vector<std::thread> threads;
  for (int c = 0; c < clients; ++c)
    threads.emplace_back([&, options = all.client()] {
      tg::cluster_session session(all.network, two_and_one, {"worker", 0}, program, options);
      for (int i = 0; i < runs; ++i) session.run("add");
    });
  for (auto& t : threads) t.join();
  tg::cluster_session session(all.network, two_and_one, {"worker", 0}, program, all.client());
  const tg::any_tensor got = session.run("sum");
  for (int i = 0; i < 20000; i += 1999)
    CHECK(static_cast<const float*>(got.view().data)[i] == static_cast<float>(clients * runs));
}

TEST_CASE("errors of a run name the task, and the next run is well") {
  servers all(two_and_one);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  const auto ids = tg::placeholder<"ids", int, 3>();
  const auto table = tg::on<"/job:ps/task:0">(tg::variable<"table", float, 5, 2>(tg::ones));
  const auto rows = tg::on<"/job:ps/task:0">(tg::gather<0>(table, ids));
  const tg::any_program program(tg::compile([=] { return tg::outputs(tg::sum(rows)); }), {"sum"});
  tg::cluster_session session(all.network, two_and_one, {"worker", 0}, program, all.client());
  tg::tensor<int> good({3}), bad({3});
  bad[1] = 7;
  const std::string text = tg::test::text_of([&] { session.run("sum", feed_to("ids", bad)); });
  INFO(text);
  CHECK(text.find("/job:ps/replica:0/task:0") != std::string::npos);
  CHECK(static_cast<const float*>(session.run("sum", feed_to("ids", good)).view().data)[0] == 6);
  CHECK(tg::test::text_of([&] { session.run("nothing"); }).find("TAGMA-E050") != std::string::npos);
  CHECK(tg::test::text_of([&] { session.run("sum", feed_to("id", good)); }).find("TAGMA-E054") != std::string::npos);
  CHECK(tg::test::text_of([&] { session.run("sum"); }).find("TAGMA-E051") != std::string::npos);
}

TEST_CASE("a task that is lost is named, and what was started anew knows nothing") {
  servers all(two_and_one);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  const tg::any_program program = network();
  tg::cluster_session session(all.network, two_and_one, {"worker", 0}, program, all.client());
  const auto in = some({2, 8}, 1), out = some({2, 3}, 2);
  const std::vector<tg::named_feed> feeds{feed_to("x", in), feed_to("y", out)};
  session.run({"train"}, feeds);
  all.workers[{"ps", 1}].reset();
  all.start({"ps", 1}, "b:1");
  const std::string text = tg::test::text_of([&] { session.run({"train"}, feeds); });
  INFO(text);
  // By the client, or by the other server that needs it.
  const bool named = text.find("/job:ps/replica:0/task:1") != std::string::npos;
  CHECK((named || text.find("/job:ps/task:1") != std::string::npos));
  // A new session begins with what the others have.
  tg::cluster_session again(all.network, two_and_one, {"worker", 0}, program, all.client());
  CHECK(again.run({"loss"}, feeds)[0].type() == tg::dtype_of<float>);
}

TEST_CASE("a list of variables may be longer than the body of a message") {
  servers all(two_and_one);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  tg::graph_builder b;
  const auto on = b.on("/job:ps/task:0");
  std::vector<tg::graph_node> updates;
  for (int i = 0; i < 1200; ++i) {
    const auto v = b.variable(std::string(60, 'v') + std::to_string(i), tg::dtype::float32, {1}, tg::zeros);
    updates.push_back(b.add("assign_add", {v, v}));
  }
  const tg::any_program program = b.build({{"first", updates[0]}, {"last", updates.back()}});
  tg::graph_builder many;
  const auto there = many.on("/job:ps/task:0");
  std::vector<std::string> names;
  std::vector<tg::named_output> outputs;
  names.reserve(1200);
  for (int i = 0; i < 1200; ++i) {
    names.push_back(std::string(60, 'v') + std::to_string(i));
    const auto v = many.variable(names.back(), tg::dtype::float32, {1}, tg::zeros);
    outputs.push_back({names.back(), many.add("negate", {v})});
  }
  const tg::any_program wide = many.build(outputs);
  tg::cluster_session first(all.network, two_and_one, {"worker", 0}, wide, all.client());
  tg::cluster_session second(all.network, two_and_one, {"worker", 0}, program, all.client());
  CHECK(second.run("last").dims() == tg::shape{1});
}

TEST_CASE("parts that would wait for one another are refused, and not waited for") {
  servers all(two_and_one);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  const auto a = tg::on<"/job:ps/task:0">(tg::variable<"a", float>(tg::zeros));
  const auto b = tg::on<"/job:ps/task:1">(tg::variable<"b", float>(tg::zeros));
  const auto p = a + tg::on<"/job:ps/task:1">(tg::assign(b, 1.0f));
  const auto q = b + tg::on<"/job:ps/task:0">(tg::assign(a, 1.0f));
  const tg::any_program whole(tg::compile([=] { return tg::outputs(p, q); }), {"p", "q"});
  tg::cluster_session session(all.network, two_and_one, {"worker", 0}, whole, all.client());
  CHECK(tg::test::text_of([&] { session.run({"p", "q"}); }).find("TAGMA-E067") != std::string::npos);
  CHECK(session.run("p").as<float>()[0] == 1.0f);
}

TEST_CASE("texts are fed and fetched") {
  servers all(two_and_one);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  constexpr auto line = tg::placeholder<"line", std::string_view, tg::dyn>();
  const auto numbers = tg::decode_raw<float, 1>(line);
  const auto same = tg::on<"/job:ps/task:0">(tg::reshape<-1>(line));
  const tg::any_program program(tg::compile([=] { return tg::outputs(numbers, same); }), {"numbers", "same"});
  tg::cluster_session session(all.network, two_and_one, {"ps", 0}, program, all.client());
  const std::string four("\0\0\x80\x3f", 4), zero(4, '\0');
  const tg::tensor<std::string_view> texts({3}, {four, zero, four});
  CHECK(session.run("numbers", feed_to("line", texts)).as<float>()[2] == 1.0f);
  const tg::tensor<std::string_view> lines({4}, {"", four, "a line", ""});
  const tg::any_tensor got = session.run("same", feed_to("line", lines));
  REQUIRE(got.dims() == tg::shape{4});
  for (int i = 0; i < 4; ++i) CHECK(got.as<std::string_view>()[i] == lines[i]);
  CHECK(session.run("same", feed_to("line", tg::tensor<std::string_view>({0}))).dims() == tg::shape{0});
}

TEST_CASE("runs take limits, and say which was reached") {
  servers all(two_and_one);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  constexpr tg::queue_of<"empty", tg::queue_options{}, tg::spec<float>> q;
  const auto taken = tg::on<"/job:ps/task:1">(tg::dequeue(q));
  const auto put = tg::on<"/job:ps/task:1">(tg::enqueue(q, tg::placeholder<"one", float>()));
  const auto away = tg::on<"/job:worker/task:0">(taken * 2.0f);
  const tg::any_program program(tg::compile([=] { return tg::outputs(away, put); }), {"away", "put"});
  tg::cluster_session session(all.network, two_and_one, {"worker", 0}, program, all.client());
  CHECK(tg::test::text_of([&] {
          session.run("away", tg::timeout(std::chrono::milliseconds(5)));
        }).find("timeout of 5 ms") != std::string::npos);
  tg::cancellation stop;
  std::thread stops([&] { stop.cancel(); });
  CHECK(tg::test::text_of([&] {
          session.run("away", tg::timeout(std::chrono::minutes(1)), tg::stop_with(stop));
        }).starts_with("Cancelled: "));
  stops.join();
  session.run("put", feed_to("one", 4.0f));
  CHECK(session.run("away").value<float>() == 8.0f);
}

TEST_CASE("runs end at their limits while a server is away") {
  servers all(two_and_one);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  const auto v = tg::on<"/job:ps/task:1">(tg::variable<"v", float>(tg::zeros));
  const auto more = tg::on<"/job:ps/task:1">(tg::assign_add(v, tg::ones_like(v)));
  const auto read = tg::on<"/job:worker/task:0">(v * 1.0f);
  const tg::any_program program(tg::compile([=] { return tg::outputs(more, read); }), {"more", "read"});
  tg::cluster_session_options how = all.client();
  how.connect_ns = 120'000'000'000;
  how.stall_ns = 30'000'000;
  std::atomic<int> told = 0;
  how.told = [&](const std::string&) { ++told; };
  tg::cluster_session session(all.network, two_and_one, {"worker", 0}, program, how);
  how.run_ns = 200'000'000;
  how.told = {};
  tg::cluster_session hasty(all.network, two_and_one, {"worker", 0}, program, how);
  session.run("more");
  const bool forgotten = GENERATE(false, true);
  all.workers[{"ps", 1}].reset();
  if (forgotten) {  // so that the next run gives it its part again
    all.start({"ps", 1}, "b:1");
    CHECK_FALSE(tg::test::text_of([&] { session.run("more", tg::timeout(std::chrono::minutes(1))); }).empty());
    all.workers[{"ps", 1}].reset();
  }
  const auto began = std::chrono::steady_clock::now();
  const auto ends_with = [&](const char* how_so, const auto& run) {
    std::string text = "Unavailable";  // of a connection that met the server on its way down
    for (int i = 0; i < 100 && text.starts_with("Unavailable"); ++i) text = tg::test::text_of(run);
    INFO(text);
    CHECK(text.starts_with(how_so));
  };
  ends_with("DeadlineExceeded: ", [&] { session.run("more", tg::timeout(std::chrono::milliseconds(100))); });
  tg::cancellation stop;
  std::thread stops([&] {
    tg::test::sleep_ms(100);
    stop.cancel();
  });
  ends_with("Cancelled: ", [&] { session.run("more", tg::stop_with(stop)); });
  stops.join();
  ends_with("DeadlineExceeded: ", [&] { hasty.run("more"); });
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(20));
}

TEST_CASE("a server that hangs keeps nobody beyond a limit") {
  tg::transport::memory::network real;
  tg::test::deaf_network network(real);
  network.deaf_at = "b:1";
  servers all(two_and_one, network);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  const auto v = tg::on<"/job:ps/task:1">(tg::variable<"v", float>(tg::zeros));
  const auto more = tg::on<"/job:ps/task:1">(tg::assign_add(v, tg::ones_like(v)));
  const tg::any_program program(tg::compile([=] { return tg::outputs(more, v); }), {"more", "v"});
  tg::cluster_session session(network, two_and_one, {"worker", 0}, program, all.client());
  session.run("more");
  const auto ends_with = [&](const std::string& how_so, const auto& run) {
    const auto began = std::chrono::steady_clock::now();
    const std::string text = tg::test::text_of(run);
    INFO(text);
    CHECK(text.starts_with(how_so));
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(20));
    return text;
  };
  network.deaf_to = tg::test::deaf_network::all;
  const std::string text =
      ends_with("DeadlineExceeded: ", [&] { session.run("more", tg::timeout(std::chrono::milliseconds(100))); });
  if (all.master == tg::session_master::client) {
    INFO(text);
    CHECK(text.find("/task:1: ") != std::string::npos);
    CHECK(text.find("whether run 1 has updated 'v' there is not known") != std::string::npos);
  }
  tg::cancellation stop;
  std::thread stops([&] {
    tg::test::sleep_ms(100);
    stop.cancel();
  });
  ends_with("Cancelled: ", [&] { session.run("more", tg::stop_with(stop)); });
  stops.join();
  network.deaf_to = tg::test::deaf_network::none;
  session.run("more");
  CHECK(session.run("v").value<float>() == 2.0f);
}

TEST_CASE("a server that hangs while it is given its part again keeps nobody beyond a limit") {
  tg::transport::memory::network real;
  tg::test::deaf_network network(real);
  network.deaf_at = "b:1";
  servers all(two_and_one, network);
  const auto twice = tg::on<"/job:ps/task:1">(tg::placeholder<"one", float>() * 2.0f);
  const tg::any_program program(tg::compile([=] { return tg::outputs(twice); }), {"twice"});
  tg::cluster_session session(network, two_and_one, {"worker", 0}, program, all.client());
  all.workers[{"ps", 1}].reset();
  network.deaf_to = static_cast<int>(tg::service::message::add_part);
  all.start({"ps", 1}, "b:1");
  const auto began = std::chrono::steady_clock::now();
  const std::string text = tg::test::text_of(
      [&] { session.run("twice", feed_to("one", 4.0f), tg::timeout(std::chrono::milliseconds(500))); });
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(20));
  INFO(text);
  CHECK(text.starts_with("DeadlineExceeded: "));
  network.deaf_to = tg::test::deaf_network::none;
  CHECK(session.run("twice", feed_to("one", 4.0f)).value<float>() == 8.0f);
}

TEST_CASE("who is waited for is told") {
  servers all(two_and_one);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  constexpr tg::queue_of<"empty", tg::queue_options{.capacity = 7}, tg::spec<float>> q;
  const auto taken = tg::on<"/job:ps/task:1">(tg::dequeue(q));
  const auto put = tg::on<"/job:ps/task:1">(tg::enqueue(q, tg::placeholder<"one", float>()));
  const auto away = tg::on<"/job:worker/task:0">(taken * 2.0f);
  const tg::any_program program(tg::compile([=] { return tg::outputs(away, put); }), {"away", "put"});
  std::mutex mutex;
  std::vector<std::string> said;
  tg::cluster_session_options how = all.client();
  how.stall_ns = how.tell_ns = 20'000'000;
  how.told = [&](const std::string& what) {
    const std::lock_guard<std::mutex> lock(mutex);
    said.push_back(what);
  };
  const auto has_said = [&](const char* what) {
    const std::lock_guard<std::mutex> lock(mutex);
    for (const std::string& s : said)
      if (s.find(what) != std::string::npos) return true;
    return false;
  };
  all.workers[{"ps", 0}].reset();
  std::thread later([&] {
    while (!has_said("waiting for /job:ps/replica:0/task:0 at a:1 for 0 s"))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    all.start({"ps", 0}, "a:1");
  });
  tg::cluster_session session(all.network, two_and_one, {"worker", 0}, program, how);
  later.join();
  std::thread runs([&] { CHECK(session.run("away").value<float>() == 6.0f); });
  while (!has_said("run 0 lasts for 0 s")) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  // What is told first may be of a run whose parts have not all begun to wait.
  const auto comes = [&](const char* what) { return tg::test::comes([&] { return has_said(what); }); };
  CHECK(comes("/job:worker/replica:0/task:0 waits for dequeue float32 [] of /job:ps/replica:0/task:1"));
  CHECK(comes("/job:ps/replica:0/task:1: FIFO queue 'empty' of float32 [], 0 elements of 7: 0 wait to add, 1 to take"));
  session.run("put", feed_to("one", 3.0f));
  runs.join();
}

TEST_CASE("a server ends while it opens a session for a client") {
  servers all(two_and_one);
  all.workers[{"ps", 0}].reset();
  tg::cluster_session_options how = all.client();
  how.master = tg::session_master::server;
  how.connect_ns = 3'600'000'000'000;
  how.tell_ns = 10'000'000;
  tg::atomic<bool> waits{false};
  how.told = [&](const std::string& what) {
    if (what.find("/job:ps/replica:0/task:0") != std::string::npos) waits.store(true);
  };
  std::thread opens([&] {
    const std::string text = tg::test::text_of([&] {
      tg::cluster_session session(all.network, two_and_one, {"worker", 0}, network(), how);
    });
    INFO(text);
    CHECK(text.find("/job:worker/replica:0/task:0") != std::string::npos);
  });
  while (!waits.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  all.workers[{"worker", 0}].reset();
  opens.join();
}

TEST_CASE("a session sees the tasks that its filters name") {
  servers all(two_and_one);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  const tg::any_program on_first(tg::compile([] {
                                   const auto v = tg::variable<"v", float>(3.0f);
                                   return tg::outputs(tg::on<"/job:ps/task:0">(v * 1.0f));
                                 }),
                                 {"v"});
  tg::cluster_session_options how = all.client();
  how.device_filters = {"/job:ps/task:0"};
  all.workers[{"ps", 1}].reset();  // nobody asks for it
  tg::cluster_session session(all.network, two_and_one, {"worker", 0}, on_first, how);
  CHECK(session.run("v").value<float>() == 3.0f);
  how.device_filters = {"/job:worker"};
  const std::string text = tg::test::text_of([&] {
    tg::cluster_session(all.network, two_and_one, {"worker", 0}, on_first, how);
  });
  INFO(text);
  CHECK(text.starts_with("InvalidArgument: "));
  CHECK(text.find("/job:ps/task:0") != std::string::npos);
  how.device_filters = {"ps"};
  CHECK(tg::test::text_of([&] {
          tg::cluster_session(all.network, two_and_one, {"worker", 0}, on_first, how);
        }).find("device filter 'ps'") != std::string::npos);
  how.device_filters = {"/job:ps/task:0", "/job:pss"};
  CHECK(tg::test::text_of([&] {
          tg::cluster_session(all.network, two_and_one, {"worker", 0}, on_first, how);
        }).find("device filter '/job:pss' names no task of the cluster") != std::string::npos);
}

}  // namespace
