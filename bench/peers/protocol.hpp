// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What every worker of the comparison does: print "ready" and facts about itself after a warm-up; then for each line
/// with a number n run n steps and print the seconds that they took and the last loss. peers.py drives the workers.

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace peers {

/// The command line of a worker: `<batch> <threads> <optimizer or infer>`.
struct options {
  int batch = 32;
  int threads = 1;
  bool adam = true;
  bool infer = false;  ///< no training

  options(int count, char** arguments) {
    if (count > 1) batch = std::atoi(arguments[1]);
    if (count > 2) threads = std::atoi(arguments[2]);
    const std::string task = count > 3 ? arguments[3] : "adam";
    adam = task != "sgd", infer = task == "infer";
    if (batch < 1 || threads < 1 || (adam && !infer && task != "adam")) {
      std::fprintf(stderr, "usage: %s <batch> <threads> adam|sgd|infer\n", arguments[0]);
      std::exit(2);
    }
  }
};

inline constexpr int batches = 16;  ///< different ones, used in turn
inline constexpr double adam_rate = 1e-3, sgd_rate = 1e-2;

/// Images and labels of one batch: random numbers of the size of Fashion-MNIST.
struct data {
  std::vector<float> images;
  std::vector<std::uint8_t> labels;
};
inline data make_batch(int size, unsigned seed) {
  std::mt19937 bits(seed);
  data d{std::vector<float>(static_cast<std::size_t>(size) * 784),
         std::vector<std::uint8_t>(static_cast<std::size_t>(size))};
  for (float& v : d.images) v = static_cast<float>(bits() % 256) / 255;
  for (std::uint8_t& v : d.labels) v = static_cast<std::uint8_t>(bits() % 10);
  return d;
}

/// Numbers below the smallest normal one count as zero, in every worker: Adam's moments decay into that range when a
/// network has learned its few batches by heart, and a worker that computes with them is several times slower from then
/// on.
inline void flush_denormals() {
#if defined(__SSE2__)
  _mm_setcsr(_mm_getcsr() | 0x8040);
#elif defined(__aarch64__)
  std::uint64_t mode = 0;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  asm volatile("msr fpcr, %0" : : "r"(mode | 0x0100'0000) : "memory");
#endif
}

inline constexpr auto nothing_before = [](std::int64_t) {};

/// Answers the driver until it closes its end. `burst(first, count)` runs steps from `first` on and returns the last
/// loss; `prepare(count)` comes before, and before the clock.
template <class Burst, class Prepare = decltype(nothing_before)>
int serve_bursts(const char* version, const Burst& burst, int warm_up = 20, const Prepare& prepare = nothing_before) {
  flush_denormals();
  prepare(warm_up);
  double loss = burst(0, warm_up);
  std::int64_t done = warm_up;
  std::printf("ready %s\n", version);
  std::fflush(stdout);
  for (char line[64]; std::fgets(line, sizeof line, stdin) != nullptr;) {
    const long count = std::atol(line);
    prepare(count);
    const auto start = std::chrono::steady_clock::now();
    loss = burst(done, count);
    done += count;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("%.9f %.6f\n", seconds.count(), loss);
    std::fflush(stdout);
  }
  return 0;
}

/// The same for `step(i)`, which runs step i and returns the loss.
template <class Step>
int serve(const char* version, const Step& step, int warm_up = 20) {
  return serve_bursts(
      version,
      [&step](std::int64_t first, std::int64_t count) {
        double loss = 0;
        for (std::int64_t i = first; i < first + count; ++i) loss = step(i);
        return loss;
      },
      warm_up);
}

}  // namespace peers
