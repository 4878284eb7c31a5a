// SPDX-License-Identifier: BSL-1.0
// What of cuDNN needs a GPU, on the host: handles, pooling and softmax.
#include "support/cuda_dnn_stand_in.hpp"

struct cudnnContext {
  int unused = 0;
};

namespace {

using tagma::dtype;
using tagma::test::dnn_layout;
using tagma::test::stand_in_elements;
using tagma::test::stand_in_factor;
using tagma::test::stand_ins;

[[maybe_unused]] const bool linked = tagma::device::cuda::emulation::has_libraries() = true;

}  // namespace

extern "C" {

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  if (handle == nullptr) return CUDNN_STATUS_BAD_PARAM;
  *handle = new cudnnContext;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t) {
  return handle == nullptr ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnPoolingForward(cudnnHandle_t handle, const cudnnPoolingDescriptor_t how, const void* alpha,
                                  const cudnnTensorDescriptor_t x_layout, const void* x, const void* beta,
                                  const cudnnTensorDescriptor_t y_layout, void* y) {
  if (handle == nullptr || alpha == nullptr || beta == nullptr || x == nullptr || y == nullptr)
    return CUDNN_STATUS_BAD_PARAM;
  cudnnPoolingMode_t mode = CUDNN_POOLING_MAX;
  cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
  int size[2] = {}, padding[2] = {}, stride[2] = {}, out[4] = {};
  cudnnGetPooling2dDescriptor(how, &mode, &nan, &size[0], &size[1], &padding[0], &padding[1], &stride[0], &stride[1]);
  if (const cudnnStatus_t status = cudnnGetPooling2dForwardOutputDim(how, x_layout, &out[0], &out[1], &out[2], &out[3]);
      status != CUDNN_STATUS_SUCCESS)
    return status;
  const dnn_layout from(x_layout), to(y_layout);
  if (std::memcmp(out, to.extents, sizeof out) != 0 || from.type != to.type) return CUDNN_STATUS_BAD_PARAM;
  // A window that sees padding alone has no mean, and what its maximum is is not documented.
  for (int i = 0; i < 2; ++i)
    if (padding[i] < 0 || padding[i] >= size[i]) return CUDNN_STATUS_BAD_PARAM;
  if (from.type == dtype::none) return CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE;
  if (stand_ins.dnn_status != 0) return static_cast<cudnnStatus_t>(stand_ins.dnn_status);

  const stand_in_elements images(from.type, x), result(to.type, y);
  const bool wide = to.type == dtype::float64;
  const bool is_maximum = mode == CUDNN_POOLING_MAX || mode == CUDNN_POOLING_MAX_DETERMINISTIC;
  to.each([&](int n, int c, int i, int j) {
    double total = is_maximum ? -HUGE_VAL : 0;
    int seen = 0;
    for (int row = i * stride[0] - padding[0]; row < i * stride[0] - padding[0] + size[0]; ++row)
      for (int column = j * stride[1] - padding[1]; column < j * stride[1] - padding[1] + size[1]; ++column) {
        if (row < 0 || row >= from.extents[2] || column < 0 || column >= from.extents[3]) continue;
        const double value = images[from.at(n, c, row, column)];
        ++seen;
        if (!is_maximum)
          total += value;
        else if (value > total || (value != value && nan == CUDNN_PROPAGATE_NAN))
          total = value;
      }
    if (!is_maximum) total /= mode == CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING ? seen : size[0] * size[1];
    result.write(to.at(n, c, i, j), stand_in_factor(alpha, wide), total, stand_in_factor(beta, wide));
  });
  ++stand_ins.pools;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSoftmaxForward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algorithm, cudnnSoftmaxMode_t mode,
                                  const void* alpha, const cudnnTensorDescriptor_t x_layout, const void* x,
                                  const void* beta, const cudnnTensorDescriptor_t y_layout, void* y) {
  if (handle == nullptr || alpha == nullptr || beta == nullptr || x == nullptr || y == nullptr)
    return CUDNN_STATUS_BAD_PARAM;
  const dnn_layout from(x_layout), to(y_layout);
  if (!from.is_like(to)) return CUDNN_STATUS_BAD_PARAM;
  if (from.type == dtype::none) return CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE;
  if (stand_ins.dnn_status != 0) return static_cast<cudnnStatus_t>(stand_ins.dnn_status);

  const stand_in_elements in(from.type, x), out(to.type, y);
  const bool wide = to.type == dtype::float64, whole = mode == CUDNN_SOFTMAX_MODE_INSTANCE;
  const int h_count = from.extents[2], w_count = from.extents[3];
  // A row: all of an image, or the channels of a place in it.
  const auto each_of_row = [&](int n, int place, const auto& some) {
    for (int c = 0; c < from.extents[1]; ++c)
      for (int p = whole ? 0 : place; p < (whole ? h_count * w_count : place + 1); ++p)
        some(n, c, p / w_count, p % w_count);
  };
  for (int n = 0; n < from.extents[0]; ++n)
    for (int place = 0; place < (whole ? 1 : h_count * w_count); ++place) {
      double top = algorithm == CUDNN_SOFTMAX_FAST ? 0 : -HUGE_VAL, total = 0;
      if (algorithm != CUDNN_SOFTMAX_FAST)
        each_of_row(n, place, [&](int i, int c, int h, int w) { top = std::fmax(top, in[from.at(i, c, h, w)]); });
      each_of_row(n, place, [&](int i, int c, int h, int w) { total += std::exp(in[from.at(i, c, h, w)] - top); });
      each_of_row(n, place, [&](int i, int c, int h, int w) {
        const double shifted = in[from.at(i, c, h, w)] - top;
        out.write(to.at(i, c, h, w), stand_in_factor(alpha, wide),
                  algorithm == CUDNN_SOFTMAX_LOG ? shifted - std::log(total) : std::exp(shifted) / total,
                  stand_in_factor(beta, wide));
      });
    }
  ++stand_ins.softmaxes;
  return CUDNN_STATUS_SUCCESS;
}

}  // extern "C"
