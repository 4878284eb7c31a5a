// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A thread that is joined by whoever began it. <thread> brings streams, locales and clocks with it: three per cent of
/// what a program with a model costs a compiler.

#include <pthread.h>

#include "tagma/base/config.hpp"

namespace tagma::runtime {

/// Not copied, not moved. Whoever has begun it joins it before it goes.
class thread {
 public:
  thread() = default;
  thread(const thread&) = delete;
  thread& operator=(const thread&) = delete;

  /// Calls a member function of an object, which throws nothing. The object outlives the thread. Only where `join` has
  /// nothing to wait for.
  /// @returns false where the system has no thread left: then nothing was begun
  template <auto Function, class T>
  [[nodiscard]] TAGMA_COLD bool begin(T& of) {
    constexpr auto enter = [](void* object) noexcept -> void* {
      (static_cast<T*>(object)->*Function)();
      return nullptr;
    };
    return begun_ = pthread_create(&thread_, nullptr, enter, &of) == 0;
  }
  /// Waits until the function has returned, if there is one.
  void join() {
    if (begun_) pthread_join(thread_, nullptr);
    begun_ = false;
  }

 private:
  pthread_t thread_{};
  bool begun_ = false;
};

}  // namespace tagma::runtime
