// SPDX-License-Identifier: BSL-1.0
// Two ratios within one run on one GPU: forty small operations replayed as a graph against launched one by one, and a
// fused chain of element-wise operations against a copy of the same memory. Prints medians of interleaved pairs; 77
// without a GPU.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "tagma/cuda.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
constexpr int pairs = 15;

template <class F>
double seconds_of(int times, const F& f) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / times;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Twenty products and twenty rows of softmax, each waiting for the one before.
void small_operations() {
  constexpr auto x = tg::placeholder<"x", float, 32, 32>();
  const auto w = tg::variable<"w", float, 32, 32>(tg::glorot_uniform);
  const auto four = [&](const auto& in) { return tg::softmax(tg::matmul(tg::softmax(tg::matmul(in, w)), w)); };
  const auto twenty = [&](const auto& in) { return four(four(four(four(four(in))))); };
  const auto out = tg::sum(twenty(twenty(x)));
  const auto program = tg::compile([=] { return tg::outputs(out); });
  const auto options = [](bool graphs) {
    return tg::session_options{.seed = 1,
                               .gpu = {.memory_fraction = 0.2, .allow_growth = true, .streams = 1, .graphs = graphs}};
  };
  tg::session replayed(program, options(true));
  tg::session launched(program, options(false));
  const tg::tensor<float> in(tg::shape{32, 32});
  const auto replay = [&] { static_cast<void>(replayed.run(out, x = in)); };
  const auto launch = [&] { static_cast<void>(launched.run(out, x = in)); };
  for (int i = 0; i < 20; ++i) replay(), launch();
  std::vector<double> ratios, own;
  for (int i = 0; i < pairs; ++i) {
    const double a = seconds_of(200, replay), b = seconds_of(200, launch);
    ratios.push_back(b / a);
    own.push_back(a);
  }
  std::printf("40 small operations: replayed %.1f us, %.2f times as fast as one by one (wanted 3)\n", 1e6 * median(own),
              median(ratios));
}

/// Eight operations in one loop over a variable, in place.
void fused_chain() {
  constexpr tg::extent count = tg::extent{64} << 20;
  const auto v = tg::variable<"v", float, count>(tg::ones);
  const auto chain = (tg::maximum(tg::abs(v * 1.5f + 0.25f) - v, 0.1f) * 0.5f + 0.75f) * 0.5f;
  const auto step = tg::group(tg::assign(v, chain));
  const auto program = tg::compile([=] { return tg::outputs(step); });
  tg::session session(program, {.gpu = {.memory_fraction = 0.5, .allow_growth = true}});
  void *from = nullptr, *to = nullptr;
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(float);
  tg::device::cuda::check(cudaMalloc(&from, bytes), "cudaMalloc");
  tg::device::cuda::check(cudaMalloc(&to, bytes), "cudaMalloc");
  constexpr int at_once = 20;
  const auto compute = [&] { session.run(step); };
  const auto copy = [&] {
    for (int i = 0; i < at_once; ++i) cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, nullptr);
    tg::device::cuda::check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  };
  for (int i = 0; i < 5; ++i) compute(), copy();
  std::vector<double> ratios, own;
  for (int i = 0; i < pairs; ++i) {
    const double a = seconds_of(at_once, compute), b = seconds_of(1, copy) / at_once;
    ratios.push_back(b / a);
    own.push_back(2e-9 * static_cast<double>(bytes) / a);
  }
  std::printf("fused chain of 8 on 64 Mi floats: %.0f GB/s, %.2f of a copy on the device (wanted 0.85)\n", median(own),
              median(ratios));
  cudaFree(from);
  cudaFree(to);
}

}  // namespace

int main() {
  tg::device::cuda::driver driver;
  if (driver.devices() == 0) {
    std::printf("no GPU: nothing is measured\n");
    return 77;
  }
  std::printf("%s\n", driver.name(0).c_str());
  small_operations();
  fused_chain();
  return 0;
}
