// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/monitored_session.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/comes.hpp"
#include "support/errors.hpp"
#include "support/servers.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/cluster/typed_session.hpp"
#include "tagma/parts.hpp"
#include "tagma/program_files.hpp"
#include "tagma/programs.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;
using tg::test::servers;
using tg::test::temporary_directory;

const tg::cluster two_and_one({{"ps", {"a:1", "b:1"}}, {"worker", {"c:1"}}});

tg::any_program counters() {
  return tg::any_program(tg::compile([] {
                           const auto a = tg::on<"/job:ps/task:0">(tg::variable<"a", float, 10>(tg::zeros));
                           const auto b = tg::on<"/job:ps/task:1">(tg::variable<"b", float, 10>(tg::zeros));
                           const auto more_a = tg::on<"/job:ps/task:0">(tg::assign_add(a, tg::ones_like(a)));
                           const auto more_b = tg::on<"/job:ps/task:1">(tg::assign_add(b, tg::ones_like(b)));
                           return tg::outputs(more_a, more_b, a * 1.0f, b * 1.0f);
                         }),
                         {"more_a", "more_b", "a", "b"});
}
float first(const tg::any_tensor& t) { return static_cast<const float*>(t.view().data)[0]; }

tg::monitored_options quick(bool chief) {
  tg::monitored_options o;
  o.chief = chief;
  o.checkpoints = "model";
  o.save_every_ns = 0;
  o.wait_ns = 60'000'000'000;
  o.again_ns = 1'000'000;
  return o;
}

TEST_CASE("training goes on from the last checkpoint when a server was lost") {
  const temporary_directory folder;
  servers all(tg::cluster{});
  all.with.checkpoints = folder.path.string();
  all.start_all(two_and_one);
  std::vector<std::string> seen;
  tg::run_hooks hooks;
  hooks.session_made = [&](tg::cluster_session&) { seen.emplace_back("session"); };
  hooks.before_run = [&] { seen.emplace_back("before"); };
  hooks.after_run = [&](const std::vector<tg::any_tensor>& results) {
    seen.push_back("after " + std::to_string(results.size()));
  };
  tg::monitored_session chief(all.network, two_and_one, {"worker", 0}, counters(), all.client(), quick(true), {hooks});
  for (int i = 0; i < 3; ++i) chief.run({"more_a", "more_b"});
  CHECK(chief.save().name == "model-2");  // behind the one that it began with
  chief.run({"more_a", "more_b"});
  seen.clear();
  all.workers[{"ps", 1}].reset();
  all.start({"ps", 1}, "b:1");
  const auto got = chief.run({"more_a", "more_b"});
  CHECK(seen == std::vector<std::string>{"before", "session", "before", "after 2"});
  CHECK(chief.sessions() == 2);
  CHECK(first(got[0]) == 4);  // both are those of the checkpoint, and one more
  CHECK(first(got[1]) == 4);
  CHECK(chief.save().name == "model-3");
}

TEST_CASE("others wait for the variables that the chief makes, and no error but a loss is waited for") {
  const temporary_directory folder;
  servers all(tg::cluster{});
  all.with.checkpoints = folder.path.string();
  all.start_all(two_and_one);
  std::atomic<bool> there{false};
  std::thread waits([&, options = all.client()] {
    tg::monitored_session other(all.network, two_and_one, {"worker", 0}, counters(), options, quick(false));
    there = true;
    other.run({"more_a"});
  });
  CHECK(tg::missing_variable(all.network, two_and_one, counters(), all.client()) == "a");
  CHECK_FALSE(there);
  tg::monitored_options saves = quick(true);
  saves.save_every_ns = 1;
  tg::monitored_session chief(all.network, two_and_one, {"worker", 0}, counters(), all.client(), saves);
  waits.join();
  CHECK(there);
  CHECK(tg::missing_variable(all.network, two_and_one, counters(), all.client()).empty());
  CHECK(first(chief.run({"a"})[0]) == 1);
  CHECK(folder.files().count("model-1.safetensors.index.json") == 1);
  CHECK(tg::test::code_of([&] { chief.run({"nothing"}); }) == tg::status_code::invalid_argument);
  CHECK(chief.sessions() == 1);

  tg::monitored_options impatient = quick(false);
  impatient.wait_ns = 0;
  servers none(two_and_one);
  CHECK(tg::test::text_of([&] {
          tg::monitored_session other(none.network, two_and_one, {"worker", 0}, counters(), none.client(), impatient);
        }) == "DeadlineExceeded: the cluster is not there: variable 'a' is not there yet: its chief makes it");
}

