// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What two ends say when they meet: who they are and what they take, and the proof that they know a secret.
///
///     connects                                          accepts
///     hello: identity, limits, nonce           -->
///                                              <--      answer: identity, limits, nonce
///     proof: HMAC(secret, "client", both)      -->
///                                              <--      accepted: HMAC(secret, "server", both)
///
/// Both proofs cover every byte of hello and answer. So none can be replayed, since the nonces differ, nor reflected,
/// since the labels do. The one who was connected to, whom any stranger may ask, proves nothing before the other has.
///
/// The secret protects the meeting, not what follows: who can change bytes on their way can also change them later.
/// Only TLS protects the stream. There, certificates say who both are, and a secret may be missing.
///
/// Who listens may have a second secret, for chiefs: whoever makes its proof with that one may ask for more
/// (`authority`).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/transport/certificate_names.hpp"
#include "tagma/transport/frame.hpp"
#include "tagma/transport/options.hpp"
#include "tagma/transport/sha256.hpp"

namespace tagma::transport {

/// The payload of `hello` and `answer`.
struct greeting {
  std::uint8_t oldest = oldest_protocol_version;
  std::uint8_t newest = protocol_version;
  bool has_secret = false;
  bool insecure = false;       ///< goes without a secret
  bool checksums = true;       ///< wants bulk to have them
  bool shares_memory = false;  ///< can move to memory that both ends share
  identity who{};
  std::int32_t wanted_task = -1;
  std::string wanted_job{};
  transport::limits limits{};  ///< those of them that the other end keeps
  digest nonce{};              ///< random
};

/// What an end says of itself.
[[nodiscard]] greeting greeting_of(const options& own, const digest& nonce);

[[nodiscard]] std::string encode(const greeting& g);

/// Reads a greeting. nullopt where it is damaged, has a text that is too long or has control characters, or limits that
/// nobody can keep. Bytes behind it are for later versions.
[[nodiscard]] std::optional<greeting> decode_greeting(std::string_view bytes);

/// Which end makes a proof.
enum class side : std::uint8_t { connects, accepts };

/// HMAC-SHA256 over a label of the side, and both greetings as they were sent, each behind its length.
[[nodiscard]] digest proof_of(side who, std::string_view secret, std::string_view hello, std::string_view answer);

/// Why two ends cannot speak with each other at all; checked before anything is proven. nullopt if they can.
[[nodiscard]] std::optional<error> cannot_meet(side own_side, const options& own, const greeting& other);

/// Why this end does not want that other one; checked when it has proven who it is.
[[nodiscard]] std::optional<error> not_wanted(side own_side, const options& own, const greeting& other);

/// One end of a meeting, from the first frame to the proof of the other end.
class meeting {
 public:
  meeting(side which, const options& own, const digest& nonce);

  /// The other end has shown a certificate: it has to be the one whom that names.
  void certified(certificate_names names) { names_ = std::move(names); }
  /// What whoever connects says first.
  [[nodiscard]] const std::string& hello() const { return hello_; }

  /// What follows from a frame.
  struct step {
    std::optional<error> refused{};  ///< the meeting is over
    bool proven = false;             ///< the other end is who it says
    frame_type reply =
        frame_type::ping;  ///< what is sent, unless it is `ping`; if proven, after the other end was admitted
    std::string payload{};
  };
  /// Takes the next frame of the other end.
  /// @param name how the other end is called in errors
  [[nodiscard]] step take(frame_type type, std::string_view payload, std::string_view name);
  /// What the other end has said of itself; to be believed when it is proven.
  [[nodiscard]] const greeting& other() const { return other_; }

 private:
  enum class stage : std::uint8_t { hello, answer, proof, accepted, over };

  [[nodiscard]] step greeted(std::string_view payload, std::string_view name);
  [[nodiscard]] step proven(std::string_view payload, std::string_view name);
  [[nodiscard]] std::string proof(side who, std::string_view secret) const;

  side which_;
  options own_;
  digest nonce_;
  stage stage_;
  std::string hello_{}, answer_{};
  greeting other_{};
  std::optional<certificate_names> names_{};
  std::size_t came_ = 0;
};

}  // namespace tagma::transport

#ifndef TAGMA_COMPILED
#include "tagma/transport/handshake.ipp"
#endif
