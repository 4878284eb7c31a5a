// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Checks of what operations say they take: each problem of the suite is taken, and what random changes make of it is
/// either refused with a sentence or inferred without harm.

#include <vector>

#include "tagma/ir/op.hpp"

namespace tagma::conformance {

/// What a record of an operation has.
struct record_parts {
  std::vector<tensor_spec> in;
  std::vector<ir::attribute> attributes;
  tensor_spec out{};  ///< where it is not inferred
};

/// Checks a good record and `changes` random changes of it.
void check_arguments(const ir::op_rules& rules, const record_parts& good, int changes = 60);

}  // namespace tagma::conformance
