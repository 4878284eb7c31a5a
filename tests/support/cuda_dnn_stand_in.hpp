// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What the stand-ins for cuDNN share: tensors and filters as their descriptors say them.

#include <cudnn.h>

#include "support/cuda_stand_ins.hpp"

namespace tagma::test {

[[nodiscard]] inline dtype dnn_type_of(cudnnDataType_t type) {
  return type == CUDNN_DATA_DOUBLE     ? dtype::float64
         : type == CUDNN_DATA_FLOAT    ? dtype::float32
         : type == CUDNN_DATA_HALF     ? dtype::float16
         : type == CUDNN_DATA_BFLOAT16 ? dtype::bfloat16
                                       : dtype::none;
}

/// A tensor or a filter: four extents, and how far apart neighbours are.
struct dnn_layout {
  explicit dnn_layout(cudnnTensorDescriptor_t t) {
    int step[4];
    cudnnDataType_t of = CUDNN_DATA_INT8;
    cudnnGetTensor4dDescriptor(t, &of, &extents[0], &extents[1], &extents[2], &extents[3], &step[0], &step[1], &step[2],
                               &step[3]);
    for (int i = 0; i < 4; ++i) steps[i] = step[i];
    type = dnn_type_of(of);
  }
  explicit dnn_layout(cudnnFilterDescriptor_t f) {
    cudnnDataType_t of = CUDNN_DATA_INT8;
    cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW_VECT_C;
    cudnnGetFilter4dDescriptor(f, &of, &format, &extents[0], &extents[1], &extents[2], &extents[3]);
    const std::int64_t c = extents[1], h = extents[2], w = extents[3];
    if (format == CUDNN_TENSOR_NHWC)
      steps[0] = h * w * c, steps[1] = 1, steps[2] = w * c, steps[3] = c;
    else
      steps[0] = c * h * w, steps[1] = h * w, steps[2] = w, steps[3] = 1;
    type = format == CUDNN_TENSOR_NCHW_VECT_C ? dtype::none : dnn_type_of(of);
  }
  [[nodiscard]] std::int64_t at(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
    return n * steps[0] + c * steps[1] + h * steps[2] + w * steps[3];
  }
  [[nodiscard]] bool is_like(const dnn_layout& other) const {
    return type == other.type && std::memcmp(extents, other.extents, sizeof extents) == 0;
  }
  [[nodiscard]] bool is_channels_last() const { return steps[1] == 1 && (extents[1] == 1 || steps[3] >= extents[1]); }
  /// Calls `some(n, c, h, w)` for all elements.
  template <class Some>
  void each(const Some& some) const {
    for (int n = 0; n < extents[0]; ++n)
      for (int c = 0; c < extents[1]; ++c)
        for (int h = 0; h < extents[2]; ++h)
          for (int w = 0; w < extents[3]; ++w) some(n, c, h, w);
  }

  dtype type = dtype::none;
  int extents[4] = {};
  std::int64_t steps[4] = {};
};

}  // namespace tagma::test