TEST_CASE("a program with handles goes on as well, and its runs are checked by the compiler") {
  const temporary_directory folder;
  servers all(tg::cluster{});
  all.with.checkpoints = folder.path.string();
  all.start_all(two_and_one);
  const auto total = tg::variable<"total", float, 4>(tg::zeros);
  const auto more = tg::placeholder<"more", float, 4>();
  const auto add = tg::assign_add(total, more);
  const auto sum = tg::sum(total * 1.0f);
  const auto closure = [=] { return tg::on<"/job:ps/task:1">(tg::outputs(add, sum)); };
  tg::typed_monitored_session session(all.network, two_and_one, {"worker", 0}, tg::compile(closure), all.client(),
                                      quick(true));
  const tg::tensor<float> ones({4}, {1, 1, 1, 1});
  for (int i = 0; i < 3; ++i) session.run(add, more = ones);
  CHECK(session.save().name == "model-2");
  session.run(add, more = ones, tg::timeout(60s));
  all.workers[{"ps", 1}].reset();
  all.start({"ps", 1}, "b:1");
  const float got = session.run(sum);
  CHECK(got == 12);  // of the checkpoint
  CHECK(session.sessions() == 2);
}

TEST_CASE("limits of a run end its repetitions, too, and the next run goes on when servers are there again") {
  servers all(two_and_one);
  auto without = quick(true);
  without.checkpoints.clear();
  auto how = all.client();
  how.connect_ns = 20'000'000;
  how.again_ns = 20'000'000;
  how.told = nullptr;
  tg::monitored_session session(all.network, two_and_one, {"worker", 0}, counters(), how, without);
  session.run({"more_a", "more_b"});
  all.workers[{"ps", 1}].reset();
  CHECK(tg::test::code_of([&] { session.run({"more_b"}, {}, tg::timeout(200ms)); }) ==
        tg::status_code::deadline_exceeded);
  tg::cancellation stop;
  std::thread stops([&] {
    std::this_thread::sleep_for(50ms);
    stop.cancel();
  });
  CHECK(tg::test::code_of([&] { session.run({"more_b"}, {}, tg::stop_with(stop)); }) == tg::status_code::cancelled);
  stops.join();
  all.start({"ps", 1}, "b:1");
  (void)session.session();                                              // a new one
  CHECK(first(session.run({"more_b"}, {}, tg::timeout(60s))[0]) == 1);  // it began anew
  CHECK(first(session.run({"a"})[0]) == 1);
}

/// Takes what comes, and answers nothing.
struct silent final : tg::transport::handler {
  explicit silent(std::atomic<int>& more) : heard(more) {}
  void received(tg::transport::link&, tg::transport::incoming&) override { ++heard; }
  std::atomic<int>& heard;
};

TEST_CASE("who takes connections and does not answer is waited for like who is not there") {
  servers all(two_and_one);
  auto without = quick(true);
  without.checkpoints.clear();
  auto how = all.client();
  how.connect_ns = 100'000'000;
  all.workers[{"ps", 1}].reset();
  std::atomic<int> heard{0};
  auto as = how.link;
  as.self.job = "ps";
  as.self.task = 1;
  all.network.listen("b:1", as, [&] { return std::make_shared<silent>(heard); });
  bool twice = false;
  std::thread answers([&] {
    twice = tg::test::comes([&] { return heard >= 3; });  // an attempt asks twice
    all.network.stop_listening("b:1");
    all.start({"ps", 1}, "b:1");
  });
  std::vector<tg::any_tensor> got;
  CHECK(tg::test::text_of([&] {
          tg::monitored_session session(all.network, two_and_one, {"worker", 0}, counters(), how, without);
          got = session.run({"more_b"}, {}, tg::timeout(60s));
        }) == "");
  answers.join();
  CHECK(twice);
  REQUIRE(got.size() == 1);
  CHECK(first(got[0]) == 1);
}

}  // namespace
