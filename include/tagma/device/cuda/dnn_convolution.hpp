// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Convolutions by cuDNN, with algorithms that give the same bytes in every run. Images have the channels last, as
/// here; filters are [filters, height, width, channels] there, so that they are rearranged on the way. cuDNN pads both
/// ends equally: where that does not do, images are copied between explicit zeros.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/dnn.hpp"
#include "tagma/device/cuda/move.hpp"

namespace tagma::device::cuda {

/// A convolution of given extents with its algorithm.
class dnn_convolution {
 public:
  /// A null pointer if cuDNN has no algorithm for the problem that gives the same bytes in every run, or none whose
  /// working memory the device has room for. That memory is reserved on the stream.
  [[nodiscard]] TAGMA_COLD static owned<dnn_convolution> make(const conv_problem& p, conv_role role, dtype type,
                                                              const run_context& context) {
    auto made = owned<dnn_convolution>(new dnn_convolution(p, role, type));
    return made->describe() && made->choose(context) ? std::move(made) : owned<dnn_convolution>();
  }

  /// False if cuDNN does not support the problem after all; then `out` is as it was.
  /// @param a images, or for the gradient by images that of the output
  /// @param b the filter, or for the gradient by the filter that of the output
  [[nodiscard]] bool run(const operand& a, const operand& b, const operand& out, const run_context& context) const {
    stream_resources& r = resources_of(context);
    std::byte* const arranged = r.workspace() + library_bytes();
    std::byte* const images = arranged + filter_bytes();
    const library_factors by(type_);
    const dnn_library::use library(library_, context);
    if (role_ == conv_role::forward) {
      arrange(b.data, arranged, context);
      const void* x = padded_images(a.data, images, context);
      return dnn_did(cudnnConvolutionForward(library.get(), by.one(), images_.get(), x, filter_.get(), arranged,
                                             convolution_.get(), forward_, r.workspace(), bytes_, by.zero(),
                                             output_.get(), out.data),
                     "a convolution");
    }
    if (role_ == conv_role::input_gradient) {
      arrange(b.data, arranged, context);
      void* to = is_padded() ? images : out.data;
      const bool done = dnn_did(cudnnConvolutionBackwardData(library.get(), by.one(), filter_.get(), arranged,
                                                             output_.get(), a.data, convolution_.get(), by_images_,
                                                             r.workspace(), bytes_, by.zero(), images_.get(), to),
                                "a gradient by images");
      if (done && is_padded()) move_images(images, out.data, false, context);
      return done;
    }
    const void* x = padded_images(a.data, images, context);
    const bool done = dnn_did(cudnnConvolutionBackwardFilter(library.get(), by.one(), images_.get(), x, output_.get(),
                                                             b.data, convolution_.get(), by_filter_, r.workspace(),
                                                             bytes_, by.zero(), filter_.get(), arranged),
                              "a gradient by a filter");
    if (done) move(arranged, out.data, from_theirs(), size(), context);
    return done;
  }

 private:
  using filter_object = library_object<cudnnFilterDescriptor_t, &cudnnDestroyFilterDescriptor>;
  using convolution_object = library_object<cudnnConvolutionDescriptor_t, &cudnnDestroyConvolutionDescriptor>;

  dnn_convolution(const conv_problem& p, conv_role role, dtype type)
      : p_(p), role_(role), type_(type), rows_(p.rows), columns_(p.columns) {
    check_dnn(cudnnCreateFilterDescriptor(filter_.place()), "a filter");
    check_dnn(cudnnCreateConvolutionDescriptor(convolution_.place()), "a convolution");
  }

