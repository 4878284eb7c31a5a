// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/pinned_variables.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <thread>

#include "support/mailbox.hpp"
#include "support/sanitizers.hpp"

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;
using tg::isolation;
using tg::test::apply, tg::test::mailboxes, tg::test::await_latch, tg::test::latches, tg::test::open_latch;
using tg::test::send_number, tg::test::receive_number;

constexpr auto a = tg::placeholder<"a", float>();

/// A number, as often as a variable has elements.
template <tg::extent N, tg::expression E>
constexpr auto filled(const E& e) {
  return tg::tile<N>(tg::expand_dims<0>(e));
}

/// A server sends its variable, waits for what the worker makes of it, and adds that: nothing in its graph tells that
/// one waits for the other.
TEST_CASE("a run sends a variable and waits for what comes back of it") {
  const auto w = tg::variable<"w", float, 2>(tg::ones);
  const auto sent = apply<send_number, 0>(w);
  const auto step = tg::assign_add(w, filled<2>(apply<receive_number, 1>(a)));
  const auto program = tg::compile([=] { return tg::outputs(w, sent, step); });
  for (const isolation kind : {isolation::runs, isolation::variables})
    for (const int threads : {1, 4}) {
      const tg::container state(kind);
      tg::session session(program, {.intra_op_threads = threads, .state = state});
      for (auto& box : mailboxes) box.clear();
      std::thread worker([] {
        for (int i = 0; i < 100; ++i) mailboxes[1].put(mailboxes[0].await() + 1);
      });
      float expected = 1;
      for (int i = 0; i < 20; ++i) {
        const auto [value, after] = session.run(tg::fetch(sent, step), a = 0.0f, tg::timeout(60s));
        CHECK(value == expected);
        expected += value + 1;
        CHECK(after[0] == expected);
        CHECK(after[1] == expected);
      }
      for (int i = 20; i < 100; ++i) mailboxes[0].put(0);
      worker.join();
      CHECK(session.run(w)[1] == expected);
    }
}

TEST_CASE("a run that waits with a variable holds no other run back, and reads one version of it") {
  const auto w = tg::variable<"w", float, 2>(tg::ones);
  const auto sent = apply<send_number, 0>(w);
  const auto later = tg::sum(w) * apply<receive_number, 1>(sent);  // behind the wait
  const auto add = tg::assign_add(w, filled<2>(a));
  const auto program = tg::compile([=] { return tg::outputs(w, sent, later, add); });
  for (const isolation kind : {isolation::runs, isolation::variables})
    for (const int threads : {1, 4}) {
      const tg::container state(kind);
      tg::session session(program, {.intra_op_threads = threads, .state = state});
      for (auto& box : mailboxes) box.clear();
      std::vector<float> results(3);
      std::vector<std::thread> waiting;
      for (int i = 0; i < 3; ++i) {
        waiting.emplace_back([&, i] { results[static_cast<std::size_t>(i)] = session.run(later); });
        CHECK(mailboxes[0].await() == static_cast<float>(1 + 10 * i));
        session.run(add, a = 10.0f);
      }
      CHECK(session.run(w)[0] == 31);
      // Three old versions, the current one; what is read no more is written over.
      CHECK(state.bytes() <= 4 * 8);
      for (int i = 0; i < 3; ++i) mailboxes[1].put(1);
      for (auto& t : waiting) t.join();
      std::sort(results.begin(), results.end());
      if (kind == isolation::runs) CHECK(results == std::vector<float>{2, 22, 42});
      const std::size_t bytes = state.bytes();
      for (int i = 0; i < 10; ++i) session.run(add, a = 1.0f);
      CHECK(state.bytes() == bytes);
    }
}

