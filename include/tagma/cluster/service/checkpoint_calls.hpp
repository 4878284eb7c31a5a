// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a worker does about checkpoints: definitions of worker_core.hpp.

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/worker_core.hpp"

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/checkpoint_calls.ipp"
#endif
