// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of address.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/base/json.hpp"
#include "tagma/cluster/address.hpp"
#include "tagma/cluster/text.hpp"
#include "tagma/place/device.hpp"

namespace tagma {

namespace detail {

using ipv4_bytes = std::array<std::uint8_t, 4>;

TAGMA_DECL bool ipv6_groups::add(unsigned value) {
  if (count == group.size()) return false;
  group[count++] = static_cast<std::uint16_t>(value);
  return true;
}

/// Four decimal numbers without leading zeros, which some readers take for octal.
TAGMA_DECL bool parse_ipv4(std::string_view text, ipv4_bytes& bytes) {
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t dot = text.find('.');
    const std::string_view number = text.substr(0, dot);
    const std::optional<std::int64_t> value = whole_number(number);
    if (!value || *value > 255 || number.size() > 3 || (number.size() > 1 && number[0] == '0')) return false;
    bytes[i] = static_cast<std::uint8_t>(*value);
    if ((dot == std::string_view::npos) != (i == 3)) return false;
    text.remove_prefix(i == 3 ? text.size() : dot + 1);
  }
  return true;
}

TAGMA_DECL std::string spell_ipv4(const ipv4_bytes& b) { return sentence({b[0], ".", b[1], ".", b[2], ".", b[3]}); }

TAGMA_DECL bool parse_hexadecimal(std::string_view text, unsigned& value) {
  if (text.empty() || text.size() > 4) return false;
  value = 0;
  for (const char c : text) {
    const char small = static_cast<char>(c | 0x20);
    if (is_digit(c))
      value = value * 16 + static_cast<unsigned>(c - '0');
    else if (small >= 'a' && small <= 'f')
      value = value * 16 + static_cast<unsigned>(small - 'a' + 10);
    else
      return false;
  }
  return true;
}

/// Groups between colons; the last two may be written as an IPv4 address. An empty text has none.
TAGMA_DECL bool parse_ipv6_side(std::string_view text, bool last, ipv6_groups& out) {
  while (!text.empty()) {
    const std::size_t colon = text.find(':');
    const std::string_view item = text.substr(0, colon);
    const bool ends = colon == std::string_view::npos;
    ipv4_bytes bytes{};
    unsigned value = 0;
    if (ends && last && parse_ipv4(item, bytes))
      return out.add(bytes[0] * 256u + bytes[1]) && out.add(bytes[2] * 256u + bytes[3]);
    if (!parse_hexadecimal(item, value) || !out.add(value) || colon + 1 == text.size()) return false;
    text.remove_prefix(ends ? text.size() : colon + 1);
  }
  return true;
}

TAGMA_DECL bool parse_ipv6(std::string_view text, ipv6_groups& out) {
  const std::size_t gap = text.find("::");
  if (gap == std::string_view::npos) return parse_ipv6_side(text, true, out) && out.count == 8;
  ipv6_groups tail;
  if (!parse_ipv6_side(text.substr(0, gap), false, out)) return false;
  if (!parse_ipv6_side(text.substr(gap + 2), true, tail) || out.count + tail.count > 7) return false;
  for (std::size_t i = 0; i < tail.count; ++i) out.group[8 - tail.count + i] = tail.group[i];
  out.count = 8;
  return true;
}

TAGMA_DECL bool is_mapped_ipv4(const ipv6_groups& a) {
  for (std::size_t i = 0; i < 5; ++i)
    if (a.group[i] != 0) return false;
  return a.group[5] == 0xffff;
}

TAGMA_DECL void append_hexadecimal(std::string& out, unsigned value) {
  bool begun = false;
  for (int shift = 12; shift >= 0; shift -= 4) {
    const unsigned digit = value >> shift & 15u;
    begun = begun || digit != 0 || shift == 0;
    if (begun) out += "0123456789abcdef"[digit];
  }
}

/// RFC 5952: the first of the longest runs of zeros is left out, unless it is one group.
TAGMA_DECL std::string spell_ipv6(const ipv6_groups& a) {
  if (is_mapped_ipv4(a)) {
    const unsigned high = a.group[6], low = a.group[7];
    const auto byte = [](unsigned value) { return static_cast<std::uint8_t>(value & 255u); };
    return "::ffff:" + spell_ipv4({byte(high >> 8), byte(high), byte(low >> 8), byte(low)});
  }
  std::size_t gap = 8, length = 1;
  for (std::size_t i = 0, run = 0; i < 8; ++i) {
    run = a.group[i] == 0 ? run + 1 : 0;
    if (run > length) gap = i + 1 - run, length = run;
  }
  std::string out;
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == gap) {
      out += "::";
      i += length - 1;
      continue;
    }
    if (!out.empty() && out.back() != ':') out += ':';
    append_hexadecimal(out, a.group[i]);
  }
  return out;
}

