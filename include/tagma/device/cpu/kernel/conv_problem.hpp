// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A convolution in numbers, and how its batch is split into tasks.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/windows.hpp"

namespace tagma::device::cpu::detail {

/// A convolution whose batch is split into parts, or if it has few images, each of these into bands of rows.
struct conv_problem : device::conv_problem {
  std::int64_t parts = 1, images_per_part = 1;
  std::int64_t tasks = 1;                     ///< into which the parts are gathered; no bytes depend on it
  std::int64_t bands = 1, rows_per_band = 0;  ///< of an image; rows of its result

  using device::conv_problem::conv_problem;

  /// Splits the batch by the work it is, never by the number of threads, so that sums are always formed the same way.
  void split(std::int64_t most, double least_work);
  /// Splits the batch into smaller parts, for as many tasks.
  void split_finely(double least_work);
  /// Splits each image as well if parts of one image are fewer than `most` and have much work, by the same rule.
  void split_rows(std::int64_t most, double least_work);
  /// Whether it takes little longer than to wake a thread.
  [[nodiscard]] bool is_small() const { return work() < 8e6; }
  /// Whether each window is one element of all channels, and every element is in one.
  [[nodiscard]] bool sees_elements() const {
    return groups == 1 && rows.size * columns.size == 1 && rows.in == rows.out && columns.in == columns.out &&
           rows.stride * columns.stride == 1 && rows.before + columns.before == 0;
  }
  /// Images of part `t`.
  [[nodiscard]] std::int64_t count(std::int64_t t) const;
  /// Rows of a band: those of the result that it has, and those of the image that these see.
  struct band {
    std::int64_t first_in = 0, first_out = 0;
    conv_axis rows;
  };
  [[nodiscard]] band band_of(std::int64_t number) const;

 private:
  /// Multiplications.
  [[nodiscard]] double work() const { return static_cast<double>(output_elements()) * static_cast<double>(patch()); }
};

/// What computes a convolution of floats in its role. Without virtual functions but the destructor, which programs
/// would compile that have no convolution.
class image_convolution {
 public:
  image_convolution(const image_convolution&) = delete;
  image_convolution& operator=(const image_convolution&) = delete;
  virtual ~image_convolution() = default;

  /// Arranges the filter for a run that has some images at a time. `bias` is null where there is none.
  void begin(const float* filter, const float* bias, const run_context& context) {
    begin_(*this, filter, bias, context);
  }
  /// `a` and `b` are the operands of the role, in the order of its operation. `begin` was first where `args` has some
  /// images of them.
  void run(const float* a, const float* b, const float* bias, float* out, const kernel_args& args,
           const run_context& context) {
    run_(*this, a, b, bias, out, args, context);
  }

  std::int64_t together = 0;  ///< images, if some may be done without the others

 protected:
  image_convolution() = default;
  /// This is a `Convolution`, which has both functions of its own.
  template <class Convolution>
  void becomes() {
    begin_ = [](image_convolution& self, const float* filter, const float* bias, const run_context& context) {
      static_cast<Convolution&>(self).begin(filter, bias, context);
    };
    run_ = [](image_convolution& self, const float* a, const float* b, const float* bias, float* out,
              const kernel_args& args,
              const run_context& context) { static_cast<Convolution&>(self).run(a, b, bias, out, args, context); };
  }

 private:
  void (*begin_)(image_convolution&, const float*, const float*, const run_context&) = nullptr;
  void (*run_)(image_convolution&, const float*, const float*, const float*, float*, const kernel_args&,
               const run_context&) = nullptr;
};

/// to[i] = sum of `count` vectors that follow each other in memory, `stride` apart.
template <class T>
struct sum_vectors {
  TAGMA_INLINE static void run(T* to, const T* from, std::int64_t n, std::int64_t count, std::int64_t stride) {
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
      auto total = load<8>(from + i);
      for (std::int64_t k = 1; k < count; ++k) total = total + load<8>(from + k * stride + i);
      store(to + i, total);
    }
    for (; i < n; ++i) {
      T total = from[i];
      for (std::int64_t k = 1; k < count; ++k) total = total + from[k * stride + i];
      to[i] = total;
    }
  }
};

}  // namespace tagma::device::cpu::detail

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/kernel/conv_problem.ipp"
#endif
