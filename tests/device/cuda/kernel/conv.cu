// SPDX-License-Identifier: BSL-1.0
// Convolutions and pooling of the GPU against those of the CPU.
#include "tagma/device/cuda/kernel/conv.hpp"

#include "support/cuda.hpp"
#include "tagma/device/cpu/kernel/conv.hpp"
#include "tagma/device/cpu/kernel/pool.hpp"
#include "tagma/device/cuda/kernel/pool.hpp"

namespace {

namespace tg = tagma;
namespace op = tagma::op;
namespace cuda = tagma::device::cuda;
using tg::dtype, tg::shape, tg::window, tg::window_padding;
using tg::test::call, tg::test::check, tg::test::compare_kernels, tg::test::device_tensor, tg::test::random_tensor;
using tg::test::stand_ins;

std::vector<std::int64_t> steps(window stride, window_padding padding, window dilation) {
  return {op::window_plane::pack_steps(stride, dilation), op::window_plane::pack_padding(padding)};
}

/// Where stand-ins compute for cuDNN, how often they did.
void expect_calls(const std::string& what, int found, int expected) {
  if (tg::test::has_stand_ins())
    check(found == expected, what + ": cuDNN is called " + std::to_string(found) + " times");
}

/// A convolution with a bias, and its gradients.
template <class T>
void convolution(const std::string& what, const shape& x, const shape& filter, window stride, window_padding padding,
                 window dilation, std::int64_t groups, double tolerance) {
  constexpr dtype d = tg::dtype_of<T>;
  auto attributes = steps(stride, padding, dilation);
  attributes.push_back(groups);
  const tg::tensor_spec in[] = {{d, x}, {d, filter}};
  tg::ir::infer_args args{in, {attributes.data(), 3}, {}};
  if (const char* problem = op::conv2d::infer(args)) return check(false, what + ": " + problem);
  const shape y = args.out.dims;
  const auto images = random_tensor<T>(x, -1, 1, 1), weights = random_tensor<T>(filter, -1, 1, 2);
  const auto upstream = random_tensor<T>(y, -1, 1, 3);
  const int before = stand_ins.convolutions;
  compare_kernels<op::conv2d, d, d, d>(what, {{images, weights}, device_tensor(d, y), attributes}, tolerance);
  compare_kernels<op::conv2d_input_gradient, d, d, d, d>(
      what + ", by images", {{upstream, weights, images}, device_tensor(d, x), attributes}, tolerance);
  compare_kernels<op::conv2d_filter_gradient, d, d, d, d>(
      what + ", by filter", {{images, upstream, weights}, device_tensor(d, filter), attributes}, tolerance);
  for (const int activation : {1, 2}) {
    attributes.resize(3);
    attributes.push_back(activation);
    compare_kernels<op::conv2d_bias, d, d, d, d>(
        what + ", with bias",
        {{images, weights, random_tensor<T>({filter[3]}, -1, 8, 4)}, device_tensor(d, y), attributes}, tolerance);
  }
  expect_calls(what, stand_ins.convolutions - before, y.elements() > 0 ? 5 : 0);
}

void convolutions() {
  constexpr double close = 2e-5;
  convolution<float>("plain", {2, 6, 7, 3}, {3, 2, 3, 4}, 1, tg::valid_padding, 1, 1, close);
  convolution<float>("same", {2, 7, 7, 8}, {3, 3, 8, 8}, 1, tg::same_padding, 1, 1, close);
  convolution<float>("strided, padded behind", {2, 8, 10, 4}, {3, 3, 4, 8}, 2, tg::same_padding, 1, 1, close);
  convolution<float>("padded unequally", {1, 5, 5, 2}, {3, 3, 2, 4}, {2, 1}, window_padding(0, 2, 2, 1), 1, 1, close);
  convolution<float>("dilated", {2, 9, 9, 2}, {3, 2, 2, 3}, 1, window_padding(2, 1), {2, 3}, 1, close);
  convolution<float>("groups", {2, 5, 5, 6}, {3, 3, 2, 9}, 1, tg::same_padding, 1, 3, close);
  convolution<float>("each channel by itself", {2, 5, 5, 4}, {3, 3, 1, 8}, 2, tg::same_padding, 1, 4, close);
  convolution<float>("of one element", {3, 4, 4, 8}, {1, 1, 8, 16}, 1, tg::valid_padding, 1, 1, close);
  convolution<float>("no images", {0, 5, 5, 2}, {3, 3, 2, 4}, 1, tg::same_padding, 1, 1, 0);
  convolution<double>("of double", {2, 6, 6, 3}, {3, 3, 3, 4}, 2, tg::same_padding, 1, 1, 1e-13);
  convolution<tg::float16>("of float16", {2, 6, 6, 8}, {3, 3, 8, 8}, 1, tg::same_padding, 1, 1, 2e-2);
  convolution<tg::bfloat16>("of bfloat16", {2, 6, 6, 8}, {3, 3, 8, 8}, 2, tg::same_padding, 1, 1, 1e-1);
}

/// @param by_library whether cuDNN can tell the padding
template <class T>
void pooling(const std::string& what, const device_tensor& images, window size, window stride, window_padding padding,
             double tolerance, bool by_library = true) {
  constexpr dtype d = tg::dtype_of<T>;
  auto attributes = steps(stride, padding, 1);
  attributes.insert(attributes.end(), {size.height, size.width});
  const tg::tensor_spec in[] = {{d, images.dims()}};
  tg::ir::infer_args args{in, {attributes.data(), 4}, {}};
  if (const char* problem = op::max_pool::infer(args)) return check(false, what + ": " + problem);
  const shape x = images.dims(), y = args.out.dims;
  const device_tensor upstream = random_tensor<T>(y, -1, 1, 5), other = random_tensor<T>(x, -1, 1, 6);
  const call forward{{images}, device_tensor(d, y), attributes};
  const int before = stand_ins.pools;
  compare_kernels<op::max_pool, d, d>(what + ", maximum", forward);
  const device_tensor maxima = tg::test::run_on_cpu<op::max_pool, d, d>(forward);
  compare_kernels<op::max_pool_gradient, d, d, d, d>(
      what + ", gradient of maxima", {{images, maxima, upstream}, device_tensor(d, x), attributes}, tolerance);
  compare_kernels<op::max_pool_select, d, d, d, d>(what + ", selection",
                                                   {{images, maxima, other}, device_tensor(d, y), attributes});
  compare_kernels<op::average_pool, d, d>(what + ", mean", forward, tolerance);
  compare_kernels<op::average_pool_gradient, d, d, d>(what + ", gradient of means",
                                                      {{upstream, images}, device_tensor(d, x), attributes}, tolerance);
  expect_calls(what, stand_ins.pools - before, by_library ? 2 : 0);
}

void pools() {
  const auto some = [](const shape& dims) { return random_tensor<float>(dims, -4, 4, 7); };
  pooling<float>("halves", some({2, 6, 8, 9}), 2, 2, tg::valid_padding, 1e-6);
  pooling<float>("overlapping windows", some({2, 7, 6, 3}), 3, {2, 1}, window_padding(1), 1e-6);
  pooling<float>("gaps", some({1, 9, 9, 3}), {2, 1}, 3, tg::valid_padding, 1e-6);
  pooling<float>("same", some({1, 7, 5, 10}), 3, 2, tg::same_padding, 1e-6);
  pooling<float>("same, padded behind", some({2, 8, 6, 3}), 3, 2, tg::same_padding, 1e-6, false);
  pooling<float>("padded in front alone", some({2, 5, 5, 3}), 3, 1, window_padding(2, 0, 1, 1), 1e-6, false);
  pooling<float>("no images", some({0, 6, 6, 3}), 2, 2, tg::valid_padding, 0, false);
  std::vector<float> equal{1, 1, 2, 2, 2, __builtin_nanf(""), 0, -1, -1, 2, 3};
  pooling<float>("equal maxima and NaN", device_tensor({2, 6, 6, 2}, equal), 3, 2, window_padding(1), 1e-6);
  pooling<tg::float16>("of float16", random_tensor<tg::float16>({2, 6, 6, 8}, -4, 4, 8), 3, 2, window_padding(1), 4e-3);
  pooling<tg::bfloat16>("of bfloat16", random_tensor<tg::bfloat16>({2, 6, 6, 8}, -4, 4, 8), 2, 1, window_padding(1),
                        3e-2);
  pooling<double>("of double", random_tensor<double>({2, 6, 6, 3}, -4, 4, 9), 2, 2, tg::valid_padding, 1e-14);
}

/// What cuDNN is told of paddings, which a program without a GPU cannot ask.
void paddings() {
  const auto axis = [](tg::extent size, tg::extent stride, tg::extent in, window_padding padding) {
    const std::int64_t attributes[] = {op::window_plane::pack_steps(static_cast<int>(stride), 1),
                                       op::window_plane::pack_padding(padding)};
    const op::window_plane plane(attributes, size, size);
    return cuda::dnn_axis(tg::device::conv_axis(plane.rows, in, plane.rows.positions(in)));
  };
  const auto equal = axis(3, 1, 7, tg::same_padding);
  check(equal.in == 7 && equal.padding == 1 && equal.before == 0, "equal padding is left to cuDNN");
  const auto behind = axis(3, 2, 224, tg::same_padding);
  check(behind.in == 225 && behind.padding == 0 && behind.before == 0, "a row behind is part of the images");
  const auto unused = axis(3, 2, 225, window_padding(1, 1));
  check(unused.in == 225 && unused.padding == 1, "padding that no window reaches does not count");
  const auto front = axis(2, 2, 5, window_padding(1, 0, 1, 0));
  check(front.in == 5 && front.padding == 1, "padding in front, where the other end is not reached");
}

}  // namespace

int main() {
  tg::test::on_gpu();
  convolutions();
  pools();
  paddings();
  return tg::test::result();
}
