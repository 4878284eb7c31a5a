// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of collector.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/data/collector.hpp"

namespace tagma::datasets::detail {

TAGMA_COLD TAGMA_DECL bool batch_rows::begin(const shape& element, const shape& memory) {
  row_ = element;
  if (row_.rank == max_rank)
    fail(status_code::invalid_argument, {"a batch of tensors of shape ", to_string(row_), " has too many axes"});
  // Memory that is there must do for the rows of a batch, and not have more than any batch needs.
  return memory[0] < at_least() || memory[0] > most_ || !detail::is_row_of(row_, memory);
}

TAGMA_DECL bool batch_rows::lacks(extent i, const shape& element, const shape& memory, std::size_t component) {
  if (i == 0) return begin(element, memory);
  if (!(element == row_)) differ(i, element, component);
  return i == memory[0];
}

TAGMA_COLD TAGMA_DECL shape batch_rows::more(extent i) const {
  shape dims{i == 0 ? at_least() : i > most_ / 2 ? most_ : i * 2};
  for (const extent e : row_.span()) dims.push_back(e);
  return dims;
}

TAGMA_COLD TAGMA_DECL void batch_rows::differ(extent i, const shape& element, std::size_t component) const {
  fail(status_code::invalid_argument,
       {"a batch needs elements of one shape: component ", component, " of the first element has shape ",
        to_string(row_), " and that of element ", i, " has shape ", to_string(element)});
}

}  // namespace tagma::datasets::detail
