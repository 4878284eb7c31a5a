// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/closing.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/latches.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/tagma.hpp"
#include "tagma/train/save.hpp"

namespace tg = tagma;
using namespace std::chrono_literals;
using namespace tagma::test;

namespace {

/// Stays in its kernel until the latch is opened, whoever cancels the run.
struct stay : pass_on {
  static constexpr std::string_view name = "test.stay";
};
void run_stay(const tg::runtime::kernel_args& args, const tg::runtime::run_context&) {
  ++polling;
  static_cast<void>(comes([&] { return latch_of(args).is_open(); }));
  hand_on(args);
  --polling;
}

}  // namespace

template <>
struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<stay>> {
  template <tagma::dtype, tagma::dtype...>
  static constexpr tagma::runtime::kernel_entry entry{&run_stay};
};

namespace {

constexpr auto a = tg::placeholder<"a", float>();

TEST_CASE("who sleeps is woken when the session closes, in any number and order") {
  tg::runtime::closing end;
  std::vector<std::thread> sleepers;
  std::atomic<int> woken{0};
  for (int i = 0; i < 40; ++i)
    sleepers.emplace_back([&] {
      tg::runtime::wait_word own;  // gone right after
      const tg::runtime::run_guard guard(tg::runtime::no_limits, 0, &end);
      while (guard.over() == tg::status_code::ok) guard.wait(own, own.load(tg::memory_order::acquire));
      ++woken;
    });
  std::this_thread::sleep_for(20ms);
  CHECK(woken == 0);
  CHECK_FALSE(end.begun());
  end.begin();
  for (std::thread& t : sleepers) t.join();
  CHECK(woken == 40);
  tg::runtime::wait_word late;
  const tg::runtime::run_guard guard(tg::runtime::no_limits, 0, &end);
  guard.wait(late, late.load(tg::memory_order::acquire));  // does not sleep any more
  CHECK(guard.limited());
  CHECK_THROWS_WITH(guard.check(), "Cancelled: the run was cancelled, since its session was closed");
}

/// A run on a thread of its own, and how it ended.
class other_run {
 public:
  template <class Run>
  explicit other_run(Run run)
      : thread_([this, run] {
          try {
            run();
          } catch (const tg::error& e) {
            code_ = e.code();
            text_ = e.what();
          }
        }) {}
  void join() { thread_.join(); }
  [[nodiscard]] tg::status_code code() const { return code_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  tg::status_code code_ = tg::status_code::ok;
  std::string text_;
  std::thread thread_;
};

bool someone_polls(int count = 1) {
  return comes([=] { return polling >= count; });
}

/// Notes that a run which has begun looks at its limits, as it does on the way to sleep. It is never stopped.
struct noted_look {
  [[nodiscard]] tg::run_limits limits() const {
    tg::run_limits l;
    l.stop.token = this;
    l.stop.wakes = &never;  // so nobody looks now and then
    l.stop.requested = [](const void* token) {
      static_cast<const noted_look*>(token)->looked = true;
      return false;
    };
    return l;
  }
  tg::cancellation never;
  mutable std::atomic<bool> looked{false};
};

TEST_CASE("a closed session runs, saves and restores no more, and says so") {
  reset();
  const auto w = tg::variable<"w", float, 3>(tg::ones);
  const auto total = tg::sum(w);
  tg::session session(tg::compile([=] { return tg::outputs(total); }));
  const temporary_directory directory;
  const std::string path = directory / "closed_session.safetensors";
  tg::save(session, path);
  CHECK(session.run(total) == 3);
  session.close();
  session.close();
  CHECK(session.close(0s));
  CHECK(code_of([&] { session.run(total); }) == tg::status_code::cancelled);
  const auto closed = [&] { (void)session.run(total); };
  const std::string here = "closing.cpp:" + std::to_string(__LINE__ - 1);
  CHECK_THROWS_WITH(closed(),
                    Catch::StartsWith("Cancelled: Session has been closed. (run at ") && Catch::Contains(here));
  CHECK_THROWS_WITH(tg::restore(session, path),
                    "Cancelled: " + path + ": nothing was restored: Session has been closed.");
  std::filesystem::remove(path);
  CHECK_THROWS_WITH(tg::save(session, path), "Cancelled: " + path + ": nothing was saved: Session has been closed.");
  CHECK(directory.files().empty());
  CHECK(session.core().arena_bytes() == 0);
}

TEST_CASE("closing cancels runs that compute, that wait without a thread, and that wait for variables") {
  reset();
  const auto v = tg::variable<"v", float>(tg::zeros);
  const auto computing = apply<poll_latch>(a);
  const auto waiting = apply<await_latch, 1>(a);
  const auto update = tg::assign_add(v, apply<stay, 2>(a + v));
  const auto value = tg::after(update)(v + 0.0f);
  const auto read = v * 1.0f;
  for (const int threads : {1, 4}) {
    reset();
    tg::session session(tg::compile([=] { return tg::outputs(computing, waiting, value, read); }),
                        {.intra_op_threads = threads});
    other_run first([&] { session.run(computing, a = 1.0f); });
    CHECK(someone_polls());
    other_run second([&] { session.run(waiting, a = 1.0f); });
    CHECK(latches[1].see(1));
    other_run third([&] { session.run(value, a = 1.0f); });  // has the gate
    CHECK(someone_polls(2));
    const noted_look look;
    other_run fourth([&] { session.run(read, look.limits()); });  // waits for it
    CHECK(comes([&] { return look.looked.load(); }));
    // The gate stays shut until it has ended: if it found it open before it found the session closed, it would be
    // whole.
    std::thread opening([&] {
      fourth.join();
      latches[2].open();
    });
    session.close();
    opening.join();
    for (other_run* r : {&first, &second, &third}) r->join();
    for (const other_run* r : {&first, &second, &third, &fourth}) {
      CHECK(r->code() == tg::status_code::cancelled);
      CHECK_THAT(r->text(), Catch::Contains("its session was closed") && Catch::Contains("closing.cpp"));
    }
    CHECK(polling == 0);
    CHECK(latches[1].waiting() == 0);
  }
}

TEST_CASE("closing waits as long as it may") {
  reset();
  const auto stubborn = apply<count_calls>(apply<stay>(a));
  tg::session session(tg::compile([=] { return tg::outputs(stubborn); }));
  other_run run([&] { session.run(stubborn, a = 1.0f); });
  CHECK(someone_polls());
  CHECK_FALSE(session.close(0s));
  CHECK_FALSE(session.close(20ms));
  CHECK(code_of([&] { session.run(stubborn, a = 1.0f); }) == tg::status_code::cancelled);
  std::thread opening([] {
    std::this_thread::sleep_for(20ms);
    latches[0].open();
  });
  session.close();
  CHECK(polling == 0);
  CHECK(calls == 0);
  opening.join();
  run.join();
  CHECK(run.code() == tg::status_code::cancelled);
}

TEST_CASE("a session that ends under its runs cancels them and waits") {
  reset();
  const auto computing = apply<poll_latch>(a);
  const auto waiting = apply<await_latch, 1>(a);
  const auto program = tg::compile([=] { return tg::outputs(computing, waiting); });
  for (int round = 0; round < 5; ++round) {
    std::optional<tg::session<std::remove_cvref_t<decltype(program)>>> session;
    session.emplace(program, tg::session_options{.intra_op_threads = 1 + round % 3});
    std::vector<std::unique_ptr<other_run>> runs;
    for (int i = 0; i < 2; ++i)
      runs.push_back(std::make_unique<other_run>([=, &s = *session] { s.run(computing, a = 1.0f); }));
    for (int i = 0; i < 2; ++i)
      runs.push_back(std::make_unique<other_run>([=, &s = *session] { s.run(waiting, a = 1.0f); }));
    CHECK(someone_polls(2));
    CHECK(latches[1].see(2));
    session.reset();
    CHECK(polling == 0);
    for (auto& r : runs) {
      r->join();
      CHECK(r->code() == tg::status_code::cancelled);
    }
  }
}

TEST_CASE("a run that ends while its session closes is whole or cancelled") {
  reset();
  const auto twice = 2.0f * a;
  const auto program = tg::compile([=] { return tg::outputs(twice); });
  for (int round = 0; round < 50; ++round) {
    tg::session session(program, {.intra_op_threads = 1});
    std::atomic<int> done{0}, wrong{0};
    std::vector<std::unique_ptr<other_run>> runs;
    for (int t = 0; t < 3; ++t)
      runs.push_back(std::make_unique<other_run>([&] {
        for (;; ++done)
          if (session.run(twice, a = 3.0f) != 6) ++wrong;
      }));
    while (done < 20) std::this_thread::yield();
    session.close();
    for (auto& r : runs) {
      r->join();
      CHECK(r->code() == tg::status_code::cancelled);
    }
    CHECK(wrong == 0);
  }
}

}  // namespace
