// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The master service of a server: sessions over its cluster that it keeps for clients, which connect to it alone.

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/kept_session.hpp"
#include "tagma/cluster/service/worker_options.hpp"
#include "tagma/transport/network.hpp"

namespace tagma {

/// For `service::worker_options::open_session`: sessions over the cluster of the worker, with what asks for no device
/// at its task.
/// @param by outlives the worker
[[nodiscard]] service::session_opener open_by_master(transport::network& by, const cluster& members);

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/cluster/master.ipp"
#endif
