// SPDX-License-Identifier: BSL-1.0
// Reductions and softmax of the GPU against those of the CPU.
#include "tagma/device/cuda/kernel/reduce.hpp"

#include "support/cuda.hpp"
#include "tagma/device/cpu/kernel/reduce.hpp"
#include "tagma/device/cpu/kernel/softmax.hpp"
#include "tagma/device/cuda/kernel/softmax.hpp"

namespace {

namespace tg = tagma;
namespace op = tagma::op;
namespace cuda = tagma::device::cuda;
using tg::dtype, tg::shape;
using tg::test::call, tg::test::check, tg::test::compare_kernels, tg::test::device_tensor, tg::test::random_tensor;
using tg::test::stand_ins;

template <class Op, class T>
void reduction(const std::string& what, const shape& dims, std::int64_t mask, double tolerance) {
  constexpr dtype d = tg::dtype_of<T>;
  tg::tensor_spec in[] = {{d, dims}};
  const std::int64_t attributes[] = {mask, 0};
  tg::ir::infer_args args{in, attributes, {}};
  Op::infer(args);
  const call c{{random_tensor<T>(dims, -2, 2, 31)}, device_tensor(args.out.type, args.out.dims), {mask, 0}};
  if constexpr (Op::name == "argmax" || Op::name == "argmin")
    compare_kernels<Op, dtype::int64, d>(what, c, tolerance);
  else
    compare_kernels<Op, d, d>(what, c, tolerance);
}

void shapes() {
  constexpr double close = 1e-5;
  reduction<op::sum, float>("all of one", {}, 0, 0);
  reduction<op::sum, float>("a row", {1000}, 1, close);
  reduction<op::sum, float>("a long row, in two passes", {70000}, 1, close);
  reduction<op::sum, float>("short rows", {300, 3}, 2, close);
  reduction<op::sum, float>("rows", {9, 500}, 2, close);
  reduction<op::sum, float>("columns", {500, 9}, 1, close);
  reduction<op::sum, float>("long columns, in two passes", {5000, 40}, 1, close);
  reduction<op::sum, float>("few columns", {3, 700}, 1, close);
  reduction<op::sum, float>("the middle", {5, 60, 7}, 2, close);
  reduction<op::sum, float>("around the middle", {5, 6, 70}, 5, close);
  reduction<op::sum, float>("every other axis", {2, 3, 4, 5, 6, 7}, 0b101010, close);
  reduction<op::sum, float>("every other axis but the last", {2, 3, 4, 5, 6, 7}, 0b010101, close);
  reduction<op::sum, float>("no axis", {4, 5}, 0, 0);
  reduction<op::sum, float>("nothing", {0, 5}, 1, 0);
  reduction<op::sum, float>("into nothing", {0, 5}, 2, 0);
}

void kinds() {
  reduction<op::sum, double>("sum of double", {20, 30}, 2, 1e-13);
  reduction<op::sum, tg::float16>("sum of float16", {20, 30}, 1, 2e-3);
  reduction<op::sum, tg::bfloat16>("sum of bfloat16", {20000}, 1, 1e-2);
  reduction<op::sum, std::int32_t>("sum of int32", {20, 30}, 2, 0);
  reduction<op::sum, std::int8_t>("sum of int8", {20, 300}, 2, 0);
  reduction<op::product, float>("product", {3, 9}, 2, 1e-5);
  reduction<op::reduce_max, float>("maximum", {20, 30}, 1, 0);
  reduction<op::reduce_max, std::uint8_t>("maximum of uint8", {20, 30}, 1, 0);
  reduction<op::reduce_min, float>("minimum", {20, 30}, 2, 0);
  reduction<op::reduce_min, std::int64_t>("minimum of int64", {20, 30}, 3, 0);
  reduction<op::argmax, float>("argmax", {20, 300}, 2, 0);
  reduction<op::argmax, std::int32_t>("argmax with equal elements", {200, 3}, 1, 0);
  reduction<op::argmin, tg::float16>("argmin", {20000}, 1, 0);
  reduction<op::argmax, double>("argmax of the middle", {3, 20, 4}, 2, 0);
  const device_tensor truth = [] {
    device_tensor t(dtype::boolean, {6, 5});
    for (int i = 0; i < 30; ++i) t.data()[i] = std::byte{i % 7 != 3};
    return t;
  }();
  compare_kernels<op::all, dtype::boolean>("all", {{truth}, device_tensor(dtype::boolean, {6}), {2, 0}});
  compare_kernels<op::any, dtype::boolean>("any", {{truth}, device_tensor(dtype::boolean, {5}), {1, 0}});
  compare_kernels<op::fraction, dtype::float32>(
      "fraction", {{random_tensor<float>({3, 7, 2}, 0, 1, 3)}, device_tensor(dtype::float32, {}), {0b110}});
}

/// The same bytes where NaN is among the elements, in front or behind.
void nan_positions() {
  const float nan = __builtin_nanf("");
  for (const auto& row : {std::vector<float>{nan, 3, 1}, std::vector<float>{1, nan, 3}, std::vector<float>{3, 1, nan},
                          std::vector<float>{3, nan, nan}, std::vector<float>{nan, nan, 1}}) {
    const call c{{device_tensor({3}, row)}, device_tensor(dtype::int64, {}), {1, 0}};
    compare_kernels<op::argmax, dtype::int64, dtype::float32>("argmax with NaN", c);
    compare_kernels<op::argmin, dtype::int64, dtype::float32>("argmin with NaN", c);
    const call m{{device_tensor({3}, row)}, device_tensor(dtype::float32, {}), {1, 0}};
    compare_kernels<op::reduce_max, dtype::float32, dtype::float32>("maximum with NaN", m);
  }
  std::vector<float> row(20000, 1);
  row[19000] = row[7000] = row[6999] = nan;
  const call c{{device_tensor({20000}, row)}, device_tensor(dtype::int64, {}), {1, 0}};
  compare_kernels<op::argmax, dtype::int64, dtype::float32>("argmax with NaN, in two passes", c);
}

template <class T>
void rows(const std::string& what, const shape& dims, double tolerance) {
  constexpr dtype d = tg::dtype_of<T>, l = dtype::uint8;
  const shape outer = dims.sub(0, dims.rank - 1);
  const device_tensor x = random_tensor<T>(dims, -9, 9, 41);
  const device_tensor labels = random_tensor<std::uint8_t>(outer, 0, static_cast<double>(dims[dims.rank - 1]), 42);
  const int before = stand_ins.softmaxes;
  compare_kernels<op::softmax, d, d>(what + ", softmax", {{x}, device_tensor(d, dims)}, tolerance);
  compare_kernels<op::log_softmax, d, d>(what + ", log_softmax", {{x}, device_tensor(d, dims)}, tolerance);
  compare_kernels<op::softmax, d, d>(what + ", softmax in place", {{x}, x, {}, true}, tolerance);
  const int calls = stand_ins.softmaxes - before;
  if (tg::test::has_stand_ins())
    check(calls == (dims.elements() > 0 && d != dtype::float64 ? 3 : 0),
          what + ": cuDNN is called " + std::to_string(calls) + " times");
  compare_kernels<op::sparse_softmax_cross_entropy, d, d, l>(what + ", entropy", {{x, labels}, device_tensor(d, outer)},
                                                             tolerance);
  compare_kernels<op::sparse_softmax_cross_entropy_gradient, d, d, l, d>(
      what + ", gradient", {{x, labels, random_tensor<T>(outer, -1, 1, 43)}, device_tensor(d, dims)}, tolerance);
}

void wrong_label() {
  const call c{{random_tensor<float>({4, 3}, -1, 1, 5), device_tensor({4}, std::vector<std::int32_t>{0, 2, 3, -1})},
               device_tensor(dtype::float32, {4})};
  constexpr auto entry = tg::device::kernel<tg::device::on_cuda, tg::ir::key<op::sparse_softmax_cross_entropy>>::entry<
      dtype::float32, dtype::float32, dtype::int32>;
  tg::test::run(entry, c, true);
  bool thrown = false;
  try {
    cuda::check_run(tg::test::noted_failure(), [](std::int32_t node) { return "node #" + std::to_string(node); });
  } catch (const tg::error& e) {
    thrown = e.code() == tg::status_code::out_of_range &&
             std::string(e.what()).find("node #3: the index at position 2") != std::string::npos;
  }
  check(thrown, "a wrong label is reported, the first one");
}

}  // namespace

int main() {
  tg::test::on_gpu();
  shapes();
  kinds();
  nan_positions();
  rows<float>("short rows", {3, 7, 10}, 1e-5);
  rows<float>("long rows", {3, 1500}, 1e-5);
  rows<float>("no rows", {0, 5}, 0);
  rows<double>("of double", {30, 33}, 1e-13);
  rows<tg::float16>("of float16", {5, 40}, 4e-3);
  rows<tg::bfloat16>("of bfloat16", {5, 40}, 2e-2);
  wrong_label();
  return tg::test::result();
}
