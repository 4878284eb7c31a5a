// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/service/worker_core.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/comes.hpp"
#include "support/errors.hpp"
#include "support/servers.hpp"
#include "tagma/cluster/service/checkpoint_messages.hpp"
#include "tagma/cluster/service/inquiry.hpp"
#include "tagma/device/program_file.hpp"
#include "tagma/parts.hpp"
#include "tagma/program_files.hpp"
#include "tagma/programs.hpp"
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"
#include "tagma/transport/asio/network.hpp"
#include "tagma/transport/driven_link.hpp"

namespace {

namespace tg = tagma;
namespace service = tagma::service;
namespace transport = tagma::transport;
using service::message;
using tg::test::comes;
using tg::test::servers;

const tg::cluster one({{"ps", {"a:1"}}});
const service::placed_task ps{{"ps", 0}, "a:1"};

/// A client that asks, and takes hardly any answers until it is told to.
class slow_client final : public transport::handler {
 public:
  explicit slow_client(servers& all) : all_(all) {}
  /// @param self owns this
  void ask(const std::shared_ptr<slow_client>& self, const std::vector<message>& kinds, int times) {
    transport::options how = all_.client().link;
    how.limits.body_bytes = 1024;
    how.limits.window_bytes = 4096;
    link_ = all_.network.connect("a:1", how, std::shared_ptr<transport::handler>(self, this), 20'000'000'000);
    REQUIRE(comes([&] { return is_up_.load(); }));
    for (int i = 0; i < times; ++i)
      for (const message kind : kinds) {
        asked_.push_back(std::make_unique<one_call>(*this));
        transport::outgoing m;
        m.kind = static_cast<std::uint16_t>(kind);
        if (kind == message::keep_graph) m.body = service::edge_of_run{1, 0, 0, {}}.body();
        REQUIRE(link_->start(std::move(m), 60'000'000'000, *asked_.back()));
      }
  }
  void take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    takes_ = true;
    for (const transport::receipt& r : held_) link_->consumed(r);
    held_.clear();
  }
  void leave() {
    link_->abort(tg::error(tg::status_code::cancelled, "the test is over"));
    CHECK(comes([&] { return is_over_.load(); }));
  }
  [[nodiscard]] int answers() const { return answers_; }
  [[nodiscard]] int asked() const { return static_cast<int>(asked_.size()); }

  void connected(transport::link&) override { is_up_ = true; }
  void received(transport::link&, transport::incoming&) override {}
  void closed(transport::link&) override { is_over_ = true; }
  void lost(transport::link&, const tg::error&) override { is_over_ = true; }

 private:
  struct one_call final : transport::call {
    explicit one_call(slow_client& of) : client(of) {}
    void replied(transport::incoming& m) noexcept override {
      const std::lock_guard<std::mutex> lock(client.mutex_);
      m.held = !client.takes_;
      if (m.held) client.held_.push_back(m.receipt);
      ++client.answers_;
    }
    void failed(const tg::error&) noexcept override {}
    slow_client& client;
  };

  servers& all_;
  std::shared_ptr<transport::link> link_;
  std::atomic<bool> is_up_{false}, is_over_{false};
  std::mutex mutex_;
  bool takes_ = false;
  std::vector<transport::receipt> held_;
  std::atomic<int> answers_{0};
  std::vector<std::unique_ptr<one_call>> asked_;
};

/// A server with little room for answers that wait.
struct narrow : servers {
  narrow() : servers(tg::cluster{}) {
    members = one;
    with.link.limits.queued_messages = 8;
    start_all(one);
  }
};

TEST_CASE("a client that takes no answers has them later, and keeps nobody waiting") {
  narrow all;
  const auto client = std::make_shared<slow_client>(all);
  client->ask(client, {message::list_tasks, message::keep_graph, message::list_devices, message::status}, 60);
  service::inquiry others(all.network, all.client().link, 20'000'000'000);
  for (int i = 0; i < 3; ++i) CHECK_FALSE(others.ask({ps, message::list_tasks, {}}).body.empty());
  CHECK(client->answers() < client->asked());
  client->take();
  CHECK(comes([&] { return client->answers() == client->asked(); }));
  client->leave();
}

TEST_CASE("a server ends though a client takes no answers") {
  narrow all;
  const auto client = std::make_shared<slow_client>(all);
  client->ask(client, {message::list_variables}, 200);
  CHECK(comes([&] { return client->answers() > 0; }));
  all.workers.clear();
  CHECK(client->answers() < client->asked());
  client->leave();
}

TEST_CASE("a server that stops tells those whose runs it ends") {
  constexpr tg::queue_of<"empty", tg::queue_options{}, tg::spec<float>> q;
  const tg::any_program taken(tg::compile([=] { return tg::outputs(tg::on<"/job:ps/task:0">(tg::dequeue(q))); }),
                              {"taken"});
  for (int i = 0; i < 12; ++i) {
    servers all(one);
    tg::cluster_session_options how = all.client();
    how.again_ns = how.connect_ns = 1'000'000'000;
    tg::cluster_session session(all.network, one, {"ps", 0}, taken, how);
    std::string text;
    std::thread waits([&] { text = tg::test::text_of([&] { session.run("taken"); }); });
    service::inquiry look(all.network, all.client().link, 20'000'000'000);
    CHECK(comes([&] {
      return service::server_status::read(look.ask({ps, message::status, {}}).bulk_text()).runs_begun == 1;
    }));
    all.workers.clear();
    waits.join();
    INFO(text);
    CHECK(text.starts_with("Aborted: "));
    CHECK(text.find("the server stops") != std::string::npos);
  }
}

TEST_CASE("a server that stops tells those who wait while somebody holds its runs") {
  servers all(one);
  const tg::any_program program(
      tg::compile([] { return tg::outputs(tg::on<"/job:ps/task:0">(tg::variable<"v", float>(tg::ones))); }), {"v"});
  tg::cluster_session_options how = all.client();
  how.again_ns = how.connect_ns = 1'000'000'000;
  tg::cluster_session session(all.network, one, {"ps", 0}, program, how);
  service::inquiry look(all.network, all.client().link, 20'000'000'000);
  session.run("v");
  CHECK_FALSE(look.ask({ps, message::hold_runs, service::hold_runs{"", 5, {}}.body()}).body.empty());
  const auto messages = [&] {
    for (const auto& c : service::server_status::read(look.ask({ps, message::status, {}}).bulk_text()).connections)
      if (c.incarnation == how.link.self.incarnation) return c.messages_received;
    return std::uint64_t{0};
  };
  const std::uint64_t before = messages();
  std::string text;
  std::thread waits([&] { text = tg::test::text_of([&] { session.run("v"); }); });
  CHECK(comes([&] { return messages() > before; }));
  all.workers.clear();
  waits.join();
  INFO(text);
  CHECK(text.starts_with("Aborted: "));
  CHECK(text.find("the server stops") != std::string::npos);
}

#if defined(TAGMA_WITH_ASIO) && TAGMA_WITH_ASIO

/// Reads nothing from its socket while it is told of an answer.
struct stuck_call final : transport::call {
  stuck_call(transport::latch& on, std::atomic<int>& told) : go(on), ended(told) {}
  void replied(transport::incoming&) noexcept override { end(); }
  void failed(const tg::error&) noexcept override { end(); }
  void end() {
    ++ended;
    go.wait();
  }
  transport::latch& go;
  std::atomic<int>& ended;
};

TEST_CASE("sockets: a server ends though a client reads nothing") {
  transport::asio::network network, of_client;
  service::worker_options options;
  options.members = one;
  options.link.self = {.job = "ps", .role = "server", .cluster = "test", .incarnation = 1};
  options.link.insecure = true;
  auto worker = std::make_unique<service::worker>(network, "127.0.0.1:0", options);
  const auto v = tg::variable<"v", float, 1 << 20>(tg::ones);
  const auto program = tg::compile([=] { return tg::outputs(v); });
  tg::session local(program, {.state = worker->state()});
  REQUIRE(local.run(v)(0) == 1.0f);

  struct quiet final : transport::handler {
    void connected(transport::link&) override { is_up = true; }
    void received(transport::link&, transport::incoming&) override {}
    void lost(transport::link&, const tg::error&) override { is_over = true; }
    void closed(transport::link&) override { is_over = true; }
    std::atomic<bool> is_up{false}, is_over{false};
  };
  transport::options how;
  how.self = {.job = "client", .role = "client", .cluster = "test", .incarnation = 2};
  how.insecure = true;
  how.shared_memory = false;
  how.patience.lost_ns = 60'000'000'000;
  const auto client = std::make_shared<quiet>();
  const auto link = of_client.connect(worker->address(), how, client, 20'000'000'000);
  REQUIRE(comes([&] { return client->is_up.load(); }));
  transport::latch go;
  std::atomic<int> ended{0};
  std::vector<std::unique_ptr<stuck_call>> calls;
  for (int i = 0; i < 32; ++i) {
    calls.push_back(std::make_unique<stuck_call>(go, ended));
    transport::outgoing m;
    m.kind = static_cast<std::uint16_t>(message::read_variable);
    m.body = service::read_variable{"", "v", true}.body();
    REQUIRE(link->start(std::move(m), 60'000'000'000, *calls.back()));
  }
  CHECK(comes([&] { return ended == 1; }));
  const auto began = std::chrono::steady_clock::now();
  worker.reset();
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(20));
  CHECK(ended == 1);
  go.open();
  CHECK(comes([&] { return client->is_over && ended == 32; }));
}

#endif

/// Asks for one run of a program, has its answer, and loses its connection before it says so.
void run_and_go(servers& all, const std::string& program) {
  struct watched final : transport::handler {
    void received(transport::link&, transport::incoming&) override {}
    void closed(transport::link&) override { is_over = true; }
    void lost(transport::link&, const tg::error&) override { is_over = true; }
    std::atomic<bool> is_over{false};
  };
  const auto handler = std::make_shared<watched>();
  const auto link = all.network.connect("a:1", all.client().link, handler, 20'000'000'000);
  const auto ask = [&](message kind, std::string body, const std::string& bulk) {
    service::detail::open_questions open(1);
    service::inquiry_answer answer;
    service::detail::open_questions::one call(open, answer);
    transport::outgoing m;
    m.kind = static_cast<std::uint16_t>(kind);
    m.body = std::move(body);
    m.bulk = std::as_bytes(std::span<const char>(bulk));
    REQUIRE(link->start(std::move(m), 60'000'000'000, call));
    open.wait();
    CHECK_FALSE(answer.problem.has_value());
  };
  service::add_part part;
  part.graph = 7, part.tasks = {ps};
  ask(message::add_part, part.body(), program);
  service::run_part run;
  run.graph = 7, run.step = 3, run.outputs = {0};
  ask(message::run_part, run.body(), {});
  link->abort(tg::error(tg::status_code::unavailable, "the way is cut"));
  CHECK(comes([&] { return handler->is_over.load(); }));
}

TEST_CASE("a run is open while its client may come back") {
  const std::string program = tg::write_program(tg::any_program(
      tg::compile([] { return tg::outputs(tg::assign_add(tg::variable<"v", float>(tg::zeros), 1.0f)); }), {"more"}));
  for (const bool returns : {true, false}) {
    servers all(tg::cluster{});
    all.members = one;
    if (!returns) all.with.lease_ns = 1;
    all.start_all(one);
    run_and_go(all, program);
    service::inquiry others(all.network, all.client().link, 20'000'000'000);
    // The server has heard that the client is gone once it shows no connection but this one.
    CHECK(comes([&] {
      return service::server_status::read(others.ask({ps, message::status, {}}).bulk_text()).connections.size() == 1;
    }));
    const auto open = [&] {
      const auto answer = others.ask({ps, message::hold_runs, service::hold_runs{"", 5, {}}.body()});
      return service::open_runs::read(answer.body).runs;
    };
    if (returns)
      CHECK(open() == std::vector<service::run_number>{{7, 3}});
    else
      CHECK(comes([&] { return open().empty(); }));
  }
}

}  // namespace
