// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The variables of a session at its start.

#include "tagma/runtime/initial_value.hpp"
#include "tagma/runtime/session_core.hpp"

namespace tagma::runtime {

TAGMA_COLD inline void session_core::initialize(std::size_t i) {
  const plan::plan_variable& v = variables_[i];
  write_initial_value(address_[i], v.spec, v.initializer, v.key == nullptr ? nullptr : values_.find(v.key), v.number,
                      {context_.seed, tagma::detail::stream_of(v.name, v.suffix), 0});
  initialized_[i] = true;
}

}  // namespace tagma::runtime
