// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Runs the threads of a grid on the host, one after the other, so that tests can check kernels on a machine without a
/// GPU. The threads of a block are coroutines: they take turns where they wait for each other.

#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tagma/base/error.hpp"

namespace tagma::device::cuda::emulation {

/// Whether kernels run on the host. Only programs that are compiled with TAGMA_CUDA_EMULATION=1 can switch it on.
inline bool& active() {
  static bool on = false;
  return on;
}

/// Whether a test has put functions of the host in the place of those of the vendor's libraries that need a GPU.
inline bool& has_libraries() {
  static bool put = false;
  return put;
}

/// Whether a test acts as if nvcc had made no kernels of loops but those of one operation.
inline bool& lacks_loops() {
  static bool lacks = false;
  return lacks;
}

/// What one thread of a grid does.
using thread_function = void (*)(const void* task, std::int64_t block, int thread, std::byte* shared);

/// The C library's, without the check of some distributions that stacks grow downwards from jump to jump.
extern "C" [[noreturn]] void tagma_emulation_jump(__jmp_buf_tag* to, int value) __asm__("_longjmp");

/// One thread of a block; it has a stack of its own, and goes on with the next block when it has done its part.
struct thread_state {
  std::vector<char> stack = std::vector<char>(std::size_t{1} << 16);
  bool started = false;
  bool finished = false;
  jmp_buf here;
  alignas(16) char exchanged[2][64];
  std::size_t exchanges = 0;
};

/// The block that is running.
struct block_state {
  std::vector<thread_state> all;
  thread_state* threads = nullptr;
  jmp_buf scheduler;
  std::size_t current = 0;
  const void* task = nullptr;
  thread_function call = nullptr;  ///< nullptr: no threads that take turns
  std::int64_t number = 0;
  std::byte* shared = nullptr;
};
inline block_state& block() {
  static block_state state;
  return state;
}

/// Gives the turn to the next thread of the block.
[[gnu::noinline]] inline void wait() {
  block_state& b = block();
  if (b.call == nullptr) fail(status_code::internal, "threads wait for each other in a grid without memory of blocks");
  if (_setjmp(b.threads[b.current].here) == 0) tagma_emulation_jump(b.scheduler, 1);
}

/// Values stand in two places by turns: when one of them is written again, all threads have waited once more, and so
/// have read what was there.
template <class T>
[[nodiscard]] T exchange(T value, int thread, int mask) {
  block_state& b = block();
  if (b.call == nullptr) wait();
  static_assert(sizeof(T) <= sizeof(thread_state::exchanged[0]));
  const std::size_t turn = b.threads[thread].exchanges++ % 2;
  std::memcpy(b.threads[thread].exchanged[turn], &value, sizeof value);
  wait();
  std::memcpy(&value, b.threads[thread ^ mask].exchanged[turn], sizeof value);
  return value;
}

/// Runs one thread of every block that comes.
inline void run_thread() {
  block_state& b = block();
  for (;;) {
    b.call(b.task, b.number, static_cast<int>(b.current), b.shared);
    b.threads[b.current].finished = true;
    wait();
  }
}
inline void start_thread(thread_state& t) {
  t.started = true;
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = t.stack.data();
  context.uc_stack.ss_size = t.stack.size();
  context.uc_link = nullptr;
  makecontext(&context, &run_thread, 0);
  setcontext(&context);
}
/// Gives the turn to a thread until it waits or has done its part.
[[gnu::noinline]] inline void resume(block_state& b, std::size_t t) {
  b.current = t;
  if (_setjmp(b.scheduler) != 0) return;
  if (b.threads[t].started)
    tagma_emulation_jump(b.threads[t].here, 1);
  else
    start_thread(b.threads[t]);
}
inline void run_block(block_state& b, std::size_t count) {
  for (std::size_t t = 0; t < count; ++t) {
    b.threads[t].finished = false;
    b.threads[t].exchanges = 0;
  }
  for (std::size_t left = count; left > 0;) {
    for (std::size_t t = 0; t < count; ++t) {
      if (b.threads[t].finished) continue;
      resume(b, t);
      if (b.threads[t].finished) --left;
    }
  }
}

/// Calls `some(task, block, thread, shared)` for all threads of a grid. Threads of blocks without memory cannot talk to
/// each other, and run one after the other.
[[gnu::noinline]] inline void run_grid(std::int64_t blocks, int threads, std::size_t shared, const void* task,
                                       thread_function some) {
  if (shared == 0) {
    for (std::int64_t i = 0; i < blocks; ++i)
      for (int t = 0; t < threads; ++t) some(task, i, t, nullptr);
    return;
  }
  // Of 16 bytes, as the device aligns it; what the last block left there is garbage to the next.
  struct alignas(16) word {
    std::byte bytes[16];
  };
  std::vector<word> memory(shared / 16 + 1);
  block_state& b = block();
  const auto count = static_cast<std::size_t>(threads);
  if (b.all.size() < count) b.all.resize(count);
  b.threads = b.all.data();
  b.task = task;
  b.call = some;
  b.shared = reinterpret_cast<std::byte*>(memory.data());
  for (b.number = 0; b.number < blocks; ++b.number) {
    std::memset(static_cast<void*>(memory.data()), 0x7b, memory.size() * sizeof(word));
    run_block(b, count);
  }
  b.call = nullptr;
}

}  // namespace tagma::device::cuda::emulation
