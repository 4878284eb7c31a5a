// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The variables of DMLC's parameter servers (ps-lite, MXNet, BytePS): DMLC_ROLE, DMLC_PS_ROOT_URI, DMLC_PS_ROOT_PORT,
/// DMLC_NUM_SERVER, DMLC_NUM_WORKER, DMLC_WORKER_ID.

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/cluster/environment.hpp"
#include "tagma/cluster/sources/finding.hpp"

namespace tagma::sources {

[[nodiscard]] bool has_dmlc(const environment& variables);

/// The job of this process: "chief" for a scheduler, "ps" for a server, "worker" for a worker; its task where
/// DMLC_WORKER_ID or DMLC_SERVER_ID says it, or there is one of its job. These variables name the host of the scheduler
/// alone, and no cluster follows. Throws `invalid_argument`, which names the variable.
[[nodiscard]] finding dmlc(const environment& variables);

}  // namespace tagma::sources

#ifndef TAGMA_COMPILED
#include "tagma/cluster/sources/dmlc.ipp"
#endif
