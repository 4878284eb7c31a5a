// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Functions that stop in their middle and go on there: what threads of a simulated process are. With the GNU C library
/// these are stacks that one thread changes between, which costs a hundredth of a change of threads. Elsewhere, and
/// where a sanitizer has to know whose stack it is, they are real threads of which one goes on at a time.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/runtime/turns.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TAGMA_FIBERS_ARE_THREADS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define TAGMA_FIBERS_ARE_THREADS 1
#endif
#endif
#if !defined(TAGMA_FIBERS_ARE_THREADS) && !defined(__GLIBC__)
#define TAGMA_FIBERS_ARE_THREADS 1
#endif

#ifdef TAGMA_FIBERS_ARE_THREADS
#include <semaphore.h>

#include <thread>
#else
#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>
#endif

namespace tagma::transport::simulated {

#ifdef TAGMA_FIBERS_ARE_THREADS

namespace detail {

/// What real threads wait for.
class baton {
 public:
  baton() { sem_init(&given_, 0, 0); }
  baton(const baton&) = delete;
  baton& operator=(const baton&) = delete;
  ~baton() { sem_destroy(&given_); }

  void give() { sem_post(&given_); }
  void take() {
    while (sem_wait(&given_) != 0) continue;  // a signal came
  }

 private:
  sem_t given_{};
};

}  // namespace detail

#else

namespace detail {

/// A stack, with a page below it that nobody may touch. Those of fibers that have ended are used again.
class stack {
 public:
  static constexpr std::size_t size = std::size_t{1} << 20, guard = std::size_t{1} << 14;

  stack() {
    if (!idle().empty()) {
      base_ = idle().back();
      idle().pop_back();
      return;
    }
    base_ = ::mmap(nullptr, guard + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base_ == MAP_FAILED) throw std::bad_alloc();
    (void)::mprotect(base_, guard, PROT_NONE);
  }
  stack(const stack&) = delete;
  stack& operator=(const stack&) = delete;
  ~stack() {
    if (idle().size() < most_idle)
      idle().push_back(base_);
    else
      (void)::munmap(base_, guard + size);
  }
  [[nodiscard]] void* begin() const { return static_cast<char*>(base_) + guard; }

 private:
  static constexpr std::size_t most_idle = 64;
  static std::vector<void*>& idle() {
    static thread_local auto* const all = new std::vector<void*>;
    return *all;
  }

  void* base_ = nullptr;
};

/// What a thread knows of its stack: exceptions that it handles, and whose turns it takes.
struct belongings {
  std::byte exceptions[2 * sizeof(void*)]{};
  runtime::turns* turns = nullptr;

  /// Changes them for those of this thread.
  void swap() {
    std::byte now[sizeof exceptions];
    void* const those = abi::__cxa_get_globals();
    std::memcpy(now, those, sizeof now);
    std::memcpy(those, exceptions, sizeof now);
    std::memcpy(exceptions, now, sizeof now);
    std::swap(turns, runtime::turns_here);
  }
};

}  // namespace detail

#endif

/// All calls are made by one thread, that of the world.
class fiber {
 public:
  /// Does nothing yet.
  explicit fiber(std::function<void()> what);
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;
  /// One that has not ended never goes on; what it has on its stack stays.
  ~fiber();

  /// Returns when it stays or ends.
  void go_on();
  /// Called by what runs in it: returns when it goes on.
  void stay();
  [[nodiscard]] bool has_ended() const;

 private:
  struct state;

  std::shared_ptr<state> state_;
};

#ifdef TAGMA_FIBERS_ARE_THREADS

struct fiber::state {
  detail::baton go{}, back{};
  std::thread real{};
  bool ended = false;
};

#else

struct fiber::state {
  explicit state(std::function<void()> f) : what(std::move(f)) {
    (void)::getcontext(&own);
    own.uc_stack.ss_sp = memory.begin();
    own.uc_stack.ss_size = detail::stack::size;
    own.uc_link = &back;
    // Its arguments are numbers of 32 bits.
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    ::makecontext(&own, reinterpret_cast<void (*)()>(&run), 2, static_cast<unsigned>(self >> 32),
                  static_cast<unsigned>(self & 0xffff'ffffu));
  }
  static void run(unsigned high, unsigned low) {
    state& self = *reinterpret_cast<state*>(std::uintptr_t{high} << 32 | low);
    self.what();
    self.what = nullptr;
    self.ended = true;
  }

  std::function<void()> what;
  detail::stack memory{};
  detail::belongings others{};  // of whoever does not run
  ucontext_t own{}, back{};
  bool ended = false;
};

#endif

}  // namespace tagma::transport::simulated

#ifndef TAGMA_COMPILED
#include "tagma/transport/simulated/fiber.ipp"
#endif
