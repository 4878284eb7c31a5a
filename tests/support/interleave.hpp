// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Points at which a test lets another thread do something, so that two threads meet in each of the orders that there
/// are, not only in those that chance finds. A test compiles a header with classes that pass such points in place of
/// its own: `#define mutex watched_mutex`, and new names for what is then defined, since the program has the others
/// too.

#include <functional>

#include "tagma/base/atomic.hpp"
#include "tagma/runtime/mutex.hpp"

// Where the whole library is one header, as in the tests of the single headers, a part of it cannot have other names:
// the same tests run without points.
#if defined(TAGMA_COLD)
#define TAGMA_ALL_AT_ONCE
#endif

namespace tagma::test {

/// What this thread does at one of the points that it passes.
struct visit {
  int points_before = -1;  ///< below 0: none is left
  std::function<void()> act;
};
inline thread_local visit next_visit;

/// Where another thread may come between.
inline void point() {
  if (next_visit.points_before < 0 || next_visit.points_before-- > 0) return;
  next_visit.act();
}

/// While it lives, this thread calls `act` at the point behind `points_before` others.
class visitor {
 public:
  visitor(int points_before, std::function<void()> act) {
    next_visit = {points_before, static_cast<std::function<void()>&&>(act)};
  }
  visitor(const visitor&) = delete;
  visitor& operator=(const visitor&) = delete;
  ~visitor() { next_visit = {}; }
};

}  // namespace tagma::test

namespace tagma {

/// An atomic value with a point before each access.
template <class T>
class watched_atomic : atomic<T> {
 public:
  using atomic<T>::atomic;

  [[nodiscard]] T load(memory_order order = memory_order::seq_cst) const {
    test::point();
    return atomic<T>::load(order);
  }
  void store(T value, memory_order order = memory_order::seq_cst) {
    test::point();
    atomic<T>::store(value, order);
  }
  bool replace(T expected, T value) {
    test::point();
    return atomic<T>::replace(expected, value);
  }
  T fetch_add(T value, memory_order order = memory_order::seq_cst) {
    test::point();
    return atomic<T>::fetch_add(value, order);
  }
  T fetch_sub(T value, memory_order order = memory_order::seq_cst) {
    test::point();
    return atomic<T>::fetch_sub(value, order);
  }
  using atomic<T>::address;
};

/// A mutex with a point before it is taken and one after it was given up.
class watched_mutex : mutex {
 public:
  void lock() {
    test::point();
    mutex::lock();
  }
  void unlock() {
    mutex::unlock();
    test::point();
  }
};
class watched_mutex_lock {
 public:
  explicit watched_mutex_lock(watched_mutex& m) : mutex_(m) { mutex_.lock(); }
  watched_mutex_lock(const watched_mutex_lock&) = delete;
  watched_mutex_lock& operator=(const watched_mutex_lock&) = delete;
  ~watched_mutex_lock() { mutex_.unlock(); }

 private:
  watched_mutex& mutex_;
};

}  // namespace tagma
