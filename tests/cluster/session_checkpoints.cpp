// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/session_checkpoints.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/any_tensors.hpp"
#include "support/comes.hpp"
#include "support/cut_network.hpp"
#include "support/errors.hpp"
#include "support/servers.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/parts.hpp"
#include "tagma/program_files.hpp"
#include "tagma/programs.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using tg::dyn;
using tg::feed_to;
using tg::test::same_bytes;
using tg::test::servers;
using tg::test::some;
using tg::test::temporary_directory;
using tg::test::text_of;

constexpr auto x = tg::placeholder<"x", float, dyn, 8>();
constexpr auto y = tg::placeholder<"y", float, dyn, 3>();

const tg::cluster two({{"ps", {"a:1", "b:1"}}, {"worker", {"c:1"}}});
const tg::cluster three({{"ps", {"d:1", "e:1", "f:1"}}, {"worker", {"g:1"}}});

template <int Tasks>
tg::any_program network() {
  return tg::any_program(tg::compile([] {
                           return tg::on<tg::replica_device_setter{.ps_tasks = Tasks}>([] {
                             const auto hidden = tg::dense<"hidden", 16>(x, tg::relu);
                             const auto loss = tg::mean(tg::square(tg::dense<"out", 3>(hidden) - y));
                             return tg::outputs(loss, tg::minimize(loss, tg::adam{.learning_rate = 0.05}));
                           }());
                         }),
                         {"loss", "train"});
}
/// Servers with one directory.
struct saving : servers {
  saving(const tg::cluster& c, const temporary_directory& where, int chain = 8) : servers(tg::cluster{}) {
    members = c, set(where, chain), start_all(c);
  }
  saving(const tg::cluster& c, tg::transport::network& by, const temporary_directory& where)
      : servers(tg::cluster{}, by) {
    members = c, set(where, 8), start_all(c);
  }
  void set(const temporary_directory& where, int chain) {
    with.checkpoints = where.path.string();
    with.checkpoint_chain = chain;
  }
};

TEST_CASE("a model is trained, saved, and trained on by another number of servers, with the same bytes") {
  const temporary_directory folder;
  const auto in = some({7, 8}, 1), out = some({7, 3}, 2);
  const std::vector<tg::named_feed> feeds{feed_to("x", in), feed_to("y", out)};
  std::vector<tg::any_tensor> expected;
  {
    saving all(two, folder);
    tg::cluster_session session(all.network, two, {"worker", 0}, network<2>(), all.client());
    for (int i = 0; i < 4; ++i) session.run({"train"}, feeds);
    const tg::saved_checkpoint made = session.save("model-4");
    CHECK(made.cut == tg::isolation::runs);
    CHECK(made.written == made.bytes);
    CHECK(made.variables > 4);  // with the slots of the optimizer
    for (int i = 0; i < 3; ++i) expected.push_back(std::move(session.run({"loss", "train"}, feeds)[0]));
  }
  saving others(three, folder);
  tg::cluster_session session(others.network, three, {"worker", 0}, network<3>(), others.client());
  session.run({"train"}, feeds);
  const tg::restored_checkpoint back = session.restore("model-*");
  CHECK(back.name == "model-4");
  CHECK(back.cut == tg::isolation::runs);
  CHECK(back.texts.at("cut") == "runs");
  CHECK(back.texts.count("saved") == 1);
  for (const tg::any_tensor& e : expected) CHECK(same_bytes(session.run({"loss", "train"}, feeds)[0], e));
}

/// "a" and "b" on two servers, raised by one run or each by itself.
tg::any_program counters() {
  return tg::any_program(tg::compile([] {
                           const auto a = tg::on<"/job:ps/task:0">(tg::variable<"a", float, 1000>(tg::zeros));
                           const auto b = tg::on<"/job:ps/task:1">(tg::variable<"b", float, 1000>(tg::zeros));
                           const auto more_a = tg::on<"/job:ps/task:0">(tg::assign_add(a, tg::ones_like(a)));
                           const auto more_b = tg::on<"/job:ps/task:1">(tg::assign_add(b, tg::ones_like(b)));
                           return tg::outputs(more_a, more_b, a * 1.0f, b * 1.0f);
                         }),
                         {"more_a", "more_b", "a", "b"});
}
float first(const tg::any_tensor& t) { return static_cast<const float*>(t.view().data)[0]; }

