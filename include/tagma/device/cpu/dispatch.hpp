// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// One loop, compiled for two instruction sets, chosen at run time. A program built for the oldest x86-64 still runs
/// its loops with AVX2 and FMA where the machine has them. The two variants may differ in the last bit of a result,
/// because FMA rounds once where a multiplication and an addition round twice.

#include "tagma/base/config.hpp"

/// 1 where a loop is compiled twice: on x86-64, unless the whole translation unit already targets AVX2 and FMA.
#if defined(__x86_64__) && !(defined(__AVX2__) && defined(__FMA__))
#define TAGMA_CPU_TWO_LEVELS 1
#else
#define TAGMA_CPU_TWO_LEVELS 0
#endif

namespace tagma::device::cpu {

/// The instruction set of a loop.
enum class level : unsigned char {
  baseline,  ///< whatever the translation unit is compiled for
  v3,        ///< AVX2 and FMA, the third level of the x86-64 psABI as far as loops use it
};

/// The best level of this machine.
[[nodiscard]] inline level best_level() {
#if TAGMA_CPU_TWO_LEVELS
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? level::v3 : level::baseline;
#else
  return level::baseline;
#endif
}

/// Runs `Body::run(args...)`, compiled for the level of the translation unit.
/// @tparam Body a type with `TAGMA_INLINE static void run(...)`, whose hot part calls only TAGMA_INLINE functions
template <class Body, class... Args>
[[gnu::noinline]] void run_baseline(Args... args) {
  Body::run(args...);
}

#if TAGMA_CPU_TWO_LEVELS
/// Runs `Body::run(args...)`, compiled for AVX2 and FMA. The caller has checked that the machine has them.
template <class Body, class... Args>
[[gnu::noinline, gnu::target("avx2,fma")]] void run_v3(Args... args) {
  Body::run(args...);
}
#endif

/// Runs `Body::run(args...)` in the best variant for this machine. Arguments are pointers and sizes, passed by value;
/// never packs, whose registers differ between the variants.
/// @code
/// struct scale_loop {
///   TAGMA_INLINE static void run(float* out, const float* in, std::int64_t n) { ... }
/// };
/// device::cpu::dispatch<scale_loop>(out, in, n);
/// @endcode
template <class Body, class... Args>
inline void dispatch(Args... args) {
#if TAGMA_CPU_TWO_LEVELS
  if (best_level() == level::v3) return run_v3<Body, Args...>(args...);
#endif
  run_baseline<Body, Args...>(args...);
}

}  // namespace tagma::device::cpu
