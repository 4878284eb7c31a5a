// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/typed_session.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <thread>
#include <tuple>
#include <type_traits>
#include <vector>

#include "support/any_tensors.hpp"
#include "support/comes.hpp"
#include "support/errors.hpp"
#include "support/servers.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/late.hpp"
#include "tagma/parts.hpp"
#include "tagma/program_files.hpp"
#include "tagma/programs.hpp"
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;
using tg::dyn;
using tg::status_code;
using tg::test::servers;
using tg::test::some;
using tg::test::text_of;
using tg::test::thrown;

constexpr auto x = tg::placeholder<"x", float, dyn, 8>();
constexpr auto y = tg::placeholder<"y", float, dyn, 3>();

const tg::cluster two_and_one({{"ps", {"a:1", "b:1"}}, {"worker", {"c:1"}}});

constexpr auto hidden = tg::dense<"hidden", 16>(x, tg::relu);
constexpr auto out = tg::dense<"out", 3>(hidden);
constexpr auto loss = tg::mean(tg::square(out - y));
const auto train = tg::minimize(loss, tg::adam{.learning_rate = 0.05});
const auto model = [] { return tg::on<tg::replica_device_setter{.ps_tasks = 2}>(tg::outputs(loss, out, train)); };

/// Trains a model here and on a cluster, by the same text.
template <class Program>
void train_in_both_places(const Program& program) {
  servers all(two_and_one);
  tg::session<tg::any_program> alone(tg::any_program(tg::compile([] { return tg::outputs(loss, out, train); })),
                                     {.intra_op_threads = 1, .inter_op_threads = 1});
  tg::typed_session session(all.network, two_and_one, {"worker", 0}, program, all.client());
  for (int step = 0; step < 4; ++step) {
    const tg::tensor<float> in = some({7, 8}, step), wanted = some({7, 3}, step + 9);
    const auto expected =
        alone.run({"output_0", "output_1", "output_2"}, tg::feed_to("x", in), tg::feed_to("y", wanted));
    const auto [l, o, done] = session.run(tg::fetch(loss, out, train), x = in, y = wanted, tg::timeout(60s));
    static_assert(std::is_same_v<std::remove_const_t<decltype(l)>, float>);
    static_assert(std::is_same_v<std::remove_const_t<decltype(o)>, tg::tensor<float>>);
    static_assert(std::is_same_v<std::remove_const_t<decltype(done)>, tg::no_value>);
    CHECK(std::memcmp(&l, expected[0].view().data, sizeof l) == 0);
    REQUIRE(o.dims() == expected[1].dims());
    CHECK(std::memcmp(o.data(), expected[1].view().data, expected[1].view().bytes()) == 0);
  }
  // A range of plain numbers, whose one dynamic extent is worked out, and one output by itself.
  const std::vector<float> row(8, 0.5f), none(3, 0.0f);
  const float last = session.run(loss, x = row, y = none);
  CHECK(last > 0);
  const std::vector<float> odd(9, 0.5f);
  const tg::error wrong = thrown([&] { session.run(loss, x = odd, y = none); });
  CHECK(wrong.code() == status_code::invalid_argument);
  CHECK(std::string(wrong.what()).find("typed_session.cpp:") != std::string::npos);
}

TEST_CASE("a program with handles is trained on a cluster by the text that trains it here") {
  train_in_both_places(tg::compile(model));
}
TEST_CASE("so is one that is compiled late") { train_in_both_places(tg::compile(model, tg::late)); }

