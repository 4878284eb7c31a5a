// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What one source says of a cluster. Each header of this folder reads one convention: a function tells whether there
/// is anything of it, another one reads it. They are functions of their arguments, and ask for nothing else.

#include <optional>
#include <string>

#include "tagma/cluster/cluster.hpp"
#include "tagma/cluster/ranks.hpp"
#include "tagma/cluster/role.hpp"

namespace tagma::sources {

/// What a source says; each part may be missing.
struct finding {
  std::optional<cluster> members;  ///< the whole cluster
  role_options options;            ///< which task of it this process is
  std::optional<launch> ranks;     ///< the rank of this process, from which the other two may follow
  std::string lacking;             ///< why no cluster follows where others took part, as the end of a sentence
};

}  // namespace tagma::sources
