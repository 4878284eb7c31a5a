// SPDX-License-Identifier: BSL-1.0
// The same eight operations in one loop by hand, for this machine. The threads share it in equal parts.
#include <algorithm>
#include <cmath>
#include <thread>

#include "protocol.hpp"

constexpr std::size_t size = 16 * 1024 * 1024;

[[gnu::noinline]] void chain(float* __restrict y, const float* __restrict x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const float v = std::fabs(x[i] * 1.5f + 0.25f) - x[i];
    y[i] = ((v > 0.1f ? v : 0.1f) * x[i] + 0.75f) * 0.5f;
  }
}

int main(int count, char** arguments) {
  const peers::options options(count, arguments);
  std::vector<float> x(size), y(size);
  for (std::size_t i = 0; i < size; ++i) x[i] = -2 + 4 * static_cast<float>(i) / static_cast<float>(size - 1);
  const std::size_t part = size / static_cast<std::size_t>(options.threads);
  return peers::serve(
      "-O3 -march=native",
      [&](std::int64_t) {
        std::vector<std::thread> others;
        for (int t = 1; t < options.threads; ++t) {
          const std::size_t first = part * static_cast<std::size_t>(t);
          others.emplace_back([&, first] { chain(y.data() + first, x.data() + first, part); });
        }
        chain(y.data(), x.data(), part);
        for (std::thread& t : others) t.join();
        return static_cast<double>(y.back());
      },
      2);
}
