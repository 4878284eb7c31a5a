// SPDX-License-Identifier: BSL-1.0
// What the machine could do: steps that multiply and add floats in registers, on as many threads as a network is given.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <utility>
#include <vector>

#include "../peers/protocol.hpp"

namespace {

#if defined(__AVX512F__)
constexpr int bytes = 64, vectors = 24;
#elif defined(__AVX__)
constexpr int bytes = 32, vectors = 12;
#else
constexpr int bytes = 16, vectors = 24;
#endif
typedef float lanes __attribute__((vector_size(bytes)));
constexpr std::int64_t rounds = 20000;

/// As many sums as registers hold beside the factors: none waits for the one before it.
template <std::size_t... I>
float multiply(std::int64_t steps, std::index_sequence<I...>) {
  lanes sums[]{lanes{} + static_cast<float>(I)...};  // different, or one would do
  lanes x{}, y{};
  for (std::size_t i = 0; i < sizeof(lanes) / sizeof(float); ++i) x[i] = 0.5f, y[i] = 1e-3f;
  for (std::int64_t n = 0; n < steps * rounds; ++n) {
    asm volatile("" : "+m"(x), "+m"(y));  // else all rounds would be worked out by the compiler
    const lanes a = x, b = y;
    ((sums[I] = sums[I] * a + b), ...);
  }
  return (sums[I][0] + ...);
}
float multiply(std::int64_t steps) { return multiply(steps, std::make_index_sequence<vectors>{}); }

}  // namespace

int main(int count, char** arguments) {
  const peers::options options(count, arguments);
  char facts[64];
  std::snprintf(
      facts, sizeof facts, "multiplications=%.0f",
      static_cast<double>(rounds) * vectors * static_cast<double>(sizeof(lanes) / sizeof(float)) * options.threads);
  return peers::serve_bursts(facts, [&](std::int64_t, std::int64_t steps) {
    std::vector<float> totals(static_cast<std::size_t>(options.threads));
    std::vector<std::thread> others;
    for (std::size_t t = 1; t < totals.size(); ++t) others.emplace_back([&, t] { totals[t] = multiply(steps); });
    totals[0] = multiply(steps);
    for (std::thread& t : others) t.join();
    return static_cast<double>(totals[0]);
  });
}
