// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Convolutions of floats by tiles of our own, which read images where they lie.

#include <cstring>

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
/// place with zeros. A template, so that programs without convolutions do not compile it.
/// @tparam T float
template <class T>
class direct_convolution final : public image_convolution {
 public:
  /// Whether oneDNN may be slower here: on processors with AVX2 and no AVX-512, or where TAGMA_CPU_LEVEL says so.
  static bool suits_processor() { return machine_level() == level::v3; }
  /// A null pointer where oneDNN is faster: for windows of single pixels without steps, large ones, few channels and
  /// groups. Also for filters that leave part of a tile.
  /// @param lasting the filter is the same until `writes` of the context is another number
  static owned<image_convolution> make(const conv_problem& p, const conv_epilogue& after, bool lasting);

  void begin(const T* filter, const T* bias, const run_context& context);
  /// Images have six results at least.
  void run(const T* x, const T* filter, const T* bias, T* y, const kernel_args& args, const run_context& context);

 private:
  direct_convolution(const conv_problem& p, const conv_epilogue& after, bool lasting);

  /// Brings the filter into panels of sixteen results, with the terms in the order of a window.
  void arrange(const T* filter);
  /// Where the elements of the window of a result are.
  void find(const T* x, std::int64_t pixel, const T** places) const;
  /// The results of `n` pixels of all images from `first` on: at most `room`.
  void some_pixels(const T* x, std::int64_t first, std::int64_t n, T* y) const;
  [[nodiscard]] T* panels() const { return reinterpret_cast<T*>(memory_.data()); }

  /// Pixels whose windows are looked up before their sums are formed: so many that a panel is worth its way there.
  static constexpr std::int64_t pixels = 48, room = pixels + product_tile::rows - 1;
  static constexpr std::int64_t largest = 9;  // of windows

  conv_problem p_;
  T least_, most_;
  bool lasting_;
  std::uint64_t arranged_of_ = ~std::uint64_t{0};  // `writes` of the filter that is arranged
  runtime::aligned_bytes memory_;                  // panels, the bias, and zeros
};

template <class T>
TAGMA_COLD owned<image_convolution> direct_convolution<T>::make(const conv_problem& p, const conv_epilogue& after,
                                                                bool lasting) {
  const std::int64_t window = p.rows.size * p.columns.size;
  if (p.groups != 1 || window > largest || window * p.rows.stride * p.columns.stride == 1 || p.channels < 32 ||
      p.channels * p.filters < 2048 || p.filters % product_tile::columns != 0 ||
      p.images * p.positions() < product_tile::rows)
    return nullptr;
  owned<direct_convolution> made(new direct_convolution(p, after, lasting));
  made->template becomes<direct_convolution>();
  return made;
}

template <class T>
TAGMA_COLD direct_convolution<T>::direct_convolution(const conv_problem& p, const conv_epilogue& after, bool lasting)
    : p_(p),
      least_(after.relu ? 0 : -__builtin_huge_valf()),
      most_(after.six ? 6 : __builtin_huge_valf()),
      lasting_(lasting),
      memory_(static_cast<std::size_t>(p.filter_elements() + p.channels + p.filters) * sizeof(T)) {
  std::memset(memory_.data(), 0, memory_.size());
  if (p.positions() >= product_tile::rows) together = 1;
  if (lasting) runtime::stored_variable::count_writes();
}

template <class T>
TAGMA_COLD void direct_convolution<T>::arrange(const T* filter) {
  constexpr std::int64_t across = product_tile::columns;
  T* to = panels();
  for (const T* first = filter; first < filter + p_.filters; first += across)
    for (const T* from = first; from < filter + p_.filter_elements(); from += p_.filters, to += across)
      std::memcpy(to, from, across * sizeof(T));
}

template <class T>
TAGMA_COLD void direct_convolution<T>::find(const T* x, std::int64_t pixel, const T** places) const {
  const conv_axis &rows = p_.rows, &columns = p_.columns;
  const std::int64_t line = pixel / columns.out, image = line / rows.out;
  for (std::int64_t h = 0; h < rows.size; ++h)
    for (std::int64_t w = 0; w < columns.size; ++w, places += room) {
      const std::int64_t row = rows.seen(line - image * rows.out, h);
      const std::int64_t column = columns.seen(pixel - line * columns.out, w);
      const bool inside = row >= 0 && row < rows.in && column >= 0 && column < columns.in;
      *places = inside ? x + ((image * rows.in + row) * columns.in + column) * p_.channels
                       : panels() + p_.filter_elements() + p_.filters;
    }
}

template <class T>
TAGMA_COLD void direct_convolution<T>::some_pixels(const T* x, std::int64_t first, std::int64_t n, T* y) const {
  constexpr std::int64_t high = product_tile::rows, across = product_tile::columns;
  const T* windows[largest * room];
  for (std::int64_t i = 0; i < n; ++i) find(x, first + i, windows + i);
  product_tile tile;
  tile.next_run = room, tile.terms = p_.channels, tile.runs = p_.rows.size * p_.columns.size;
  tile.panel = panels(), tile.start = panels() + p_.filter_elements();
  tile.next_row = p_.filters, tile.least = least_, tile.most = most_;
  for (std::int64_t q = 0; q < p_.filters; q += across) {
    for (std::int64_t i = 0; i < n; i += high) {
      const std::int64_t at = i + high < n ? i : n - high;  // the last six, some of them once more
      tile.run = windows + at;
      tile.to = y + (first + at) * p_.filters + q;
      tile.compute();
    }
    tile.start += across, tile.panel += across * p_.patch();
  }
}

template <class T>
TAGMA_COLD void direct_convolution<T>::begin(const T* filter, const T* bias, const run_context& context) {
  if (!(lasting_ && arranged_of_ == context.writes)) arrange(filter);
  arranged_of_ = context.writes;
  if (bias != nullptr)
    std::memcpy(panels() + p_.filter_elements(), bias, static_cast<std::size_t>(p_.filters) * sizeof(T));
}

template <class T>
TAGMA_COLD void direct_convolution<T>::run(const T* x, const T* filter, const T* bias, T* y, const kernel_args& args,
                                           const run_context& context) {
  if (args.all == 0) begin(filter, bias, context);
  // So that there are at least six pixels in the last group.
  const std::int64_t all = args.in[0].dims[0] * p_.positions(), groups = (all - product_tile::rows) / pixels + 1;
  // Those of a task have two million multiplications.
  const std::int64_t each = 2000000 / (p_.filter_elements() * pixels) + 1;
  const auto task = [&](std::int64_t t) __attribute__((cold)) {
    for (std::int64_t g = t * each; g < groups && g < (t + 1) * each; ++g)
      some_pixels(x, g * pixels, g + 1 < groups ? pixels : all - g * pixels, y);
  };
  context.threads->parallel_for(pieces(groups, each), task,
                                p_.is_small() ? runtime::helpers::awake : runtime::helpers::woken);
}

}  // namespace tagma::device::cpu::detail

#endif
