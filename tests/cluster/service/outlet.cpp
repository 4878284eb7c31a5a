// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/service/outlet.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/played_network.hpp"
#include "tagma/transport/driven_link.hpp"
#include "tagma/transport/memory/network.hpp"

namespace {

namespace tg = tagma;
namespace transport = tg::transport;
using tg::service::outlet;
using tg::test::played_call;
using tg::test::played_link;
using tg::test::played_network;

constexpr std::int64_t minute_ns = 60'000'000'000;

std::shared_ptr<outlet> outlet_of(played_network& by) {
  return std::make_shared<outlet>(by, "a:1", transport::options{}, tg::task_id{"", -1}, minute_ns, nullptr);
}

TEST_CASE("room that comes while somebody hears that there is none is room") {
  played_network network;
  const auto out = outlet_of(network);
  played_call call;
  out->ask({}, minute_ns, call);
  REQUIRE(network.links.size() == 1);
  played_link& link = *network.links[0];
  link.answers = {transport::send_status::full};
  link.before_answer = [&] { link.told->writable(link); };
  link.told->connected(link);
  CHECK(link.asked == std::vector<transport::call*>{&call});
}

TEST_CASE("what is to be sent while the link is lost is not kept for a link that nobody makes") {
  played_network network;
  const auto out = outlet_of(network);
  played_call call;
  out->ask({}, minute_ns, call);
  REQUIRE(network.links.size() == 1);
  played_link& link = *network.links[0];
  link.answers = {transport::send_status::full};
  link.before_answer = [&] { link.told->lost(link, tg::error(tg::status_code::unavailable, "gone")); };
  link.told->connected(link);
  CHECK(link.asked.empty());
  CHECK(call.failure.find("Unavailable") == 0);
  CHECK(network.links.size() == 1);

  // Somebody else has more to say, and so there is a link.
  played_call first, second;
  out->ask({}, minute_ns, first);
  REQUIRE(network.links.size() == 2);
  played_link& next = *network.links[1];
  next.answers = {transport::send_status::full};
  next.before_answer = [&] {
    next.told->lost(next, tg::error(tg::status_code::unavailable, "gone"));
    out->ask({}, minute_ns, second);
  };
  next.told->connected(next);
  REQUIRE(network.links.size() == 3);
  network.links[2]->told->connected(*network.links[2]);
  CHECK(network.links[2]->asked == std::vector<transport::call*>{&first, &second});
}

TEST_CASE("calls that nobody wants any more are not sent") {
  played_network network;
  const auto out = outlet_of(network);
  const auto unwanted = std::make_shared<tg::service::asked_call>(), late = std::make_shared<tg::service::asked_call>();
  played_call wanted, given_up, full, last;
  out->ask({}, minute_ns, given_up, unwanted);
  out->ask({}, minute_ns, wanted);
  unwanted->drop();
  out->drop_unwanted();
  CHECK(given_up.failure.find("Cancelled") == 0);
  out->ask({}, minute_ns, last, unwanted);
  CHECK(last.failure.find("Cancelled") == 0);
  played_link& link = *network.links.at(0);
  link.told->connected(link);
  CHECK(link.asked == std::vector<transport::call*>{&wanted});

  // Also while somebody hears that there is no room.
  link.answers = {transport::send_status::full};
  link.before_answer = [&] {
    late->drop();
    out->drop_unwanted();
  };
  out->ask({}, minute_ns, full, late);
  CHECK(full.failure.find("Cancelled") == 0);
  link.told->writable(link);
  CHECK(link.asked.size() == 1);
}

TEST_CASE("calls that were sent end when they are to, and not because nobody wants them") {
  played_network network;
  const auto out = outlet_of(network);
  played_call first, second, third;
  const auto kept = std::make_shared<tg::service::asked_call>(), ended = std::make_shared<tg::service::asked_call>(),
             early = std::make_shared<tg::service::asked_call>();
  out->ask({}, minute_ns, first, kept);
  played_link& link = *network.links.at(0);
  link.told->connected(link);
  out->ask({}, minute_ns, second, ended);
  kept->drop();
  CHECK(link.cancelled.empty());
  ended->end();
  CHECK(link.cancelled == std::vector<std::uint64_t>{2});
  // While it is being sent.
  link.before_answer = [&] { early->end(); };
  out->ask({}, minute_ns, third, early);
  CHECK(link.cancelled == std::vector<std::uint64_t>{2, 3});
  // Whoever is told may not be there any more.
  const auto gone = std::make_shared<tg::service::asked_call>();
  {
    const auto other = std::make_shared<played_link>(nullptr);
    gone->sent(other, 1);
  }
  gone->end();
}

TEST_CASE("the time of a call begins when it is asked, and not when somebody is there") {
  played_network network;
  const auto out = outlet_of(network);
  played_call soon, later, last;
  out->ask({}, minute_ns, last);
  out->ask({}, minute_ns / 60, soon);
  out->ask({}, minute_ns / 2, later);
  network.pass(minute_ns / 30);
  CHECK(soon.failure.find("DeadlineExceeded") == 0);
  CHECK(later.failure.empty());
  played_link& link = *network.links.at(0);
  link.told->connected(link);
  CHECK(link.asked == std::vector<transport::call*>{&last, &later});
  CHECK(link.timeouts.back() == minute_ns / 2 - minute_ns / 30);
}

TEST_CASE("a process that is waited for in vain is not available; a shorter time of a call is its own") {
  played_network network;
  const auto out = outlet_of(network);
  played_call as_long, longer, shorter;
  out->ask({}, minute_ns, as_long);
  out->ask({}, minute_ns + 1, longer);
  out->ask({}, minute_ns - 1, shorter);
  network.pass(minute_ns + 1);
  CHECK(as_long.failure == "Unavailable: there was no connection to a:1 in time");
  CHECK(longer.failure == as_long.failure);
  CHECK(shorter.failure == "DeadlineExceeded: there was no connection to a:1 in time");
}

struct quiet final : transport::handler {
  void received(transport::link&, transport::incoming&) override {}
};

/// Lets nobody else go on while it hears that there is a link.
struct slow_listener final : transport::handler {
  slow_listener(std::shared_ptr<transport::handler> to, transport::latch& heard, transport::latch& go)
      : of(std::move(to)), told(heard), goes(go) {}
  void connected(transport::link& with) override {
    of->connected(with);
    told.open();
    goes.wait();
  }
  void received(transport::link& from, transport::incoming& m) override { of->received(from, m); }
  void closed(transport::link& with) override { of->closed(with); }
  void lost(transport::link& with, const tg::error& why) override { of->lost(with, why); }

  std::shared_ptr<transport::handler> of;
  transport::latch &told, &goes;
};

TEST_CASE("who takes a connection and says nothing is waited for as long as who is not there") {
  played_network network;
  const auto out = outlet_of(network);
  played_call call;
  out->ask({}, minute_ns, call);
  CHECK(network.patience.handshake_ns == minute_ns);
}

TEST_CASE("who is there is known as soon as somebody is") {
  transport::memory::network network;
  transport::options how;
  how.self = {.job = "worker", .incarnation = 7};
  network.listen("a:1", how, [] { return std::make_shared<quiet>(); });
  const auto out = std::make_shared<outlet>(network, "a:1", how, tg::task_id{"worker", -1}, minute_ns, nullptr);
  CHECK_FALSE(out->peer().has_value());
  transport::latch told, go;
  const auto link = network.connect("a:1", how, std::make_shared<slow_listener>(out, told, go), minute_ns);
  told.wait();
  const auto who = out->peer();
  go.open();
  REQUIRE(who.has_value());
  CHECK(who->incarnation == 7);
  network.stop_listening("a:1");
}

}  // namespace