TEST_CASE("runs that wait for one another over two sessions end") {
  const auto v = tg::variable<"v", float>(tg::ones);
  const auto w = tg::variable<"w", float>(tg::ones);
  const auto one = tg::assign_add(v, apply<receive_number, 1>(a) + apply<send_number, 0>(w));
  const auto two = tg::assign_add(w, apply<receive_number, 0>(a) + apply<send_number, 1>(v));
  const auto program = tg::compile([=] { return tg::outputs(one, two, v, w); });
  for (const isolation kind : {isolation::runs, isolation::variables})
    for (const int threads : {1, 2}) {
      const tg::container state(kind);
      tg::session first(program, {.intra_op_threads = threads, .state = state});
      tg::session second(program, {.intra_op_threads = threads, .state = state});
      for (auto& box : mailboxes) box.clear();
      for (int i = 0; i < 20; ++i) {
        std::thread other([&] { first.run(one, a = 0.0f); });
        second.run(two, a = 0.0f);
        other.join();
      }
      CHECK(first.run(v) == second.run(v));
      CHECK(first.run(v) > 1000);
    }
}

TEST_CASE("a run that fails while it waits gives back what it held") {
  const auto w = tg::variable<"w", float, 2>(tg::ones);
  const auto waiting = apply<receive_number, 1>(apply<send_number, 0>(w));
  const auto both = tg::assign_add(w, filled<2>(waiting));
  const auto add = tg::assign_add(w, filled<2>(a));
  const auto program = tg::compile([=] { return tg::outputs(w, both, add); });
  for (const isolation kind : {isolation::runs, isolation::variables})
    for (const int threads : {1, 4}) {
      const tg::container state(kind);
      tg::session session(program, {.intra_op_threads = threads, .state = state});
      for (auto& box : mailboxes) box.clear();
      for (int i = 0; i < 20; ++i) {
        CHECK_THROWS_WITH(session.run(both, tg::timeout(2ms)), Catch::StartsWith("DeadlineExceeded: "));
        session.run(add, a = 1.0f);
      }
      CHECK(session.run(w)[1] == 21);
      CHECK(state.bytes() == 8);  // nobody read it while it was written
    }
}

TEST_CASE("slots of an optimizer are written with their variable") {
  const auto w = tg::variable<"w", float, 4>(tg::ones);
  const auto loss = tg::sum(tg::square(w));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 0.1});
  const auto program = tg::compile([=] { return tg::outputs(w, loss, train); });
  tg::session alone(program);
  const tg::container state(isolation::variables);
  tg::session session(program, {.state = state});
  for (int i = 0; i < 20; ++i) {
    alone.run(train);
    const auto [before, value, updated] = session.run(tg::fetch(w, loss, train));
    CHECK(value == Approx(4 * before[0] * before[0]));
  }
  CHECK(session.run(w)[2] == alone.run(w)[2]);
}

/// Steps long enough to be shared: several begin to read one variable at once, and its update waits for all of them.
TEST_CASE("steps of a run on several threads read one version, and what the run updates is read behind it") {
  const auto v = tg::variable<"v", float, 256, 256>(tg::ones);
  const auto u = tg::variable<"u", float, 256, 256>(tg::glorot_uniform);
  const auto product = tg::matmul(v, u) + tg::matmul(u, v);
  const auto other = tg::matmul(tg::tanh(v), tg::tanh(u));
  const auto update = tg::assign_add(v, (product + other) * 0.001f);
  const auto behind = tg::matmul(update, u) + tg::matmul(u, update);
  const auto n = tg::variable<"n", float>(tg::zeros);
  const auto counted = tg::assign_add(n, 1.0f);
  const auto program = tg::compile([=] { return tg::outputs(v, product, update, behind, n, counted); });
  tg::session alone(program, {.seed = 5, .intra_op_threads = 1});
  const tg::container state(isolation::variables);
  tg::session shared(program, {.seed = 5, .intra_op_threads = 1, .inter_op_threads = 4, .state = state});
  for (int i = 0; i < 10; ++i) {
    const auto expected = alone.run(tg::fetch(v, product, update, behind));
    const auto got = shared.run(tg::fetch(v, product, update, behind));
    CHECK(std::get<0>(expected) == std::get<0>(got));
    CHECK(std::get<1>(expected) == std::get<1>(got));
    CHECK(std::get<2>(expected) == std::get<2>(got));
    CHECK(std::get<3>(expected) == std::get<3>(got));
  }
  CHECK(state.bytes() <= 3 * 256 * 256 * 4);
  // Two threads that do so at once lose no update.
  const auto count = [&](int runs) {
    for (int i = 0; i < runs; ++i) shared.run(tg::fetch(product, update, counted));
  };
  std::thread second([&] { count(5); });
  count(5);
  second.join();
  CHECK(shared.run(n) == 10);
}

