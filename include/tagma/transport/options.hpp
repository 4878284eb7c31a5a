// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How a connection behaves: its limits, its patience, and whom it believes. Times are nanoseconds.

#include <cstddef>
#include <cstdint>
#include <string>

#include "tagma/transport/link.hpp"

namespace tagma::transport {

/// What one connection may use. Each end says in the handshake what it takes, so that the other never sends more.
struct limits {
  std::uint32_t body_bytes = 64 * 1024;          ///< of one message
  std::uint32_t chunk_bytes = 256 * 1024;        ///< bulk bytes in one frame; between chunks, others have their turn
  std::uint32_t transfers = 256;                 ///< messages with bulk that come at the same time
  std::uint64_t window_bytes = 4 * 1024 * 1024;  ///< bodies, and bulk nobody asked for, which came and is not consumed
  std::uint64_t bulk_bytes = std::uint64_t{1} << 40;  ///< of one message
  std::uint64_t buffered_bytes = 256 * 1024 * 1024;   ///< bulk that the connection buffers, of all messages
  std::size_t queued_messages = 4096;                 ///< that wait to be sent, before `send_status::full`
  std::size_t queued_bytes = 4 * 1024 * 1024;         ///< of their bodies, likewise
  std::size_t open_calls = 65536;
};

/// How long things may take.
struct patience {
  /// Until both ends have proven who they are. Sessions have the time in its place that they wait for a task.
  std::int64_t handshake_ns = 5'000'000'000;
  std::int64_t heartbeat_ns = 1'000'000'000;  ///< between heartbeats; well below `lost_ns`, since their answers count
  std::int64_t lost_ns = 3'000'000'000;       ///< without any byte, after which the other end is lost
  std::int64_t close_ns = 10'000'000'000;     ///< for what is queued, after `close`
};

/// What an end proves by certificates who it is, as files in PEM. Sockets read them anew when they have changed.
/// Networks within one process have no use for them.
struct tls_files {
  std::string authorities{};  ///< certificates of those who say who others are
  std::string certificate{};  ///< of this end, and then those between it and an authority
  std::string key{};          ///< that belongs to it

  [[nodiscard]] bool is_set() const { return !authorities.empty() || !certificate.empty() || !key.empty(); }
  friend bool operator==(const tls_files&, const tls_files&) = default;
};

/// All that one end decides by itself.
struct options {
  identity self{};
  std::string secret{};  ///< shared with all that may connect; empty: none
  /// Who listens: a second secret, which chiefs have in place of the first. With it, who knows the first is a worker;
  /// without, everybody is a chief (`authority`).
  std::string chief_secret{};
  bool insecure = false;          ///< goes without a secret, if the other end does, too
  tls_files tls{};                ///< certificates in place of secrets, or beside them; then nobody goes without
  std::string wanted_job{};       ///< who connects: whom it expects there; empty: anybody
  std::int32_t wanted_task = -1;  ///< likewise; -1: any
  bool same_library = true;       ///< refuses other minor versions of the library
  bool checksums = true;          ///< of bulk; left out if both ends say so, where memory or TLS carries the bytes
  /// Sockets of one machine: bytes go through memory that both ends share, if both are of one user and say so.
  bool shared_memory = true;
  transport::limits limits{};
  transport::patience patience{};
};

}  // namespace tagma::transport
