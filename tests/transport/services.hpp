// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Services that remember what they were told, for tests of connections.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tagma/runtime/mutex.hpp"
#include "tagma/transport/link.hpp"
#include "tagma/transport/network.hpp"
#include "tagma/transport/options.hpp"

namespace tagma::transport::test {

inline constexpr std::int64_t ms = 1'000'000, s = 1'000'000'000;

/// A task that goes without a secret.
inline options task(const std::string& job, std::int32_t number = 0) {
  options o;
  o.self = {.job = job, .task = number, .role = "test", .cluster = "a cluster", .incarnation = 7};
  o.insecure = true;
  o.shared_memory = false;  // unless a test is about that
  return o;
}

/// The same for tests with threads, any of which may stay away for long.
inline options patient(options o) {
  o.patience.handshake_ns = o.patience.lost_ns = o.patience.close_ns = 300 * s;
  return o;
}

/// Bulk whose bytes tell where they belong.
inline std::vector<std::byte> pattern(std::size_t size, unsigned seed = 1) {
  std::vector<std::byte> v(size);
  std::uint32_t x = seed * 2654435761u + 1;
  for (std::byte& b : v) {
    x = x * 1664525u + 1013904223u;
    b = static_cast<std::byte>(x >> 24);
  }
  return v;
}

/// What happened to a call.
class asked final : public call {
 public:
  placement place(const incoming& reply) override {
    if (!wanted) return placement::buffered();
    return wanted(reply);
  }
  void replied(incoming& reply) noexcept override {
    const mutex_lock lock(mutex_);
    ++ends_;
    kind_ = reply.kind;
    body_ = reply.body;
    bulk_.assign(reply.bulk.begin(), reply.bulk.end());
  }
  void failed(const error& why) noexcept override {
    const mutex_lock lock(mutex_);
    ++ends_;
    error_ = why;
  }

  [[nodiscard]] int ends() const { return locked(ends_); }
  [[nodiscard]] std::uint16_t kind() const { return locked(kind_); }
  [[nodiscard]] std::string body() const { return locked(body_); }
  [[nodiscard]] std::vector<std::byte> bulk() const { return locked(bulk_); }
  [[nodiscard]] std::string what() const { return locked(error_) ? locked(error_)->what() : ""; }

  std::function<placement(const incoming&)> wanted{};

 private:
  template <class T>
  [[nodiscard]] T locked(const T& value) const {
    const mutex_lock lock(mutex_);
    return value;
  }

  mutable mutex mutex_;
  int ends_ = 0;
  std::uint16_t kind_ = 0;
  std::string body_;
  std::vector<std::byte> bulk_;
  std::optional<error> error_;
};

/// What happened to bulk that was sent.
class watched final : public send_attempt {
 public:
  void ended(std::exception_ptr why) noexcept override {
    const mutex_lock lock(mutex_);
    ++ends_;
    if (why == nullptr) return;
    try {
      std::rethrow_exception(why);
    } catch (const std::exception& e) {
      what_ = e.what();
    }
  }
  [[nodiscard]] int ends() const {
    const mutex_lock lock(mutex_);
    return ends_;
  }
  [[nodiscard]] std::string what() const {
    const mutex_lock lock(mutex_);
    return what_;
  }

 private:
  mutable mutex mutex_;
  int ends_ = 0;
  std::string what_;
};

/// A message as it was received.
struct got {
  std::uint16_t kind = 0;
  std::uint64_t request = 0;
  std::string body{};
  std::vector<std::byte> bulk{};
  transport::receipt receipt{};
  std::int64_t time_left_ns = 0;
};

/// A handler that remembers, and does what a test wants. Its functions are called by the thread of the network; the
/// test looks at it from another.
class service : public handler {
 public:
  std::optional<error> admit(const identity& who) override { return admits ? admits(who) : std::nullopt; }
  void connected(link&) override { note("connected"); }
  placement place(link& from, const incoming& m) override { return places ? places(from, m) : placement::buffered(); }
  void received(link& from, incoming& m) override {
    {
      const mutex_lock lock(mutex_);
      got_.push_back(
          {m.kind, m.request, std::string(m.body), {m.bulk.begin(), m.bulk.end()}, m.receipt, m.time_left_ns});
    }
    if (receives) receives(from, m);
  }
  void abandoned(link&, std::uint32_t) override { note("abandoned"); }
  void rejected(link&, std::uint16_t kind, const error& why) override {
    note("rejected " + std::to_string(kind) + ": " + why.what());
  }
  void writable(link&) override { note("writable"); }
  void closing(link&) override { note("closing"); }
  void closed(link&) override { note("closed"); }
  void lost(link&, const error& why) override { note(std::string("lost: ") + why.what()); }

  /// What it was told, such as "connected", in order.
  [[nodiscard]] std::vector<std::string> told() const {
    const mutex_lock lock(mutex_);
    return told_;
  }
  /// How often it was told what begins so.
  [[nodiscard]] int count(const std::string& begins) const {
    int n = 0;
    for (const std::string& t : told()) n += t.starts_with(begins) ? 1 : 0;
    return n;
  }
  [[nodiscard]] bool has(const std::string& begins) const { return count(begins) > 0; }
  /// The last thing that it was told.
  [[nodiscard]] std::string last() const {
    const mutex_lock lock(mutex_);
    return told_.empty() ? "" : told_.back();
  }
  [[nodiscard]] std::vector<got> messages() const {
    const mutex_lock lock(mutex_);
    return got_;
  }
  [[nodiscard]] std::size_t size() const {
    const mutex_lock lock(mutex_);
    return got_.size();
  }

  std::function<std::optional<error>(const identity&)> admits{};
  std::function<placement(link&, const incoming&)> places{};
  std::function<void(link&, incoming&)> receives{};

 private:
  void note(std::string what) {
    const mutex_lock lock(mutex_);
    told_.push_back(std::move(what));
  }

  mutable mutex mutex_;
  std::vector<std::string> told_;
  std::vector<got> got_;
};

/// Answers each call with what it was asked, bulk included.
inline void echo(link& to, incoming& m) {
  if (!m.wants_reply) return;
  struct kept final : send_attempt {
    std::vector<std::byte> bytes{};
    void ended(std::exception_ptr) noexcept override { delete this; }
  };
  outgoing answer{.kind = m.kind, .body = std::string(m.body)};
  if (m.bulk.empty()) {
    to.reply(m.request, std::move(answer));
    return;
  }
  auto bulk = std::make_unique<kept>();
  bulk->bytes.assign(m.bulk.begin(), m.bulk.end());
  answer.bulk = bulk->bytes;
  answer.attempt = bulk.get();
  if (to.reply(m.request, std::move(answer))) (void)bulk.release();
}

}  // namespace tagma::transport::test
