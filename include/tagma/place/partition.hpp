// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Into how many parts a large variable is cut, along one axis: TensorFlow's three partitioners.

#include "tagma/tensor/size.hpp"

namespace tagma {

/// A cut into parts along one axis.
struct partition {
  int axis = 0;
  extent parts = 1;

  friend constexpr bool operator==(const partition&, const partition&) = default;
};

/// The extent of part `k` along the axis that is cut: the first parts take one more each until nothing is left over.
[[nodiscard]] constexpr extent part_extent(extent whole, extent parts, extent k) {
  return whole / parts + (k < whole % parts ? 1 : 0);
}
/// Where part `k` begins.
[[nodiscard]] constexpr extent part_begin(extent whole, extent parts, extent k) {
  const extent longer = whole % parts;
  return k * (whole / parts) + (k < longer ? k : longer);
}

namespace detail {
/// Bytes of a tensor, where a string counts as `string_bytes`.
[[nodiscard]] constexpr std::int64_t bytes_to_cut(const tensor_spec& spec, std::int64_t string_bytes) {
  const bool text = spec.type == dtype::string;
  return bounded_product(spec.dims.elements(), text ? string_bytes : static_cast<std::int64_t>(size_of(spec.type)));
}
[[nodiscard]] constexpr extent round_up(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); }
[[nodiscard]] constexpr extent at_least_one(extent n) { return n < 1 ? 1 : n; }
}  // namespace detail

/// A number of parts, but no empty ones.
struct fixed_size_partitioner {
  extent parts = 1;
  int axis = 0;

  /// How a variable of this type is cut.
  [[nodiscard]] constexpr partition operator()(const tensor_spec& spec) const {
    const extent whole = spec.dims[axis];
    return {axis, detail::at_least_one(parts < whole ? parts : whole)};
  }
};

/// As many parts as `least_bytes` go into the whole, rounded up as in TensorFlow, so that a part may have less; at most
/// `most_parts`, and no empty ones.
struct min_max_partitioner {
  extent most_parts = 1;
  int axis = 0;
  std::int64_t least_bytes = 256 * 1024;
  std::int64_t string_bytes = 16;  ///< what a string counts

  /// How a variable of this type is cut.
  [[nodiscard]] constexpr partition operator()(const tensor_spec& spec) const {
    extent parts = detail::round_up(detail::bytes_to_cut(spec, string_bytes), least_bytes);
    if (most_parts < parts) parts = most_parts;
    if (spec.dims[axis] < parts) parts = spec.dims[axis];
    return {axis, detail::at_least_one(parts)};
  }
};

/// As few parts as leave each at most `most_bytes`, if one slice along the axis is not larger; `most_parts` is a bound
/// if it is not 0.
struct axis_size_partitioner {
  std::int64_t most_bytes = 0;
  int axis = 0;
  extent most_parts = 0;
  std::int64_t string_bytes = 16;  ///< what a string counts

  /// How a variable of this type is cut.
  [[nodiscard]] constexpr partition operator()(const tensor_spec& spec) const {
    const extent whole = spec.dims[axis];
    if (whole == 0) return {axis, 1};
    const std::int64_t slice = detail::bytes_to_cut(spec, string_bytes) / whole;
    const extent slices = detail::at_least_one(slice == 0 ? whole : most_bytes / slice);
    extent parts = detail::round_up(whole, slices);
    if (most_parts > 0 && most_parts < parts) parts = most_parts;
    return {axis, detail::at_least_one(parts)};
  }
};

}  // namespace tagma
