// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/service/permissions.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "support/comes.hpp"
#include "support/errors.hpp"
#include "support/servers.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/cluster/service/inquiry.hpp"
#include "tagma/cluster/session_checkpoints.hpp"
#include "tagma/programs.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
namespace service = tagma::service;
using Catch::Matchers::Contains;
using service::message;
using tg::test::servers;
using tg::transport::authority;

const tg::cluster one({{"ps", {"a:1"}}});
const service::placed_task ps{{"ps", 0}, "a:1"};

/// A server with these secrets.
struct scene {
  explicit scene(const std::string& secret, const std::string& chief_secret) : all(tg::cluster({{"local", {"x:1"}}})) {
    all.with.link.secret = secret;
    all.with.link.chief_secret = chief_secret;
    all.with.checkpoints = directory.path.string();
    all.with.stop_asked = [this] { stopped.store(true); };
    all.members = one;
    all.start({"ps", 0}, "a:1");
  }
  service::inquiry_answer ask(const std::string& secret, std::uint16_t kind) {
    tg::transport::options how = all.client().link;
    how.secret = secret;
    service::inquiry inquiry(all.network, how, 20'000'000'000);
    return inquiry.ask(std::vector<service::inquiry_question>{{ps, static_cast<message>(kind), {}}})[0];
  }
  tg::cluster_session_options client(const std::string& secret) {
    tg::cluster_session_options options = all.client();
    options.link.secret = secret;
    return options;
  }

  tg::test::temporary_directory directory;
  servers all;
  tg::atomic<bool> stopped{false};
};

bool is_denied(const service::inquiry_answer& a) {
  return a.problem && a.problem->code() == tg::status_code::permission_denied;
}

tg::any_program counting() {
  const auto count = tg::variable<"count", float, 2>(tg::zeros);
  const auto add = tg::assign_add(count, tg::placeholder<"x", float, 2>());
  return tg::any_program(tg::compile([=] { return tg::outputs(add); }), {"add"});
}

}  // namespace

TEST_CASE("every kind of messages is in the table of permissions, and a server knows no other") {
  scene on("a secret", "");
  for (std::uint16_t kind = 0; kind < 300; ++kind) {
    INFO(kind);
    const service::inquiry_answer a = on.ask("a secret", kind);
    const bool unknown = a.problem && std::string(a.problem->what()).find("are not known") != std::string::npos;
    CHECK(unknown == (service::permission_of(kind) == nullptr));
  }
}

TEST_CASE("every kind of messages is taken from whom it should be, in every role") {
  struct meeting {
    const char* what;
    const char *secret, *chief_secret, *own;
    bool is_chief;
  };
  const meeting meetings[] = {{"no secrets", "", "", "", true},
                              {"one secret", "a secret", "", "a secret", true},
                              {"a worker's", "a secret", "a secret of chiefs", "a secret", false},
                              {"a chief's", "a secret", "a secret of chiefs", "a secret of chiefs", true}};
  for (const meeting& m : meetings) {
    scene on(m.secret, m.chief_secret);
    for (const service::permission& p : service::permissions) {
      INFO(m.what << ": " << p.name);
      const bool may = m.is_chief || p.needs == authority::worker;
      const service::inquiry_answer a = on.ask(m.own, static_cast<std::uint16_t>(p.kind));
      CHECK(is_denied(a) == !may);
      if (!may)
        CHECK_THAT(a.problem->what(), Contains(std::string(p.name) + " is for chiefs, and /job:client/task:0 has "
                                                                     "proven to be a worker"));
    }
    CHECK(on.stopped.load() == m.is_chief);
  }
}

TEST_CASE("what is for chiefs is what concerns others") {
  std::vector<std::string> chiefs;
  for (const service::permission& p : service::permissions)
    if (p.needs == authority::chief) chiefs.emplace_back(p.name);
  CHECK(chiefs == std::vector<std::string>{"hold_runs", "save_shard", "commit_save", "end_hold", "restore_shard",
                                           "reset_container", "stop", "save_session", "restore_session"});
}

