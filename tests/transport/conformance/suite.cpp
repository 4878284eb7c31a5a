// SPDX-License-Identifier: BSL-1.0
// What all that carries connections must do.
#include <atomic>
#include <catch2/catch.hpp>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "transport/conformance/carriers.hpp"

namespace tagma::transport::test {

using Catch::Matchers::Contains;

namespace {

/// A server whose services answer with what they were asked, and a client.
struct scene {
  explicit scene(carrier& by, options server = task("ps"), options client = task("worker")) : with(by) {
    by.prepare(server);
    by.prepare(client);
    address = with.server().listen(with.address(), patient(server), [this] {
      auto made = std::make_shared<service>();
      made->receives = echo;
      if (prepare) prepare(*made);
      const mutex_lock lock(guard);
      services.push_back(made);
      return made;
    });
    told = patient(client);
  }
  ~scene() { with.server().stop_listening(address); }

  std::shared_ptr<link> connect() { return with.client().connect(address, told, at_client, 60 * s); }
  std::shared_ptr<link> connected() {
    std::shared_ptr<link> l = connect();
    REQUIRE(with.comes([&] { return at_client->has("connected") && count() > 0 && last()->has("connected"); }));
    return l;
  }
  std::size_t count() {
    const mutex_lock lock(guard);
    return services.size();
  }
  std::shared_ptr<service> last() {
    const mutex_lock lock(guard);
    return services.back();
  }

