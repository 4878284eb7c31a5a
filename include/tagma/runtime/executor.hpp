// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a runtime asks of the threads of a device.

#include <cstdint>
#include <type_traits>

#include "tagma/base/owned.hpp"

namespace tagma::runtime {

/// Runs independent tasks of one kernel on several threads. The calling thread takes part.
class executor {
 public:
  virtual ~executor() = default;
  /// Calls `task(context, i)` for each i below `count` and returns when all are done; rethrows the first exception.
  virtual void parallel_for(std::int64_t count, void (*task)(void*, std::int64_t), void* context) = 0;
  /// Prepares the calling thread for kernels; `leave` takes the result and undoes it.
  virtual unsigned enter() { return 0; }
  virtual void leave(unsigned) {}
  /// Threads that work, the caller included.
  [[nodiscard]] virtual int threads() const = 0;

  /// The same for a callable.
  template <class Task>
  void parallel_for(std::int64_t count, Task&& task) {
    using callable = std::remove_reference_t<Task>;
    parallel_for(
        count, [](void* context, std::int64_t i) { (*static_cast<callable*>(context))(i); },
        const_cast<void*>(static_cast<const void*>(&task)));
  }
};

/// The executor of the CPU; defined by device/cpu.
/// @param threads 0: as many as the affinity mask and the quota of the process allow
[[nodiscard]] owned<executor> make_cpu_executor(int threads);

}  // namespace tagma::runtime
