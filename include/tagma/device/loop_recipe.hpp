// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Fused loops that are data. A body is a loop of one operation, so each result is rounded as in a loop of that alone;
/// values of 16 bits are floats until they are stored.

#include <cstdint>

#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/device/loop.hpp"

namespace tagma::device {

/// The function of a device that does one operation over neighbours. Each device knows the type of its own.
using loop_body = void (*)();

/// The most values that a loop keeps beside what it reads and writes: loads that are converted or repeated, results,
/// and one on its way.
inline constexpr std::size_t most_rows = most_loads + ir::max_group + 1;

/// What a loop does with its elements: calls `body` over rows.
struct loop_call {
  loop_body body = nullptr;
  std::int16_t operand[3]{};  ///< loads first, then rows of scratch memory
  std::int16_t operands = 0;
  std::int16_t result = 0;          ///< a row, or -1 for the result of the loop
  dtype type = dtype::none;         ///< of the result
  const char* operation = nullptr;  ///< its `ir::key`
};
/// A tensor that a loop reads: where its elements are, or in a row of scratch memory.
struct loop_input {
  std::int64_t size = 1;        ///< bytes of an element
  bool repeated = false;        ///< one element stands for a whole row
  loop_body convert = nullptr;  ///< from 16 bits to float
  std::int16_t row = -1;        ///< of what is repeated or converted
};

/// A fused loop as data.
struct loop_recipe {
  heap_array<loop_input> inputs;
  heap_array<loop_call> calls;
  std::size_t rows = 0;  ///< of scratch memory
};

namespace detail {

[[nodiscard]] constexpr bool is_half(dtype type) { return type == dtype::float16 || type == dtype::bfloat16; }
/// The type that elements of a type are computed in.
[[nodiscard]] constexpr dtype computed_as(dtype type) { return is_half(type) ? dtype::float32 : type; }

}  // namespace detail
}  // namespace tagma::device
