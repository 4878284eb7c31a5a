// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Where a part of a run meets those in other processes: edges lead through links.
///
/// A small tensor leaves as soon as it is there. A large one waits until whoever takes it says so, and then goes from
/// where it is to where it is read. Texts are written as `add_elements` does before they leave, and read where they
/// have arrived: nothing is allocated for bytes that are not there.

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
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
  explicit leaving(runtime::send_attempt& of, std::string texts = {}) : of_(of), texts_(std::move(texts)) {}
  /// What leaves.
  [[nodiscard]] std::span<const std::byte> bulk() const {
    const raw_view& v = of_.value;
    if (v.type == dtype::string) return {reinterpret_cast<const std::byte*>(texts_.data()), texts_.size()};
    return {static_cast<const std::byte*>(v.data), v.bytes()};
  }
  void ended(std::exception_ptr error) noexcept override {
    runtime::send_attempt& of = of_;
    delete this;
    of.ended(std::move(error));
  }

 private:
  runtime::send_attempt& of_;
  std::string texts_;
};

/// Puts elements that are there where a run wants them. Its attempt ends with an error if they are none of this spec.
void hand_over(runtime::receive_attempt& to, const edge_of_run& e, std::vector<std::byte> elements) noexcept;

}  // namespace detail

/// Why an edge of texts is refused that has more bytes than a connection buffers.
[[nodiscard]] error too_many_texts(const edge_of_run& e, std::uint64_t bytes, std::uint64_t most);

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
  void received(const transport::link& from, transport::incoming& bulk, const edge_of_run& e);
  /// This transfer does not come to its end.
  void abandoned(const transport::link& from, std::uint32_t transfer, std::int32_t edge, const error& why);
  /// It cannot be taken here: told to whoever waits for it, or will.
  void refuse(std::int32_t edge, const error& why);
  void wanted(std::int32_t edge);
  /// @}

 private:
  /// An edge of this part, on its way.
  struct state {
    runtime::send_attempt* sends = nullptr;  ///< waits until it is wanted
    std::string texts{};                     ///< what of it leaves then, if it has texts
    std::int32_t peer = 0;                   ///< the other end
    bool is_wanted = false;
    runtime::receive_attempt* receives = nullptr;  ///< waits until it comes
    transport::link* from = nullptr;               ///< brings it now, to its place; texts to a buffer
    std::uint32_t transfer = 0;
    std::exception_ptr refused{};  ///< what came, before it was asked for
    bool has_come = false;         ///< before it was asked for
    tensor_spec spec{};
    std::vector<std::byte> elements{};
  };

  void leave(std::int32_t edge, std::int32_t task, runtime::send_attempt& attempt, std::string texts);
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
