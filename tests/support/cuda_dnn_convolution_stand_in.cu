// SPDX-License-Identifier: BSL-1.0
// What of cuDNN's convolutions needs a GPU, on the host.
#include "support/cuda_dnn_stand_in.hpp"

namespace {

using tagma::dtype;
using tagma::test::dnn_layout;
using tagma::test::stand_in_elements;
using tagma::test::stand_in_factor;
using tagma::test::stand_ins;

/// A convolution as its descriptors say it.
struct convolution {
  convolution(cudnnTensorDescriptor_t images, cudnnFilterDescriptor_t by, cudnnConvolutionDescriptor_t how,
              cudnnTensorDescriptor_t result)
      : x(images), filter(by), y(result) {
    cudnnGetConvolution2dDescriptor(how, &padding[0], &padding[1], &stride[0], &stride[1], &dilation[0], &dilation[1],
                                    &mode, &compute);
    cudnnGetConvolutionGroupCount(how, &groups);
    cudnnGetConvolutionMathType(how, &math);
    status = cudnnGetConvolution2dForwardOutputDim(how, images, by, &out[0], &out[1], &out[2], &out[3]);
  }

  [[nodiscard]] cudnnStatus_t check() const {
    if (status != CUDNN_STATUS_SUCCESS) return status;
    if (std::memcmp(out, y.extents, sizeof out) != 0) return CUDNN_STATUS_BAD_PARAM;
    if (x.type == dtype::none || filter.type != x.type || y.type != x.type ||
        compute != (x.type == dtype::float64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT))
      return CUDNN_STATUS_NOT_SUPPORTED;
    const bool last = x.is_channels_last();
    if (y.is_channels_last() != last || filter.is_channels_last() != last) return CUDNN_STATUS_NOT_SUPPORTED;
    return CUDNN_STATUS_SUCCESS;
  }

  /// Calls `some(x, filter, y)` with the positions of all elements that meet.
  template <class Some>
  void each(const Some& some) const {
    const int filters = y.extents[1] / groups, channels = filter.extents[1];
    const int height = filter.extents[2], width = filter.extents[3];
    const bool turns = mode == CUDNN_CONVOLUTION;  // the filter; a cross-correlation does not
    y.each([&](int n, int k, int i, int j) {
      for (int c = 0; c < channels; ++c)
        for (int a = 0; a < height; ++a)
          for (int b = 0; b < width; ++b) {
            const int row = i * stride[0] - padding[0] + (turns ? height - 1 - a : a) * dilation[0];
            const int column = j * stride[1] - padding[1] + (turns ? width - 1 - b : b) * dilation[1];
            if (row < 0 || row >= x.extents[2] || column < 0 || column >= x.extents[3]) continue;
            some(x.at(n, k / filters * channels + c, row, column), filter.at(k, c, a, b), y.at(n, k, i, j));
          }
    });
  }

