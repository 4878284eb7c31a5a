// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The variables of a session at its start.

#include "tagma/base/config.hpp"
#include "tagma/runtime/initial_value.hpp"
#include "tagma/runtime/session_core.hpp"

namespace tagma::runtime {

TAGMA_COLD inline void session_core::initialize(std::size_t i, stored_variable& to) {
  const plan::plan_variable& v = variables_[i];
  const bool here = to.device() < 0;
  const std::string_view name(to.name().data(), to.name().size() - v.suffix.size());
  aligned_bytes made;
  if (!here) made = to.host_room("a copy of ");
  to.overwrite([&](std::byte* where) {
    write_initial_value(here ? where : made.data(), v.spec, v.initializer, values_.find(v.value), v.number,
                        {context_.seed, tagma::detail::stream_of(name, v.suffix), 0});
    if (!here) to.write(where, made.data());
  });
}

}  // namespace tagma::runtime