/// A run of a history: when it began and ended, and the number that it saw or made.
struct event {
  std::int64_t begin = 0, end = 0;
  float value = 0;
  bool update = false;
};

/// Whether each run can be given a moment between its begin and its end so that all values follow: numbers only grow,
/// so it is enough that no run that began behind the end of another saw less.
bool is_linearisable(std::vector<event> runs) {
  std::vector<event> by_end = runs;
  std::sort(runs.begin(), runs.end(), [](const event& l, const event& r) { return l.begin < r.begin; });
  std::sort(by_end.begin(), by_end.end(), [](const event& l, const event& r) { return l.end < r.end; });
  std::vector<float> made;
  for (const event& e : runs)
    if (e.update) made.push_back(e.value);
  std::sort(made.begin(), made.end());
  if (std::adjacent_find(made.begin(), made.end()) != made.end()) return false;
  float seen = -1;
  std::size_t ended = 0;
  for (const event& e : runs) {
    for (; ended < by_end.size() && by_end[ended].end < e.begin; ++ended)
      if (by_end[ended].value >= seen) seen = by_end[ended].value;
    if (e.value < seen || (e.update && e.value == seen)) return false;
  }
  return true;
}

/// What `meddle` does in the middle of a run.
std::function<void()> meddling;
struct meddle : tg::test::pass_on {
  static constexpr std::string_view name = "test.meddle";
};
void run_meddle(const tg::runtime::kernel_args& args, const tg::runtime::run_context&) {
  tg::test::hand_on(args);
  if (meddling) meddling();
}

}  // namespace

template <>
struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<meddle>> {
  template <dtype, dtype...>
  static constexpr runtime::kernel_entry entry{&run_meddle};
};

