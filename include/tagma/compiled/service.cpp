// SPDX-License-Identifier: BSL-1.0
// Servers of clusters: what runs programs as data, so it goes with the registry.
#include "tagma/cluster/server.ipp"
#include "tagma/cluster/service/checkpoint_calls.ipp"
#include "tagma/cluster/service/inlet_handler.ipp"
#include "tagma/cluster/service/inspect.ipp"
#include "tagma/cluster/service/registered_part.ipp"
#include "tagma/cluster/service/worker.ipp"
#include "tagma/cluster/service/worker_core.ipp"
#include "tagma/cluster/service/worker_driver.ipp"
#include "tagma/cluster/service/worker_look.ipp"
