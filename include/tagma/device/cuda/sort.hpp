// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Sorting on the device, by CUB. Every sort of this library is this one function, since it costs the compiler seconds.

#include <cub/device/device_radix_sort.cuh>

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/libraries.hpp"

#if TAGMA_CUDA_EMULATION
#include <algorithm>
#include <utility>
#include <vector>
#endif

namespace tagma::device::cuda {

/// Numbers with the positions that they came from.
struct sort_arrays {
  std::uint32_t* keys = nullptr;
  std::uint32_t* values = nullptr;
  std::uint32_t* sorted_keys = nullptr;
  std::uint32_t* sorted_values = nullptr;
  std::int64_t count = 0;
  int bits = 32;  ///< the lowest bits of keys that count
};

/// Bytes that CUB needs for a sort.
[[nodiscard]] TAGMA_COLD inline std::size_t sort_bytes(const sort_arrays& a) {
  std::size_t bytes = 0;
  if (a.count == 0 || emulates()) return bytes;
  check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, a.keys, a.sorted_keys, a.values, a.sorted_values, a.count, 0,
                                        a.bits, nullptr),
        "cub::DeviceRadixSort::SortPairs");
  return bytes;
}

/// Sorts by keys; values of equal keys stay in their order.
inline void sort(const sort_arrays& a, std::byte* memory, std::size_t bytes, const run_context& context) {
  if (a.count == 0) return;
#if TAGMA_CUDA_EMULATION
  if (emulates()) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (std::int64_t i = 0; i < a.count; ++i) pairs.emplace_back(a.keys[i], a.values[i]);
    const auto mask = a.bits == 32 ? ~0u : (1u << a.bits) - 1;
    std::stable_sort(pairs.begin(), pairs.end(),
                     [mask](const auto& x, const auto& y) { return (x.first & mask) < (y.first & mask); });
    for (std::int64_t i = 0; i < a.count; ++i) {
      a.sorted_keys[i] = pairs[static_cast<std::size_t>(i)].first;
      a.sorted_values[i] = pairs[static_cast<std::size_t>(i)].second;
    }
    return;
  }
#endif
  check(cub::DeviceRadixSort::SortPairs(memory, bytes, a.keys, a.sorted_keys, a.values, a.sorted_values, a.count, 0,
                                        a.bits, stream_of(context)),
        "cub::DeviceRadixSort::SortPairs");
}

/// Positions are 32 bits wide.
[[nodiscard]] constexpr bool can_be_sorted(std::int64_t count) { return (count >> 32) == 0; }

/// The lowest bits that hold every number up to `largest`.
[[nodiscard]] constexpr int significant_bits(std::int64_t largest) {
  int bits = 1;
  while ((largest >> bits) > 0) ++bits;
  return bits;
}

/// Where a sort has its arrays in working memory of the stream: in front of what CUB needs.
struct sort_memory {
  std::int64_t count;
  int bits = 32;  ///< the most that a sort looks at

  [[nodiscard]] sort_arrays arrays(std::byte* memory) const {
    const auto array = [&](std::size_t i) { return reinterpret_cast<std::uint32_t*>(memory + i * array_bytes()); };
    return {array(0), array(1), array(2), array(3), count, bits};
  }
  [[nodiscard]] std::size_t bytes() const { return 4 * array_bytes() + sort_bytes(arrays(nullptr)); }
  void reserve(const run_context& context) const { resources_of(context).reserve(bytes()); }
  void sort(const sort_arrays& a, const run_context& context) const {
    const stream_resources& r = resources_of(context);
    const std::size_t used = 4 * array_bytes();
    cuda::sort(a, r.workspace() + used, r.workspace_size() - used, context);
  }

 private:
  [[nodiscard]] std::size_t array_bytes() const {
    return workspace_part(static_cast<std::size_t>(count) * sizeof(std::uint32_t));
  }
};

}  // namespace tagma::device::cuda
