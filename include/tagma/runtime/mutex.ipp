// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of mutex.hpp: in the compiled half, or else in each file that includes it.

#include <time.h>

#include "tagma/base/config.hpp"
#include "tagma/runtime/mutex.hpp"

namespace tagma {

TAGMA_DECL condition::condition() {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&condition_, &attributes);
  pthread_condattr_destroy(&attributes);
}

TAGMA_DECL void condition::wait_for(mutex& m, std::int64_t ns) {
  timespec end{};
  clock_gettime(CLOCK_MONOTONIC, &end);
  const std::int64_t total = end.tv_nsec + ns;
  end.tv_sec += static_cast<time_t>(total / 1'000'000'000);
  end.tv_nsec = static_cast<long>(total % 1'000'000'000);
  pthread_cond_timedwait(&condition_, &m.mutex_, &end);
}

}  // namespace tagma
