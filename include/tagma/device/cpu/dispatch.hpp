// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The instruction set of loops. On x86-64 they are compiled for AVX2 and FMA, whatever the rest of the program is
/// compiled for; `check_instruction_set` refuses a machine without them. A translation unit that targets AVX2 and FMA
/// itself
/// (-march=native) needs nothing of that. With TAGMA_PORTABLE=1 every loop is compiled twice and chosen at run time,
/// which costs half as much compile time again. Variants may differ in the last bit of a result, because FMA rounds
/// once where a multiplication and an addition round twice. On aarch64, whose every processor has NEON with FMA, there
/// is one variant.

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"

#if !defined(TAGMA_PORTABLE)
#define TAGMA_PORTABLE 0
#endif

/// 1 where loops are compiled for another instruction set than the rest of the translation unit.
#if defined(__x86_64__) && !(defined(__AVX2__) && defined(__FMA__))
#define TAGMA_CPU_V3 1
#else
#define TAGMA_CPU_V3 0
#endif
/// 1 where a loop is also compiled for the instruction set of the translation unit.
#define TAGMA_CPU_BASELINE (!TAGMA_CPU_V3 || TAGMA_PORTABLE)

#if TAGMA_PORTABLE
TAGMA_NEEDS_LIBRARY(compiled_for_all_processors)
#else
TAGMA_NEEDS_LIBRARY(compiled_without_TAGMA_PORTABLE)
#endif

namespace tagma::device::cpu {

/// The instruction set of a loop.
enum class level : unsigned char {
  baseline,  ///< whatever the translation unit is compiled for
  v3,        ///< AVX2 and FMA, the third level of the x86-64 psABI as far as loops use it
};

/// The best level that this program has for this machine.
[[nodiscard]] inline level best_level() {
#if TAGMA_CPU_V3 && TAGMA_CPU_BASELINE
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? level::v3 : level::baseline;
#elif TAGMA_CPU_V3
  return level::v3;
#else
  return level::baseline;
#endif
}

/// Throws Unimplemented on a machine that cannot run the loops of this program.
inline void check_instruction_set() {
#if TAGMA_CPU_V3 && !TAGMA_CPU_BASELINE
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    fail(status_code::unimplemented,
         "this program was compiled for processors with AVX2 and FMA, which this one lacks: compile it with "
         "-march=native or "
         "with -DTAGMA_PORTABLE=1");
#endif
}

#if TAGMA_CPU_BASELINE
/// Runs `Body::run(args...)`, compiled for the level of the translation unit.
/// @tparam Body a type with `TAGMA_INLINE static void run(...)`, whose hot part calls only TAGMA_INLINE functions
template <class Body, class... Args>
[[gnu::noinline]] void run_baseline(Args... args) {
  Body::run(args...);
}
#endif

#if TAGMA_CPU_V3
/// Runs `Body::run(args...)`, compiled for AVX2 and FMA.
template <class Body, class... Args>
[[gnu::noinline, gnu::target("avx2,fma")]] void run_v3(Args... args) {
  Body::run(args...);
}
#endif

/// `Body::run` in the best variant for this machine. Arguments are pointers and sizes, passed by value; never packs,
/// whose registers differ between the variants.
template <class Body, class... Args>
[[nodiscard]] inline auto best_variant() -> void (*)(Args...) {
#if TAGMA_CPU_V3 && TAGMA_CPU_BASELINE
  return best_level() == level::v3 ? &run_v3<Body, Args...> : &run_baseline<Body, Args...>;
#elif TAGMA_CPU_V3
  return &run_v3<Body, Args...>;
#else
  return &run_baseline<Body, Args...>;
#endif
}

/// Runs `Body::run(args...)` in the best variant for this machine.
/// @code
/// struct scale_loop {
///   TAGMA_INLINE static void run(float* out, const float* in, std::int64_t n) { ... }
/// };
/// device::cpu::dispatch<scale_loop>(out, in, n);
/// @endcode
template <class Body, class... Args>
inline void dispatch(Args... args) {
#if TAGMA_CPU_V3 && TAGMA_CPU_BASELINE
  if (best_level() == level::v3) return run_v3<Body, Args...>(args...);
  run_baseline<Body, Args...>(args...);
#elif TAGMA_CPU_V3
  run_v3<Body, Args...>(args...);
#else
  run_baseline<Body, Args...>(args...);
#endif
}

}  // namespace tagma::device::cpu

#undef TAGMA_CPU_BASELINE
#undef TAGMA_CPU_V3
