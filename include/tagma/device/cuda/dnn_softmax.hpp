// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Softmax of rows by cuDNN, and its logarithm.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/dnn.hpp"

namespace tagma::device::cuda {

/// The softmax of a given number of rows, after their maximum is taken away from each.
class dnn_softmax {
 public:
  /// A null pointer if cuDNN cannot count the elements.
  [[nodiscard]] TAGMA_COLD static owned<dnn_softmax> make(std::int64_t rows, std::int64_t n, bool logarithm,
                                                          dtype type) {
    auto made = owned<dnn_softmax>(new dnn_softmax(logarithm, type));
    if (!made->rows_.describe(CUDNN_TENSOR_NCHW, type, rows, n, 1, 1)) return nullptr;
    return made;
  }

  /// False if cuDNN does not support such rows after all; then `y` is as it was. `y` may be `x`: each row is read
  /// before it is written. NVIDIA documents this use for the gradient alone; the suite of operations compares both on a
  /// GPU.
  [[nodiscard]] bool run(const void* x, void* y, const run_context& context) const {
    const library_factors by(type_);
    return dnn_did(
        cudnnSoftmaxForward(dnn_library::use(library_, context).get(), algorithm_, CUDNN_SOFTMAX_MODE_INSTANCE,
                            by.one(), rows_.get(), x, by.zero(), rows_.get(), y),
        "a softmax");
  }

 private:
  dnn_softmax(bool logarithm, dtype type)
      : algorithm_(logarithm ? CUDNN_SOFTMAX_LOG : CUDNN_SOFTMAX_ACCURATE), type_(type) {}

  cudnnSoftmaxAlgorithm_t algorithm_;
  dtype type_;
  dnn_library library_;
  dnn_tensor rows_;
};

}  // namespace tagma::device::cuda
