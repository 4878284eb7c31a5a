// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How large a description of a cluster may be. Descriptions come from files and variables that anyone may have
/// written, so each size is compared with these before memory is taken for it.

#include <cstddef>
#include <cstdint>

namespace tagma::cluster_limits {

/// Tasks of all jobs together; indices of tasks are below it, too.
inline constexpr int tasks = 65'536;

/// Jobs, with tasks or without.
inline constexpr int jobs = 1024;

/// Bytes of a file or a text that describes a cluster.
inline constexpr std::size_t text = 16u << 20;

/// Bytes of a host name (RFC 1035), and of one label of it.
inline constexpr std::size_t host_name = 253;
inline constexpr std::size_t label = 63;

/// Bytes of the path of a Unix socket: `sockaddr_un` has 108, the last of which is a zero.
inline constexpr std::size_t socket_path = 107;

}  // namespace tagma::cluster_limits

namespace tagma {

/// The port that clusters customarily have.
inline constexpr std::uint16_t customary_port = 2222;

}  // namespace tagma
