// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A link as networks make it: a connection, which one thread drives, and a box in which other threads leave what they
/// want of it.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/runtime/mutex.hpp"
#include "tagma/transport/connection.hpp"
#include "tagma/transport/link.hpp"

namespace tagma::transport {

/// Somebody waits for another thread to have done something.
class latch {
 public:
  void open() {
    const mutex_lock lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  void wait() {
    const mutex_lock lock(mutex_);
    while (!open_) opened_.wait(mutex_);
  }

 private:
  mutex mutex_;
  condition opened_;
  bool open_ = false;
};

class driven_link : public link {
 public:
  driven_link(connection::setting s, std::shared_ptr<handler> with, std::int64_t now);

  send_result send(outgoing message) final;
  send_result start(outgoing message, std::int64_t timeout_ns, call& with) final;
  send_result reply(std::uint64_t request, outgoing message) final;
  send_result fail(std::uint64_t request, const error& why) final;
  void cancel(std::uint64_t number) final;
  void discard(std::uint32_t transfer) final;
  void consumed(const receipt& of) final;
  void close() final;
  void abort(error why) final;
  [[nodiscard]] identity peer() const final;
  [[nodiscard]] link_counters counters() const final;

 protected:
  /// There is something in the box, which was empty. Called by any thread; `take_wishes` is due soon.
  virtual void wake() = 0;
  /// Whether this is the thread that drives.
  [[nodiscard]] virtual bool is_here() const = 0;
  /// The clock of the network.
  [[nodiscard]] virtual std::int64_t clock() const = 0;

  /// @name For the thread that drives
  /// @{
  template <class F>
  auto with_connection(const F& f) {
    return f(connection_);
  }
  /// Hands over what is in the box.
  void take_wishes();
  /// Lets other threads see how things stand.
  void show();
  /// Nobody drives any more: what is in the box and comes later is refused. Lets the handler go, which may hold the
  /// link.
  void shut();
  /// The same without a word to anybody.
  void vanish();
  /// @}

 private:
  struct wish {
    enum class kind : std::uint8_t { send, cancel, discard, consumed, close, abort, look };
    kind what = kind::look;
    order message{};
    call* with = nullptr;
    std::uint64_t number = 0;
    receipt of{};
    std::shared_ptr<error> why{};
  };

  send_result submit(order what, call* with);
  bool post(wish&& w);
  void grant(wish& w);

  std::shared_ptr<handler> handler_;
  const std::size_t body_bytes_;
  connection connection_;
  mutable mutex shown_mutex_;
  link_counters shown_{};
  identity shown_peer_{};
  mutex box_mutex_;
  std::vector<wish> box_, taken_;
  bool shut_ = false;
  atomic<bool> closing_{false}, silent_{false};  // takes no messages; nor answers
  atomic<std::uint64_t> last_number_{0};
};

}  // namespace tagma::transport

#ifndef TAGMA_COMPILED
#include "tagma/transport/driven_link.ipp"
#endif
