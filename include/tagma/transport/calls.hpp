// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The calls of a connection that have no answer yet. Each ends once: with its answer, an error, or its deadline.

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/transport/link.hpp"

namespace tagma::transport {

class calls {
 public:
  /// A call begins.
  void start(std::uint64_t number, call& with, std::int64_t deadline_ns);
  /// The call of a number; nullptr if it has ended, or never began.
  [[nodiscard]] call* find(std::uint64_t number) const;
  /// Takes a call out, to end it; nullptr as above.
  [[nodiscard]] call* take(std::uint64_t number);
  /// The bulk of its answer is on its way.
  void arrives(std::uint64_t number, std::uint32_t transfer);
  /// Which bulk that is; 0 if none.
  [[nodiscard]] std::uint32_t transfer_of(std::uint64_t number) const;
  /// The number of a call whose time is over; 0 if there is none.
  [[nodiscard]] std::uint64_t late(std::int64_t now) const;
  /// The number of any call; 0 if there is none.
  [[nodiscard]] std::uint64_t any() const { return open_.empty() ? 0 : open_.begin()->first; }
  /// The first deadline, or the end of time.
  [[nodiscard]] std::int64_t next_deadline() const;
  [[nodiscard]] std::size_t size() const { return open_.size(); }

 private:
  struct open_call {
    call* with = nullptr;
    std::int64_t deadline_ns = 0;
    std::uint32_t transfer = 0;
  };

  std::map<std::uint64_t, open_call> open_;
  std::set<std::pair<std::int64_t, std::uint64_t>> deadlines_;
};

}  // namespace tagma::transport

#ifndef TAGMA_COMPILED
#include "tagma/transport/calls.ipp"
#endif