  [[nodiscard]] std::size_t size() const { return size_of(type_); }
  [[nodiscard]] std::size_t library_bytes() const { return workspace_part(bytes_); }
  [[nodiscard]] std::size_t filter_bytes() const {
    return workspace_part(static_cast<std::size_t>(p_.filter_elements()) * size());
  }
  [[nodiscard]] std::int64_t padded_elements() const { return p_.images * rows_.in * columns_.in * p_.channels; }
  [[nodiscard]] std::size_t padded_bytes() const {
    return is_padded() ? workspace_part(static_cast<std::size_t>(padded_elements()) * size()) : 0;
  }
  [[nodiscard]] bool is_padded() const { return rows_.in != p_.rows.in || columns_.in != p_.columns.in; }

  /// False where cuDNN does not know such a convolution.
  [[nodiscard]] bool describe() {
    const auto narrow = [](std::int64_t x) { return static_cast<int>(x); };
    const bool described =
        p_.filter_elements() <= 0x7fffffff &&
        images_.describe(CUDNN_TENSOR_NHWC, type_, p_.images, p_.channels, rows_.in, columns_.in) &&
        output_.describe(CUDNN_TENSOR_NHWC, type_, p_.images, p_.filters, p_.rows.out, p_.columns.out) &&
        cudnnSetFilter4dDescriptor(filter_.get(), detail::dnn_type(type_), CUDNN_TENSOR_NHWC, narrow(p_.filters),
                                   narrow(p_.own_channels()), narrow(p_.rows.size),
                                   narrow(p_.columns.size)) == CUDNN_STATUS_SUCCESS &&
        cudnnSetConvolution2dDescriptor(
            convolution_.get(), narrow(rows_.padding), narrow(columns_.padding), narrow(p_.rows.stride),
            narrow(p_.columns.stride), narrow(p_.rows.dilation), narrow(p_.columns.dilation), CUDNN_CROSS_CORRELATION,
            type_ == dtype::float64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT) == CUDNN_STATUS_SUCCESS &&
        cudnnSetConvolutionGroupCount(convolution_.get(), narrow(p_.groups)) == CUDNN_STATUS_SUCCESS;
    if (!described) return false;
    check_dnn(
        cudnnSetConvolutionMathType(
            convolution_.get(), type_ == dtype::float32 && TAGMA_CUDA_TF32 == 0 ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH),
        "a kind of arithmetic");
    int n = 0, c = 0, h = 0, w = 0;
    return cudnnGetConvolution2dForwardOutputDim(convolution_.get(), images_.get(), filter_.get(), &n, &c, &h, &w) ==
               CUDNN_STATUS_SUCCESS &&
           h == narrow(p_.rows.out) && w == narrow(p_.columns.out);
  }

  static constexpr int most_algorithms = 16;
  static constexpr std::size_t most_workspace = std::size_t{1} << 30;

  /// The quickest algorithm by cuDNN's own estimate that always gives the same bytes, of those that there is room for.
  template <class Estimate, class Ask, class Bytes, class Algorithm>
  [[nodiscard]] bool pick(stream_resources& r, Algorithm& to, const Ask& ask, const Bytes& bytes) {
    Estimate estimates[most_algorithms];
    int count = 0;
    if (ask(most_algorithms, &count, static_cast<Estimate*>(estimates)) != CUDNN_STATUS_SUCCESS) return false;
    for (int i = 0; i < count; ++i) {
      const Estimate& e = estimates[i];
      if (e.status != CUDNN_STATUS_SUCCESS || e.determinism != CUDNN_DETERMINISTIC) continue;
      if (type_ != dtype::float32 || TAGMA_CUDA_TF32 != 0)
        check_dnn(cudnnSetConvolutionMathType(convolution_.get(), e.mathType), "a kind of arithmetic");
      std::size_t needed = 0;
      if (bytes(e.algo, &needed) != CUDNN_STATUS_SUCCESS || needed > most_workspace) continue;
      to = e.algo;
      bytes_ = needed;
      if (r.try_reserve(library_bytes() + filter_bytes() + padded_bytes())) return true;
    }
    return false;
  }

