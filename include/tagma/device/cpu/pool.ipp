// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of pool.hpp: in the compiled half, or else in each file that includes it.

#include <unistd.h>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/pool.hpp"

namespace tagma::device::cpu {

TAGMA_COLD TAGMA_DECL thread_pool::thread_pool(int workers) : owner_(getpid()) {
  if (workers <= 0) return;
  threads_ = heap_array<worker>(workers);
  for (; workers_ < workers; ++workers_) {
    worker& next = threads_[workers_];
    next.pool = this;
    if (pthread_create(&next.thread, nullptr, &enter, &next) != 0) break;
  }
}

TAGMA_COLD TAGMA_DECL thread_pool::~thread_pool() {
  if (getpid() != owner_) return;
  stop_.store(true, memory_order::relaxed);
  round_.change(true);
  for (int i = 0; i < workers_; ++i) pthread_join(threads_[i].thread, nullptr);
}

TAGMA_DECL bool thread_pool::offer(runtime::shared_work& work, bool last) {
  if (workers_ == 0 || getpid() != owner_) return false;
  const mutex_lock lock(mutex_);
  work.before = last ? last_ : nullptr;
  work.behind = last ? nullptr : first_;
  (work.before == nullptr ? first_ : work.before->behind) = &work;
  (work.behind == nullptr ? last_ : work.behind->before) = &work;
  return true;
}

TAGMA_DECL void thread_pool::wake(int count) {
  round_.change_awake();
  wake_sleepers(count);
}

TAGMA_DECL void thread_pool::wake_sleepers(int count) {
  if (!round_.has_sleepers() || getpid() != owner_) return;
  {
    const mutex_lock lock(mutex_);
    for (int i = 0, left = count < most_kept_off ? count : most_kept_off; i < workers_ && left > 0; ++i)
      left -= threads_[i].place.keep_off_caller(threads_[i].thread);
  }
  round_.wake(count);
}

TAGMA_COLD TAGMA_DECL void thread_pool::withdraw(runtime::shared_work& work) {
  mutex_.lock();
  (work.before == nullptr ? first_ : work.before->behind) = work.behind;
  (work.behind == nullptr ? last_ : work.behind->before) = work.before;
  while (work.helping > 0) {
    const std::uint32_t seen = left_.load(memory_order::relaxed);
    mutex_.unlock();
    if (!left_.changes_within(seen, patience_ns)) left_.sleep_until(seen, runtime::wait_word::never);
    mutex_.lock();
  }
  mutex_.unlock();
}

// Not inlined: g++ guesses that every executor is the one of this pool and would copy it into each kernel.
TAGMA_COLD TAGMA_DECL void thread_pool::parallel_for(std::int64_t tasks,
                                                     void (*task)(void* context, std::int64_t index), void* context,
                                                     int most_helpers, runtime::helpers help) {
  if (tasks <= 0) return;
  if (tasks == 1) return task(context, 0);  // nothing to share, so a loop inside this task may have the workers
  loop work(task, context, tasks, most_helpers);
  const bool small = help == runtime::helpers::awake;
  if (most_helpers <= 0 || detail::inside_task || (small && !somebody_for_small()) || !offer(work)) {
    work.run(work.from_first, 1);
    if (small && most_helpers > 0 && !detail::inside_task) last_missed_.store(runtime::now_ns(), memory_order::relaxed);
  } else {
    wake_missing(small ? 1 : static_cast<int>(tasks - 1 < most_helpers ? tasks - 1 : most_helpers));
    work.run(work.from_first, 1);
    withdraw(work);
  }
  if (work.error) std::rethrow_exception(work.error);
}

TAGMA_COLD TAGMA_DECL void thread_pool::loop::run(atomic<std::int64_t>& from, int direction) noexcept {
  const bool outside = !detail::inside_task;
  detail::inside_task = true;
  while (taken.fetch_add(1, memory_order::relaxed) < tasks) {
    const std::int64_t i = from.fetch_add(1, memory_order::relaxed);
    try {
      task(context, direction > 0 ? i : tasks - 1 - i);
    } catch (...) {
      if (!failed.exchange(true, memory_order::relaxed)) error = std::current_exception();
    }
  }
  if (outside) detail::inside_task = false;
}

TAGMA_DECL void thread_pool::wake_missing(int count) {
  round_.change_awake();
  if (const int awake = awake_.load(); awake < count) wake_sleepers(count - awake);
}

TAGMA_COLD TAGMA_DECL bool thread_pool::somebody_for_small() {
  if (awake_.load(memory_order::relaxed) > 0) return true;
  // Threads that do this at once may lose one of their counts.
  const std::int64_t since = runtime::now_ns() - last_missed_.load(memory_order::relaxed);
  const int missed = since < patience_ns ? missed_.load(memory_order::relaxed) + 1 : 1;
  missed_.store(missed < most_missed ? missed : 0, memory_order::relaxed);
  return missed >= most_missed;
}

TAGMA_DECL bool thread_pool::help() {
  runtime::shared_work* work = nullptr;
  {
    const mutex_lock lock(mutex_);
    work = first_;
    while (work != nullptr && !(work->helping < work->most_helpers && work->open())) work = work->behind;
    if (work == nullptr) return false;
    ++work->helping;
  }
  work->help();
  {
    // Once the count is 0 and the lock is open, the work may be gone.
    const mutex_lock lock(mutex_);
    --work->helping;
  }
  left_.change(true);
  return true;
}

TAGMA_COLD TAGMA_DECL void* thread_pool::enter(void* self) {
  flush_denormals();
  auto& own = *static_cast<worker*>(self);
  thread_pool& pool = *own.pool;
  int in_vain = 0;  // waits in a row behind which there was nothing to do, or not for long
  bool short_wait = false;
  for (;;) {
    const std::uint32_t seen = pool.round_.load(memory_order::acquire);
    if (pool.stop_.load(memory_order::relaxed)) return nullptr;
    if (pool.help()) {
      if (short_wait) in_vain = 0;
      continue;
    }
    const std::int64_t begin = runtime::now_ns();
    // Whoever counts this one among those awake has changed the word before.
    pool.awake_.fetch_add(1);
    const bool changed = pool.round_.changes_within(seen, in_vain < 2 ? patience_ns : runtime::wait_word::soon);
    pool.awake_.fetch_sub(1);
    if (!changed) {
      own.place.enter();
      pool.round_.sleep_until(seen, runtime::wait_word::never);
      own.place.leave();
    }
    short_wait = runtime::now_ns() - begin < patience_ns;
    if (in_vain < 2) ++in_vain;
  }
}

}  // namespace tagma::device::cpu
