// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The variables of a session at its start.

#include "tagma/base/config.hpp"
#include "tagma/runtime/initial_value.hpp"
#include "tagma/runtime/session_core.hpp"

namespace tagma::runtime {

TAGMA_COLD inline void session_core::initialize(std::size_t i) {
  const plan::plan_variable& v = variables_[i];
  const bool here = device_number(i) < 0;
  aligned_bytes made;
  if (!here) made = room_for(i, "a copy of ");
  write_initial_value(here ? address_[i] : made.data(), v.spec, v.initializer, values_.find(v.value), v.number,
                      {context_.seed, tagma::detail::stream_of(v.name, v.suffix), 0});
  if (!here) set_variable(i, made.data());
  initialized_[i] = true;
}

}  // namespace tagma::runtime
