// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What all calls of cuDNN share: the handle of a stream, tensors, paddings, errors.

#include <cudnn.h>

#include "tagma/device/cuda/libraries.hpp"
#include "tagma/device/windows.hpp"

namespace tagma::device::cuda {

inline void check_dnn(cudnnStatus_t status, const char* what) {
  if (status != CUDNN_STATUS_SUCCESS)
    fail(status_code::internal, {"cuDNN refused ", what, ": ", cudnnGetErrorString(status)});
}

/// What came of a call that cuDNN may not support: false if so, and then nothing was launched.
[[nodiscard]] inline bool dnn_did(cudnnStatus_t status, const char* what) {
  if (CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED) return false;
  check_dnn(status, what);
  return true;
}

/// One axis of the images that cuDNN is given, which pads both ends equally. Where that does not do, images lie between
/// explicit zeros.
struct dnn_axis {
  std::int64_t in = 0;       ///< extent of the images
  std::int64_t padding = 0;  ///< at both ends, by cuDNN
  std::int64_t before = 0;   ///< zeros in front that are part of the images

  explicit dnn_axis(const conv_axis& a) : in(a.in), padding(a.before) {
    const std::int64_t room = a.in + 2 * a.before - (a.size - 1) * a.dilation - 1;
    if (room >= 0 && room / a.stride + 1 == a.out) return;
    in = a.before + a.in + a.after;
    padding = 0;
    before = a.before;
  }
};

namespace detail {

inline void make_dnn(cudnnHandle_t* handle) { check_dnn(cudnnCreate(handle), "a handle"); }
using dnn_handle = shared_handle<cudnnHandle_t, &make_dnn>;

[[nodiscard]] constexpr cudnnDataType_t dnn_type(dtype type) {
  return type == dtype::float64    ? CUDNN_DATA_DOUBLE
         : type == dtype::float16  ? CUDNN_DATA_HALF
         : type == dtype::bfloat16 ? CUDNN_DATA_BFLOAT16
                                   : CUDNN_DATA_FLOAT;
}

}  // namespace detail

/// cuDNN on the GPU of a plan, made with it.
class dnn_library {
 public:
  /// The library while this lives, on the stream of a run.
  class use : public detail::dnn_handle::use {
   public:
    use(const dnn_library& library, const run_context& context) : detail::dnn_handle::use(library.handle_) {
      check_dnn(cudnnSetStream(get(), stream_of(context)), "a stream");
    }
  };

 private:
  detail::dnn_handle& handle_ = detail::dnn_handle::of_current_gpu();
};

/// A tensor of four axes without gaps.
class dnn_tensor {
 public:
  dnn_tensor() { check_dnn(cudnnCreateTensorDescriptor(made_.place()), "a tensor"); }

  /// False where cuDNN does not know such a tensor: it counts elements with 32 bits.
  [[nodiscard]] bool describe(cudnnTensorFormat_t format, dtype type, std::int64_t images, std::int64_t channels,
                              std::int64_t rows, std::int64_t columns) const {
    return images * channels * rows * columns <= 0x7fffffff &&
           cudnnSetTensor4dDescriptor(made_.get(), format, detail::dnn_type(type), static_cast<int>(images),
                                      static_cast<int>(channels), static_cast<int>(rows),
                                      static_cast<int>(columns)) == CUDNN_STATUS_SUCCESS;
  }
  [[nodiscard]] cudnnTensorDescriptor_t get() const { return made_.get(); }

 private:
  library_object<cudnnTensorDescriptor_t, &cudnnDestroyTensorDescriptor> made_;
};

}  // namespace tagma::device::cuda
