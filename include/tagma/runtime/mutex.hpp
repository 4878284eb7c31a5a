// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A mutex and a condition over POSIX threads. <mutex> and <condition_variable> do the same, and with them come chrono,
/// semaphores, stop tokens and streams: a tenth of what all of tagma.hpp costs a compiler.

#include <pthread.h>
#include <time.h>

#include <cstdint>

namespace tagma {

/// A lock for std::lock_guard and std::unique_lock, cheap to include.
class mutex {
 public:
  mutex() = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  ~mutex() { pthread_mutex_destroy(&mutex_); }
  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  friend class condition;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

/// Holds a mutex while it lives.
class mutex_lock {
 public:
  explicit mutex_lock(mutex& m) : mutex_(m) { mutex_.lock(); }
  mutex_lock(const mutex_lock&) = delete;
  mutex_lock& operator=(const mutex_lock&) = delete;
  ~mutex_lock() { mutex_.unlock(); }

 private:
  mutex& mutex_;
};

/// Threads wait here for a change of what a mutex guards.
class condition {
 public:
  condition() {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&condition_, &attributes);
    pthread_condattr_destroy(&attributes);
  }
  condition(const condition&) = delete;
  condition& operator=(const condition&) = delete;
  ~condition() { pthread_cond_destroy(&condition_); }

  /// Gives up the mutex, waits, and takes it again; may return without a reason.
  void wait(mutex& m) { pthread_cond_wait(&condition_, &m.mutex_); }
  /// The same for at most `ns` nanoseconds.
  void wait_for(mutex& m, std::int64_t ns) {
    timespec end{};
    clock_gettime(CLOCK_MONOTONIC, &end);
    const std::int64_t total = end.tv_nsec + ns % 1'000'000'000;
    end.tv_sec += static_cast<time_t>(ns / 1'000'000'000 + total / 1'000'000'000);
    end.tv_nsec = static_cast<long>(total % 1'000'000'000);
    pthread_cond_timedwait(&condition_, &m.mutex_, &end);
  }
  void notify_all() { pthread_cond_broadcast(&condition_); }

 private:
  pthread_cond_t condition_;
};

}  // namespace tagma