namespace {

TEST_CASE("the iterations of a loop read one version, which is let go behind it") {
  const auto w = tg::variable<"w", float, 2>(tg::ones);
  const auto body = [&](const auto& h) { return h + tg::sum(w * apply<meddle, 0>(h * 0.0f + 1.0f)); };
  const auto [end] = tg::scan<3>(tg::carry(a), tg::over(), [&](auto h) { return tg::next(body(h)); });
  const auto sum = end;
  const auto moved = tg::after(sum)(tg::assign_add(w, filled<2>(a)));
  const auto add = tg::assign_add(w, filled<2>(a));
  const auto program = tg::compile([=] { return tg::outputs(w, sum, moved, add); });
  const tg::container state(isolation::variables);
  tg::session session(program, {.state = state});
  tg::session other(program, {.state = state});
  meddling = [&] { other.run(add, a = 10.0f); };
  CHECK(session.run(sum, a = 0.0f) == 3 * 22);  // the version of its first reader
  meddling = nullptr;
  CHECK(session.run(w)[1] == 31);
  // Nobody holds a version when the update begins: it writes where the current one is.
  const std::int64_t before = static_cast<std::int64_t>(state.bytes());
  for (int i = 0; i < 3; ++i) session.run(tg::fetch(sum, moved), a = 1.0f);
  CHECK(static_cast<std::int64_t>(state.bytes()) == before);
  CHECK(session.run(w)[0] == 34);
}

TEST_CASE("the check of histories sees what is wrong") {
  CHECK(is_linearisable({{0, 2, 1, true}, {1, 3, 0, false}, {4, 5, 1, false}}));
  CHECK(!is_linearisable({{0, 2, 1, true}, {3, 4, 0, false}}));                   // a stale read
  CHECK(!is_linearisable({{0, 2, 1, true}, {1, 3, 1, true}}));                    // a lost update
  CHECK(!is_linearisable({{0, 1, 0, false}, {2, 3, 2, true}, {4, 5, 1, true}}));  // updates out of order
}

std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

/// Two variables; runs that update, read, wait, and are cancelled.
TEST_CASE("every history of threads over two sessions is linearisable for each variable") {
  const auto v = tg::variable<"v", float, 8>(tg::zeros);
  const auto w = tg::variable<"w", float, 8>(tg::zeros);
  const auto add_v = tg::assign_add(v, filled<8>(a));
  const auto add_w = tg::assign_add(w, filled<8>(a));
  const auto waits =
      tg::after(apply<send_number, 2>(v))(tg::assign_add(w, filled<8>(apply<receive_number, 2>(a) * 0.0f + a)));
  const auto never = tg::assign_add(v, filled<8>(apply<receive_number, 3>(apply<send_number, 4>(w))));
  const auto program = tg::compile([=] { return tg::outputs(v, w, add_v, add_w, waits, never); });
  constexpr int threads = 8;
  const int runs = HAS_THREAD_SANITIZER ? 1'000 : 12'500;  // of each
  for (const isolation kind : {isolation::runs, isolation::variables}) {
    const tg::container state(kind);
    tg::session one(program, {.intra_op_threads = 1, .state = state});
    tg::session two(program, {.intra_op_threads = 2, .state = state});
    for (auto& box : mailboxes) box.clear();
    std::vector<std::array<std::vector<event>, 2>> histories(threads);
    std::vector<std::thread> all;
    std::atomic<int> torn{0}, failed{0};
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        auto& session = t % 2 == 0 ? one : two;
        std::uint32_t random = 12345u + static_cast<std::uint32_t>(t);
        const auto note = [&](std::size_t of, bool update, std::int64_t begin, const tg::tensor<float>& value) {
          for (tg::extent i = 1; i < 8; ++i) torn += value[i] != value[0];
          histories[static_cast<std::size_t>(t)][of].push_back({begin, now(), value[0], update});
        };
        for (int i = 0; i < runs; ++i) {
          random = random * 1664525u + 1013904223u;
          const std::int64_t begin = now();
          switch ((random >> 16) % 8) {
            case 0:
            case 1:
              note(0, true, begin, session.run(add_v, a = 1.0f));
              break;
            case 2:
              note(1, true, begin, session.run(add_w, a = 1.0f));
              break;
            case 3:
              note(1, true, begin, session.run(waits, a = 1.0f));
              break;
            case 4:
              if (i % 16 == 0)
                failed += !tg::test::text_of([&] { session.run(never, a = 0.0f, tg::timeout(100us)); }).empty();
              break;
            case 5: {
              const auto [left, right] = session.run(tg::fetch(v, w));
              note(0, false, begin, left);
              note(1, false, begin, right);
              break;
            }
            default:
              note(0, false, begin, session.run(v));
          }
        }
      });
    for (auto& t : all) t.join();
    CHECK(torn == 0);
    CHECK(failed > 0);
    for (std::size_t of = 0; of < 2; ++of) {
      std::vector<event> history;
      float updates = 0;
      for (auto& h : histories)
        for (const event& e : h[of]) {
          history.push_back(e);
          updates += e.update;
        }
      CHECK(is_linearisable(history));
      CHECK((of == 0 ? one.run(v) : one.run(w))[0] == updates);
    }
    // The current version, and one for each run that read at the same time.
    CHECK(state.bytes() <= 2 * 32 * (threads + 2));
  }
}

}  // namespace
