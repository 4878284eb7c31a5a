// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Where a part of a run meets those in other processes: edges lead through links.
///
/// A small tensor leaves as soon as it is there. A large one waits until whoever takes it says so, and then goes from
/// where it is to where it is read.

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/messages.hpp"
#include "tagma/cluster/service/reports.hpp"
#include "tagma/cluster/service/threads.hpp"
#include "tagma/runtime/rendezvous.hpp"
#include "tagma/transport/link.hpp"

namespace tagma::service {

/// Sends a message to a task, by its number among those of the graph; whatever becomes of it, its attempt is told.
using post = std::function<void(std::int32_t task, transport::outgoing what)>;

/// Elements of so many bytes leave before they are wanted.
inline constexpr std::size_t eager_bytes = 32 * 1024;

namespace detail {

/// Tells a run that its tensor has left.
class leaving final : public transport::send_attempt {
 public:
  explicit leaving(runtime::send_attempt& of) : of_(of) {}
  void ended(std::exception_ptr error) noexcept override {
    runtime::send_attempt& of = of_;
    delete this;
    of.ended(std::move(error));
  }

 private:
  runtime::send_attempt& of_;
};

/// Puts elements that are there where a run wants them.
void hand_over(runtime::receive_attempt& to, const tensor_spec& spec, const std::vector<std::byte>& elements) noexcept;

}  // namespace detail

class meeting final : public runtime::rendezvous {
 public:
  meeting(std::uint64_t graph, std::uint64_t step, post out) : graph_(graph), step_(step), out_(std::move(out)) {}
  ~meeting() override = default;

  void send(std::int32_t edge, std::int32_t task, runtime::send_attempt& attempt) override;
  void receive(std::int32_t edge, std::int32_t task, runtime::receive_attempt& attempt) override;
  void cancel(std::int32_t edge, runtime::exchange_attempt& attempt) noexcept override;
  /// Everything that waits, and that comes later, ends with this error.
  void abort(const error& why);
  /// An edge that waits; its peer is a number of a task among those of the graph.
  struct waiting_edge {
    std::int32_t number, peer;
    run_list::wait waits;
  };
  /// Those of this part that wait now.
  [[nodiscard]] std::vector<waiting_edge> waiting();

  /// @name What the other parts say; by the thread of the network
  /// @{
  [[nodiscard]] transport::placement place(transport::link& from, const transport::incoming& bulk,
                                           const edge_of_run& e);
  /// All of a tensor is there.
  void received(transport::incoming& bulk, const edge_of_run& e);
  /// It does not come to its end.
  void abandoned(std::int32_t edge, const error& why);
  void wanted(std::int32_t edge);
  /// @}

 private:
  /// An edge of this part, on its way.
  struct state {
    runtime::send_attempt* sends = nullptr;  ///< waits until it is wanted
    std::int32_t peer = 0;                   ///< the other end
    bool is_wanted = false;
    runtime::receive_attempt* receives = nullptr;  ///< waits until it comes
    transport::link* from = nullptr;               ///< brings it now, to its place
    std::uint32_t transfer = 0;
    bool has_come = false;  ///< before it was asked for
    tensor_spec spec{};
    std::vector<std::byte> elements{};
  };

  void leave(std::int32_t edge, std::int32_t task, runtime::send_attempt& attempt);
  void check() const;

  std::uint64_t graph_, step_;
  post out_;
  mutex mutex_;
  std::map<std::int32_t, state> edges_;
  std::exception_ptr aborted_;
};

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/meeting.ipp"
#endif
