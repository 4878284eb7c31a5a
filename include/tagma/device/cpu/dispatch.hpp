// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The instruction set of loops. On x86-64 they are compiled for AVX2 and FMA, whatever the rest of the program is
/// compiled for; `check_instruction_set` refuses a machine without them. A translation unit that targets AVX2 and FMA
/// itself (-march=native) needs nothing of that. With TAGMA_PORTABLE=1 every loop is compiled twice and chosen at run
/// time, which costs half as much compile time again. Loops without FMA may differ in the last bit of a result, because
/// FMA rounds once where a multiplication and an addition round twice. On aarch64, whose every processor has NEON with
/// FMA, there is one variant.
///
/// Loops that compute much for what they read have a `wide` body besides, which is compiled for AVX-512 and chosen at
/// run time. It gives the same bytes as the other.
///
/// The environment variable TAGMA_CPU_LEVEL, read once, sets a bound among what is chosen at run time: "avx2" for no
/// AVX-512, "baseline" for what the rest of the program is compiled for, where TAGMA_PORTABLE has it. A translation
/// unit that is itself compiled for more keeps that.

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
/// 1 where wide loops are compiled for AVX-512 as well; 1 where the rest of the translation unit is.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define TAGMA_CPU_V4 0
#define TAGMA_CPU_V4_EVERYWHERE 1
#elif defined(__x86_64__)
#define TAGMA_CPU_V4 1
#define TAGMA_CPU_V4_EVERYWHERE 0
#else
#define TAGMA_CPU_V4 0
#define TAGMA_CPU_V4_EVERYWHERE 0
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
  v4,        ///< AVX-512 (F, BW, DQ and VL), the fourth
};

namespace detail {
/// The best level that the processor and the system have.
[[nodiscard]] level level_of_processor();
/// `found`, or the level that `bound` names if it is lower.
/// @param bound the value of TAGMA_CPU_LEVEL, or null
[[nodiscard]] level bounded_level(level found, const char* bound);
}  // namespace detail

/// The best level that this machine has and TAGMA_CPU_LEVEL allows, whatever the program is compiled for. Throws
/// InvalidArgument if the variable has another value than it may.
[[nodiscard]] level machine_level();

/// The best level that this program has for this machine.
[[nodiscard]] inline level best_level() {
#if TAGMA_CPU_V3 && !TAGMA_CPU_BASELINE
  const level found = machine_level();
  return found > level::v3 ? found : level::v3;
#elif TAGMA_CPU_V4
  const level found = machine_level();
  return found == level::v4 || TAGMA_CPU_V3 ? found : level::baseline;
#else
  return level::baseline;
#endif
}

/// Throws Unimplemented on a machine that cannot run the loops of this program, and as `machine_level`.
inline void check_instruction_set() {
  (void)machine_level();
#if TAGMA_CPU_V3 && !TAGMA_CPU_BASELINE
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    fail(status_code::unimplemented,
         "this program was compiled for processors with AVX2 and FMA, which this one lacks: compile it with "
         "-march=native or "
         "with -DTAGMA_PORTABLE=1");
#endif
}

/// True of a loop that computes much for what it reads.
template <class Body>
concept has_wide_body = requires {
  typename Body::wide;
};

/// `Body`, which has `Wide` for processors with AVX-512 if `Has`.
template <class Body, class Wide, bool Has = true>
struct with_wide : Body {
  using wide = Wide;
};
template <class Body, class Wide>
struct with_wide<Body, Wide, false> : Body {};

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
[[gnu::noinline, gnu::target("avx2,fma,f16c")]] void run_v3(Args... args) {
  Body::run(args...);
}
#endif

#if TAGMA_CPU_V4
/// Runs `Body::run(args...)`, compiled for AVX-512.
template <class Body, class... Args>
[[gnu::noinline, gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]] void run_v4(Args... args) {
  Body::run(args...);
}
#endif

namespace detail {
#if TAGMA_CPU_V4_EVERYWHERE
template <class Body>
struct body_of_file {
  using type = Body;
};
template <has_wide_body Body>
struct body_of_file<Body> {
  using type = typename Body::wide;
};
/// The body for the level of the translation unit.
template <class Body>
using body_for_file = typename body_of_file<Body>::type;
#else
template <class Body>
using body_for_file = Body;
#endif
}  // namespace detail

/// `Body::run` in the best variant for this machine. Arguments are pointers and sizes, passed by value; never packs,
/// whose registers differ between the variants.
template <class Body, class... Args>
[[nodiscard]] inline auto best_variant() -> void (*)(Args...) {
#if TAGMA_CPU_V4
  if constexpr (has_wide_body<Body>)
    if (best_level() == level::v4) return &run_v4<typename Body::wide, Args...>;
#endif
#if TAGMA_CPU_V3 && TAGMA_CPU_BASELINE
  return best_level() != level::baseline ? &run_v3<Body, Args...> : &run_baseline<Body, Args...>;
#elif TAGMA_CPU_V3
  return &run_v3<Body, Args...>;
#else
  return &run_baseline<detail::body_for_file<Body>, Args...>;
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
#if TAGMA_CPU_V4
  if constexpr (has_wide_body<Body>)
    if (best_level() == level::v4) return run_v4<typename Body::wide, Args...>(args...);
#endif
#if TAGMA_CPU_V3 && TAGMA_CPU_BASELINE
  if (best_level() != level::baseline) return run_v3<Body, Args...>(args...);
  run_baseline<Body, Args...>(args...);
#elif TAGMA_CPU_V3
  run_v3<Body, Args...>(args...);
#else
  run_baseline<detail::body_for_file<Body>, Args...>(args...);
#endif
}

}  // namespace tagma::device::cpu

#undef TAGMA_CPU_BASELINE
#undef TAGMA_CPU_V4_EVERYWHERE
#undef TAGMA_CPU_V4
#undef TAGMA_CPU_V3

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/dispatch.ipp"
#endif
