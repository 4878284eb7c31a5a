// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The variables of PyTorch's `torchrun` and of what sets the same: RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE,
/// MASTER_ADDR.

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/cluster/environment.hpp"
#include "tagma/cluster/sources/finding.hpp"

namespace tagma::sources {

/// RANK and WORLD_SIZE alone may be anybody's: MASTER_ADDR or TORCHELASTIC_RUN_ID stands beside them.
[[nodiscard]] bool has_torchrun(const environment& variables);

/// The rank of this process. These variables name the host of rank 0 alone; a cluster follows where all processes are
/// on one host. Throws `invalid_argument`, which names the variable.
[[nodiscard]] finding torchrun(const environment& variables);

}  // namespace tagma::sources

#ifndef TAGMA_COMPILED
#include "tagma/cluster/sources/torchrun.ipp"
#endif
