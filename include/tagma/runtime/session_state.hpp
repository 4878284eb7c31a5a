// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What bound plans use of a session.

#include "tagma/runtime/container.hpp"
#include "tagma/runtime/stored_variable.hpp"

namespace tagma::runtime {

/// What a session has in containers.
struct session_state {
  array_view<const counted<stored_variable>> variables;
  array_view<const counted<resource>> resources;
  access_function access = nullptr;  ///< nullptr: runs are kept apart as a whole
};

}  // namespace tagma::runtime
