// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A network whose links are cut at a chosen point of a chosen call.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "tagma/cluster/service/messages.hpp"
#include "tagma/transport/network.hpp"

namespace tagma::test {

enum class cut_at : std::uint8_t {
  before_request,  ///< it is not sent
  behind_request,  ///< it has been given to the link
  arrived,         ///< the server has it
  before_reply,    ///< the server has done it
  in_reply         ///< the bulk of the answer is on its way
};

class cut_network final : public transport::network {
 public:
  explicit cut_network(transport::network& of) : of_(of) {}

  /// The next `times` calls of this kind to this address end there.
  void plan(cut_at where, service::message kind, std::string address, int times = 1) {
    const std::lock_guard<std::mutex> lock(mutex_);
    where_ = where, kind_ = kind, address_ = std::move(address), times_ = times;
  }
  /// How many cuts are left.
  [[nodiscard]] int left() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return times_;
  }

  std::shared_ptr<transport::link> connect(const std::string& address, const transport::options& how,
                                           std::shared_ptr<transport::handler> with, std::int64_t within_ns) override {
    auto made = std::make_shared<cut_link>(*this, address);
    made->keep(
        of_.connect(address, how, std::make_shared<cut_handler>(*this, address, std::move(with), made), within_ns));
    return made;
  }
  std::string listen(const std::string& address, const transport::options& how, transport::acceptor accept) override {
    return of_.listen(address, how,
                      [this, address, accept = std::move(accept)]() -> std::shared_ptr<transport::handler> {
                        auto with = accept();
                        if (with == nullptr) return nullptr;
                        return std::make_shared<cut_handler>(*this, address, std::move(with), nullptr);
                      });
  }
  void stop_listening(const std::string& address) override { of_.stop_listening(address); }
  void after(std::int64_t ns, std::function<void()> what) override { of_.after(ns, std::move(what)); }
  [[nodiscard]] std::int64_t now() const override { return of_.now(); }

