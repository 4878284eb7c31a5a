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
  CHECK((cpu::best_level() == cpu::level::v3) == wide);
  if (wide) {
    const float in[3] = {1, 2, 3};
    float out[3] = {};
    int calls = 0;
    cpu::run_v3<counting_loop, int*, const float*, float*, int>(&calls, in, out, 3);
    CHECK(out[1] == 4.0f);
  }
}
#else
TEST_CASE("a translation unit for one instruction set has one level", "[dispatch]") {
  CHECK(cpu::best_level() == cpu::level::baseline);
}
#endif
