// SPDX-License-Identifier: BSL-1.0
// Kernels of the GPU that put elements in order or add them up in order, against those of the CPU; and a session that
// has them all.
#include "tagma/device/cuda/order.hpp"

#include "support/cuda_sessions.hpp"
#include "tagma/device/cpu/kernel/scan.hpp"
#include "tagma/device/cpu/kernel/shuffle.hpp"
#include "tagma/device/cpu/kernel/sort.hpp"
#include "tagma/device/cpu/kernel/top_k.hpp"
#include "tagma/device/cuda/kernel/scan.hpp"
#include "tagma/device/cuda/kernel/shuffle.hpp"
#include "tagma/device/cuda/kernel/sort.hpp"
#include "tagma/device/cuda/kernel/top_k.hpp"
#include "tagma/order.hpp"

namespace {

namespace tg = tagma;
namespace op = tagma::op;
namespace cuda = tagma::device::cuda;
using tg::dtype, tg::shape;
using tg::test::call, tg::test::check, tg::test::compare_kernels, tg::test::device_tensor, tg::test::random_tensor;

/// Few different elements, so that many are equal.
template <class T>
void argsort(const std::string& what, const shape& dims) {
  constexpr dtype d = tg::dtype_of<T>;
  const double low = std::is_unsigned_v<T> ? 0 : -9;
  for (const std::int64_t descending : {0, 1})
    compare_kernels<op::argsort, dtype::int64, d>(
        what, {{random_tensor<T>(dims, low, 30, 51)}, device_tensor(dtype::int64, dims), {descending}});
}

void sorts() {
  argsort<float>("a row", {1000});
  argsort<float>("rows", {7, 300});
  argsort<float>("many short rows", {301, 3});
  argsort<float>("rows of rows", {2, 3, 40});
  argsort<float>("one element", {1});
  argsort<float>("no row", {0, 5});
  argsort<float>("nothing in rows", {5, 0});
  argsort<double>("of double", {3, 500});
  argsort<tg::float16>("of float16", {3, 500});
  argsort<tg::bfloat16>("of bfloat16", {3, 500});
  argsort<std::int64_t>("of int64", {3, 500});
  argsort<std::int32_t>("of int32", {3, 500});
  argsort<std::int16_t>("of int16", {3, 500});
  argsort<std::int8_t>("of int8", {3, 500});
  argsort<std::uint8_t>("of uint8", {3, 500});
  // Numbers whose lower and upper halves are in different orders.
  const device_tensor wide({4}, std::vector<std::int64_t>{1ll << 32, 5, -(1ll << 32) + 7, (1ll << 32) - 1});
  compare_kernels<op::argsort, dtype::int64, dtype::int64>("halves", {{wide}, device_tensor(dtype::int64, {4}), {0}});
}

template <class T>
void special_numbers() {
  const auto bits = [](tg::device::word_of<T> word) {
    T x;
    std::memcpy(static_cast<void*>(&x), &word, sizeof x);
    return x;
  };
  constexpr auto infinity = tg::device::infinity_bits<T>;
  constexpr auto sign = static_cast<tg::device::word_of<T>>(tg::device::word_of<T>{1} << (8 * sizeof(T) - 1));
  const auto word = [](auto w) { return static_cast<tg::device::word_of<T>>(w); };
  // NaN, infinity, zero, each with both signs, a large NaN, the smallest number, and its negative.
  const std::vector<T> values{bits(word(infinity + 1)),
                              bits(0),
                              bits(infinity),
                              bits(word(sign | 1)),
                              bits(sign),
                              bits(word(~sign)),
                              bits(word(sign | infinity)),
                              bits(word(~word(0))),
                              bits(1),
                              bits(0)};
  for (const std::int64_t descending : {0, 1}) {
    const call c{{device_tensor({10}, values)}, device_tensor(dtype::int64, {10}), {descending}};
    compare_kernels<op::argsort, dtype::int64, tg::dtype_of<T>>("special numbers", c);
    const auto order = tg::test::run_on_cpu<op::argsort, dtype::int64, tg::dtype_of<T>>(c);
    const std::vector<double> expected = descending != 0 ? std::vector<double>{0, 5, 7, 2, 8, 1, 4, 9, 3, 6}
                                                         : std::vector<double>{6, 3, 1, 4, 9, 8, 2, 0, 5, 7};
    for (int i = 0; i < 10; ++i)
      check(order.number(i) == expected[static_cast<std::size_t>(i)], "place " + std::to_string(i));
  }
}

void back_to_rows() {
  for (const std::int64_t k : {3, 33, 200}) {
    const call c{{random_tensor<float>({4, k}, -1, 1, 53), random_tensor<std::int64_t>({4, k}, 0, 50, 54),
                  random_tensor<float>({4, 50}, 0, 0, 55)},
                 device_tensor(dtype::float32, {4, 50})};
    compare_kernels<op::scatter_last, dtype::float32, dtype::float32, dtype::int64>("scatter_last", c, 1e-6);
    const call h{{random_tensor<tg::float16>({4, k}, -1, 1, 53), random_tensor<std::int64_t>({4, k}, 0, 1000, 54),
                  random_tensor<tg::float16>({4, 1000}, 0, 0, 55)},
                 device_tensor(dtype::float16, {4, 1000})};
    compare_kernels<op::scatter_last, dtype::float16, dtype::float16, dtype::int64>("scatter_last of float16", h, 2e-3);
  }
}

/// Positions may have been fed. A kernel of a GPU cannot throw: it notes the first that is outside of its row, and goes
/// nowhere with it.
template <class Op>
void wrong_positions(const std::string& what, std::int64_t k, bool gathers) {
  std::vector<std::int64_t> at(static_cast<std::size_t>(2 * k));
  for (std::size_t i = 0; i < at.size(); ++i) at[i] = static_cast<std::int64_t>(i) % 50;
  at[3] = 50;
  at[at.size() - 2] = -1;
  at[at.size() - 1] = std::int64_t{1} << 40;
  std::vector<device_tensor> in{random_tensor<float>({2, gathers ? 50 : k}, -1, 1, 61), device_tensor({2, k}, at)};
  if (!gathers) in.push_back(random_tensor<float>({2, 50}, 0, 0, 62));
  const call c{std::move(in), device_tensor(dtype::float32, {2, gathers ? k : 50})};
  constexpr auto entry =
      tg::device::kernel<tg::device::on_cuda, tg::ir::key<Op>>::template entry<dtype::float32, dtype::float32,
                                                                               dtype::int64>;
  check(entry.reads_run, what + " is given what a run is told");
  const device_tensor out = tg::test::run(entry, c, true)[0];
  std::string text;
  try {
    cuda::check_run(tg::test::noted_failure(), [](std::int32_t node) { return "node #" + std::to_string(node); });
  } catch (const tg::error& e) {
    text = e.what();
  }
  check(text.find("OutOfRange: node #3: the index at position 3 ") == 0, what + " reports the first one: " + text);
  std::vector<double> expected(static_cast<std::size_t>(out.dims().elements()));
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (at[i] < 0 || at[i] >= 50) continue;
    const auto row = static_cast<std::int64_t>(i) / k;
    if (gathers)
      expected[i] = c.in[0].number(row * 50 + at[i]);
    else
      expected[static_cast<std::size_t>(row * 50 + at[i])] += c.in[0].number(static_cast<std::int64_t>(i));
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = out.number(static_cast<std::int64_t>(i)) - expected[i];
    check(difference < 1e-5 && difference > -1e-5, what + " leaves all else as it is");
  }
}