 private:
  bool cuts(cut_at where, std::uint16_t kind, const std::string& address) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (times_ == 0 || where != where_ || kind != static_cast<std::uint16_t>(kind_) || address != address_)
      return false;
    --times_;
    return true;
  }
  static error cut() { return error(status_code::unavailable, "the link was cut"); }

  class cut_call;

  class cut_link final : public transport::link {
   public:
    cut_link(cut_network& by, std::string address) : by_(by), address_(std::move(address)) {}
    void keep(std::shared_ptr<transport::link> of) {
      const std::lock_guard<std::mutex> lock(mutex_);
      of_ = of.get();
      kept_ = std::move(of);
    }
    void use(transport::link& of) {
      const std::lock_guard<std::mutex> lock(mutex_);
      of_ = &of;
    }
    [[nodiscard]] transport::link& of() const {
      const std::lock_guard<std::mutex> lock(mutex_);
      return *of_;
    }
    /// The answer to this call is not sent.
    void swallow(std::uint64_t request) {
      const std::lock_guard<std::mutex> lock(mutex_);
      swallowed_ = request;
    }

    transport::send_result send(transport::outgoing m) override { return of().send(std::move(m)); }
    transport::send_result start(transport::outgoing m, std::int64_t timeout_ns, transport::call& with) override;
    transport::send_result reply(std::uint64_t request, transport::outgoing m) override {
      bool swallows = false;
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        swallows = swallowed_ == request && request != 0;
      }
      if (!swallows) return of().reply(request, std::move(m));
      of().abort(cut());
      return {};
    }
    transport::send_result fail(std::uint64_t request, const error& why) override { return of().fail(request, why); }
    void cancel(std::uint64_t number) override { of().cancel(number); }
    void discard(std::uint32_t transfer) override { of().discard(transfer); }
    void consumed(const transport::receipt& r) override { of().consumed(r); }
    void close() override { of().close(); }
    void abort(error why) override { of().abort(std::move(why)); }
    [[nodiscard]] transport::identity peer() const override { return of().peer(); }
    [[nodiscard]] transport::link_counters counters() const override { return of().counters(); }

   private:
    cut_network& by_;
    std::string address_;
    mutable std::mutex mutex_;
    transport::link* of_ = nullptr;
    std::shared_ptr<transport::link> kept_;
    std::uint64_t swallowed_ = 0;
  };

  /// Cuts the link when the bulk of its answer begins to come.
  class cut_call final : public transport::call {
   public:
    cut_call(cut_network& by, cut_link& through, std::uint16_t kind, std::string address, transport::call& of)
        : by_(by), through_(through), kind_(kind), address_(std::move(address)), of_(of) {}
    transport::placement place(const transport::incoming& reply) override {
      if (by_.cuts(cut_at::in_reply, kind_, address_)) through_.of().abort(cut());
      return of_.place(reply);
    }
    void replied(transport::incoming& reply) noexcept override {
      transport::call& of = of_;
      delete this;
      of.replied(reply);
    }
    void failed(const error& why) noexcept override {
      transport::call& of = of_;
      delete this;
      of.failed(why);
    }

   private:
    cut_network& by_;
    cut_link& through_;
    std::uint16_t kind_;
    std::string address_;
    transport::call& of_;
  };

  class cut_handler final : public transport::handler {
   public:
    cut_handler(cut_network& by, std::string address, std::shared_ptr<transport::handler> of,
                std::shared_ptr<cut_link> link)
        : by_(by), address_(std::move(address)), of_(std::move(of)), link_(std::move(link)) {
      if (link_ == nullptr) accepted_ = link_ = std::make_shared<cut_link>(by_, address_);
    }
    std::optional<error> admit(const transport::identity& peer) override { return of_->admit(peer); }
    void connected(transport::link& with) override { of_->connected(through(with)); }
    transport::placement place(transport::link& from, const transport::incoming& m) override {
      return of_->place(through(from), m);
    }
    void received(transport::link& from, transport::incoming& m) override {
      cut_link& by = through(from);
      if (accepted_ != nullptr && by_.cuts(cut_at::before_reply, m.kind, address_)) by.swallow(m.request);
      const bool cuts = accepted_ != nullptr && by_.cuts(cut_at::arrived, m.kind, address_);
      of_->received(by, m);
      if (cuts) from.abort(cut());
    }
    void abandoned(transport::link& from, std::uint32_t transfer) override { of_->abandoned(through(from), transfer); }
    void rejected(transport::link& by, std::uint16_t kind, const error& why) override {
      of_->rejected(through(by), kind, why);
    }
    void writable(transport::link& with) override { of_->writable(through(with)); }
    void closing(transport::link& with) override { of_->closing(through(with)); }
    void closed(transport::link& with) override { of_->closed(through(with)); }
    void lost(transport::link& with, const error& why) override { of_->lost(through(with), why); }

   private:
    cut_link& through(transport::link& with) {
      link_->use(with);
      return *link_;
    }

    cut_network& by_;
    std::string address_;
    std::shared_ptr<transport::handler> of_;
    std::shared_ptr<cut_link> link_, accepted_;
  };

  transport::network& of_;
  mutable std::mutex mutex_;
  cut_at where_ = cut_at::before_request;
  service::message kind_ = service::message::run_part;
  std::string address_;
  int times_ = 0;
};

inline transport::send_result cut_network::cut_link::start(transport::outgoing m, std::int64_t timeout_ns,
                                                           transport::call& with) {
  const std::uint16_t kind = m.kind;
  if (by_.cuts(cut_at::before_request, kind, address_)) {
    of().abort(cut());
    return {};
  }
  auto* const call = new cut_call(by_, *this, kind, address_, with);
  transport::send_result sent;
  try {
    sent = of().start(std::move(m), timeout_ns, *call);
  } catch (...) {
    delete call;
    throw;
  }
  if (!sent) {
    delete call;
    return sent;
  }
  if (by_.cuts(cut_at::behind_request, kind, address_)) of().abort(cut());
  return sent;
}

}  // namespace tagma::test
