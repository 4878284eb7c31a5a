// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A tile of a product of floats, for processors with AVX2 and no more, where oneDNN leaves much of what they can do
/// unused. It is a text for the assembler: a compiler needs next to no time for it, and gives all of them the same code
/// at every level of optimisation.

#include <cstdint>

#include "tagma/base/config.hpp"

#if defined(__x86_64__)

namespace tagma::device::cpu::detail {

/// Six rows by sixteen columns of sums. The terms of a sum come in runs, within which the factors of a row follow each
/// other in memory.
struct product_tile {
  static constexpr std::int64_t rows = 6, columns = 16;

  const float* const* run;   ///< where the first run of each row is
  std::int64_t next_run;     ///< from there to where the next run of each row is
  std::int64_t terms, runs;  ///< of a run, and how many of them; both at least 1
  const float* panel;        ///< the other factors: sixteen for each term, one behind the other
  const float* start;        ///< what the sums of each column begin with
  float* to;
  std::int64_t next_row;  ///< elements of the result from a row to the next
  float least, most;      ///< results are no lower and no higher; NaN stays

  /// Sums are formed in the order of the terms, each product joined to its sum with one rounding.
  void compute() const;
};

}  // namespace tagma::device::cpu::detail

#endif

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/product_tile.ipp"
#endif
