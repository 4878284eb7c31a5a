// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/service/inlet_handler.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "support/comes.hpp"
#include "tagma/transport/memory/network.hpp"

namespace {

namespace tg = tagma;
namespace transport = tg::transport;
using tg::service::inlet_handler;

struct watcher final : transport::handler {
  void received(transport::link&, transport::incoming&) override {}
  void closed(transport::link&) override { over = true; }
  void lost(transport::link&, const tg::error&) override { over = true; }
  std::atomic<bool> over{false};
};

transport::options ends_of_one_cluster() {
  transport::options how;
  how.self.job = "worker";
  return how;
}

TEST_CASE("a connection that was told to end before it had come about ends when it does") {
  transport::memory::network network;
  const auto inlet = std::make_shared<inlet_handler>(tg::service::inlet_calls{});
  network.listen("a:1", ends_of_one_cluster(), [&] {
    inlet->abort(tg::error(tg::status_code::unavailable, "the server stops"));
    return inlet;
  });
  const auto other = std::make_shared<watcher>();
  const auto link = network.connect("a:1", ends_of_one_cluster(), other, 5'000'000'000);
  CHECK(tg::test::comes([&] { return other->over.load(); }));
  network.stop_listening("a:1");
}

}  // namespace
