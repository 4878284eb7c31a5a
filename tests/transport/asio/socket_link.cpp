// SPDX-License-Identifier: BSL-1.0
#include "tagma/transport/asio/socket_link.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "support/comes.hpp"
#include "tagma/transport/asio/network.hpp"

#if defined(TAGMA_WITH_ASIO) && TAGMA_WITH_ASIO

namespace {

namespace tg = tagma;
namespace transport = tg::transport;

struct watcher final : transport::handler {
  void connected(transport::link&) override { up = true; }
  void received(transport::link&, transport::incoming&) override {}
  void lost(transport::link&, const tg::error&) override { over = true; }

  std::atomic<bool> up{false}, over{false};
};

TEST_CASE("a link that is ended before it begins to connect does not connect") {
  transport::asio::network server, client;
  transport::options how;
  how.self.job = "worker";
  std::atomic<int> taken{0};
  const std::string at = server.listen("127.0.0.1:0", how, [&] {
    ++taken;
    return std::make_shared<watcher>();
  });
  const auto first = std::make_shared<watcher>(), second = std::make_shared<watcher>();
  transport::latch go;
  client.after(0, [&] { go.wait(); });  // so that all of it is there when the link begins
  const auto ended = client.connect(at, how, first, 60'000'000'000);
  ended->abort(tg::error(tg::status_code::cancelled, "nobody wants it"));
  const auto other = client.connect(at, how, second, 60'000'000'000);
  go.open();
  CHECK(tg::test::comes([&] { return first->over && second->up; }));
  CHECK(taken == 1);
  server.stop_listening(at);
}

}  // namespace

#endif
