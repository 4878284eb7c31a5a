// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Messages and tensors between processes: connections as state machines, through memory, or in a network that is made
/// up. `tagma/sockets.hpp` has them through sockets.

#include "tagma/transport/connection.hpp"
#include "tagma/transport/driven_link.hpp"
#include "tagma/transport/link.hpp"
#include "tagma/transport/memory/network.hpp"
#include "tagma/transport/network.hpp"
#include "tagma/transport/options.hpp"
#include "tagma/transport/simulated/world.hpp"

#include "tagma/base/epilogue.hpp"