template <class T>
void running_sums(const std::string& what, const shape& dims, double tolerance) {
  constexpr dtype d = tg::dtype_of<T>;
  for (std::int64_t axis = 0; axis < dims.rank; ++axis)
    for (const std::int64_t exclusive : {0, 1})
      for (const std::int64_t reverse : {0, 1})
        compare_kernels<op::cumulative_sum, d, d>(what + " along axis " + std::to_string(axis),
                                                  {{random_tensor<T>(dims, std::is_unsigned_v<T> ? 0 : -2, 9, 56)},
                                                   device_tensor(d, dims),
                                                   {axis, exclusive, reverse}},
                                                  tolerance);
}

void scans() {
  running_sums<float>("a short row", {7}, 1e-5);
  running_sums<float>("a row", {1000}, 1e-5);
  running_sums<float>("a long row, in parts", {20011}, 1e-4);
  running_sums<float>("rows", {30, 300}, 1e-5);
  running_sums<float>("long columns, in parts", {5003, 3}, 1e-5);
  running_sums<float>("around the middle", {3, 50, 70}, 1e-5);
  running_sums<float>("one element", {1, 1}, 0);
  running_sums<float>("nothing", {3, 0, 2}, 0);
  running_sums<double>("of double", {9001}, 1e-13);
  running_sums<tg::float16>("of float16", {9, 70}, 2e-3);
  running_sums<tg::bfloat16>("of bfloat16", {6000, 2}, 1e-2);
  running_sums<std::int64_t>("of int64", {9001}, 0);
  running_sums<std::int32_t>("of int32", {9001}, 0);
  running_sums<std::int16_t>("of int16, which wrap around", {9001, 2}, 0);
  running_sums<std::int8_t>("of int8, which wrap around", {9001}, 0);
  running_sums<std::uint8_t>("of uint8, which wrap around", {40, 90}, 0);
}

