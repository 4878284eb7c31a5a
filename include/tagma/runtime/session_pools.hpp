// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The pools of threads among which the runs of a session choose.

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/runtime/executor.hpp"
#include "tagma/runtime/whole_run.hpp"

namespace tagma {

/// Threads for the steps of runs. They are as many as they are: the thread that calls `run` sleeps meanwhile.
struct inter_op_pool {
  int threads = 0;            ///< 0: all that the process may use
  std::string_view name = {}; /**< sessions of this process that give the same name share the threads; none: those of
                                   this session alone */
};

namespace runtime {

/// What a session does with pools, as pointers: a program that names none does not compile it.
struct pool_functions {
  owned<step_pool> (*make)(int threads, std::string_view name);
  /// Does all steps on one thread of the pool and returns when they have ended.
  void (*run)(step_pool& threads, run_control& control, run_steps& steps, std::size_t count);
};
inline constexpr pool_functions functions_of_pools{&make_cpu_step_pool, &run_on_pool};

}  // namespace runtime

/// Up to eight pools, by value: `{{.threads = 4}, {.threads = 1, .name = "small"}}`.
class inter_op_pool_list {
 public:
  static constexpr std::size_t most = 8;

  constexpr inter_op_pool_list() = default;
  /// Throws InvalidArgument for more than eight.
  constexpr inter_op_pool_list(std::initializer_list<inter_op_pool> pools) : functions_(&runtime::functions_of_pools) {
    if (pools.size() > most) fail(status_code::invalid_argument, "a session has at most eight pools of threads");
    for (const inter_op_pool& pool : pools) pools_[size_++] = pool;
  }
  /// How many there are.
  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  /// One of them, from 0.
  [[nodiscard]] constexpr const inter_op_pool& operator[](std::size_t i) const { return pools_[i]; }
  /// None where the list is empty.
  [[nodiscard]] constexpr const runtime::pool_functions* functions() const { return functions_; }

 private:
  inter_op_pool pools_[most]{};
  std::size_t size_ = 0;
  const runtime::pool_functions* functions_ = nullptr;
};

namespace runtime {

/// The pools of one session.
class session_pools {
 public:
  session_pools() = default;
  explicit session_pools(const inter_op_pool_list& pools);

  /// False: the session has the threads of its executor alone.
  [[nodiscard]] bool any() const { return pools_.size() > 0; }
  /// Does all steps of a run on one of the threads that `find` gave.
  void run(step_pool& threads, run_control& control, run_steps& steps, std::size_t count) const;
  /// The threads of the largest.
  [[nodiscard]] int most_threads() const;
  /// The threads that a run asks for by index; nullptr for -1, the thread that calls.
  /// @param own what the session has where there are no pools
  /// Throws InvalidArgument if there is no such pool.
  [[nodiscard]] step_pool* find(int index, step_pool& own) const;

 private:
  [[noreturn]] void explain(int index) const;

  const pool_functions* functions_ = nullptr;
  heap_array<owned<step_pool>> pools_;
};

}  // namespace runtime
}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/runtime/session_pools.ipp"
#endif
