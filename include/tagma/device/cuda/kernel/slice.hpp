// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Boxes of elements on the GPU: slices, padding, concatenation.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/kernel/kernel.hpp"
#include "tagma/device/cuda/move.hpp"
#include "tagma/device/movement.hpp"

namespace tagma::device {
namespace cuda::detail {

/// Writes one element everywhere.
template <class Word>
struct spread_body {
  struct arguments {
    Word* to;
    const Word* value;
    std::int64_t count;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    const Word value = *a.value;
    for (std::int64_t i = at.index(); i < a.count; i += at.count()) a.to[i] = value;
  }
};

}  // namespace cuda::detail

template <>
struct movement<on_cuda> {
  static void move_box(const operand& from, const extent* from_first, const operand& to, const extent* to_first,
                       const shape& extents, const run_context& context) {
    cuda::move_box(from, from_first, to, to_first, extents, context);
  }
  static void pad_box(const operand& from, const operand& to, const extent* to_first, const std::byte* value,
                      const run_context& context) {
    if (value == nullptr) {
      cuda::clear_on_device(to, context);
    } else {
      cuda::with_word(size_of(to.type), [&](auto zero) {
        using element = decltype(zero);
        cuda::launch<cuda::detail::spread_body<element>>(
            cuda::geometry::over(to.elements()), context,
            {to.as<element>(), reinterpret_cast<const element*>(value), to.elements()});
      });
    }
    cuda::move_box(from, at_the_front, to, to_first, from.dims, context);
  }
};

}  // namespace tagma::device