TAGMA_DECL parsed_address address_parser::result() {
  if (read()) return {std::move(value_), 0, {}};
  return {{}, at_, reason_};
}

TAGMA_DECL bool address_parser::stop(std::size_t at, std::string_view reason) {
  at_ = at;
  reason_ = reason;
  return false;
}

TAGMA_DECL bool address_parser::read() {
  if (text_.empty()) return stop(0, "an address is not empty");
  if (text_.substr(0, 5) == "unix:") return path();
  return text_[0] == '[' ? ipv6() : host();
}

TAGMA_DECL bool address_parser::path() {
  std::size_t at = 5;
  if (text_.substr(at, 3) == "///") at += 2;
  const std::string_view name = text_.substr(at);
  if (name.empty() || name[0] != '/' || name.substr(0, 2) == "//")
    return stop(at, "the path of a Unix socket is absolute, as in unix:/run/ps0");
  if (name.back() == '/') return stop(text_.size() - 1, "the path of a Unix socket names no folder");
  if (name.size() > cluster_limits::socket_path)
    return stop(at + cluster_limits::socket_path, "the path of a Unix socket has at most 107 bytes");
  for (std::size_t i = 0; i < name.size(); ++i)
    if (static_cast<unsigned char>(name[i]) < 0x20 || name[i] == 0x7f)
      return stop(at + i, "the path of a Unix socket has no control characters");
  if (!json::is_utf8(name)) return stop(at, "the path of a Unix socket is UTF-8 text");
  value_ = {address_kind::unix_socket, std::string(name), 0};
  return true;
}

TAGMA_DECL bool address_parser::ipv6() {
  const std::size_t close = text_.find(']');
  if (close == std::string_view::npos) return stop(text_.size(), "expected ']' behind the IPv6 address");
  const std::string_view inside = text_.substr(1, close - 1);
  const std::size_t percent = inside.find('%');
  ipv6_groups groups;
  if (!parse_ipv6(inside.substr(0, percent), groups)) return stop(1, "this is no IPv6 address");
  value_.kind = address_kind::ipv6;
  value_.host = spell_ipv6(groups);
  if (percent != std::string_view::npos && !zone(inside.substr(percent + 1), percent + 2)) return false;
  return port(close + 1) && specified();
}

TAGMA_DECL bool address_parser::zone(std::string_view name, std::size_t at) {
  if (name.empty() || name.size() > 15) return stop(at, "a zone is the name of an interface, of 1 to 15 characters");
  for (const char c : name)
    if (!is_letter(c) && !is_digit(c) && c != '.' && c != '_' && c != '-')
      return stop(at, "a zone has letters, digits, '.', '_' and '-'");
  (value_.host += '%') += name;
  return true;
}

TAGMA_DECL bool address_parser::host() {
  const std::size_t colon = text_.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view rest = text_.substr(colon);
    if (rest.substr(0, 3) == "://") return stop(colon, "an address is host:port, without a scheme before it");
    if (rest.find(':', 1) != std::string_view::npos)
      return stop(0, "more than one ':': an IPv6 address stands in brackets, as in [::1]:2222");
  }
  const std::string_view name = text_.substr(0, colon);
  ipv4_bytes bytes{};
  if (parse_ipv4(name, bytes)) {
    value_.kind = address_kind::ipv4;
    value_.host = spell_ipv4(bytes);
  } else if (!host_name(name)) {
    return false;
  }
  return port(name.size()) && specified();
}

TAGMA_DECL bool address_parser::host_name(std::string_view name) {
  if (name.empty()) return stop(0, "expected a host before the port, as in localhost:2222");
  if (name.size() > cluster_limits::host_name + (name.back() == '.' ? 1u : 0u))
    return stop(cluster_limits::host_name, "a host name has at most 253 characters");
  std::size_t begin = 0;
  bool digits_only = true;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    if (i == name.size() || name[i] == '.') {
      if (i == name.size() && i == begin && begin > 0) break;  // a dot at the end
      if (!label(name.substr(begin, i - begin), begin, digits_only)) return false;
      begin = i + 1;
    }
  }
  if (digits_only) return stop(0, "a host name ends in no number, and this is no IPv4 address");
  value_.kind = address_kind::name;
  for (const char c : name) value_.host += c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  if (value_.host == "unix") return stop(0, "no host is called unix, which begins the address of a Unix socket");
  return true;
}

TAGMA_DECL bool address_parser::label(std::string_view text, std::size_t at, bool& digits_only) {
  if (text.empty()) return stop(at, "a part of a host name is empty");
  digits_only = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!is_letter(c) && !is_digit(c) && c != '-' && c != '_')
      return stop(at + i, "a host name has letters, digits, '-', '_' and '.'");
    digits_only = digits_only && is_digit(c);
  }
  if (text.front() == '-' || text.back() == '-') return stop(at, "no part of a host name begins or ends with '-'");
  if (text.size() > cluster_limits::label) return stop(at, "a part of a host name has at most 63 characters");
  return true;
}

