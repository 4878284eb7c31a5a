// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Tensors as the references of the suite see them: double, whatever the elements of a kernel are; and the way from
/// one to the other.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tagma/tensor/dtype.hpp"
#include "tagma/tensor/shape.hpp"

namespace tagma::conformance {

/// A tensor in double. Bool is 0 and 1; a string is the number of a text.
struct array {
  shape dims;
  std::vector<double> at;

  array() = default;
  /// All elements are `value`.
  explicit array(const shape& extents, double value = 0)
      : dims(extents), at(static_cast<std::size_t>(extents.elements()), value) {}
  array(const shape& extents, std::vector<double> values) : dims(extents), at(std::move(values)) {}

  [[nodiscard]] double& operator[](extent i) { return at[static_cast<std::size_t>(i)]; }
  [[nodiscard]] double operator[](extent i) const { return at[static_cast<std::size_t>(i)]; }
};

/// A position in a tensor, and the walk over all of them, row by row.
using position = std::vector<extent>;
void for_each_position(const shape& dims, const auto& visit) {
  position p(static_cast<std::size_t>(dims.rank), 0);
  for (extent i = 0, n = dims.elements(); i < n; ++i) {
    visit(static_cast<const position&>(p));
    for (int a = dims.rank; a-- > 0;) {
      if (++p[static_cast<std::size_t>(a)] < dims[a]) break;
      p[static_cast<std::size_t>(a)] = 0;
    }
  }
}
/// The place in memory of a position of `dims`; where a tensor is stretched, axes in front and extents of 1 do not
/// count.
[[nodiscard]] extent place(const shape& dims, const position& p);

/// The element that a kernel would see: `value` in an element type, and back.
[[nodiscard]] double rounded(dtype type, double value);

/// Writes and reads elements of a kernel. A bool that is neither 0 nor 1, and a string that the suite has not made, are
/// read as NaN.
void write_element(std::byte* to, dtype type, double value);
[[nodiscard]] double read_element(const std::byte* from, dtype type);

/// Strings that a session owns look at the texts of the suite again, as those that a kernel copies; those of no such
/// text stay as they are.
void use_own_texts(std::byte* strings, std::size_t count);

/// How far a kernel may be from the reference, relative to the larger of 1 and what is expected: the one place for it.
/// Kernels of 16-bit floats compute in float and round once; integers, bool and strings are exact.
[[nodiscard]] double tolerance(dtype type);

/// Numbers in a fixed disorder, as a kernel of this element type sees them: from `low` to `high`, whole ones for
/// integers.
[[nodiscard]] array scattered(dtype type, const shape& dims, double low, double high, std::uint64_t seed);

}  // namespace tagma::conformance
