// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How a worker answers those who look into it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/worker_core.hpp"

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/worker_look.ipp"
#endif
