// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A network whose servers may hear nothing for a while, though their connections live: as those do whose threads hang.

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tagma/transport/network.hpp"

namespace tagma::test {

/// Messages that a server does not hear are as if they had never been there.
class deaf_network final : public transport::network {
 public:
  static constexpr int none = -1, all = -2;

  explicit deaf_network(transport::network& real) : real_(real) {}

  /// The kind of messages that the servers at the address do not hear; `none`, `all`.
  /// @{
  std::string deaf_at{};  ///< before there are servers
  std::atomic<int> deaf_to{none};
  /// @}

  std::shared_ptr<transport::link> connect(const std::string& address, const transport::options& how,
                                           std::shared_ptr<transport::handler> with, std::int64_t within_ns) override {
    return real_.connect(address, how, std::move(with), within_ns);
  }
  std::string listen(const std::string& address, const transport::options& how, transport::acceptor accept) override {
    if (address != deaf_at) return real_.listen(address, how, std::move(accept));
    return real_.listen(address, how, [this, accept = std::move(accept)]() -> std::shared_ptr<transport::handler> {
      auto to = accept();
      return to == nullptr ? nullptr : std::make_shared<ear>(*this, std::move(to));
    });
  }
  void stop_listening(const std::string& address) override { real_.stop_listening(address); }
  void after(std::int64_t ns, std::function<void()> what) override { real_.after(ns, std::move(what)); }
  [[nodiscard]] std::int64_t now() const override { return real_.now(); }

 private:
  class ear final : public transport::handler {
   public:
    ear(const deaf_network& of, std::shared_ptr<transport::handler> to) : of_(of), to_(std::move(to)) {}
    std::optional<error> admit(const transport::identity& peer) override { return to_->admit(peer); }
    void connected(transport::link& with) override { to_->connected(with); }
    transport::placement place(transport::link& from, const transport::incoming& m) override {
      return to_->place(from, m);
    }
    void received(transport::link& from, transport::incoming& m) override {
      const int deaf = of_.deaf_to.load();
      if (deaf != all && deaf != m.kind) to_->received(from, m);
    }
    void abandoned(transport::link& from, std::uint32_t transfer) override { to_->abandoned(from, transfer); }
    void rejected(transport::link& by, std::uint16_t kind, const error& why) override { to_->rejected(by, kind, why); }
    void writable(transport::link& with) override { to_->writable(with); }
    void closing(transport::link& with) override { to_->closing(with); }
    void closed(transport::link& with) override { to_->closed(with); }
    void lost(transport::link& with, const error& why) override { to_->lost(with, why); }

   private:
    const deaf_network& of_;
    std::shared_ptr<transport::handler> to_;
  };

  transport::network& real_;
};

}  // namespace tagma::test
