// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The extents of a reduction, and how its work is divided.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/kernel/kernel.hpp"

namespace tagma::device::cuda::detail {

/// Axes with their distances in memory.
struct strided_axes {
  static constexpr int most = 2 * max_rank;
  std::int64_t extents[most]{};
  std::int64_t strides[most]{};
  std::int32_t count = 0;

  void add(std::int64_t extent, std::int64_t stride) {
    extents[count] = extent;
    strides[count++] = stride;
  }
  [[nodiscard]] std::int64_t elements() const {
    std::int64_t n = 1;
    for (int a = 0; a < count; ++a) n *= extents[a];
    return n;
  }
  /// How far element `index`, counted along the last axis first, is from element 0.
  [[nodiscard]] TAGMA_DEVICE std::int64_t offset(std::int64_t index) const {
    std::int64_t offset = 0;
    unravel(index, extents, count, [&](int a, std::int64_t at) { offset += at * strides[a]; });
    return offset;
  }
};

/// The axes of a tensor, outermost first, neighbours of one kind joined; those of extent 1 do not count.
class reduction_axes {
 public:
  void add(std::int64_t extent, bool reduced) {
    if (extent == 1) return;
    if (count_ > 0 && reduced_[count_ - 1] == reduced) {
      extents_[count_ - 1] *= extent;
    } else {
      extents_[count_] = extent;
      reduced_[count_++] = reduced;
    }
  }
  /// Calls `some(extent, stride, reduced)` for all axes.
  template <class Some>
  void each(const Some& some) const {
    for (int a = 0; a < count_; ++a) {
      std::int64_t stride = 1;
      for (int i = a + 1; i < count_; ++i) stride *= extents_[i];
      some(extents_[a], stride, reduced_[a]);
    }
  }
  [[nodiscard]] bool last_is_reduced() const { return count_ > 0 && reduced_[count_ - 1]; }

 private:
  std::int64_t extents_[strided_axes::most]{};
  bool reduced_[strided_axes::most]{};
  int count_ = 0;
};

/// The axes of a tensor of which those in `mask` are reduced.
[[nodiscard]] inline reduction_axes axes_of(const shape& dims, std::uint64_t mask) {
  reduction_axes axes;
  for (int i = 0; i < dims.rank; ++i) axes.add(dims[i], ((mask >> i) & 1) != 0);
  return axes;
}

/// How a reduction is divided. It follows from the extents alone, and so does the order in which numbers are added.
struct reduction_plan {
  strided_axes kept, reduced;
  std::int64_t results = 1, joined = 1;
  std::int64_t splits = 1;     ///< parts of the elements behind one result, joined in a second pass
  std::int64_t per_split = 1;  ///< elements of a part
  std::int32_t lanes = 1;      ///< threads that share a result; a power of two
  bool lanes_are_neighbours = false;

  explicit reduction_plan(const reduction_axes& axes) {
    axes.each([this](std::int64_t extent, std::int64_t stride, bool is_reduced) {
      (is_reduced ? reduced : kept).add(extent, stride);
    });
    divide(axes.last_is_reduced());
    // Enough blocks to fill a large device, if threads have something left to do.
    constexpr std::int64_t enough_blocks = 256, least_work = 16;
    const std::int64_t columns = block_threads / lanes, tiles = pieces(results, columns);
    const std::int64_t wanted = tiles > 0 ? enough_blocks / tiles : 1, worth = joined / (lanes * least_work);
    splits = wanted < worth ? wanted : worth;
    if (splits < 1) splits = 1;
    per_split = pieces(joined, splits);
    if (per_split > 0) splits = pieces(joined, per_split);
  }
  /// Joins `count` parts of each result, which follow each other in memory.
  [[nodiscard]] static reduction_plan of_parts(std::int64_t count, std::int64_t results) {
    reduction_plan p;
    p.kept.add(results, 1);
    p.reduced.add(count, results);
    p.divide(false);
    p.per_split = count;
    return p;
  }

 private:
  reduction_plan() = default;
  void divide(bool last_is_reduced) {
    results = kept.elements();
    joined = reduced.elements();
    lanes_are_neighbours = last_is_reduced;
    const std::int64_t most = last_is_reduced ? block_threads : 8;
    while (2 * lanes <= most && 4 * lanes <= joined) lanes *= 2;
  }
};

}  // namespace tagma::device::cuda::detail
