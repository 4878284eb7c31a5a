// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Messages and tensors between processes through TCP and Unix sockets, with `TAGMA_WITH_ASIO=1` and Boost.Asio.

#include "tagma/transport.hpp"
#include "tagma/transport/asio/network.hpp"

#include "tagma/base/epilogue.hpp"
