// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/named_containers.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/errors.hpp"
#include "tagma/containers.hpp"
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;
using tg::status_code, tg::test::code_of, tg::test::text_of;

const auto counter = tg::variable<"counter", std::int64_t>(tg::zeros);
const auto count = tg::assign_add(counter, std::int64_t{1});
const auto program = tg::compile([] { return tg::outputs(count, counter); });
constexpr tg::queue_of<"numbers", tg::queue_options{}, tg::spec<std::int64_t>> numbers;
const auto taken = tg::dequeue(numbers);
const auto taker = tg::compile([] { return tg::outputs(taken); });

}  // namespace

TEST_CASE("a container of a name is one for the process, whatever the name has in it", "[scenario 70]") {
  tg::session a(program, {.state = tg::named_container("my_problem_1")});
  tg::session b(program, {.state = tg::named_container("my_problem_1")});
  tg::session other(program, {.state = tg::named_container("my_problem_2")});
  a.run(count);
  CHECK(b.run(count) == 2);
  CHECK(other.run(counter) == 0);
  CHECK(text_of([] { (void)tg::named_container("_x"); }) ==
        "InvalidArgument: \"_x\" is no name of a container, such as \"trial_1\"");
  CHECK(text_of([] { (void)tg::named_container("my_problem_1", tg::isolation::variables); }) ==
        "InvalidArgument: container \"my_problem_1\" keeps runs apart, asked for is one that keeps variables apart");
  CHECK(tg::reset_containers({"my_problem_1", "nobody", "my_problem_2"}) == 2);
}

TEST_CASE("names of containers follow the grammar of names, with underscores behind the first character",
          "[scenario 70]") {
  for (const char* const name : {"cat", "cat.0-dog", ".cat", "7", "cat_dog", "cat/dog"}) {
    CHECK(text_of([&] { (void)tg::named_container(name); }).empty());
    CHECK(tg::reset_containers({name}) == 1);
  }
  // The empty one, which is TensorFlow's default container, is that of a session without a name: its own.
  for (const std::string name : {"", "-cat", "12$%", "_foo", "/cat", "c t"}) {
    CHECK(text_of([&] { (void)tg::named_container(name); }) ==
          "InvalidArgument: \"" + name + "\" is no name of a container, such as \"trial_1\"");
    CHECK(tg::reset_containers({name}) == 0);  // none is left behind
  }
  tg::session a(program), b(program);
  a.run(count);
  CHECK(b.run(counter) == 0);
}

TEST_CASE("a reset ends the sessions of a container, and others begin anew",
          "[scenario 56][scenario 57][scenario 60]") {
  const tg::container state;
  auto early = std::make_unique<tg::session<std::remove_const_t<decltype(program)>>>(
      program, tg::session_options{.state = state});
  early.reset();  // it leaves the container
  tg::session a(program, {.state = state});
  tg::session apart(program);
  a.run(count), apart.run(count);
  state.reset();
  CHECK_THAT(text_of([&] { a.run(count); }), Catch::StartsWith("Aborted: the container of the session was reset (run"));
  CHECK(code_of([&] { a.run(counter); }) == status_code::aborted);
  CHECK(apart.run(counter) == 1);
  CHECK(state.bytes() == 0);
  tg::session fresh(program, {.state = state});
  CHECK(fresh.run(counter) == 0);
  a.close();
  CHECK(code_of([&] { a.run(counter); }) == status_code::aborted);
  CHECK(fresh.run(count) == 1);
}

TEST_CASE("whoever waits in a container is told that it was reset") {
  const tg::container state;
  const tg::queue<tg::spec<std::int64_t>> queue(state, "numbers");
  tg::session session(taker, {.state = state});
  std::atomic<int> waiting{0};
  status_code in_run{}, in_call{};
  std::thread run([&] {
    ++waiting;
    in_run = code_of([&] { (void)session.run(taken); });
  });
  std::thread call([&] {
    ++waiting;
    in_call = code_of([&] { (void)queue.dequeue(); });
  });
  while (waiting != 2) std::this_thread::yield();
  std::this_thread::sleep_for(2ms);
  state.reset();
  run.join(), call.join();
  CHECK(in_run == status_code::aborted);
  CHECK(in_call == status_code::aborted);
  CHECK(text_of([&] { queue.enqueue(std::int64_t{1}); }) == "Aborted: FIFO queue 'numbers': its container was reset");
  CHECK(code_of([&] { (void)queue.dequeue(); }) == status_code::aborted);
  const tg::queue<tg::spec<std::int64_t>> anew(state, "numbers");
  CHECK(&anew.state() != &queue.state());
}

TEST_CASE("a session that is refused leaves nothing behind") {
  constexpr tg::queue_of<"new_one", tg::queue_options{.capacity = 3}, tg::spec<float>> fresh;
  constexpr tg::queue_of<"one", tg::queue_options{.capacity = 5}, tg::spec<float>> other;
  const auto v = tg::variable<"v", float, 4>(tg::zeros);
  const auto w = tg::variable<"w", float, 4>(tg::zeros);
  const auto sizes = tg::size_of_queue(fresh) + tg::size_of_queue(other);
  const tg::container state;
  const tg::queue<tg::spec<float>> one(state, "one", {.capacity = 4});
  const auto all = tg::compile([=] { return tg::outputs(sizes, v, w); });
  CHECK_THAT(text_of([&] { tg::session(all, {.state = state}); }), Catch::Contains("with a capacity of 4"));
  CHECK(state.bytes() == 0);
  const tg::queue<tg::spec<float>> mine(state, "new_one", {.capacity = 9});
  const auto three = tg::compile([=] { return tg::outputs(tg::variable<"w", float, 3>(tg::zeros)); });
  const tg::session narrow(three, {.state = state});
  const auto variables = tg::compile([=] { return tg::outputs(v, w); });
  CHECK_THAT(text_of([&] { tg::session(variables, {.state = state}); }), Catch::Contains("variable 'w' float32 [3]"));
  CHECK(state.bytes() == 12);
}

TEST_CASE("sessions come, run and go while their container is reset") {
  const tg::container state;
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  std::atomic<int> ended{0}, wrong{0};
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      while (!over) {
        tg::session s(program, {.state = state});
        const status_code code = code_of([&] {
          for (int i = 0; i < 50; ++i) (void)s.run(count);
        });
        if (code != status_code::ok && code != status_code::aborted) ++wrong;
        ++ended;
      }
    });
  for (int i = 0; i < 100 || ended < 30; ++i) {
    state.reset();
    std::this_thread::sleep_for(200us);
  }
  over = true;
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
}
