// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of permissions.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/permissions.hpp"

namespace tagma::service {

TAGMA_DECL std::optional<error> not_permitted(const transport::link& from, std::uint16_t kind) {
  const permission* const p = permission_of(kind);
  if (p == nullptr || p->needs == transport::authority::worker) return std::nullopt;
  const transport::identity who = from.peer();
  if (who.may == transport::authority::chief) return std::nullopt;
  return error(status_code::permission_denied,
               sentence({p->name, " is for chiefs, and ", transport::to_string(who),
                         " has proven to be a worker: a chief has the secret of chiefs, or a certificate for "
                         "tagma:/role:chief"}));
}

}  // namespace tagma::service
