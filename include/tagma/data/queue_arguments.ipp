// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of queue_arguments.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/data/queue_arguments.hpp"

namespace tagma::detail {

TAGMA_COLD TAGMA_DECL void refuse_number(std::size_t component, const tensor_spec& spec, bool negative,
                                         std::uint64_t amount) {
  fail(status_code::invalid_argument,
       {"component ", component, " is ", to_string(spec), ", which has no ", negative ? "-" : "", amount});
}

}  // namespace tagma::detail
