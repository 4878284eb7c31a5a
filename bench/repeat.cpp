// SPDX-License-Identifier: BSL-1.0
// Twelve equal blocks as a loop and written out: runs of both in turns, and the ratio of their times. The time is that
// of the processor for one thread, that of the clock on the wall for two.
//
//     bench_repeat                    all cases
//     g++ -O2 -c -DNETWORK=1 -DFORM=0 one network (0 perceptron, 1 transformer) in one form (0 loop, 1 written out),
//     for
//                                     the time that the compiler takes
#include <ctime>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr int blocks = 12;

template <tg::extent Width>
struct perceptron {
  static constexpr auto x = tg::placeholder<"x", float, tg::dyn, Width>();
  static auto block() {
    return [](const auto& h) {
      return h + tg::dense<"narrow", Width>(tg::dense<"wide", 2 * Width>(tg::layer_norm<"norm">(h), tg::relu));
    };
  }
  static tg::shape dims(tg::extent rows) { return {rows, Width}; }
};

/// An encoder as in Vaswani et al. 2017, with the normalisation in front.
template <tg::extent Width>
struct transformer {
  static constexpr tg::extent length = 32, heads = 4;
  static constexpr auto x = tg::placeholder<"x", float, tg::dyn, length, Width>();

  template <tg::expression E>
  static auto split(const E& e) {
    return tg::transpose<0, 2, 1, 3>(tg::reshape<tg::dyn, length, heads, Width / heads>(e));
  }
  static auto block() {
    return [](const auto& e) {
      auto n = tg::layer_norm<"norm1">(e);
      auto q = split(tg::dense<"q", Width>(n));
      auto k = split(tg::dense<"k", Width>(n));
      auto v = split(tg::dense<"v", Width>(n));
      auto p = tg::softmax(tg::matmul<false, true>(q, k) * 0.25f);
      auto joined = tg::reshape<tg::dyn, length, Width>(tg::transpose<0, 2, 1, 3>(tg::matmul(p, v)));
      auto h = e + tg::dropout(tg::dense<"o", Width>(joined), 0.1);
      auto wide = tg::dense<"wide", 4 * Width>(tg::layer_norm<"norm2">(h), tg::gelu);
      return h + tg::dense<"narrow", Width>(wide);
    };
  }
  static tg::shape dims(tg::extent rows) { return {rows, length, Width}; }
};

/// @tparam Form 0 as a loop, 1 written out
template <class Network, int Form>
static auto make() {
  const auto out = [] {
    if constexpr (Form == 0)
      return tg::repeat<"block", blocks>(Network::block())(Network::x);
    else
      return tg::repeat<"block", blocks>(Network::block(), tg::unrolled)(Network::x);
  }();
  const auto loss = tg::mean(tg::square(out));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 1e-4});
  return std::tuple(tg::compile([=] { return tg::outputs(loss, train); }), loss, train);
}

/// One form of a network, and a session for it.
template <class Network, int Form>
struct trainer {
  explicit trainer(int threads) : session(std::get<0>(made), {.seed = 1, .intra_op_threads = threads}) {}
  void run(const tg::tensor<float>& in, bool trains) {
    if (trains)
      session.run(std::get<2>(made), Network::x = in);
    else
      static_cast<void>(session.run(std::get<1>(made), Network::x = in));
  }

  decltype(make<Network, Form>()) made = make<Network, Form>();
  tg::session<std::tuple_element_t<0, decltype(make<Network, Form>())>> session;
};

static tg::tensor<float> input(const tg::shape& dims) {
  tg::tensor<float> in(dims);
  for (tg::extent i = 0; i < dims.elements(); ++i) in[i] = 0.1f * static_cast<float>(i % 17 - 8);
  return in;
}

#ifdef FORM

int main() {
#if NETWORK == 0
  trainer<perceptron<128>, FORM> t(1);
  t.run(input(perceptron<128>::dims(8)), true);
#else
  trainer<transformer<64>, FORM> t(1);
  t.run(input(transformer<64>::dims(8)), true);
#endif
}

#else

static double microseconds(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

template <class Network>
static void compare(const char* name, int threads, tg::extent rows, bool trains) {
  const clockid_t clock = threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
  trainer<Network, 0> loop(threads);
  trainer<Network, 1> written(threads);
  const tg::tensor<float> in = input(Network::dims(rows));
  const auto time = [&](auto& t, int count) {
    const double begin = microseconds(clock);
    for (int i = 0; i < count; ++i) t.run(in, trains);
    return (microseconds(clock) - begin) / count;
  };
  time(loop, 2), time(written, 2);
  const int count = std::max(1, static_cast<int>(20e3 / time(loop, 1)));
  std::vector<double> ratios, a, b;
  const double end = microseconds(CLOCK_MONOTONIC) + 4e6;
  while (microseconds(CLOCK_MONOTONIC) < end || ratios.size() < 9) {
    a.push_back(time(loop, count));
    b.push_back(time(written, count));
    ratios.push_back(a.back() / b.back());
  }
  for (auto* all : {&ratios, &a, &b}) std::sort(all->begin(), all->end());
  const std::size_t n = ratios.size();
  std::printf("%-15s %d threads %4d rows %s  loop %8.0f us  written out %8.0f us  ratio %.3f (%.3f to %.3f)\n", name,
              threads, static_cast<int>(rows), trains ? "train" : "infer", a[n / 2], b[n / 2], ratios[n / 2],
              ratios[n / 4], ratios[3 * n / 4]);
  std::fflush(stdout);
}

int main() {
  for (const int threads : {1, 2})
    for (const bool trains : {false, true}) {
      for (const tg::extent rows : {1, 32, 256}) compare<perceptron<128>>("perceptron 128", threads, rows, trains);
      for (const tg::extent rows : {8, 128}) compare<perceptron<512>>("perceptron 512", threads, rows, trains);
      for (const tg::extent rows : {1, 8, 32}) compare<transformer<64>>("transformer 64", threads, rows, trains);
    }
}

#endif
