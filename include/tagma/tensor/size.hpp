// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How large tensors may be. Elements are counted and bytes are checked here and nowhere else.

#include <string>
#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/tensor/spec.hpp"

namespace tagma {

/// The most bytes that a tensor may have, and that all tensors of a plan may take together: more than any process can
/// address. Sums of a few extents that keep to it, and sizes that are rounded up, fit 64 bits.
inline constexpr extent max_bytes = extent{1} << 56;

/// The number of elements of a shape whose extents are all known, or -1 if an extent is negative or the elements, each
/// of `element_size` bytes, do not fit into 63 bits of bytes.
[[nodiscard]] constexpr extent count_elements(const shape& dims, std::size_t element_size = 1) {
  bool empty = false;
  for (const extent e : dims.span()) {
    if (e < 0) return -1;
    empty = empty || e == 0;
  }
  if (empty) return 0;
  const extent limit = INT64_MAX / static_cast<extent>(element_size);
  extent n = 1;
  for (const extent e : dims.span()) {
    if (e > limit / n) return -1;
    n *= e;
  }
  return n;
}

/// Bytes of a tensor whose extents are all known; `too_many` where 63 bits do not hold them.
[[nodiscard]] TAGMA_COLD constexpr extent bytes_of(const tensor_spec& s) {
  return bounded_product(s.dims.elements(), static_cast<extent>(size_of(s.type)));
}

/// True if the product of all extents, in bytes, is at most `max_bytes`. As in NumPy an extent of 0 counts as 1, so
/// that products of some of the extents, such as strides, keep to the bound as well. So does one that is not known:
/// where this is false, the tensor is too large whatever it will be.
[[nodiscard]] TAGMA_COLD constexpr bool is_addressable(const tensor_spec& s) {
  extent bytes = static_cast<extent>(size_of(s.type));
  for (int i = 0; i < s.dims.rank; ++i)
    if (s.dims.extents[i] > 1) bytes = bounded_product(bytes, s.dims.extents[i]);
  return bytes <= max_bytes;
}

/// "float32 [2097152, 2097152, 2097152] of about 2^65 bytes", for one that is not addressable.
[[nodiscard]] std::string size_text(const tensor_spec& s);

namespace detail {
[[noreturn]] void fail_size(const tensor_spec& s, std::string_view of);
}  // namespace detail

/// Throws InvalidArgument if an extent is negative or `dyn`, and ResourceExhausted if the tensor is not addressable.
/// The sentence begins with `of`, which names what holds the tensor: "model.safetensors: ".
TAGMA_COLD constexpr void check_size(const tensor_spec& s, std::string_view of = {}) {
  if (!s.dims.is_known() || !is_addressable(s)) detail::fail_size(s, of);
}

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/tensor/size.ipp"
#endif
