// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Operations that wait, open, fail and poll, for tests of runs that do.

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "support/comes.hpp"
#include "support/errors.hpp"
#include "tagma/tagma.hpp"
#include "tagma/with_macros.hpp"

namespace tagma::test {

/// Operations of any run wait for it without a thread, until it is opened.
class latch {
 public:
  /// One operation that waits: the state of its kernel.
  struct waiter final : runtime::kernel_state, runtime::stop_hook {
    explicit waiter(latch& l) : where(l) {}
    void stop() noexcept override { where.cancel(*this); }

    latch& where;
    runtime::completion done;
    std::byte* out = nullptr;
    float value = 0;
  };

  /// Makes it as new. Nobody waits.
  void close() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  /// Ends all waits; from inside the lock, as a queue would.
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    for (waiter* w : waiting_) end(*w);
    waiting_.clear();
  }
  /// Ends all waits with an error each.
  void fail() {
    const std::lock_guard lock(mutex_);
    for (waiter* w : waiting_) w->done.fail(status_code::out_of_range, "the latch is closed for good");
    waiting_.clear();
  }
  [[nodiscard]] bool is_open() {
    const std::lock_guard lock(mutex_);
    return open_;
  }
  /// How many wait.
  [[nodiscard]] std::size_t waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }
  /// Returns once as many wait, or after a minute; true if it came to that.
  bool see(std::size_t count) {
    return comes([&] { return waiting() >= count; });
  }

  void wait(waiter& w) {
    const std::lock_guard lock(mutex_);
    if (open_) return end(w);
    if (waiting_.capacity() == 0) waiting_.reserve(64);
    waiting_.push_back(&w);
    ++begun;
  }
  void cancel(waiter& w) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < waiting_.size(); ++i)
      if (waiting_[i] == &w) {
        waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
        ++cancelled;
        return w.done.cancel();
      }
  }

  std::atomic<int> begun{0};      ///< waits, of those that did not find it open
  std::atomic<int> cancelled{0};  ///< of them those that a run ended early

 private:
  static void end(waiter& w) {
    *reinterpret_cast<float*>(w.out) = w.value;
    w.done.succeed();
  }

  std::mutex mutex_;
  std::vector<waiter*> waiting_;
  bool open_ = false;
};

/// Attribute 0 of the operations below says which.
inline latch latches[4];
/// How many polling operations are in their kernel, how many times a kernel below was called, how often a poll ended.
inline std::atomic<int> polling{0}, calls{0}, polls_ended{0};

/// A number that passes through an operation.
struct pass_on {
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr bool stateful = true;
  static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
};
/// Waits for a latch without a thread.
struct await_latch : pass_on {
  static constexpr std::string_view name = "test.await";
};
/// Opens a latch.
struct open_latch : pass_on {
  static constexpr std::string_view name = "test.open";
};
/// Sleeps on its thread until its run ends early, or the latch was opened; then it takes another moment.
struct poll_latch : pass_on {
  static constexpr std::string_view name = "test.poll";
  static constexpr double work(const ir::infer_args&) { return 1e9; }
};
/// Fails if its input is below 0; if it is below -9, as soon as an operation polls.
struct fail_below : pass_on {
  static constexpr std::string_view name = "test.fail";
  static constexpr double work(const ir::infer_args&) { return 1e9; }
};
/// Counts its calls.
struct count_calls : pass_on {
  static constexpr std::string_view name = "test.count";
};

/// All as at the begin of a test.
inline void reset() {
  for (latch& l : latches) {
    l.close();
    l.begun = l.cancelled = 0;
  }
  calls = polls_ended = 0;
}

template <class Op, int Latch = 0, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto apply(const E& e) {
  return make_operation<Op, ir::pack_attributes(Latch), Place>(e);
}

inline latch& latch_of(const runtime::kernel_args& args) { return latches[args.attributes[0]]; }
inline void hand_on(const runtime::kernel_args& args) { *args.out.as<float>() = *args.in[0].as<float>(); }

inline owned<runtime::kernel_state> prepare_await(const runtime::kernel_args& args, const runtime::run_context&) {
  return make_owned<latch::waiter>(latch_of(args));
}
inline void start_await(const runtime::kernel_args& args, const runtime::run_context& context,
                        runtime::completion done) {
  auto& w = static_cast<latch::waiter&>(*args.state);
  w.done = done;
  w.out = args.out.data;
  w.value = *args.in[0].as<float>();
  if (w.value == -2) fail(status_code::invalid_argument, "cannot begin");
  latch_of(args).wait(w);
  if (!context.control->add(w)) w.stop();
}
inline void run_open(const runtime::kernel_args& args, const runtime::run_context&) {
  hand_on(args);
  latch_of(args).open();
}
inline void run_poll(const runtime::kernel_args& args, const runtime::run_context& context) {
  ++polling;
  static_cast<void>(comes([&] { return context.cancelled() || latch_of(args).is_open(); }));
  sleep_ms(20);
  hand_on(args);
  --polling;
  ++polls_ended;
}
inline void run_fail(const runtime::kernel_args& args, const runtime::run_context&) {
  static_cast<void>(comes([&] { return *args.in[0].as<float>() >= -9 || polling > 0; }));
  if (*args.in[0].as<float>() < 0) fail(status_code::data_loss, "below zero");
  hand_on(args);
}
inline void run_count(const runtime::kernel_args& args, const runtime::run_context&) {
  ++calls;
  hand_on(args);
}

}  // namespace tagma::test

namespace tagma::device {
template <>
struct kernel<on_cpu, ir::key<test::await_latch>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{.prepare = &test::prepare_await, .start = &test::start_await};
};
template <>
struct kernel<on_cpu, ir::key<test::open_latch>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&test::run_open};
};
template <>
struct kernel<on_cpu, ir::key<test::poll_latch>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&test::run_poll};
};
template <>
struct kernel<on_cpu, ir::key<test::fail_below>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&test::run_fail};
};
template <>
struct kernel<on_cpu, ir::key<test::count_calls>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&test::run_count};
};
}  // namespace tagma::device
