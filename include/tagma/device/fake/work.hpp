// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The operations that were put into the streams of fake devices, and the thread that does them in a random order.

#include <pthread.h>

#include <deque>
#include <functional>

#include "tagma/base/random.hpp"
#include "tagma/device/fake/memory.hpp"
#include "tagma/runtime/gate.hpp"

namespace tagma::device::fake {

/// The number of an operation: they are numbered in the order in which the host makes them. In a capture, that of a
/// node.
using operation_id = std::int64_t;

/// Something that a stream does.
struct operation {
  std::string name;
  std::function<void()> body;
  std::vector<access> accesses;
  std::int64_t ns = 0;  ///< how long it takes, in simulated time
  bool kernel = false;
  std::vector<operation_id> after{};  ///< what must be done before
  bool done = false;
  bool failed = false;
  status_code code = status_code::ok;
  std::string what{};
};

/// Something that will fail.
struct planned_fault {
  int countdown = 0;  ///< 1: the next time; 0: never
  status_code code = status_code::internal;

  [[nodiscard]] bool strikes() { return countdown > 0 && --countdown == 0; }
};

/// Operations and the thread that does them. All functions are called with the mutex locked, and give it up while they
/// wait.
class work_queue {
 public:
  /// @param eager of 256 chances, how often `maybe_do_some` does some
  work_queue(mutex& m, const memory_table& memory, std::uint64_t seed, int eager)
      : mutex_(m), memory_(memory), seed_(seed), eager_(static_cast<std::uint32_t>(eager)) {
    if (pthread_create(&thread_, nullptr, enter, this) != 0)
      fail(status_code::resource_exhausted, "the system makes no thread for a fake device");
  }
  work_queue(const work_queue&) = delete;
  work_queue& operator=(const work_queue&) = delete;
  /// Leaves what is not done. The mutex must not be locked.
  ~work_queue() {
    mutex_.lock();
    stop_ = true;
    changed_.notify_all();
    mutex_.unlock();
    pthread_join(thread_, nullptr);
  }

  /// The number of the next operation.
  [[nodiscard]] operation_id end() const { return first_ + static_cast<operation_id>(operations_.size()); }
  void push(operation o) { operations_.push_back(static_cast<operation&&>(o)); }

  [[nodiscard]] bool all_done(const std::vector<operation_id>& some) const {
    for (const operation_id n : some)
      if (const operation* o = at(n); o != nullptr && !o->done) return false;
    return true;
  }
  /// One of them that failed, or nullptr.
  [[nodiscard]] const operation* failed(const std::vector<operation_id>& some) const {
    for (const operation_id n : some)
      if (const operation* o = at(n); o != nullptr && o->failed) return o;
    return nullptr;
  }
  /// How many are not done.
  [[nodiscard]] std::size_t pending() const {
    std::size_t count = 0;
    for (const operation& o : operations_) count += !o.done;
    return count;
  }
  /// Forgets all operations, which must be done, and their failures.
  void forget() {
    first_ = end();
    operations_.clear();
  }

  /// Nothing begins while it is held.
  void hold(bool held) {
    held_ = held;
    changed_.notify_all();
  }
  void maybe_do_some() {
    if (eager_ > 0 && random_word() % 256 < eager_) do_some();
  }
  /// Returns when up to four operations are done.
  void do_some() {
    if (held_) return;
    allowed_ = 1 + random_word() % 4;
    changed_.notify_all();
    while (allowed_ > 0 && !held_) changed_.wait(mutex_);
  }
  /// Lets the thread work until `some` are done, or for `ns` nanoseconds if that is not negative.
  void run_until(const std::vector<operation_id> some, std::int64_t ns) {
    const std::int64_t end = ns < 0 ? 0 : runtime::now_ns() + ns;
    wanted_.insert(wanted_.end(), some.begin(), some.end());
    changed_.notify_all();
    while (!all_done(some)) {
      if (ns < 0) {
        changed_.wait(mutex_);
        continue;
      }
      const std::int64_t left = end - runtime::now_ns();
      if (left <= 0) break;
      changed_.wait_for(mutex_, left);
    }
    for (const operation_id n : some)
      for (std::size_t i = 0; i < wanted_.size(); ++i)
        if (wanted_[i] == n) {
          wanted_[i] = wanted_.back();
          wanted_.pop_back();
          break;
        }
  }

  planned_fault fault;        ///< of a kernel while it is done
  std::int64_t executed = 0;  ///< operations that were done so far

 private:
  [[nodiscard]] const operation* at(operation_id n) const {
    return n < first_ ? nullptr : &operations_[static_cast<std::size_t>(n - first_)];
  }
  [[nodiscard]] std::uint32_t random_word() { return random_block({seed_, 1, 0}, draws_++)[0]; }

  /// A random operation of those that may begin, or nullptr.
  [[nodiscard]] operation* choose() {
    operation* chosen = nullptr;
    std::uint32_t count = 0;
    for (operation& o : operations_)
      if (!o.done && all_done(o.after) && random_word() % ++count == 0) chosen = &o;
    return chosen;
  }

  /// An operation whose predecessor failed fails without being done.
  void execute(operation& o) {
    if (const operation* before = failed(o.after)) set_failed(o, before->code, before->what);
    if (!o.failed && o.kernel && fault.strikes()) set_failed(o, fault.code, sentence({o.name, " fails on the device"}));
    for (const access& a : o.accesses)
      if (!o.failed && !memory_.allocated(a))
        set_failed(o, status_code::internal, sentence({o.name, " uses memory that was given back before it was done"}));
    if (!o.failed && o.body) {
      mutex_.unlock();
      std::string what;
      bool threw = false;
      try {
        o.body();
      } catch (const std::exception& e) {
        threw = true;
        what = e.what();
      }
      mutex_.lock();
      if (threw) set_failed(o, status_code::internal, what);
    }
    o.done = true;
    ++executed;
  }
  static void set_failed(operation& o, status_code code, std::string_view what) {
    o.failed = true;
    o.code = code;
    o.what = what;
  }

  static void* enter(void* self) {
    static_cast<work_queue*>(self)->serve();
    return nullptr;
  }
  void serve() {
    const mutex_lock lock(mutex_);
    while (!stop_) {
      operation* const o = held_ || (allowed_ == 0 && all_done(wanted_)) ? nullptr : choose();
      if (o != nullptr) {
        execute(*o);
        if (allowed_ > 0) --allowed_;
        changed_.notify_all();
        continue;
      }
      if (allowed_ > 0 && !held_) {
        allowed_ = 0;
        changed_.notify_all();
      }
      changed_.wait(mutex_);
    }
  }

  mutex& mutex_;
  const memory_table& memory_;
  const std::uint64_t seed_;
  const std::uint32_t eager_;
  condition changed_;
  pthread_t thread_{};
  bool stop_ = false;
  bool held_ = false;
  std::uint32_t allowed_ = 0;         // operations that may be done though nobody waits
  std::vector<operation_id> wanted_;  // what threads of the host wait for
  std::uint64_t draws_ = 0;
  std::deque<operation> operations_;  // whose references stay good when more are put behind
  operation_id first_ = 0;
};

}  // namespace tagma::device::fake