TEST_CASE("two typed programs share a variable, and one reads what the other has trained") {
  servers all(two_and_one);
  const auto total = tg::variable<"total", float, 3>(tg::zeros);
  const auto more = tg::placeholder<"more", float, 3>();
  const auto add = tg::assign_add(total, more);
  const auto adds = [=] { return tg::on<"/job:ps/task:1">(tg::outputs(add)); };
  const auto ten = total * 10.0f;
  const auto reads = [=] { return tg::outputs(total, ten); };
  const tg::tensor<float> numbers({3}, {1, 2, 3});
  {
    tg::typed_session first(all.network, two_and_one, {"worker", 0}, tg::compile(adds), all.client());
    tg::typed_session second(all.network, two_and_one, {"worker", 0}, tg::compile(adds, tg::late), all.client());
    first.run(add, more = numbers);
    second.run(add, more = numbers);
  }
  tg::typed_session session(all.network, two_and_one, {"ps", 0}, tg::compile(reads), all.client());
  const auto [value, scaled] = session.run(tg::fetch(total, ten));
  CHECK(value[2] == 6);
  CHECK(scaled[2] == 60);
  // It asked for no place, and is told where the variable is.
  const tg::any_program data(tg::compile(reads));
  for (tg::ir::node_id i = 0; i < data.graph().size(); ++i)
    if (data.graph()[i].name == "total")
      CHECK(tg::to_string(session.device_of(i)).starts_with("/job:ps/replica:0/task:1"));
  // Another container has another one, and begins with it.
  auto elsewhere = all.client();
  elsewhere.container = "elsewhere";
  tg::typed_session other(all.network, two_and_one, {"ps", 0}, tg::compile(reads), elsewhere);
  CHECK(other.run(total)[2] == 0);
}

TEST_CASE("names of containers of servers follow the grammar of names", "[scenario 70]") {
  servers all(two_and_one);
  const auto total = tg::variable<"total", float>(tg::zeros);
  const auto program = tg::compile([=] { return tg::on<"/job:ps/task:1">(tg::outputs(total)); });
  for (const char* name : {"-cat", "12$%", "_foo", "c t", "/cat"}) {
    auto options = all.client();
    options.container = name;
    const tg::error e = thrown([&] {
      tg::typed_session session(all.network, two_and_one, {"worker", 0}, program, options);
      (void)session.run(total);
    });
    INFO(e.what());
    CHECK(e.code() == status_code::invalid_argument);
    CHECK(std::string(e.what()).find("\"" + std::string(name) + "\" is no name of a container") != std::string::npos);
  }
  for (const char* name : {"cat", "cat.0-dog", ".cat", "cat_dog"}) {
    auto options = all.client();
    options.container = name;
    tg::typed_session session(all.network, two_and_one, {"worker", 0}, program, options);
    CHECK(session.run(total) == 0);
  }
}

TEST_CASE("what only a run can know about feeds is an error with the line of the call") {
  servers all(two_and_one);
  const auto a = tg::placeholder<"a", float, dyn>();
  const auto b = tg::placeholder<"b", float, dyn>();
  const auto sum = a + b;
  const auto twice = sum * 2.0f;
  const auto thrice = a * 3.0f;
  const auto closure = [=] { return tg::outputs(sum, twice, thrice); };
  tg::typed_session early(all.network, two_and_one, {"worker", 0}, tg::compile(closure), all.client());
  tg::typed_session late(all.network, two_and_one, {"worker", 0}, tg::compile(closure, tg::late), all.client());
  const tg::tensor<float> two({2}, {1, 2}), three({3}, {1, 2, 3});
  const auto check = [](const tg::error& e, status_code code, std::initializer_list<const char*> texts) {
    INFO(e.what());
    CHECK(e.code() == code);
    for (const char* text : texts) CHECK(std::string(e.what()).find(text) != std::string::npos);
  };
  check(thrown([&] { early.run(sum, a = two, b = three); }), status_code::invalid_argument,
        {"/job:worker/replica:0/task:0", "typed_session.cpp:"});
  check(thrown([&] { late.run(sum, a = two, b = three); }), status_code::invalid_argument,
        {"/job:worker/replica:0/task:0", "typed_session.cpp:"});
  check(thrown([&] { late.run(sum, a = two); }), status_code::invalid_argument,
        {"TAGMA-E051 run: a placeholder that this fetch needs is not fed: b", "typed_session.cpp:"});
  check(thrown([&] { early.run(twice, sum = two); }), status_code::unimplemented,
        {"feed placeholders", "typed_session.cpp:"});
  check(thrown([&] { early.run(sum, a = two, b = two, tg::on_pool(0)); }), status_code::invalid_argument, {"pools"});
  // One that is not needed may be fed, or not.
  CHECK(early.run(thrice, a = two)[1] == 6);
  CHECK(late.run(thrice, a = two, b = three)[1] == 6);
  CHECK(early.run(twice, a = two, b = two)[1] == 8);
}

