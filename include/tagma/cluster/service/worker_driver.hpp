// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How a worker drives sessions for clients that connect to it alone: definitions of worker_core.hpp.

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/worker_core.hpp"

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/worker_driver.ipp"
#endif
