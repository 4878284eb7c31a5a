// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What carries connections, for tests that are the same for all of it.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/certificates.hpp"
#include "support/comes.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/transport/asio/network.hpp"
#include "tagma/transport/memory/network.hpp"
#include "tagma/transport/simulated/world.hpp"
#include "transport/services.hpp"

namespace tagma::transport::test {

/// Two processes, of which one listens.
class carrier {
 public:
  virtual ~carrier() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual network& client() = 0;
  [[nodiscard]] virtual network& server() = 0;
  /// An address to listen at, which may be one of several.
  [[nodiscard]] virtual std::string address() = 0;
  /// An address where nobody listens.
  [[nodiscard]] virtual std::string nowhere() = 0;
  /// Whether bytes go through memory that both ends share, as soon as they are open.
  [[nodiscard]] virtual bool shares_memory() const { return false; }
  /// What an end needs besides.
  virtual void prepare(options&) {}
  /// Waits until it is so, or for long.
  [[nodiscard]] virtual bool comes(const std::function<bool()>& so) = 0;
};

class simulated_carrier final : public carrier {
 public:
  explicit simulated_carrier(bool rough) : rough_(rough) {
    if (rough) world_.weather = {200'000, 5'000'000, 50'000'000, 3000, true};
  }
  std::string name() const override { return rough_ ? "a rough world" : "a world"; }
  network& client() override { return world_.process("client"); }
  network& server() override { return world_.process("server"); }
  std::string address() override { return "server:" + std::to_string(++addresses_); }
  std::string nowhere() override { return "nowhere"; }
  bool comes(const std::function<bool()>& so) override { return world_.comes(so, 600 * s); }

 private:
  bool rough_;
  int addresses_ = 0;
  simulated::world world_{1};
};

class memory_carrier final : public carrier {
 public:
  std::string name() const override { return "memory"; }
  network& client() override { return network_; }
  network& server() override { return network_; }
  std::string address() override { return "here:" + std::to_string(++addresses_); }
  std::string nowhere() override { return "nowhere"; }
  bool comes(const std::function<bool()>& so) override { return tagma::test::comes(so); }

 private:
  memory::network network_;
  int addresses_ = 0;
};

#if defined(TAGMA_WITH_ASIO) && TAGMA_WITH_ASIO
class socket_carrier : public carrier {
 public:
  socket_carrier(bool is_unix, bool shares_memory) : unix_(is_unix), memory_(shares_memory) {}
  std::string name() const override {
    return std::string(unix_ ? "Unix sockets" : "TCP") + (memory_ ? " and shared memory" : "");
  }
  bool shares_memory() const override { return memory_; }
  void prepare(options& o) override { o.shared_memory = memory_; }
  network& client() override { return client_; }
  network& server() override { return server_; }
  std::string address() override {
    return unix_ ? "unix:" + (directory_ / ("socket" + std::to_string(++addresses_)).c_str()) : "127.0.0.1:0";
  }
  std::string nowhere() override { return unix_ ? "unix:" + (directory_ / "nobody") : "127.0.0.1:1"; }
  bool comes(const std::function<bool()>& so) override { return tagma::test::comes(so); }

 private:
  bool unix_, memory_;
  int addresses_ = 0;
  tagma::test::temporary_directory directory_;
  asio::network client_, server_;
};

#if defined(TAGMA_WITH_TLS) && TAGMA_WITH_TLS
class tls_carrier final : public socket_carrier {
 public:
  explicit tls_carrier(bool shares_memory) : socket_carrier(false, shares_memory) {}
  std::string name() const override { return "TLS over " + socket_carrier::name(); }
  void prepare(options& o) override {
    socket_carrier::prepare(o);
    o.tls = authority_.of_task(o.self.job, o.self.task);
  }

 private:
  tagma::test::authority authority_{};
};
#endif
#endif

/// Calls `f` with each of them.
inline void with_each_carrier(const std::function<void(carrier&)>& f) {
  std::vector<std::function<std::unique_ptr<carrier>()>> all{[] { return std::make_unique<simulated_carrier>(false); },
                                                             [] { return std::make_unique<simulated_carrier>(true); },
                                                             [] { return std::make_unique<memory_carrier>(); }};
#if defined(TAGMA_WITH_ASIO) && TAGMA_WITH_ASIO
  for (const bool memory : {false, true}) {
    all.emplace_back([memory] { return std::make_unique<socket_carrier>(false, memory); });
    all.emplace_back([memory] { return std::make_unique<socket_carrier>(true, memory); });
#if defined(TAGMA_WITH_TLS) && TAGMA_WITH_TLS
    all.emplace_back([memory] { return std::make_unique<tls_carrier>(memory); });
#endif
  }
#endif
  for (const auto& make : all) f(*make());
}

}  // namespace tagma::transport::test
