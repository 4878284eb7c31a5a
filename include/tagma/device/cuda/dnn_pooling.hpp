// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Maxima and means of windows by cuDNN, which takes paddings that are equal at both ends.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/dnn.hpp"

namespace tagma::device::cuda {

/// What cuDNN can make of a window.
enum class dnn_pool : std::uint8_t { maximum, mean };

/// Pooling of given extents. A maximum is NaN where the window has a NaN; padding counts neither there nor in a mean.
class dnn_pooling {
 public:
  /// A null pointer if cuDNN has no words for the problem.
  [[nodiscard]] TAGMA_COLD static owned<dnn_pooling> make(const pool_problem& p, dnn_pool kind, dtype type) {
    auto made = owned<dnn_pooling>(new dnn_pooling(type));
    if (!made->describe(p, kind)) return nullptr;
    return made;
  }

  /// False if cuDNN does not support the problem after all; then `y` is as it was.
  [[nodiscard]] bool run(const void* x, void* y, const run_context& context) const {
    const library_factors by(type_);
    return dnn_did(cudnnPoolingForward(dnn_library::use(library_, context).get(), window_.get(), by.one(),
                                       images_.get(), x, by.zero(), output_.get(), y),
                   "pooling");
  }

 private:
  explicit dnn_pooling(dtype type) : type_(type) {
    check_dnn(cudnnCreatePoolingDescriptor(window_.place()), "a window");
  }

  [[nodiscard]] bool describe(const pool_problem& p, dnn_pool kind) const {
    const dnn_axis rows(p.rows), columns(p.columns);
    if (rows.in != p.rows.in || columns.in != p.columns.in) return false;  // zeros are no padding here
    const auto narrow = [](std::int64_t x) { return static_cast<int>(x); };
    int n = 0, c = 0, h = 0, w = 0;
    return images_.describe(CUDNN_TENSOR_NHWC, type_, p.images, p.channels, rows.in, columns.in) &&
           output_.describe(CUDNN_TENSOR_NHWC, type_, p.images, p.channels, p.rows.out, p.columns.out) &&
           cudnnSetPooling2dDescriptor(window_.get(),
                                       kind == dnn_pool::maximum ? CUDNN_POOLING_MAX_DETERMINISTIC
                                                                 : CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING,
                                       CUDNN_PROPAGATE_NAN, narrow(p.rows.size), narrow(p.columns.size),
                                       narrow(rows.padding), narrow(columns.padding), narrow(p.rows.stride),
                                       narrow(p.columns.stride)) == CUDNN_STATUS_SUCCESS &&
           cudnnGetPooling2dForwardOutputDim(window_.get(), images_.get(), &n, &c, &h, &w) == CUDNN_STATUS_SUCCESS &&
           h == p.rows.out && w == p.columns.out;
  }

  dtype type_;
  dnn_library library_;
  dnn_tensor images_, output_;
  library_object<cudnnPoolingDescriptor_t, &cudnnDestroyPoolingDescriptor> window_;
};

}  // namespace tagma::device::cuda