TEST_CASE("what a server has forgotten is no checkpoint") {
  const temporary_directory folder;
  saving all(two, folder);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  tg::cluster_session session(all.network, two, {"worker", 0}, counters(), all.client());
  session.run({"more_a", "more_b"});
  CHECK(session.save("model-1").variables == 2);
  all.workers[{"ps", 0}].reset();
  all.start({"ps", 0}, "a:1");
  const auto refuses = [&](int number) {
    const std::string text = text_of([&] { (void)session.save("model-" + std::to_string(number)); });
    INFO(text);
    CHECK((text.starts_with("Aborted: ") || text.starts_with("Unavailable: ")));
    CHECK(text.find("/job:ps/replica:0/task:0: ") != std::string::npos);
  };
  refuses(2);
  // Another client has made the variables anew.
  tg::cluster_session other(all.network, two, {"worker", 0}, counters(), all.client());
  CHECK(first(other.run("a")) == 0);
  refuses(3);
  CHECK(other.restore("model-*").name == "model-1");
  CHECK(first(other.run("a")) == 1);
}

TEST_CASE("what has not changed is not written again, for a number of checkpoints, and what nobody names goes") {
  const temporary_directory folder;
  saving all(two, folder, 3);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  tg::cluster_session session(all.network, two, {"worker", 0}, counters(), all.client());
  const auto save = [&](const char* name) { return session.save(name, {.keep = 2}).written; };
  CHECK(save("m-1") == 8000);
  CHECK(save("m-2") == 0);
  session.run("more_b");
  CHECK(save("m-3") == 4000);
  CHECK(folder.files().count("m-1.safetensors.index.json") == 0);
  CHECK(save("m-4") == 4000);  // "a" is as old as it may be
  CHECK(save("m-5") == 0);
  CHECK(session.save("m-6", {.keep = 2, .full = true}).written == 8000);
  session.run("more_b");
  CHECK(session.restore("m-5").variables == 2);
  CHECK(first(session.run({"b"})[0]) == 1);
  CHECK(save("m-7") == 0);  // all is as in "m-6" again
  std::size_t shards = 0;
  for (const std::string& f : folder.files()) shards += f.find("m-1-") == 0 || f.find("m-3-") == 0 ? 1u : 0u;
  CHECK(shards == 0);
}