TAGMA_DECL bool address_parser::port(std::size_t at) {
  if (at == text_.size() && rules_.default_port != 0) {
    value_.port = rules_.default_port;
    return true;
  }
  if (at == text_.size() || text_[at] != ':') return stop(at, "expected ':' and a port, as in localhost:2222");
  const std::string_view digits = text_.substr(at + 1);
  const std::optional<std::int64_t> number = whole_number(digits);
  if (!number || *number > 65535 || digits.size() > 5 || (digits.size() > 1 && digits[0] == '0'))
    return stop(at + 1, "a port is a number from 1 to 65535");
  if (*number == 0 && rules_.use == address_use::connect)
    return stop(at + 1, "port 0 is one to bind, and nobody can connect to it");
  value_.port = static_cast<std::uint16_t>(*number);
  return true;
}

TAGMA_DECL bool address_parser::specified() {
  if (rules_.use == address_use::connect && value_.is_unspecified())
    return stop(0, "this stands for all interfaces of a host to bind, and nobody can connect to it");
  return true;
}

}  // namespace detail

TAGMA_DECL bool address::is_loopback() const {
  const std::string_view h = host;
  if (kind == address_kind::ipv4) return h.substr(0, 4) == "127.";
  if (kind == address_kind::ipv6) return h.substr(0, h.find('%')) == "::1" || h.substr(0, 11) == "::ffff:127.";
  if (kind != address_kind::name) return false;
  const std::string_view name = !h.empty() && h.back() == '.' ? h.substr(0, h.size() - 1) : h;
  return name == "localhost" || name.ends_with(".localhost");
}

TAGMA_DECL bool address::is_unspecified() const {
  if (kind == address_kind::ipv4) return host == "0.0.0.0";
  const std::string_view h = host;
  return kind == address_kind::ipv6 && (h.substr(0, h.find('%')) == "::" || h == "::ffff:0.0.0.0");
}

TAGMA_DECL std::string to_string(const address& a) {
  if (a.kind == address_kind::unix_socket) return "unix:" + a.host;
  if (a.kind == address_kind::ipv6) return sentence({"[", a.host, "]:", a.port});
  return sentence({a.host, ":", a.port});
}

TAGMA_DECL parsed_address parse_address(std::string_view text, const address_rules& rules) {
  return detail::address_parser(text, rules).result();
}

TAGMA_DECL address address_from(std::string_view text, const address_rules& rules) {
  parsed_address parsed = parse_address(text, rules);
  if (!parsed)
    fail(status_code::invalid_argument,
         {"address ", detail::quote(text), ", position ", parsed.position, ": ", parsed.reason});
  return std::move(parsed.value);
}

TAGMA_DECL address target_address(std::string_view target) {
  constexpr std::string_view scheme = "tagma://";
  if (!target.starts_with(scheme))
    fail(status_code::not_found, {"target ", detail::quote(target),
                                  ": no session is made for it; the target of a server begins with tagma://, as in "
                                  "tagma://localhost:2222"});
  const std::string_view rest = target.substr(scheme.size());
  parsed_address parsed = parse_address(rest);
  if (!parsed)
    fail(status_code::invalid_argument,
         {"target ", detail::quote(target), ", position ", parsed.position + scheme.size(), ": ", parsed.reason});
  return std::move(parsed.value);
}

TAGMA_DECL std::string target_of(const address& a) { return "tagma://" + to_string(a); }

TAGMA_DECL listen_addresses listen_at(const address& advertise, const std::optional<address>& bind) {
  const address& listen = bind ? *bind : advertise;
  const auto refuse = [&](std::string_view why) {
    fail(status_code::invalid_argument,
         {"cannot listen at ", to_string(listen), " and advertise ", to_string(advertise), ": ", why});
  };
  if (advertise.is_unspecified())
    refuse("all interfaces of a host are no address of it; advertise a name or an address that others reach");
  const bool is_socket = advertise.kind == address_kind::unix_socket;
  if (is_socket != (listen.kind == address_kind::unix_socket) || (is_socket && advertise != listen))
    refuse("a Unix socket is reached at the path where it is bound, and in no other way");
  if (listen.is_local() && !advertise.is_local())
    refuse("other hosts do not reach a server that listens on loopback; bind 0.0.0.0 or [::], or that address");
  if (!is_socket && advertise.port == 0 && listen.port != 0) refuse("port 0 is advertised only where port 0 is bound");
  return {listen, advertise};
}

TAGMA_DECL listen_addresses with_port(listen_addresses addresses, std::uint16_t port) {
  for (address* const a : {&addresses.bind, &addresses.advertise})
    if (a->kind != address_kind::unix_socket && a->port == 0) a->port = port;
  return addresses;
}

}  // namespace tagma
