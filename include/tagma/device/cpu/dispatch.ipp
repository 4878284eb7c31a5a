// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of dispatch.hpp: in the compiled half, or else in each file that includes it.

#include <cstdlib>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/dispatch.hpp"

namespace tagma::device::cpu {

namespace detail {

TAGMA_COLD TAGMA_DECL level level_of_processor() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return level::baseline;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return level::v4;
  return level::v3;
#else
  return level::baseline;
#endif
}

TAGMA_COLD TAGMA_DECL level bounded_level(level found, const char* bound) {
  if (bound == nullptr || *bound == '\0') return found;
  level most = level::v4;
  if (__builtin_strcmp(bound, "baseline") == 0)
    most = level::baseline;
  else if (__builtin_strcmp(bound, "avx2") == 0)
    most = level::v3;
  else if (__builtin_strcmp(bound, "avx512") != 0)
    fail(status_code::invalid_argument,
         {"TAGMA_CPU_LEVEL is \"", bound, "\": it may be \"baseline\", \"avx2\" or \"avx512\""});
  return found < most ? found : most;
}

}  // namespace detail

TAGMA_DECL level machine_level() {
  static const level found = detail::bounded_level(detail::level_of_processor(), std::getenv("TAGMA_CPU_LEVEL"));
  return found;
}

}  // namespace tagma::device::cpu
