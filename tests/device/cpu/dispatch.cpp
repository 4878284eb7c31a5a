// SPDX-License-Identifier: BSL-1.0
#define TAGMA_PORTABLE 1
#include "tagma/device/cpu/dispatch.hpp"

#include <catch2/catch.hpp>

#include "tagma/with_macros.hpp"

namespace cpu = tagma::device::cpu;

namespace {
// Counts its calls.
struct counting_loop {
  TAGMA_INLINE static void run(int* calls, const float* in, float* out, int n) {
    ++*calls;
    for (int i = 0; i < n; ++i) out[i] = in[i] * 2.0f;
  }
};
}  // namespace

TEST_CASE("one loop runs in exactly one variant", "[dispatch]") {
  const float in[5] = {1, 2, 3, 4, 5};
  float out[5] = {};
  int calls = 0;
  cpu::dispatch<counting_loop>(&calls, static_cast<const float*>(in), static_cast<float*>(out), 5);
  CHECK(calls == 1);
  for (int i = 0; i < 5; ++i) CHECK(out[i] == in[i] * 2.0f);
}

TEST_CASE("the baseline variant runs on every machine", "[dispatch]") {
  const float in[3] = {1, 2, 3};
  float out[3] = {};
  int calls = 0;
  cpu::run_baseline<counting_loop, int*, const float*, float*, int>(&calls, in, out, 3);
  CHECK(calls == 1);
  CHECK(out[2] == 6.0f);
}

#if defined(__x86_64__) && !(defined(__AVX2__) && defined(__FMA__))
TEST_CASE("the best level is what the processor says", "[dispatch]") {
  const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool widest = wide && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  CHECK(cpu::detail::level_of_processor() == (widest ? cpu::level::v4 : wide ? cpu::level::v3 : cpu::level::baseline));
  if (!wide) WARN("skipped: loops for AVX2, which this machine lacks");
  if (!widest) WARN("skipped: loops for AVX-512, which this machine lacks");
  if (wide) {
    const float in[3] = {1, 2, 3};
    float out[3] = {};
    int calls = 0;
    cpu::run_v3<counting_loop, int*, const float*, float*, int>(&calls, in, out, 3);
    CHECK(out[1] == 4.0f);
  }
}

// Says which of its bodies ran.
template <int Lanes>
struct body_of {
  TAGMA_INLINE static void run(int* lanes) { *lanes = Lanes; }
};
using long_loop = cpu::with_wide<body_of<8>, body_of<16>>;
using short_loop = cpu::with_wide<body_of<8>, body_of<16>, false>;

TEST_CASE("a wide body runs where the processor has vectors for it", "[dispatch]") {
  int lanes = 0;
  cpu::dispatch<long_loop>(&lanes);
  CHECK(lanes == (cpu::best_level() == cpu::level::v4 ? 16 : 8));
  cpu::best_variant<long_loop, int*>()(&lanes);
  CHECK(lanes == (cpu::best_level() == cpu::level::v4 ? 16 : 8));
  cpu::dispatch<short_loop>(&lanes);
  CHECK(lanes == 8);
}
#else
TEST_CASE("a translation unit for one instruction set has one level", "[dispatch]") {
  CHECK(cpu::best_level() == cpu::level::baseline);
}
#endif

TEST_CASE("a variable of the environment sets a bound to the level", "[dispatch]") {
  using cpu::level, cpu::detail::bounded_level;
  CHECK(bounded_level(level::v4, nullptr) == level::v4);
  CHECK(bounded_level(level::v4, "") == level::v4);
  CHECK(bounded_level(level::v4, "avx512") == level::v4);
  CHECK(bounded_level(level::v4, "avx2") == level::v3);
  CHECK(bounded_level(level::v4, "baseline") == level::baseline);
  CHECK(bounded_level(level::v3, "avx512") == level::v3);
  CHECK(bounded_level(level::baseline, "avx2") == level::baseline);
  try {
    (void)bounded_level(level::v4, "AVX2");
    FAIL("it has a level of another name");
  } catch (const tagma::error& e) {
    CHECK(e.code() == tagma::status_code::invalid_argument);
    CHECK(std::string_view(e.what()).find(
              "TAGMA_CPU_LEVEL is \"AVX2\": it may be \"baseline\", \"avx2\" or \"avx512\"") != std::string_view::npos);
  }
}
