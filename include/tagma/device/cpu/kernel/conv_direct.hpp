// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Convolutions of floats by tiles of our own, which read images where they lie.

#include "tagma/base/config.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/device/cpu/dispatch.hpp"
#include "tagma/device/cpu/kernel/conv_problem.hpp"
#include "tagma/device/cpu/product_tile.hpp"
#include "tagma/runtime/aligned_bytes.hpp"
#include "tagma/runtime/stored_variable.hpp"

#if defined(__x86_64__)

namespace tagma::device::cpu::detail {

/// A convolution. The windows of some pixels are lists of places: of an element of the window that sees no pixel, a
/// place with zeros.
class direct_convolution {
 public:
  /// Whether oneDNN may be slower here: on processors with AVX2 and no AVX-512, or where TAGMA_CPU_LEVEL says so.
  static bool suits_processor() { return machine_level() == level::v3; }
  /// A null pointer where oneDNN is faster: for windows of single pixels without steps, large ones, few channels and
  /// groups. Also for filters that leave part of a tile.
  /// @param lasting the filter is the same until `writes` of the context is another number
  static owned<direct_convolution> make(const conv_problem& p, const conv_epilogue& after, bool lasting);

  /// Arranges the filter and the bias for a run.
  /// @param bias null where there is none
  void begin(const float* filter, const float* bias, const run_context& context);
  /// The convolution of so many images, with six results at least.
  void run(const float* x, float* y, std::int64_t images, const run_context& context) const;

 private:
  direct_convolution(const conv_problem& p, const conv_epilogue& after, bool lasting);

  /// Brings the filter into panels of sixteen results, with the terms in the order of a window.
  void arrange(const float* filter);
  /// Where the elements of the window of a result are.
  void find(const float* x, std::int64_t pixel, const float** places) const;
  /// The results of `n` pixels of all images from `first` on: at most `room`.
  void some_pixels(const float* x, std::int64_t first, std::int64_t n, float* y) const;
  [[nodiscard]] float* panels() const { return reinterpret_cast<float*>(memory_.data()); }

  /// Pixels whose windows are looked up before their sums are formed: so many that a panel is worth its way there.
  static constexpr std::int64_t together = 48, room = together + product_tile::rows - 1;
  static constexpr std::int64_t largest = 9;  // of windows

  conv_problem p_;
  float least_, most_;
  bool lasting_;
  std::uint64_t arranged_of_ = ~std::uint64_t{0};  // `writes` of the filter that is arranged
  runtime::aligned_bytes memory_;                  // panels, the bias, and zeros
};

}  // namespace tagma::device::cpu::detail

#endif

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/kernel/conv_direct.ipp"
#endif
