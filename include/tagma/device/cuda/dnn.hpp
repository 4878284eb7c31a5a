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

struct dnn_handle final : library_handle {
  explicit dnn_handle(void* stream) {
    check_dnn(cudnnCreate(handle.place()), "a handle");
    check_dnn(cudnnSetStream(handle.get(), static_cast<cudaStream_t>(stream)), "a stream");
  }
  library_object<cudnnHandle_t, &cudnnDestroy> handle;
};

[[nodiscard]] constexpr cudnnDataType_t dnn_type(dtype type) {
  return type == dtype::float64    ? CUDNN_DATA_DOUBLE
         : type == dtype::float16  ? CUDNN_DATA_HALF
         : type == dtype::bfloat16 ? CUDNN_DATA_BFLOAT16
                                   : CUDNN_DATA_FLOAT;
}

}  // namespace detail

/// The handle of cuDNN for a stream; made when it is asked for first.
[[nodiscard]] inline cudnnHandle_t dnn_of(stream_resources& r) {
  if (r.dnn == nullptr) r.dnn = make_owned<detail::dnn_handle>(r.stream());
  return static_cast<detail::dnn_handle*>(r.dnn.get())->handle.get();
}

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