TEST_CASE("runs end when their time is over, and when they are stopped") {
  servers all(two_and_one);
  constexpr tg::queue_of<"jobs", tg::queue_options{.capacity = 2}, tg::spec<float>> jobs;
  const auto element = tg::dequeue(jobs);
  const auto closure = [=] { return tg::outputs(element); };
  tg::typed_session session(all.network, two_and_one, {"worker", 0}, tg::compile(closure, tg::late), all.client());
  CHECK(thrown([&] { session.run(element, tg::timeout(20ms)); }).code() == status_code::deadline_exceeded);
  tg::cancellation stop;
  tg::cancellation other;
  std::thread stops([&] { stop.cancel(); });
  const tg::error e = thrown([&] { session.run(element, tg::stop_with(other), tg::stop_with(stop)); });
  stops.join();
  INFO(e.what());
  CHECK(e.code() == status_code::cancelled);
}

TEST_CASE("a device that the cluster lacks is an error of the session, and no rule of the compiler") {
  servers all(two_and_one);
  const auto v = tg::on<"/job:ps/task:7">(tg::variable<"v", float, 2>(tg::zeros));
  const auto program = tg::compile([=] { return tg::outputs(v); });
  const tg::error e = thrown([&] {
    tg::typed_session session(all.network, two_and_one, {"worker", 0}, program, all.client());
  });
  INFO(e.what());
  CHECK(e.code() == status_code::invalid_argument);
  CHECK(std::string(e.what()).find("/job:ps/task:7") != std::string::npos);
}

TEST_CASE("updates that wait for one another are an error of the run") {
  servers all(two_and_one);
  const auto v = tg::variable<"v", float>(tg::zeros);
  const auto w = tg::variable<"w", float>(tg::zeros);
  const auto p = w + tg::assign(v, 1.0f);
  const auto q = v + tg::assign(w, 1.0f);
  tg::typed_session session(all.network, two_and_one, {"worker", 0}, tg::compile([=] { return tg::outputs(p, q); }),
                            all.client());
  const tg::error e = thrown([&] { session.run(tg::fetch(p, q)); });
  INFO(e.what());
  CHECK(std::string(e.what()).find("TAGMA-E067") != std::string::npos);
}

TEST_CASE("typed sessions save and restore") {
  const tg::test::temporary_directory folder;
  servers all(tg::cluster{});
  all.members = two_and_one;
  all.with.checkpoints = folder.path.string();
  all.start_all(two_and_one);
  const auto count = tg::variable<"count", int>(0);
  const auto add = tg::assign_add(count, 1);
  tg::typed_session session(all.network, two_and_one, {"ps", 1}, tg::compile([=] { return tg::outputs(count, add); }),
                            all.client());
  session.run(add);
  CHECK(session.save("model-1").variables == 1);
  session.run(add);
  CHECK(session.run(count) == 2);
  CHECK(session.restore("model-*").name == "model-1");
  CHECK(session.run(count) == 1);
}

TEST_CASE("typed sessions feed and fetch texts, also behind another task") {
  servers all(two_and_one);
  constexpr auto lines = tg::placeholder<"lines", std::string_view, tg::dyn>();
  constexpr auto one = tg::placeholder<"one", std::string_view>();
  const auto there = tg::on<"/job:ps/task:0">(tg::concat<0>(lines, tg::reshape<1>(one)));
  const auto here = tg::on<"/job:worker/task:0">(tg::concat<0>(there, lines));
  const auto program = tg::compile([=] { return tg::outputs(here, one); });
  tg::typed_session session(all.network, two_and_one, {"worker", 0}, program, all.client());
  const tg::tensor<std::string_view> given({2}, {"a", "bc"});
  const tg::tensor<std::string_view> got = session.run(here, lines = given, one = "x");
  CHECK(got.dims() == tg::shape{5});
  CHECK(got[2] == "x");
  CHECK(got[4] == "bc");
  const std::string text = session.run(one, one = "y");
  CHECK(text == "y");
}

}  // namespace