TEST_CASE("a worker trains, and a chief saves and restores") {
  scene on("a secret", "a secret of chiefs");
  tg::cluster_session worker(on.all.network, one, {"ps", 0}, counting(), on.client("a secret"));
  tg::cluster_session chief(on.all.network, one, {"ps", 0}, counting(), on.client("a secret of chiefs"));
  const auto step = [&] { return worker.run("add", tg::feed_to("x", tg::tensor<float>({2}, {1.0f, 1.0f}))); };
  step();
  CHECK_THROWS_WITH(worker.save("model"),
                    Contains("PermissionDenied: /job:ps/replica:0/task:0: hold_runs is for chiefs"));
  CHECK_THROWS_WITH(worker.restore("model"), Contains("PermissionDenied") && Contains("is for chiefs"));
  step();
  CHECK(chief.save("model").variables == 1);
  step();
  CHECK(chief.restore("model").variables == 1);
  CHECK(step().as<float>()[0] == 3.0f);
}

TEST_CASE("a server that drives sessions may for its clients what they may") {
  scene on("a secret", "a secret of chiefs");
  const auto driven = [&](const char* secret) {
    tg::cluster_session_options how = on.client(secret);
    how.master = tg::session_master::server;
    return how;
  };
  tg::cluster_session worker(on.all.network, one, {"ps", 0}, counting(), driven("a secret"));
  tg::cluster_session chief(on.all.network, one, {"ps", 0}, counting(), driven("a secret of chiefs"));
  worker.run("add", tg::feed_to("x", tg::tensor<float>({2}, {1.0f, 1.0f})));
  CHECK_THROWS_WITH(worker.save("model"),
                    Contains("PermissionDenied: /job:ps/replica:0/task:0: save_session is for chiefs"));
  CHECK_THROWS_WITH(worker.restore("model"), Contains("restore_session is for chiefs"));
  CHECK(chief.save("model").variables == 1);
  CHECK(chief.restore("model").variables == 1);
}

TEST_CASE("bulk that is not permitted is not taken either") {
  scene on("a secret", "a secret of chiefs");
  struct asker final : tg::transport::handler {
    void received(tg::transport::link&, tg::transport::incoming&) override {}
  };
  struct asked final : tg::transport::call {
    void replied(tg::transport::incoming&) noexcept override { ends.store(1); }
    void failed(const tg::error& e) noexcept override {
      why = e.what();
      ends.store(1);
    }
    std::string why{};
    tg::atomic<int> ends{0};
  };
  const std::vector<std::byte> bulk(1000);
  asked call;
  const auto link =
      on.all.network.connect("a:1", on.client("a secret").link, std::make_shared<asker>(), 20'000'000'000);
  REQUIRE(
      link->start({.kind = static_cast<std::uint16_t>(message::restore_shard), .bulk = bulk}, 20'000'000'000, call));
  REQUIRE(tg::test::comes([&] { return call.ends.load() == 1; }));
  CHECK_THAT(call.why, Contains("PermissionDenied") && Contains("restore_shard is for chiefs"));
}

TEST_CASE("a server is not stopped where its program has not said how") {
  servers all(one);
  service::inquiry inquiry(all.network, all.client().link, 20'000'000'000);
  CHECK_THROWS_WITH(inquiry.ask({ps, message::stop, {}}), Contains("Unimplemented") && Contains("part of a program"));
}

TEST_CASE("two secrets that are one are refused") {
  servers all(one);
  all.with.link.chief_secret = "a secret";
  CHECK_THROWS_WITH(all.start({"ps", 0}, "b:1"), Contains("a secret of chiefs needs another one for workers"));
  all.with.link.secret = "a secret";
  CHECK_THROWS_WITH(all.start({"ps", 0}, "b:1"), Contains("a secret of chiefs needs another one for workers"));
}
