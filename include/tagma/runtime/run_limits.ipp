// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of run_limits.hpp: in the compiled half, or else in each file that includes it.

#include <sched.h>

#include "tagma/base/config.hpp"
#include "tagma/runtime/run_limits.hpp"
#include "tagma/runtime/wait_word.hpp"

namespace tagma {

TAGMA_COLD TAGMA_DECL void cancellation::cancel() noexcept {
  cancelled_.store(true);
  waking_.fetch_add(1);
  for (atomic<runtime::wait_word*>& place : sleepers_)
    if (runtime::wait_word* const word = place.load()) word->change(true);
  waking_.fetch_sub(1);
}

TAGMA_COLD TAGMA_DECL cancellation::sleeper::sleeper(const cancellation& c, runtime::wait_word& word)
    : cancellation_(c) {
  while (place_ < places && !c.sleepers_[place_].replace(nullptr, &word)) ++place_;
}

TAGMA_COLD TAGMA_DECL cancellation::sleeper::~sleeper() {
  if (!placed()) return;
  cancellation_.sleepers_[place_].store(nullptr);
  while (cancellation_.waking_.load() != 0) sched_yield();  // whoever cancels may still have the word
}

}  // namespace tagma

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL void join(array_view<run_limits> given) {
  run_limits& all = given[0];
  for (run_limits& l : given.subspan(1, given.size() - 1)) {
    if (l.timeout_ns > 0 ? all.timeout_ns <= 0 || l.timeout_ns < all.timeout_ns : all.timeout_ns == 0)
      all.timeout_ns = l.timeout_ns;
    if (l.stop.requested != nullptr) {
      l.stop.next = all.stop.next;
      all.stop.next = &l.stop;
    }
    if (l.pool != run_limits::any_pool) {
      if (all.pool != run_limits::any_pool && all.pool != l.pool)
        fail(status_code::invalid_argument,
             {"a run is given two pools of threads, ", all.pool, " and ", l.pool, " (-1 is the thread that calls)"});
      all.pool = l.pool;
    }
    if (l.trace != nullptr) {
      if (all.trace != nullptr && all.trace != l.trace)
        fail(status_code::invalid_argument, "a run is given two timelines to be recorded in");
      all.trace = l.trace;
    }
  }
}

TAGMA_DECL run_guard::run_guard(const run_limits& limits, std::int64_t session_timeout_ns, closing* session)
    : stop_(limits.stop),
      timeout_ns_(limits.timeout_ns == 0 ? session_timeout_ns : limits.timeout_ns),
      end_(timeout_ns_ > 0 ? later(now_ns(), timeout_ns_) : wait_word::never),
      session_(session),
      limited_(timeout_ns_ > 0 || stop_.requested != nullptr || stop_.next != nullptr) {}

[[gnu::noinline]] TAGMA_DECL status_code run_guard::over() const {
  if (closed()) return status_code::cancelled;
  for (const stop_source* s = &stop_; s != nullptr; s = s->next)
    if (s->requested != nullptr && s->requested(s->token)) return status_code::cancelled;
  return end_ != wait_word::never && now_ns() >= end_ ? status_code::deadline_exceeded : status_code::ok;
}

TAGMA_DECL void run_guard::check() const {
  if (const status_code reason = over(); reason != status_code::ok) explain(reason);
}

TAGMA_COLD TAGMA_DECL void run_guard::explain(status_code reason, std::string_view meanwhile) const {
  if (reason == status_code::cancelled && closed()) session_->stop_run();
  if (reason == status_code::cancelled) fail(reason, "the run was cancelled");
  fail(reason, {"the run took longer than its timeout of ", timeout_ns_ / 1'000'000, " ms", meanwhile});
}

TAGMA_COLD TAGMA_DECL void run_guard::wait(wait_word& word, std::uint32_t seen) const {
  if (word.changes_within(seen, wait_word::soon)) return;
  if (session_ == nullptr) return sleep(&stop_, word, seen, end_);
  const closing::sleeper sleeper(*session_, word);
  if (!closed()) sleep(&stop_, word, seen, end_);
}

TAGMA_COLD TAGMA_DECL void run_guard::sleep(const stop_source* first, wait_word& word, std::uint32_t seen,
                                            std::int64_t end) {
  while (first != nullptr && first->requested == nullptr) first = first->next;
  if (first == nullptr) return word.sleep_until(seen, end);
  if (first->wakes != nullptr) {
    const cancellation::sleeper sleeper(*first->wakes, word);
    if (sleeper.too_late()) return;
    if (sleeper.placed()) return sleep(first->next, word, seen, end);
  }
  const std::int64_t look_again = now_ns() + 10'000'000;
  sleep(first->next, word, seen, look_again < end ? look_again : end);
}

}  // namespace tagma::runtime
