// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of probing.hpp: in the compiled half, or else in each file that includes it.

#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/probing.hpp"

namespace tagma::service {

TAGMA_COLD TAGMA_DECL void probing::start(transport::network& by, const std::string& address,
                                          const transport::options& how, std::int64_t within_ns, probed done) {
  const auto made = std::make_shared<probing>(by, within_ns, std::move(done));
  made->result_.address = address;
  (void)by.connect(address, how, made, within_ns);
}

TAGMA_COLD TAGMA_DECL probing::probing(transport::network& by, std::int64_t within_ns, probed done)
    : network_(by), within_ns_(within_ns), began_ns_(by.now()), done_(std::move(done)) {}

TAGMA_COLD TAGMA_DECL void probing::connected(transport::link& with) {
  link_ = &with;
  result_.connect_ns = network_.now() - began_ns_;
  result_.incarnation = with.peer().incarnation;
  ask();
}

TAGMA_COLD TAGMA_DECL void probing::ask() {
  transport::outgoing m;
  m.kind = static_cast<std::uint16_t>(message::probe);
  m.body = probe().body();
  asked_ns_ = network_.now();
  if (link_->start(std::move(m), within_ns_, *this)) return;
  const error why(status_code::unavailable, "the connection to " + result_.address + " takes no question");
  finish(&why);
}

TAGMA_COLD TAGMA_DECL void probing::replied(transport::incoming&) noexcept {
  const std::int64_t took = network_.now() - asked_ns_;
  if (answers_ == 0 || took < result_.round_trip_ns) result_.round_trip_ns = took;
  if (++answers_ < rounds && link_ != nullptr) return ask();
  finish(nullptr);
}

TAGMA_COLD TAGMA_DECL void probing::failed(const error& why) noexcept { finish(&why); }

TAGMA_COLD TAGMA_DECL void probing::closed(transport::link&) {
  link_ = nullptr;
  const error why(status_code::unavailable, result_.address + " has closed the connection");
  finish(&why);
}

TAGMA_COLD TAGMA_DECL void probing::lost(transport::link&, const error& why) {
  link_ = nullptr;
  finish(&why);
}

TAGMA_COLD TAGMA_DECL void probing::finish(const error* why) {
  const probed done = std::exchange(done_, nullptr);
  if (!done) return;
  done(why, result_);
  if (link_ != nullptr) link_->close();
}

}  // namespace tagma::service
