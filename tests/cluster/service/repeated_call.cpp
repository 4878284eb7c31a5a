// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/service/repeated_call.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/played_network.hpp"

namespace {

namespace tg = tagma;
namespace transport = tg::transport;
using tg::service::message;
using tg::test::played_call;
using tg::test::played_link;
using tg::test::played_network;

constexpr std::int64_t s = 1'000'000'000, minute_ns = 60 * s;
const tg::error gone(tg::status_code::unavailable, "gone");

/// The link that was made last is there.
void comes_up(played_network& by) { by.links.back()->told->connected(*by.links.back()); }
/// It is lost, with the calls that it has.
void is_lost(played_network& by) {
  const std::shared_ptr<played_link> link = by.links.back();
  for (transport::call* const c : link->asked) c->failed(gone);
  link->told->lost(*link, gone);
}

TEST_CASE("who has come back comes back again, and looks once for a server that is gone") {
  played_network network;
  const auto out = tg::service::outlet_of_client(network, "a:1", {}, {"", -1}, minute_ns, 7);
  const auto says_so = [](const played_link& link) {
    return link.kinds == std::vector<std::uint16_t>{static_cast<std::uint16_t>(message::keep_graph)};
  };
  const auto someone_asks = [&] {
    auto call = std::make_unique<played_call>();
    out->ask({.kind = 1}, minute_ns, *call);
    return call;
  };
  const auto first = someone_asks();
  comes_up(network);
  is_lost(network);
  REQUIRE(network.links.size() == 2);

  // Nobody is there, and nobody looks any more.
  is_lost(network);
  network.pass(minute_ns);
  REQUIRE(network.links.size() == 2);

  // Somebody does, and a connection that has come about is made again, however often it is lost.
  const auto second = someone_asks();
  REQUIRE(network.links.size() == 3);
  comes_up(network);
  for (std::size_t times = 4; times < 8; ++times) {
    is_lost(network);
    network.pass(minute_ns);
    REQUIRE(network.links.size() == times);
    comes_up(network);
    CHECK(says_so(*network.links.back()));
  }
  transport::incoming reply;
  network.links.back()->asked.back()->replied(reply);
  network.links.back()->asked.clear();

  is_lost(network);
  REQUIRE(network.links.size() == 8);
  is_lost(network);
  network.pass(minute_ns);
  CHECK(network.links.size() == 8);
}

TEST_CASE("who loses connections that come about at once does not look all the time") {
  played_network network;
  const auto out = tg::service::outlet_of_client(network, "a:1", {}, {"", -1}, minute_ns, 7);
  played_call call;
  out->ask({.kind = 1}, minute_ns, call);
  for (int i = 0; i < 2000; ++i) {
    const std::size_t made = network.links.size();
    comes_up(network);
    is_lost(network);
    while (network.links.size() == made) network.pass(s / 100);
  }
  CHECK(network.now() > 1900 * s);
}

TEST_CASE("a call that is given up before it is sent ends, and says why") {
  played_network network;
  const auto out = std::make_shared<tg::service::outlet>(network, "a:1", transport::options{}, tg::task_id{"", -1},
                                                         minute_ns, nullptr);
  const tg::error late(tg::status_code::deadline_exceeded, "it took too long");
  std::string ended;
  const auto on_end = [&](const tg::error* why) { ended = why == nullptr ? "answered" : why->what(); };
  SECTION("while nobody is there") {
    tg::service::repeated_call call(network, *out, message::run_part, {}, nullptr, 10 * minute_ns, minute_ns, on_end);
    call.start();
    call.give_up(late);
    CHECK(ended == late.what());
    CHECK(call.attempts() == 1);
    CHECK_FALSE(call.lost());
    comes_up(network);
    CHECK(network.links.back()->asked.empty());
  }
  SECTION("while it waits to be asked again") {
    tg::service::repeated_call call(network, *out, message::run_part, {}, nullptr, 10 * minute_ns, minute_ns, on_end);
    call.start();
    comes_up(network);
    is_lost(network);
    call.give_up(late);
    CHECK(ended == late.what());
    CHECK(call.lost());
    network.pass(minute_ns);
    CHECK(call.attempts() == 1);
  }
  SECTION("while nobody answers") {
    tg::service::repeated_call call(network, *out, message::run_part, {}, nullptr, 10 * minute_ns, minute_ns, on_end);
    call.start();
    comes_up(network);
    played_link& link = *network.links.back();
    call.give_up(late);
    CHECK(link.cancelled.empty());
    call.leave();
    REQUIRE(link.cancelled == std::vector<std::uint64_t>{1});
    CHECK(ended.empty());
    link.asked.at(0)->failed(tg::error(tg::status_code::cancelled, "it is over"));
    CHECK(ended == late.what());
    CHECK(call.lost());
  }
  SECTION("for another reason") {
    tg::service::repeated_call call(network, *out, message::run_part, {}, nullptr, 10 * minute_ns, minute_ns, on_end);
    call.start();
    call.give_up(tg::error(tg::status_code::not_found, "another one is not there"));
    CHECK(ended.find("Cancelled") == 0);
    comes_up(network);
    CHECK(network.links.back()->asked.empty());
  }
}

TEST_CASE("what may be asked again for ever is asked again") {
  played_network network;
  const auto out = std::make_shared<tg::service::outlet>(network, "a:1", transport::options{}, tg::task_id{"", -1},
                                                         minute_ns, nullptr);
  std::string ended;
  tg::service::repeated_call call(network, *out, message::run_part, {}, nullptr, INT64_MAX, INT64_MAX,
                                  [&](const tg::error* why) { ended = why == nullptr ? "answered" : why->what(); });
  call.start();
  REQUIRE(network.links.size() == 1);
  comes_up(network);
  is_lost(network);
  network.pass(minute_ns);
  REQUIRE(network.links.size() == 2);
  comes_up(network);
  REQUIRE(network.links.back()->asked.size() == 1);
  transport::incoming reply;
  network.links.back()->asked[0]->replied(reply);
  CHECK(ended == "answered");
}

}  // namespace
