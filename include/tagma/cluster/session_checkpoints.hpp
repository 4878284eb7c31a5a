// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How a session has checkpoints made: definitions of session.hpp.

#include "tagma/base/config.hpp"
#include "tagma/cluster/session.hpp"

#ifndef TAGMA_COMPILED
#include "tagma/cluster/session_checkpoints.ipp"
#endif