  carrier& with;
  std::string address;
  options told;
  std::shared_ptr<service> at_client = std::make_shared<service>();
  std::function<void(service&)> prepare{};
  tagma::mutex guard{};
  std::vector<std::shared_ptr<service>> services{};
};

template <class F>
void on_each(const F& f) {
  with_each_carrier([&](carrier& c) {
    INFO(c.name());
    f(c);
  });
}

}  // namespace

TEST_CASE("conformance: ends meet and know each other") {
  on_each([](carrier& c) {
    scene on(c, task("ps", 3));
    const auto l = on.connected();
    CHECK(c.comes([&] { return to_string(l->peer()) == "/job:ps/task:3"; }));
    if (c.shares_memory()) CHECK(c.comes([&] { return l->counters().shared_memory; }));
  });
}

TEST_CASE("conformance: messages come in order") {
  on_each([](carrier& c) {
    scene on(c);
    const auto l = on.connected();
    for (std::uint16_t i = 0; i < 500; ++i) REQUIRE(l->send({.kind = i, .body = std::to_string(i)}));
    REQUIRE(c.comes([&] { return on.last()->size() == 500; }));
    const std::vector<got> messages = on.last()->messages();
    for (std::uint16_t i = 0; i < 500; ++i) CHECK(messages[i].kind == i);
  });
}

TEST_CASE("conformance: bulk goes to where it is placed, and its memory is free") {
  on_each([](carrier& c) {
    const std::vector<std::byte> bulk = pattern(5'000'001);
    std::vector<std::byte> to(bulk.size());
    scene on(c);
    on.prepare = [&](service& made) { made.places = [&](link&, const incoming&) { return placement::at(to.data()); }; };
    const auto l = on.connected();
    watched w;
    REQUIRE(l->send({.kind = 1, .bulk = bulk, .attempt = &w}));
    REQUIRE(c.comes([&] { return on.last()->size() == 1 && w.ends() == 1; }));
    CHECK(to == bulk);
    CHECK(w.what().empty());
  });
}

TEST_CASE("conformance: calls have answers with bulk, many at once") {
  on_each([](carrier& c) {
    scene on(c);
    const auto l = on.connected();
    std::vector<asked> calls(50);
    std::vector<std::vector<std::byte>> bulks;
    for (unsigned i = 0; i < 50; ++i) bulks.push_back(pattern(i * 5000, i));
    for (std::uint16_t i = 0; i < 50; ++i)
      REQUIRE(l->start({.kind = i, .body = std::to_string(i), .bulk = bulks[i]}, 3600 * s, calls[i]));
    REQUIRE(c.comes([&] {
      return std::accumulate(calls.begin(), calls.end(), 0, [](int n, const asked& a) { return n + a.ends(); }) == 50;
    }));
    for (std::uint16_t i = 0; i < 50; ++i) {
      CHECK(calls[i].what() == "");
      CHECK(calls[i].body() == std::to_string(i));
      CHECK(calls[i].bulk() == bulks[i]);
    }
    CHECK(c.comes([&] { return l->counters().open_calls == 0; }));
  });
}

TEST_CASE("conformance: calls end at their deadline") {
  on_each([](carrier& c) {
    scene on(c);
    on.prepare = [](service& made) { made.receives = [](link&, incoming&) {}; };
    const auto l = on.connected();
    asked call;
    REQUIRE(l->start({.kind = 1}, 20 * ms, call));
    REQUIRE(c.comes([&] { return call.ends() == 1; }));
    CHECK_THAT(call.what(), Contains("DeadlineExceeded"));
  });
}

TEST_CASE("conformance: calls that are cancelled end") {
  on_each([](carrier& c) {
    scene on(c);
    on.prepare = [](service& made) { made.receives = [](link&, incoming&) {}; };
    const auto l = on.connected();
    asked call;
    l->cancel(l->start({.kind = 1}, 3600 * s, call).number);
    REQUIRE(c.comes([&] { return call.ends() == 1; }));
    CHECK_THAT(call.what(), Contains("Cancelled"));
  });
}

TEST_CASE("conformance: a closed connection has sent what was queued") {
  on_each([](carrier& c) {
    scene on(c);
    const auto l = on.connected();
    const std::vector<std::byte> bulk = pattern(100'000);
    asked call;
    for (std::uint16_t i = 0; i < 20; ++i) REQUIRE(l->send({.kind = i, .bulk = bulk}));
    REQUIRE(l->start({.kind = 20}, 3600 * s, call));
    l->close();
    CHECK(l->send({.kind = 1}).status == send_status::closed);
    REQUIRE(c.comes([&] { return on.at_client->has("closed") && on.last()->has("closed"); }));
    CHECK(on.last()->size() == 21);
    CHECK(on.last()->has("closing"));
    CHECK(call.ends() == 1);
    CHECK(call.what() == "");
    for (const got& m : on.last()->messages()) CHECK((m.kind == 20 || m.bulk == bulk));
  });
}

TEST_CASE("conformance: an aborted connection ends all that waits, and says why") {
  on_each([](carrier& c) {
    scene on(c);
    on.prepare = [](service& made) { made.receives = [](link&, incoming&) {}; };
    const auto l = on.connected();
    asked call;
    REQUIRE(l->start({.kind = 1}, 3600 * s, call));
    REQUIRE(c.comes([&] { return on.last()->size() == 1; }));
    l->abort(error(status_code::aborted, "enough"));
    REQUIRE(c.comes([&] { return on.at_client->has("lost") && on.last()->has("lost"); }));
    CHECK(on.at_client->last() == "lost: Aborted: enough");
    CHECK_THAT(on.last()->last(), Contains("/job:worker/task:0") && Contains("enough"));
    CHECK(call.ends() == 1);
    CHECK_THAT(call.what(), Contains("Unavailable"));
    CHECK(l->send({.kind = 1}).status == send_status::closed);
    CHECK(l->start({.kind = 1}, s, call).status == send_status::closed);
  });
}

TEST_CASE("conformance: a secret is proven by both ends") {
  on_each([](carrier& c) {
    options server = task("ps"), client = task("worker");
    server.secret = client.secret = "a secret";
    {
      scene on(c, server, client);
      on.connected()->close();
      REQUIRE(c.comes([&] { return on.at_client->has("closed"); }));
    }
    client.secret = "another";
    scene on(c, server, client);
    const auto l = on.connect();
    REQUIRE(c.comes([&] { return on.at_client->has("lost"); }));
    CHECK_THAT(on.at_client->last(), Contains("PermissionDenied") && Contains("secret"));
    REQUIRE(c.comes([&] { return on.last()->has("lost"); }));
    CHECK(!on.last()->has("connected"));
  });
}

TEST_CASE("conformance: who is not wanted is told") {
  on_each([](carrier& c) {
    options client = task("worker");
    client.wanted_job = "master";
    scene on(c, task("ps"), client);
    const auto l = on.connect();
    REQUIRE(c.comes([&] { return on.at_client->has("lost"); }));
    CHECK_THAT(on.at_client->last(), Contains("/job:master/task:0 was expected, and /job:ps/task:0 is there"));
    scene other(c, task("ps"), task("worker"));
    other.prepare = [](service& made) {
      made.admits = [](const identity& who) {
        return error(status_code::already_exists, to_string(who) + " is there");
      };
    };
    const auto m = other.connect();
    REQUIRE(c.comes([&] { return other.at_client->has("lost"); }));
    CHECK_THAT(other.at_client->last(), Contains("AlreadyExists") && Contains("/job:worker/task:0 is there"));
  });
}

TEST_CASE("conformance: where nobody listens, that is said in time") {
  on_each([](carrier& c) {
    const auto told = std::make_shared<service>();
    const auto l = c.client().connect(c.nowhere(), task("worker"), told, 30 * ms);
    asked call;
    (void)l->start({.kind = 1}, 3600 * s, call);
    REQUIRE(c.comes([&] { return told->has("lost"); }));
    CHECK_THAT(told->last(), Contains("Unavailable") && Contains(c.nowhere()));
    CHECK(c.comes([&] { return call.ends() == 1; }));
  });
}

TEST_CASE("conformance: who connects waits for who listens") {
  on_each([](carrier& c) {
    std::string address;
    {
      scene before(c);
      address = before.address;
    }
    const auto told = std::make_shared<service>();
    options server = task("ps"), client = task("worker");
    c.prepare(server);
    c.prepare(client);
    const auto l = c.client().connect(address, patient(client), told, 60 * s);
    bool listens = false;
    const auto at_server = std::make_shared<service>();
    c.server().after(20 * ms, [&] {
      c.server().listen(address, patient(server), [&] { return at_server; });
      listens = true;
    });
    REQUIRE(c.comes([&] { return told->has("connected") && at_server->has("connected"); }));
    CHECK(listens);
    c.server().stop_listening(address);
  });
}

TEST_CASE("conformance: who connects for ever waits for who listens") {
  on_each([](carrier& c) {
    std::string address;
    {
      scene before(c);
      address = before.address;
    }
    const auto told = std::make_shared<service>();
    options server = task("ps"), client = task("worker");
    c.prepare(server);
    c.prepare(client);
    const auto l = c.client().connect(address, patient(client), told, INT64_MAX);
    const auto at_server = std::make_shared<service>();
    c.server().after(20 * ms, [&] { c.server().listen(address, patient(server), [&] { return at_server; }); });
    REQUIRE(c.comes([&] { return !told->told().empty() && (told->has("lost") || at_server->has("connected")); }));
    CHECK(told->has("connected"));
    c.server().stop_listening(address);
  });
}

TEST_CASE("conformance: an address is listened at once") {
  on_each([](carrier& c) {
    scene on(c);
    CHECK_THROWS_WITH(c.server().listen(on.address, task("ps"), [] { return nullptr; }), Contains(on.address));
  });
}

TEST_CASE("conformance: a slow reader grows neither end") {
  on_each([](carrier& c) {
    options server = task("ps"), client = task("worker");
    server.limits.window_bytes = 64 * 1024;
    server.limits.body_bytes = 4096;
    client.limits.queued_messages = 100;
    scene on(c, server, client);
    on.prepare = [](service& made) { made.receives = [](link&, incoming& m) { m.held = true; }; };
    const auto l = on.connected();
    const std::size_t fits = 64 * 1024 / 1048;
    std::size_t taken = 0;
    for (std::size_t came = 0; came < fits;) {
      while (taken < 10'000 && l->send({.kind = 1, .body = std::string(1000, 'x')})) ++taken;
      REQUIRE(c.comes([&] { return on.last()->size() > came; }));
      came = on.last()->size();
    }
    while (l->send({.kind = 1, .body = std::string(1000, 'x')})) ++taken;
    CHECK(taken <= 100 + fits);
    CHECK(on.last()->size() == fits);
  });
}

TEST_CASE("conformance: many threads send, ask, cancel and look at once") {
  on_each([](carrier& c) {
    if (c.name().find("world") != std::string::npos) return;  // which has one thread
    options client = task("worker");
    client.limits.queued_messages = 20;
    client.limits.chunk_bytes = 2048;
    scene on(c, task("ps"), client);
    const auto l = on.connected();
    constexpr int threads = 4, rounds = 100;
    const std::vector<std::byte> bulk = pattern(10'000);
    std::vector<asked> calls(threads * rounds);
    std::vector<watched> freed(threads * rounds);
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t) {
      all.emplace_back([&, t] {
        for (int i = 0; i < rounds; ++i) {
          const auto at = static_cast<std::size_t>(t * rounds + i);
          send_result r;
          while (!(r = l->start({.kind = 1, .body = "?", .bulk = bulk, .attempt = &freed[at]}, 3600 * s, calls[at])))
            std::this_thread::yield();
          if (i % 7 == 0) l->cancel(r.number);
          if (i % 5 == 0) (void)l->counters().queued;
          if (i % 3 == 0) (void)l->peer().job.size();
        }
      });
    }
    for (std::thread& t : all) t.join();
    const auto over = [&] {
      for (std::size_t i = 0; i < calls.size(); ++i)
        if (calls[i].ends() == 0 || freed[i].ends() == 0) return false;
      return true;
    };
    REQUIRE(c.comes(over));
    for (std::size_t i = 0; i < calls.size(); ++i) {
      CHECK(calls[i].ends() == 1);
      CHECK(freed[i].ends() == 1);
      if (i % rounds % 7 != 0) CHECK(calls[i].bulk() == bulk);
    }
    CHECK(on.at_client->last() != "lost");
  });
}

TEST_CASE("conformance: timers are called in order") {
  on_each([](carrier& c) {
    std::vector<int> order;
    mutex guard;
    for (int i = 0; i < 3; ++i)
      c.client().after((3 - i) * 20 * ms, [&, i] {
        const mutex_lock lock(guard);
        order.push_back(i);
      });
    const auto size = [&] {
      const mutex_lock lock(guard);
      return order.size();
    };
    REQUIRE(c.comes([&] { return size() == 3; }));
    CHECK(order == std::vector{2, 1, 0});
  });
}

TEST_CASE("conformance: what is to be called at the end of time is not called before") {
  on_each([](carrier& c) {
    const auto early = std::make_shared<std::atomic<int>>(0), soon = std::make_shared<std::atomic<int>>(0);
    c.client().after(INT64_MAX, [early] { ++*early; });
    c.client().after(5 * ms, [soon] { ++*soon; });
    REQUIRE(c.comes([&] { return *soon == 1; }));
    CHECK(*early == 0);
  });
}

TEST_CASE("conformance: a network that ends, ends its connections") {
  const auto check = [](std::unique_ptr<network> n, const std::string& address) {
    const auto at_server = std::make_shared<service>(), at_client = std::make_shared<service>();
    const std::string at = n->listen(address, patient(task("ps")), [&] { return at_server; });
    const auto l = n->connect(at, patient(task("worker")), at_client, 60 * s),
               m = n->connect("127.0.0.1:1", task("worker"), at_client, 60 * s);
    asked call, never;
    REQUIRE(l->start({.kind = 1}, 3600 * s, call));
    REQUIRE(m->start({.kind = 1}, 3600 * s, never));
    REQUIRE(tagma::test::comes([&] { return at_server->size() == 1; }));
    n.reset();
    CHECK(call.ends() == 1);
    CHECK(never.ends() == 1);
    CHECK(at_client->count("lost") == 2);
    CHECK(at_server->count("lost") == 1);
    CHECK(l->send({.kind = 1}).status == send_status::closed);
    CHECK(l->counters().messages_sent == 1);
  };
  check(std::make_unique<memory::network>(), "here");
#if defined(TAGMA_WITH_ASIO) && TAGMA_WITH_ASIO
  check(std::make_unique<asio::network>(), "127.0.0.1:0");
#endif
}

}  // namespace tagma::transport::test
