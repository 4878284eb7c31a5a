// SPDX-License-Identifier: BSL-1.0
// Programs that are data beside compiled ones on one GPU: steps of training, fused loops, and a run that does nothing.
// Prints medians of interleaved pairs; 77 without a GPU.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "tagma/cuda.hpp"
#include "tagma/gpu_programs.hpp"
#include "tagma/programs.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
constexpr int pairs = 15;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784>();
constexpr auto y = tg::placeholder<"y", int, tg::dyn>();
constexpr auto image = tg::placeholder<"image", float, tg::dyn, 28, 28, 1>();

tg::session_options options() { return {.seed = 3, .gpu = {.memory_fraction = 0.2, .allow_growth = true}}; }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <class F>
double seconds_of(int times, const F& f) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / times;
}

/// @param times runs of a measurement
template <class Compiled, class Data>
void compare(const char* what, int times, const Compiled& compiled, const Data& data) {
  for (int i = 0; i < 20; ++i) compiled(), data();
  std::vector<double> ratios, own, other;
  for (int i = 0; i < pairs; ++i) {
    const double a = seconds_of(times, compiled), b = seconds_of(times, data);
    ratios.push_back(a / b);
    own.push_back(b);
    other.push_back(a);
  }
  std::sort(ratios.begin(), ratios.end());
  std::printf("%-34s as data %9.1f us, compiled %9.1f us: %.2f times as fast (%.2f to %.2f)\n", what, 1e6 * median(own),
              1e6 * median(other), median(ratios), ratios[pairs / 4], ratios[3 * pairs / 4]);
}

void training() {
  const auto logits = tg::dense<"out", 10>(tg::dense<"hidden", 128>(x, tg::relu));
  const auto train = tg::minimize(tg::mean(tg::sparse_softmax_cross_entropy(logits, y)), tg::sgd{.learning_rate = 0.1});
  const auto program = tg::compile([=] { return tg::outputs(train); });
  for (const tg::extent batch : {32, 256}) {
    tg::session one(program, options());
    tg::session<tg::any_program> two(tg::any_program(program, {"train"}), options(), tg::gpus());
    const tg::tensor<float> in(tg::shape{batch, 784});
    const tg::tensor<int> labels(tg::shape{batch});
    compare(
        batch == 32 ? "MLP 784-128-10, SGD, batch 32" : "MLP 784-128-10, SGD, batch 256", 100,
        [&] { one.run(train, x = in, y = labels); },
        [&] { two.run("train", tg::feed_to("x", in), tg::feed_to("y", labels)); });
  }
}

void convolutions() {
  constexpr tg::conv_options same{.padding = tg::same_padding};
  const auto pooled = tg::max_pool<2>(tg::conv2d<"conv1", 32, 5, same>(image, tg::relu));
  const auto flat = tg::flatten(tg::max_pool<2>(tg::conv2d<"conv2", 64, 5, same>(pooled, tg::relu)));
  const auto scores = tg::dense<"scores", 10>(tg::dense<"units", 1024>(flat, tg::relu));
  const auto train =
      tg::minimize(tg::mean(tg::sparse_softmax_cross_entropy(scores, y)), tg::adam{.learning_rate = 1e-3});
  const auto program = tg::compile([=] { return tg::outputs(train); });
  tg::session one(program, options());
  tg::session<tg::any_program> two(tg::any_program(program, {"train"}), options(), tg::gpus());
  const tg::tensor<float> in(tg::shape{64, 28, 28, 1});
  const tg::tensor<int> labels(tg::shape{64});
  compare(
      "CNN, Adam, batch 64", 50, [&] { one.run(train, image = in, y = labels); },
      [&] { two.run("train", tg::feed_to("image", in), tg::feed_to("y", labels)); });
}

/// Eight operations over variables; nothing comes back.
template <class T, tg::extent Count>
void loops(const char* what, int times) {
  const auto a = tg::variable<"a", T, Count>(tg::ones);
  const auto b = tg::variable<"b", T, Count>(tg::ones);
  const auto c = tg::variable<"c", T, Count>(tg::zeros);
  const auto set = tg::group(tg::assign(c, tg::tanh(a * b + a) * b - tg::square(a) * T(0.5) + tg::relu(b)));
  const auto program = tg::compile([=] { return tg::outputs(set); });
  tg::session one(program, options());
  tg::session<tg::any_program> two(tg::any_program(program, {"set"}), options(), tg::gpus());
  compare(
      what, times, [&] { one.run(set); }, [&] { two.run("set"); });
}

/// The same of integers.
template <tg::extent Count>
void loops_of_integers(const char* what, int times) {
  const auto a = tg::variable<"ia", int, Count>(tg::ones);
  const auto b = tg::variable<"ib", int, Count>(tg::ones);
  const auto c = tg::variable<"ic", int, Count>(tg::zeros);
  const auto set = tg::group(tg::assign(c, tg::abs(a * b + a) * b - tg::square(a) * 3 + tg::maximum(b, 2)));
  const auto program = tg::compile([=] { return tg::outputs(set); });
  tg::session one(program, options());
  tg::session<tg::any_program> two(tg::any_program(program, {"set"}), options(), tg::gpus());
  compare(
      what, times, [&] { one.run(set); }, [&] { two.run("set"); });
}

void nothing() {
  const auto v = tg::variable<"v", float>(tg::ones);
  const auto program = tg::compile([=] { return tg::outputs(v); });
  tg::session one(program, options());
  tg::session<tg::any_program> two(tg::any_program(program, {"v"}), options(), tg::gpus());
  compare(
      "a scalar is fetched", 200, [&] { static_cast<void>(one.run(v)); }, [&] { static_cast<void>(two.run("v")); });
}

}  // namespace

int main() {
  tg::device::cuda::driver driver;
  if (driver.devices() == 0) {
    std::printf("no GPU: nothing is measured\n");
    return 77;
  }
  std::printf("%s\n", driver.name(0).c_str());
  training();
  convolutions();
  loops<float, 4096>("8 fused operations, 4,096 floats", 100);
  loops<float, (1 << 24)>("8 fused operations, 16 Mi floats", 20);
  loops<double, (1 << 22)>("8 fused operations, 4 Mi doubles", 20);
  loops_of_integers<(1 << 24)>("8 fused operations, 16 Mi integers", 20);
  nothing();
  return 0;
}
