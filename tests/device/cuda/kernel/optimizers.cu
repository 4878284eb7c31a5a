// SPDX-License-Identifier: BSL-1.0
// Updates of variables on the GPU against those of the CPU, dense and by rows.
#include "tagma/device/cuda/kernel/optimizers.hpp"

#include "support/cuda.hpp"
#include "tagma/device/cpu/kernel/optimizers.hpp"

namespace {

namespace tg = tagma;
namespace op = tagma::op;
namespace cuda = tagma::device::cuda;
using tg::dtype, tg::shape;
using tg::test::call, tg::test::check, tg::test::compare_kernels, tg::test::device_tensor, tg::test::random_tensor;

device_tensor number(double x) { return {shape{}, std::vector<double>{x}}; }
template <class I>
device_tensor indices(const std::vector<I>& values) {
  return {shape{static_cast<tg::extent>(values.size())}, values};
}

/// The operands of an update up to its numbers; slots are positive, as sums of squares are.
template <class Update, class T>
std::vector<device_tensor> operands(const shape& dims, const shape& gradient, const std::vector<double>& numbers) {
  std::vector<device_tensor> in{random_tensor<T>(dims, -1, 1, 71)};
  for (int k = 0; k < static_cast<int>(Update::slots.size()); ++k)
    in.push_back(random_tensor<T>(dims, 2.0 / (1 + 8 * k), 2, static_cast<std::uint32_t>(72 + k)));
  in.push_back(random_tensor<T>(gradient, -1, 1, 80));
  in.push_back(number(0.1));
  in.push_back({shape{}, std::vector<std::int64_t>{6}});
  for (const double n : numbers) in.push_back(number(n));
  return in;
}

template <class Update, class T>
void dense(const std::vector<double>& numbers, double tolerance) {
  call c{operands<Update, T>({5, 61}, {5, 61}, numbers), {}};
  c.updates = true;
  compare_kernels<Update, tg::dtype_of<T>>(std::string(Update::name), c, tolerance);
}

/// Two parts with repeated rows.
template <class Update, class T>
void by_rows(const std::vector<double>& numbers, double tolerance) {
  call c{operands<Update, T>({9, 5}, {14, 5}, numbers), {}};
  c.in.push_back(indices<std::int32_t>({3, 1, 3, 8, 3, 3, 3, 3, 3, 3, 3, 3, 3, 0}));
  c.in.push_back(random_tensor<T>({3, 5}, -1, 1, 81));
  c.in.push_back(indices<std::int64_t>({8, 3, 5}));
  c.attributes = {2};
  c.updates = true;
  compare_kernels<op::apply_rows<Update>, tg::dtype_of<T>>(std::string(Update::rows_name), c, tolerance);
}

template <class Update>
void both(const std::vector<double>& numbers, double tolerance) {
  dense<Update, float>(numbers, tolerance);
  by_rows<Update, float>(numbers, tolerance);
}

void updates() {
  constexpr double close = 1e-5;
  both<op::apply_sgd>({}, 1e-6);
  both<op::apply_momentum>({0.9, 0}, 1e-6);
  dense<op::apply_momentum, float>({0.9, 1}, 1e-6);
  both<op::apply_adagrad>({0.1}, close);
  both<op::apply_adadelta>({0.95, 1e-6}, close);
  both<op::apply_rmsprop>({0.9, 0.5, 1e-6}, close);
  both<op::apply_centered_rmsprop>({0.1, 0.5, 4}, close);
  both<op::apply_adam>({0.9, 0.99, 1e-6}, close);
  both<op::apply_adamw>({0.9, 0.99, 1e-6, 0.25}, close);
  both<op::apply_ftrl>({-0.5, 0.1, 0.01, 0.02, 0.03}, close);
  dense<op::apply_adam, double>({0.9, 0.99, 1e-6}, 1e-13);
  dense<op::apply_adam, tg::float16>({0.9, 0.99, 1e-6}, 2e-3);
  dense<op::apply_adam, tg::bfloat16>({0.9, 0.99, 1e-6}, 1e-2);
  by_rows<op::apply_adam, tg::bfloat16>({0.9, 0.99, 1e-6}, 5e-2);
}

void states() {
  call c{{random_tensor<float>({4, 7}, -1, 1, 91), random_tensor<float>({4, 7}, -1, 1, 92)}, {}};
  c.updates = true;
  compare_kernels<op::assign, dtype::float32>("assign", c);
  compare_kernels<op::assign_add, dtype::float32>("assign_add", c);
  compare_kernels<op::assign_sub, dtype::float32>("assign_sub", c);
  call count{{random_tensor<std::int64_t>({1}, 5, 9, 1), random_tensor<std::int64_t>({1}, 1, 2, 1)}, {}};
  count.updates = true;
  compare_kernels<op::assign_add, dtype::int64>("assign_add of int64", count);
  call rows{{random_tensor<float>({6, 3}, -1, 1, 93), indices<std::uint8_t>({5, 0, 5, 5, 2}),
             random_tensor<float>({5, 3}, -1, 1, 94)},
            {}};
  rows.updates = true;
  compare_kernels<op::scatter_add, dtype::float32, dtype::float32, dtype::uint8>("scatter_add", rows);
  rows.in[1] = indices<std::int64_t>({5, 0, 6, -1, 2});
  tg::test::run(tg::device::kernel<tg::device::on_cuda, tg::ir::key<op::scatter_add>>::entry<dtype::float32>, rows,
                true);
  check((tg::test::noted_failure() & 0xff) == 2, "the first wrong index is reported");

  const auto kind = static_cast<std::int64_t>(tg::initializer_kind::glorot_normal);
  call initial{{random_tensor<float>({11, 13}, 0, 0, 0)}, {}, {kind, 77}};
  initial.updates = true;
  compare_kernels<op::initialize, dtype::float32>("initialize", initial);
}

void schedules() {
  const tg::rate rates[] = {0.5,
                            tg::exponential_decay{0.1, 3, 0.5, true},
                            tg::exponential_decay{0.1, 3, 0.5, false},
                            tg::polynomial_decay{0.1, 5, 0.01, 2},
                            tg::cosine_decay{0.1, 5, 0.1},
                            tg::piecewise_constant{{2, 4}, {1, 0.5, 0.25}},
                            tg::rate(tg::cosine_decay{0.1, 50, 0.1}).after_warm_up(4)};
  for (const tg::rate& r : rates)
    for (const std::int64_t step : {0, 2, 3, 4, 5, 7}) {
      call c{{device_tensor({}, std::vector<std::int64_t>{step})}, device_tensor(dtype::float64, {})};
      c.value = &r.value();
      compare_kernels<op::scheduled_rate, dtype::float64, dtype::int64>("scheduled_rate", c, 1e-14);
    }
}

}  // namespace

int main() {
  tg::test::on_gpu();
  updates();
  states();
  schedules();
  return tg::test::result();
}
