// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of handshake.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/base/version.hpp"
#include "tagma/transport/broken.hpp"
#include "tagma/transport/handshake.hpp"
#include "tagma/transport/sentences.hpp"

namespace tagma::transport {

namespace detail {

TAGMA_DECL constexpr std::size_t greeting_numbers = 80;  // bytes in front of the texts

TAGMA_DECL constexpr std::uint8_t greeting_secret = 1, greeting_insecure = 2, greeting_unchecked = 4,
                                  greeting_memory = 8;

/// Texts of a greeting: how long each may be.
TAGMA_DECL constexpr std::size_t text_limits[] = {64, 64, 255, 64, 64};

[[nodiscard]] TAGMA_DECL bool take_text(std::string_view& from, std::size_t most, std::string& to) {
  if (from.size() < 2) return false;
  const std::size_t size = get_number<std::uint16_t>(from.data());
  from.remove_prefix(2);
  if (size > most || size > from.size()) return false;
  to = from.substr(0, size);
  from.remove_prefix(size);
  return std::none_of(to.begin(), to.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

/// "0.1" of "0.1.0": before 1.0 a minor version may break.
[[nodiscard]] TAGMA_DECL std::string_view minor_version(std::string_view version) {
  const std::size_t dot = version.find('.');
  return dot == std::string_view::npos ? version : version.substr(0, version.find('.', dot + 1));
}

[[nodiscard]] TAGMA_DECL std::string_view or_nothing(std::string_view text) { return text.empty() ? "none" : text; }

}  // namespace detail

TAGMA_DECL greeting greeting_of(const options& own, const digest& nonce) {
  greeting g;
  g.has_secret = !own.secret.empty();
  g.insecure = own.insecure;
  g.checksums = own.checksums;
  g.shares_memory = own.shared_memory;
  g.who = own.self;
  if (g.who.library.empty()) g.who.library = TAGMA_VERSION;
  g.wanted_task = own.wanted_task;
  g.wanted_job = own.wanted_job;
  g.limits = own.limits;
  g.nonce = nonce;
  return g;
}

TAGMA_DECL std::string encode(const greeting& g) {
  std::string to;
  put_number(to, g.oldest);
  put_number(to, g.newest);
  put_number(to, static_cast<std::uint8_t>(
                     (g.has_secret ? detail::greeting_secret : 0) | (g.insecure ? detail::greeting_insecure : 0) |
                     (g.checksums ? 0 : detail::greeting_unchecked) | (g.shares_memory ? detail::greeting_memory : 0)));
  put_number(to, std::uint8_t{0});
  put_number(to, static_cast<std::uint32_t>(g.who.task));
  put_number(to, g.who.incarnation);
  put_number(to, g.limits.body_bytes);
  put_number(to, g.limits.chunk_bytes);
  put_number(to, g.limits.transfers);
  put_number(to, static_cast<std::uint32_t>(g.wanted_task));
  put_number(to, g.limits.window_bytes);
  put_number(to, g.limits.bulk_bytes);
  to += bytes_of(g.nonce);
  for (const std::string* text : {&g.who.job, &g.who.role, &g.who.cluster, &g.who.library, &g.wanted_job}) {
    put_number(to, static_cast<std::uint16_t>(text->size()));
    to += *text;
  }
  return to;
}

TAGMA_DECL std::optional<greeting> decode_greeting(std::string_view bytes) {
  if (bytes.size() < detail::greeting_numbers) return std::nullopt;
  const char* at = bytes.data();
  greeting g;
  g.oldest = get_number<std::uint8_t>(at);
  g.newest = get_number<std::uint8_t>(at + 1);
  const auto flags = get_number<std::uint8_t>(at + 2);
  g.has_secret = (flags & detail::greeting_secret) != 0;
  g.insecure = (flags & detail::greeting_insecure) != 0;
  g.checksums = (flags & detail::greeting_unchecked) == 0;
  g.shares_memory = (flags & detail::greeting_memory) != 0;
  g.who.task = get_number<std::int32_t>(at + 4);
  g.who.incarnation = get_number<std::uint64_t>(at + 8);
  g.limits.body_bytes = get_number<std::uint32_t>(at + 16);
  g.limits.chunk_bytes = get_number<std::uint32_t>(at + 20);
  g.limits.transfers = get_number<std::uint32_t>(at + 24);
  g.wanted_task = get_number<std::int32_t>(at + 28);
  g.limits.window_bytes = get_number<std::uint64_t>(at + 32);
  g.limits.bulk_bytes = get_number<std::uint64_t>(at + 40);
  std::memcpy(g.nonce.data(), at + 48, g.nonce.size());
  bytes.remove_prefix(detail::greeting_numbers);
  std::string* texts[] = {&g.who.job, &g.who.role, &g.who.cluster, &g.who.library, &g.wanted_job};
  for (std::size_t i = 0; i < 5; ++i)
    if (!detail::take_text(bytes, detail::text_limits[i], *texts[i])) return std::nullopt;
  const limits& l = g.limits;
  const bool sound = g.oldest > 0 && g.oldest <= g.newest && g.who.task >= 0 && g.wanted_task >= -1 &&
                     l.body_bytes >= 1024 && l.chunk_bytes >= 1024 && l.transfers > 0 && l.bulk_bytes <= INT64_MAX &&
                     l.window_bytes <= INT64_MAX && l.window_bytes / 2 >= l.body_bytes + frame_header_bytes;
  if (!sound) return std::nullopt;
  return g;
}

TAGMA_DECL digest proof_of(side who, std::string_view secret, std::string_view hello, std::string_view answer) {
  std::string lengths[2];
  put_number(lengths[0], static_cast<std::uint32_t>(hello.size()));
  put_number(lengths[1], static_cast<std::uint32_t>(answer.size()));
  hmac_sha256 proof(secret);
  proof.add(who == side::connects || TAGMA_BROKEN(one_label_for_both) ? "tagma/1 client" : "tagma/1 server");
  proof.add(lengths[0]).add(hello).add(lengths[1]);
  // The nonce of the answer is what makes a recorded proof worthless.
  if (TAGMA_BROKEN(nonce_not_bound)) return proof.add(answer.substr(0, 48)).add(answer.substr(80)).result();
  return proof.add(answer).result();
}

TAGMA_DECL std::optional<error> cannot_meet(side own_side, const options& own, const greeting& other) {
  const auto because = [](std::initializer_list<text_part> parts) {
    return error(status_code::failed_precondition, sentence(parts));
  };
  if (other.newest < oldest_protocol_version || other.oldest > protocol_version)
    return because({"one end speaks the versions ", other.oldest, " to ", other.newest, " of the protocol, the other ",
                    oldest_protocol_version, " to ", protocol_version});
  // Both ends read it, so it tells them apart by what both know.
  if (other.has_secret != !own.secret.empty())
    return error(status_code::permission_denied,
                 other.has_secret == (own_side == side::accepts)
                     ? "the end that connects has a secret, and the one that listens has none: give it to both"
                     : "the end that connects has no secret, and the one that listens has one: give it to both");
  if (own.secret.empty() && !(own.insecure && other.insecure))
    return error(
        status_code::permission_denied,
        "there is no secret, and one of the two ends does not say that it goes without: give both a secret, or "
        "let both go without (--insecure; in C++ `insecure = true`) where nobody else can reach them");
  return std::nullopt;
}

TAGMA_DECL std::optional<error> not_wanted(side own_side, const options& own, const greeting& other) {
  const auto because = [](std::initializer_list<text_part> parts) {
    return error(status_code::failed_precondition, sentence(parts));
  };
  if (own.self.cluster != other.who.cluster)
    return because({to_string(own.self), " is of the cluster '", own.self.cluster, "', ", to_string(other.who), " of '",
                    other.who.cluster, "'"});
  const std::string& library = own.self.library.empty() ? TAGMA_VERSION : own.self.library;
  if (own.same_library && detail::minor_version(library) != detail::minor_version(other.who.library))
    return because({to_string(own.self), " has version ", library, " of tagma, ", to_string(other.who), " has version ",
                    detail::or_nothing(other.who.library)});
  const identity& there = own_side == side::connects ? other.who : own.self;
  const std::string& job = own_side == side::connects ? own.wanted_job : other.wanted_job;
  const std::int32_t task = own_side == side::connects ? own.wanted_task : other.wanted_task;
  if ((!job.empty() && job != there.job) || (task >= 0 && task != there.task)) {
    const identity wanted{.job = job.empty() ? there.job : job, .task = task < 0 ? there.task : task};
    return because({to_string(wanted), " was expected, and ", to_string(there), " is there"});
  }
  return std::nullopt;
}

TAGMA_DECL meeting::meeting(side which, const options& own, const digest& nonce)
    : which_(which), own_(own), nonce_(nonce), stage_(which == side::connects ? stage::answer : stage::hello) {
  if (which == side::connects) hello_ = encode(greeting_of(own_, nonce_));
}

TAGMA_DECL meeting::step meeting::take(frame_type type, std::string_view payload, std::string_view name) {
  constexpr frame_type expected[] = {frame_type::hello, frame_type::answer, frame_type::proof, frame_type::accepted,
                                     frame_type::ping};
  const bool next = type == expected[static_cast<std::size_t>(stage_)];
  came_ += frame_header_bytes + payload.size();
  step s;
  if (!next || stage_ == stage::over || came_ > handshake_bytes)
    s.refused = error(status_code::data_loss,
                      sentence({name, next ? " sent a handshake that is too long"
                                           : " sent a frame that does not belong into a handshake, or not there"}));
  else
    s = stage_ == stage::hello || stage_ == stage::answer ? greeted(payload, name) : proven(payload, name);
  if (s.refused || s.proven) stage_ = stage::over;
  return s;
}

TAGMA_DECL meeting::step meeting::greeted(std::string_view payload, std::string_view name) {
  step s;
  const std::optional<greeting> there = decode_greeting(payload);
  if (!there) {
    s.refused = error(status_code::data_loss, sentence({name, " sent a damaged greeting"}));
    return s;
  }
  other_ = *there;
  s.refused = cannot_meet(which_, own_, other_);
  if (!s.refused && names_) {
    if (const auto no = names_->contradict(other_.who, which_ == side::accepts))
      s.refused = error(no->code(), sentence({name, " is not trusted: ", sentence_of(*no)}));
    other_.who.may = names_->may();
  }
  if (s.refused) return s;
  if (which_ == side::accepts) {
    hello_ = payload;
    answer_ = encode(greeting_of(own_, nonce_));
    s.reply = frame_type::answer;
    s.payload = answer_;
    stage_ = stage::proof;
  } else {
    answer_ = payload;
    s.reply = frame_type::proof;
    s.payload = proof(side::connects, own_.secret);
    stage_ = stage::accepted;
  }
  return s;
}

TAGMA_DECL meeting::step meeting::proven(std::string_view payload, std::string_view name) {
  const side theirs = which_ == side::accepts ? side::connects : side::accepts;
  const bool two = which_ == side::accepts && !own_.secret.empty() && !own_.chief_secret.empty();
  const bool is_chief = two && equal_in_constant_time(payload, proof(theirs, own_.chief_secret));
  const bool good = is_chief || equal_in_constant_time(payload, proof(theirs, own_.secret));
  step s;
  if (!good && !TAGMA_BROKEN(proof_believed))
    s.refused = error(status_code::permission_denied, sentence({name, " does not know the secret"}));
  else
    s.refused = not_wanted(which_, own_, other_);
  s.proven = !s.refused;
  // A certificate has the last word.
  if (two && !names_) other_.who.may = is_chief ? authority::chief : authority::worker;
  if (s.proven && which_ == side::accepts) {
    s.reply = frame_type::accepted;
    s.payload = proof(side::accepts, is_chief ? own_.chief_secret : own_.secret);
  }
  return s;
}

/// Empty without a secret.
TAGMA_DECL std::string meeting::proof(side who, std::string_view secret) const {
  if (secret.empty()) return {};
  return std::string(bytes_of(proof_of(who, secret, hello_, answer_)));
}

}  // namespace tagma::transport
