// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Runs the threads of a grid on the host, one after the other, so that tests can check kernels on a machine without a
/// GPU. The threads of a block are coroutines: they take turns where they wait for each other.

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tagma::device::cuda::emulation {

/// Whether kernels run on the host. Only programs that are compiled with TAGMA_CUDA_EMULATION=1 can switch it on.
inline bool& active() {
  static bool on = false;
  return on;
}

/// The block that is running.
struct block_state {
  ucontext_t scheduler;
  std::vector<ucontext_t> threads;
  std::vector<std::vector<char>> stacks;
  std::vector<bool> finished;
  std::vector<std::vector<char>> exchanged;
  std::size_t current = 0;
  const void* task = nullptr;
  void (*call)(const void*, int) = nullptr;
};
inline block_state& block() {
  static block_state state;
  return state;
}

/// Gives the turn to the next thread of the block.
inline void wait() {
  block_state& b = block();
  if (b.call != nullptr) swapcontext(&b.threads[b.current], &b.scheduler);
}

template <class T>
[[nodiscard]] T exchange(T value, int thread, int mask) {
  block_state& b = block();
  auto& mine = b.exchanged[static_cast<std::size_t>(thread)];
  mine.resize(sizeof(T));
  std::memcpy(mine.data(), &value, sizeof value);
  wait();
  std::memcpy(&value, b.exchanged[static_cast<std::size_t>(thread ^ mask)].data(), sizeof value);
  wait();
  return value;
}

/// Runs one thread of the block from its beginning.
inline void run_thread() {
  block_state& b = block();
  b.call(b.task, static_cast<int>(b.current));
  b.finished[b.current] = true;
}

/// Calls `some(block, thread, shared memory)` for all threads of a grid.
template <class Some>
void run_grid(std::int64_t blocks, int threads, std::size_t shared, const Some& some) {
  struct task {
    const Some& some;
    std::int64_t block;
    std::byte* shared;
  };
  // Of 16 bytes, as the device aligns it; what the last block left there is garbage to the next.
  struct alignas(16) word {
    std::byte bytes[16];
  };
  std::vector<word> memory(shared / 16 + 1);
  block_state& b = block();
  const auto count = static_cast<std::size_t>(threads);
  b.threads.resize(count);
  b.exchanged.resize(count);
  while (b.stacks.size() < count) b.stacks.emplace_back(std::size_t{1} << 16);
  b.call = [](const void* t, int thread) {
    const task& one = *static_cast<const task*>(t);
    one.some(one.block, thread, one.shared);
  };
  for (std::int64_t i = 0; i < blocks; ++i) {
    std::memset(static_cast<void*>(memory.data()), 0x7b, memory.size() * sizeof(word));
    const task one{some, i, reinterpret_cast<std::byte*>(memory.data())};
    b.task = &one;
    b.finished.assign(count, false);
    for (std::size_t t = 0; t < count; ++t) {
      getcontext(&b.threads[t]);
      b.threads[t].uc_stack.ss_sp = b.stacks[t].data();
      b.threads[t].uc_stack.ss_size = b.stacks[t].size();
      b.threads[t].uc_link = &b.scheduler;
      makecontext(&b.threads[t], &run_thread, 0);
    }
    for (std::size_t left = count; left > 0;) {
      for (std::size_t t = 0; t < count; ++t) {
        if (b.finished[t]) continue;
        b.current = t;
        swapcontext(&b.scheduler, &b.threads[t]);
        if (b.finished[t]) --left;
      }
    }
  }
  b.call = nullptr;
}

}  // namespace tagma::device::cuda::emulation
