// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Boxes of elements on the CPU: slices, padding, concatenation.

#include <cstring>

#include "tagma/device/cpu/copy.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/movement.hpp"

namespace tagma::device {

template <>
struct movement<on_cpu> {
  static void move_box(const operand& from, const extent* from_first, const operand& to, const extent* to_first,
                       const shape& extents, const run_context& context) {
    cpu::box b{extents, from.dims, to.dims, {}, {}};
    for (int a = 0; a < extents.rank; ++a) {
      b.from_first[a] = from_first[a];
      b.to_first[a] = to_first[a];
    }
    cpu::copy_box(to.data, from.data, b, size_of(to.type), context);
  }
  static void clear(const operand& to, const run_context&) { cpu::fill_zero(to); }
  static void spread(const operand& to, const operand& value, const run_context&) {
    const std::size_t size = size_of(to.type), bytes = static_cast<std::size_t>(to.elements()) * size;
    std::memcpy(to.data, value.data, size);
    for (std::size_t done = size; done < bytes; done *= 2)
      std::memcpy(to.data + done, to.data, done < bytes - done ? done : bytes - done);
  }
};

}  // namespace tagma::device
