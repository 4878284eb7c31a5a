// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Where a task can be reached.
///
///     address = host ":" port | "unix:" path | "unix://" path
///     host    = name | IPv4 address | "[" IPv6 address [ "%" zone ] "]"
///     name    = label { "." label } [ "." ], a label of letters, digits, "-" and "_", not at its ends "-"; not "unix"
///     port    = 1 to 65535, or 0 where one is bound and the system shall choose; no leading zeros
///     path    = an absolute path of at most 107 bytes
///
/// IPv6 addresses are read as RFC 4291 has them and spelled as RFC 5952 asks for. Nothing is resolved here: a name is a
/// name, whatever it stands for.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/cluster/limits.hpp"

namespace tagma {

/// How a host is named.
enum class address_kind : std::uint8_t { name, ipv4, ipv6, unix_socket };

/// Where a task can be reached, or where a server listens.
struct address {
  address_kind kind = address_kind::name;
  std::string host;  ///< a name in lower case, an IP address in its canonical spelling without brackets, or a path
  std::uint16_t port = 0;  ///< 0: chosen by the system when it is bound; always 0 for a Unix socket

  /// True if only processes of the same host get there whose network is the same: 127.0.0.0/8, ::1, "localhost" and
  /// names that end in ".localhost" (RFC 6761).
  [[nodiscard]] bool is_loopback() const;
  /// True for 0.0.0.0 and ::, which stand for all interfaces of a host and for no host.
  [[nodiscard]] bool is_unspecified() const;
  /// True if no other host gets there, as far as its spelling tells: loopback and Unix sockets.
  [[nodiscard]] bool is_local() const { return kind == address_kind::unix_socket || is_loopback(); }

  friend bool operator==(const address&, const address&) = default;
  friend auto operator<=>(const address&, const address&) = default;
};

/// "ps0.example:2222", "10.0.0.1:2222", "[::1]:2222", "unix:/run/ps0": what is read as the same address.
[[nodiscard]] std::string to_string(const address& a);

/// What an address is for.
enum class address_use : std::uint8_t {
  connect,  ///< others connect to it: it has a port, and is not that of all interfaces
  bind,     ///< a server listens there: port 0, 0.0.0.0 and [::] are good as well
};

/// What an address is for, and what may be left out of it.
struct address_rules {
  address_use use = address_use::connect;
  std::uint16_t default_port = 0;  ///< of an address that is written without one; 0: it must have one
};

/// What a parser found: an address, or the byte at which the text stops being one and the reason.
struct parsed_address {
  address value;
  std::size_t position = 0;
  std::string_view reason;  ///< Empty if the text was parsed.

  [[nodiscard]] explicit operator bool() const { return reason.empty(); }
  [[nodiscard]] const address& operator*() const { return value; }
  [[nodiscard]] const address* operator->() const { return &value; }
};

/// Reads `host:port`, `[ipv6]:port` or `unix:path`; never throws.
[[nodiscard]] parsed_address parse_address(std::string_view text, const address_rules& rules = {});

/// `parse_address` for callers that cannot go on without an address. Throws `invalid_argument`.
[[nodiscard]] address address_from(std::string_view text, const address_rules& rules = {});

namespace detail {

/// The groups of an IPv6 address, or of one side of "::".
struct ipv6_groups {
  std::array<std::uint16_t, 8> group{};
  std::size_t count = 0;
  bool add(unsigned value);
};

/// Reads an address from its beginning to its end; stops where the text is none.
class address_parser {
 public:
  address_parser(std::string_view text, const address_rules& rules) : text_(text), rules_(rules) {}

  parsed_address result();

 private:
  bool stop(std::size_t at, std::string_view reason);
  bool read();
  bool path();
  bool ipv6();
  bool zone(std::string_view name, std::size_t at);
  bool host();
  bool host_name(std::string_view name);
  bool label(std::string_view text, std::size_t at, bool& digits_only);
  bool port(std::size_t at);
  bool specified();

  std::string_view text_;
  address_rules rules_;
  address value_;
  std::size_t at_ = 0;
  std::string_view reason_;
};

}  // namespace detail

/// The address of a server in a target of a session, "tagma://host:port". Throws `not_found` for another scheme and
/// `invalid_argument` for an address that is none.
[[nodiscard]] address target_address(std::string_view target);

/// "tagma://ps0.example:2222".
[[nodiscard]] std::string target_of(const address& a);

/// Where a server listens and where others are told to reach it. They differ where a server listens at all interfaces,
/// and behind a translation of addresses.
struct listen_addresses {
  address bind;
  address advertise;
};

/// Puts the two addresses of a server together. Without `bind` it listens where others reach it. Throws
/// `invalid_argument` where others could not:
///  - an address that is advertised names a host (not 0.0.0.0 or [::]);
///  - its port is 0 only if that of `bind` is: the port that the system chooses is advertised;
///  - who listens on loopback or at a Unix socket alone advertises nothing else.
[[nodiscard]] listen_addresses listen_at(const address& advertise, const std::optional<address>& bind = std::nullopt);

/// The addresses of a server once the system has chosen its port, which stands in place of each port 0.
[[nodiscard]] listen_addresses with_port(listen_addresses addresses, std::uint16_t port);

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/cluster/address.ipp"
#endif