  [[nodiscard]] bool choose(const run_context& context) {
    stream_resources& r = resources_of(context);
    const dnn_library::use library(library_, context);
    const cudnnHandle_t h = library.get();
    const auto x = images_.get();
    const auto y = output_.get();
    const auto f = filter_.get();
    const auto c = convolution_.get();
    if (role_ == conv_role::forward)
      return pick<cudnnConvolutionFwdAlgoPerf_t>(
          r, forward_,
          [&](int most, int* count, auto* to) {
            return cudnnGetConvolutionForwardAlgorithm_v7(h, x, f, c, y, most, count, to);
          },
          [&](auto algorithm, std::size_t* to) {
            return cudnnGetConvolutionForwardWorkspaceSize(h, x, f, c, y, algorithm, to);
          });
    if (role_ == conv_role::input_gradient)
      return pick<cudnnConvolutionBwdDataAlgoPerf_t>(
          r, by_images_,
          [&](int most, int* count, auto* to) {
            return cudnnGetConvolutionBackwardDataAlgorithm_v7(h, f, y, c, x, most, count, to);
          },
          [&](auto algorithm, std::size_t* to) {
            return cudnnGetConvolutionBackwardDataWorkspaceSize(h, f, y, c, x, algorithm, to);
          });
    return pick<cudnnConvolutionBwdFilterAlgoPerf_t>(
        r, by_filter_,
        [&](int most, int* count, auto* to) {
          return cudnnGetConvolutionBackwardFilterAlgorithm_v7(h, x, y, c, f, most, count, to);
        },
        [&](auto algorithm, std::size_t* to) {
          return cudnnGetConvolutionBackwardFilterWorkspaceSize(h, x, y, c, f, algorithm, to);
        });
  }

  /// Filters from our order to theirs.
  void arrange(const void* from, void* to, const run_context& context) const {
    const std::int64_t c = p_.own_channels(), f = p_.filters;
    moved_box box;
    box.add(f, 1, p_.rows.size * p_.columns.size * c);
    box.add(p_.rows.size * p_.columns.size, c * f, c);
    box.add(c, f, 1);
    move(from, to, box, size(), context);
  }
  [[nodiscard]] moved_box from_theirs() const {
    const std::int64_t c = p_.own_channels(), f = p_.filters, window = p_.rows.size * p_.columns.size;
    moved_box box;
    box.add(window, c, c * f);
    box.add(c, 1, f);
    box.add(f, window * c, 1);
    return box;
  }

  /// Images between zeros, or as they are.
  [[nodiscard]] const void* padded_images(const void* x, void* memory, const run_context& context) const {
    if (!is_padded()) return x;
    clear_on_device(memory, static_cast<std::size_t>(padded_elements()) * size(), context);
    move_images(x, memory, true, context);
    return memory;
  }
  /// Moves images to where they lie between zeros, or back.
  void move_images(const void* from, void* to, bool there, const run_context& context) const {
    const std::int64_t row = columns_.in * p_.channels, own_row = p_.columns.in * p_.channels;
    const auto first = static_cast<std::size_t>(rows_.before * row + columns_.before * p_.channels) * size();
    moved_box box;
    const auto add = [&](std::int64_t extent, std::int64_t ours, std::int64_t theirs) {
      box.add(extent, there ? ours : theirs, there ? theirs : ours);
    };
    add(p_.images, p_.rows.in * own_row, rows_.in * row);
    add(p_.rows.in, own_row, row);
    add(own_row, 1, 1);
    move(static_cast<const std::byte*>(from) + (there ? 0 : first), static_cast<std::byte*>(to) + (there ? first : 0),
         box, size(), context);
  }

  dnn_library library_;
  conv_problem p_;
  conv_role role_;
  dtype type_;
  dnn_axis rows_, columns_;
  dnn_tensor images_, output_;
  filter_object filter_;
  convolution_object convolution_;
  cudnnConvolutionFwdAlgo_t forward_{};
  cudnnConvolutionBwdDataAlgo_t by_images_{};
  cudnnConvolutionBwdFilterAlgo_t by_filter_{};
  std::size_t bytes_ = 0;
};

}  // namespace tagma::device::cuda