void permutations() {
  for (const std::int64_t n : {0, 1, 2, 3, 1000}) {
    compare_kernels<op::random_permutation, dtype::int64>("permutation", {{}, device_tensor(dtype::int64, {n}), {n}});
    compare_kernels<op::random_permutation, dtype::int64, dtype::float32>(
        "permutation of rows", {{random_tensor<float>({n, 2}, 0, 1, 57)}, device_tensor(dtype::int64, {n})});
  }
}

/// Later runs are replays of a recorded one, in which rows are in another order all the same.
void sessions() {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 50>();
  const auto mixed = tg::random_shuffle(x);
  const auto sums = tg::cumsum<0>(tg::sort(mixed, tg::descending));
  const auto slope = tg::gradient(tg::sum(tg::square(tg::sort(x))), x);
  const auto all = [=] { return tg::outputs(mixed, sums, slope); };
  const auto on_gpu = tg::compile(all);
  using graph = typename decltype(on_gpu)::graph;
  for (const bool has : tg::ir::accelerator_of<graph, 0>::kernels) check(has, "the GPU has all kernels");
  tg::session found(on_gpu, {.seed = 5, .gpu = tg::test::modest_gpu});
  tg::session expected(tg::compile([=] { return tg::on<tg::cpu<0>>(all()); }),
                       {.seed = 5, .gpu = tg::test::modest_gpu});
  tg::tensor<float> in(tg::shape{20, 50}), before;
  for (std::size_t i = 0; i < in.size(); ++i) in.data()[i] = static_cast<float>(i * 7919 % 101);  // sums are exact
  for (int run = 0; run < 4; ++run) {
    const auto a = expected.run(tg::fetch(mixed, sums, slope), x = in);
    const auto b = found.run(tg::fetch(mixed, sums, slope), x = in);
    check(a == b, "run " + std::to_string(run) + " is the same on both devices");
    check(!(std::get<0>(b) == before), "run " + std::to_string(run) + " has an order of its own");
    before = std::get<0>(b);
  }
}

}  // namespace

int main() {
  tg::test::on_gpu();
  sorts();
  special_numbers<float>();
  special_numbers<double>();
  special_numbers<tg::float16>();
  special_numbers<tg::bfloat16>();
  back_to_rows();
  wrong_positions<op::gather_last>("gather_last", 7, true);
  wrong_positions<op::scatter_last>("scatter_last of a few", 7, false);
  wrong_positions<op::scatter_last>("scatter_last by a sort", 40, false);
  scans();
  permutations();
  sessions();
  return tg::test::result();
}