TEST_CASE("no run is half of a checkpoint, and runs go on while it is written") {
  const temporary_directory folder;
  saving all(two, folder);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  tg::cluster_session session(all.network, two, {"worker", 0}, counters(), all.client());
  std::atomic<bool> ends{false};
  std::atomic<int> runs{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, options = all.client()] {
      tg::cluster_session mine(all.network, two, {"worker", 0}, counters(), options);
      while (!ends) mine.run({"more_a", "more_b"}), ++runs;
    });
  CHECK(tg::test::comes([&] { return runs > 3; }));
  std::vector<std::string> whole;
  for (int i = 0; i < 8; ++i) {
    const std::string name = "cut-" + std::to_string(i);
    const tg::saved_checkpoint made = session.save(name, {.pause_ns = 60'000'000'000});
    CHECK(made.cut == tg::isolation::runs);
    if (made.cut == tg::isolation::runs) whole.push_back(name);
    const int before = runs;
    CHECK(tg::test::comes([&] { return runs > before; }));
  }
  ends = true;
  for (auto& t : threads) t.join();
  float last = 0;
  for (const std::string& name : whole) {
    session.restore(name);
    const auto got = session.run({"a", "b"});
    CHECK(first(got[0]) == first(got[1]));
    CHECK(first(got[0]) > last);
    last = first(got[0]);
  }
}

TEST_CASE("a save that is interrupted leaves the checkpoint that there was") {
  const temporary_directory folder;
  tg::transport::memory::network memory;
  tg::test::cut_network network(memory);
  saving all(two, network, folder);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  tg::cluster_session session(network, two, {"worker", 0}, counters(), all.client());
  session.run({"more_a", "more_b"});
  session.save("model");
  session.run({"more_a", "more_b"});
  tg::cluster_session_options hasty = all.client();
  hasty.again_ns = 0;
  tg::cluster_session breaks(network, two, {"worker", 0}, counters(), hasty);
  network.plan(tg::test::cut_at::before_request, tg::service::message::commit_save, "a:1");
  const std::string text = text_of([&] { breaks.save("model"); });
  INFO(text);
  CHECK(text.find("/job:ps/replica:0/task:0") != std::string::npos);
  session.restore("model");
  CHECK(first(session.run({"a"})[0]) == 1);
  CHECK(first(session.run({"b"})[0]) == 1);
  // The next one removes what the other has left.
  session.run({"more_a"});
  session.save("model", {.full = true});
  CHECK(tg::test::comes([&] {
    session.save("model", {.full = true});
    return folder.files().size() == 3;
  }));
}

TEST_CASE("errors of checkpoints name the task, the file, the variable") {
  const temporary_directory folder;
  servers none(two);
  tg::cluster_session without(none.network, two, {"worker", 0}, counters(), none.client());
  CHECK(text_of([&] { without.save("m"); }).find("was given no directory") != std::string::npos);
  CHECK(text_of([&] { without.restore("m"); }).find("was given no directory") != std::string::npos);

  saving all(two, folder);
  all.master = GENERATE(tg::session_master::client, tg::session_master::server);
  tg::cluster_session session(all.network, two, {"worker", 0}, counters(), all.client());
  CHECK(text_of([&] { session.save("../m"); }).find("'../m' is no name of a checkpoint") != std::string::npos);
  CHECK(text_of([&] { session.restore("m"); }).find("there is no checkpoint 'm' in") != std::string::npos);
  CHECK(text_of([&] { session.restore("m-*"); }).find("there is no checkpoint 'm-*' in") != std::string::npos);
  session.save("m");

  const tg::any_program more(tg::compile([] {
                               const auto a = tg::on<"/job:ps/task:0">(tg::variable<"a", float, 1000>(tg::zeros));
                               const auto c = tg::on<"/job:ps/task:1">(tg::variable<"c", float, 2>(tg::zeros));
                               return tg::outputs(a * 1.0f, c * 1.0f);
                             }),
                             {"a", "c"});
  tg::cluster_session other(all.network, two, {"worker", 0}, more, all.client());
  const std::string lacks = text_of([&] { other.restore("m"); });
  CHECK(lacks.find("/job:ps/replica:0/task:1") != std::string::npos);
  CHECK(lacks.find("checkpoint 'm' has no variable 'c'") != std::string::npos);

  saving anew(three, folder);
  const tg::any_program wide(tg::compile([] {
                               const auto a = tg::on<"/job:ps/task:2">(tg::variable<"a", float, 7>(tg::zeros));
                               return tg::outputs(a * 1.0f);
                             }),
                             {"a"});
  tg::cluster_session wrong(anew.network, three, {"worker", 0}, wide, anew.client());
  const std::string shape = text_of([&] { wrong.restore("m"); });
  INFO(shape);
  CHECK(shape.find("/job:ps/replica:0/task:2") != std::string::npos);
  CHECK(shape.find("tensor 'a' is float32 [1000], the variable of that name is float32 [7]") != std::string::npos);

  std::string shard;
  for (const std::string& f : folder.files())
    if (f.find("-ps-1.safetensors") != std::string::npos) shard = f;
  {
    std::fstream file(folder.path / shard, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('x');
  }
  const std::string damaged = text_of([&] { session.restore("m"); });
  CHECK(damaged.find("DataLoss") == 0);
  CHECK(damaged.find("tensor 'b' is not what was written") != std::string::npos);
  CHECK(damaged.find(shard) != std::string::npos);
  std::filesystem::remove(folder.path / shard);
  const std::string gone = text_of([&] { session.restore("m"); });
  CHECK(gone.find("variable 'b' of checkpoint 'm' is in") != std::string::npos);
  CHECK(gone.find("which is not there") != std::string::npos);
}

}  // namespace