  dnn_layout x, filter, y;
  int padding[2] = {}, stride[2] = {}, dilation[2] = {}, groups = 1, out[4] = {};
  cudnnConvolutionMode_t mode = CUDNN_CONVOLUTION;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  cudnnDataType_t compute = CUDNN_DATA_INT8;
  cudnnStatus_t status;
};

/// The algorithms that there seem to be for a kind of convolution.
template <class Algorithm>
struct offer {
  Algorithm impossible, varying, large, small;  ///< the second gives other bytes in each run
};
constexpr offer<cudnnConvolutionFwdAlgo_t> forward{CUDNN_CONVOLUTION_FWD_ALGO_DIRECT, CUDNN_CONVOLUTION_FWD_ALGO_GEMM,
                                                   CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
                                                   CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM};
constexpr offer<cudnnConvolutionBwdDataAlgo_t> by_images{
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT, CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1,
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD};
constexpr offer<cudnnConvolutionBwdFilterAlgo_t> by_filter{
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1,
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED};

/// The quickest first, and these are the ones that must not be taken.
template <class Algorithm, class Estimate>
[[nodiscard]] cudnnStatus_t estimate(cudnnHandle_t handle, const convolution& p, const offer<Algorithm>& all, int most,
                                     int* count, Estimate* to) {
  if (handle == nullptr || most < 1 || count == nullptr || to == nullptr) return CUDNN_STATUS_BAD_PARAM;
  *count = 0;
  if (const cudnnStatus_t status = p.check(); status != CUDNN_STATUS_SUCCESS) return status;
  const auto add = [&](Algorithm algorithm, cudnnStatus_t status, cudnnDeterminism_t determinism, std::size_t memory) {
    if (*count == most) return;
    Estimate& e = to[(*count)++];
    e = {};
    e.algo = algorithm;
    e.status = status;
    e.time = -1;
    e.memory = memory;
    e.determinism = determinism;
    e.mathType = p.x.type == dtype::float64 ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH;
  };
  add(all.impossible, CUDNN_STATUS_NOT_SUPPORTED, CUDNN_DETERMINISTIC, 0);
  add(all.varying, CUDNN_STATUS_SUCCESS, CUDNN_NON_DETERMINISTIC, 0);
  if (!stand_ins.offers_algorithms) return CUDNN_STATUS_SUCCESS;
  add(all.large, CUDNN_STATUS_SUCCESS, CUDNN_DETERMINISTIC, stand_ins.workspace);
  if (stand_ins.has_small) add(all.small, CUDNN_STATUS_SUCCESS, CUDNN_DETERMINISTIC, 0);
  return CUDNN_STATUS_SUCCESS;
}

template <class Algorithm>
[[nodiscard]] cudnnStatus_t tell_workspace(cudnnHandle_t handle, const convolution& p, const offer<Algorithm>& all,
                                           Algorithm algorithm, std::size_t* to) {
  if (handle == nullptr || to == nullptr) return CUDNN_STATUS_BAD_PARAM;
  if (const cudnnStatus_t status = p.check(); status != CUDNN_STATUS_SUCCESS) return status;
  if (algorithm == all.large)
    *to = stand_ins.workspace;
  else if (algorithm == all.varying || (algorithm == all.small && stand_ins.has_small))
    *to = 0;
  else
    return CUDNN_STATUS_NOT_SUPPORTED;
  return CUDNN_STATUS_SUCCESS;
}

/// Adds up the products of two operands into a third.
/// @param target which of the positions of x, filter and y is written; the other two are read in their order
template <class Algorithm>
[[nodiscard]] cudnnStatus_t compute(cudnnHandle_t handle, const convolution& p, const offer<Algorithm>& all,
                                    Algorithm algorithm, const void* alpha, const void* beta, void* workspace,
                                    std::size_t workspace_size, int target, const void* first, const void* second,
                                    void* out) {
  std::size_t needed = 0;
  if (const cudnnStatus_t status = tell_workspace(handle, p, all, algorithm, &needed); status != CUDNN_STATUS_SUCCESS)
    return status;
  if (alpha == nullptr || beta == nullptr || first == nullptr || second == nullptr || out == nullptr ||
      workspace_size < needed || (needed > 0 && workspace == nullptr))
    return CUDNN_STATUS_BAD_PARAM;
  if (stand_ins.dnn_status != 0) return static_cast<cudnnStatus_t>(stand_ins.dnn_status);
  if (needed > 0) std::memset(workspace, tagma::test::stand_in_garbage, needed);
  const dnn_layout* const parts[] = {&p.x, &p.filter, &p.y};
  const dnn_layout& to = *parts[target];
  const bool wide = to.type == dtype::float64;
  const stand_in_elements a(to.type, first), b(to.type, second), result(to.type, out);
  std::vector<double> totals(
      static_cast<std::size_t>(to.at(to.extents[0] - 1, to.extents[1] - 1, to.extents[2] - 1, to.extents[3] - 1) + 1));
  const bool rounds = to.type == dtype::float32 && p.math != CUDNN_FMA_MATH;
  const auto operand = [&](double x) { return rounds ? tagma::test::stand_in_tf32(x) : x; };
  p.each([&](std::int64_t x, std::int64_t filter, std::int64_t y) {
    const std::int64_t at[] = {x, filter, y};
    totals[static_cast<std::size_t>(at[target])] +=
        operand(a[target == 0 ? filter : x]) * operand(b[target == 2 ? filter : y]);
  });
  to.each([&](int n, int c, int h, int w) {
    const std::int64_t at = to.at(n, c, h, w);
    result.write(at, stand_in_factor(alpha, wide),
                 algorithm == all.varying ? 1e3 : totals[static_cast<std::size_t>(at)], stand_in_factor(beta, wide));
  });
  ++stand_ins.convolutions;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t handle, const cudnnTensorDescriptor_t x,
                                                     const cudnnFilterDescriptor_t w,
                                                     const cudnnConvolutionDescriptor_t c,
                                                     const cudnnTensorDescriptor_t y, const int most, int* count,
                                                     cudnnConvolutionFwdAlgoPerf_t* to) {
  return estimate(handle, convolution(x, w, c, y), forward, most, count, to);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t handle, const cudnnFilterDescriptor_t w,
                                                          const cudnnTensorDescriptor_t dy,
                                                          const cudnnConvolutionDescriptor_t c,
                                                          const cudnnTensorDescriptor_t dx, const int most, int* count,
                                                          cudnnConvolutionBwdDataAlgoPerf_t* to) {
  return estimate(handle, convolution(dx, w, c, dy), by_images, most, count, to);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnnHandle_t handle, const cudnnTensorDescriptor_t x,
                                                            const cudnnTensorDescriptor_t dy,
                                                            const cudnnConvolutionDescriptor_t c,
                                                            const cudnnFilterDescriptor_t dw, const int most,
                                                            int* count, cudnnConvolutionBwdFilterAlgoPerf_t* to) {
  return estimate(handle, convolution(x, dw, c, dy), by_filter, most, count, to);
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t handle, const cudnnTensorDescriptor_t x,
                                                      const cudnnFilterDescriptor_t w,
                                                      const cudnnConvolutionDescriptor_t c,
                                                      const cudnnTensorDescriptor_t y,
                                                      cudnnConvolutionFwdAlgo_t algorithm, std::size_t* to) {
  return tell_workspace(handle, convolution(x, w, c, y), forward, algorithm, to);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(cudnnHandle_t handle, const cudnnFilterDescriptor_t w,
                                                           const cudnnTensorDescriptor_t dy,
                                                           const cudnnConvolutionDescriptor_t c,
                                                           const cudnnTensorDescriptor_t dx,
                                                           cudnnConvolutionBwdDataAlgo_t algorithm, std::size_t* to) {
  return tell_workspace(handle, convolution(dx, w, c, dy), by_images, algorithm, to);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(cudnnHandle_t handle, const cudnnTensorDescriptor_t x,
                                                             const cudnnTensorDescriptor_t dy,
                                                             const cudnnConvolutionDescriptor_t c,
                                                             const cudnnFilterDescriptor_t dw,
                                                             cudnnConvolutionBwdFilterAlgo_t algorithm,
                                                             std::size_t* to) {
  return tell_workspace(handle, convolution(x, dw, c, dy), by_filter, algorithm, to);
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha, const cudnnTensorDescriptor_t x_layout,
                                      const void* x, const cudnnFilterDescriptor_t w_layout, const void* w,
                                      const cudnnConvolutionDescriptor_t c, cudnnConvolutionFwdAlgo_t algorithm,
                                      void* workspace, std::size_t workspace_size, const void* beta,
                                      const cudnnTensorDescriptor_t y_layout, void* y) {
  return compute(handle, convolution(x_layout, w_layout, c, y_layout), forward, algorithm, alpha, beta, workspace,
                 workspace_size, 2, x, w, y);
}
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void* alpha,
                                           const cudnnFilterDescriptor_t w_layout, const void* w,
                                           const cudnnTensorDescriptor_t dy_layout, const void* dy,
                                           const cudnnConvolutionDescriptor_t c,
                                           cudnnConvolutionBwdDataAlgo_t algorithm, void* workspace,
                                           std::size_t workspace_size, const void* beta,
                                           const cudnnTensorDescriptor_t dx_layout, void* dx) {
  return compute(handle, convolution(dx_layout, w_layout, c, dy_layout), by_images, algorithm, alpha, beta, workspace,
                 workspace_size, 0, w, dy, dx);
}
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void* alpha,
                                             const cudnnTensorDescriptor_t x_layout, const void* x,
                                             const cudnnTensorDescriptor_t dy_layout, const void* dy,
                                             const cudnnConvolutionDescriptor_t c,
                                             cudnnConvolutionBwdFilterAlgo_t algorithm, void* workspace,
                                             std::size_t workspace_size, const void* beta,
                                             const cudnnFilterDescriptor_t dw_layout, void* dw) {
  return compute(handle, convolution(x_layout, dw_layout, c, dy_layout), by_filter, algorithm, alpha, beta, workspace,
                 workspace_size, 1, x, dy, dw);
}

}  // extern "C"
