// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/fake/accelerator.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/comes.hpp"
#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/device/fake/provide.hpp"
#include "tagma/explain.hpp"
#include "tagma/observe/trace.hpp"
#include "tagma/tagma.hpp"
#include "tagma/train/save.hpp"

using tagma::test::thrown;

namespace {

namespace tg = tagma;
namespace fake = tg::device::fake;
using namespace std::chrono_literals;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 6>();
constexpr auto y = tg::placeholder<"y", float, tg::dyn, 3>();
constexpr auto image = tg::placeholder<"image", float, tg::dyn, 8, 8, 1>();
constexpr auto label = tg::placeholder<"label", std::int32_t, tg::dyn>();

tg::tensor<float> numbers(const tg::shape& dims, std::uint64_t seed = 1) {
  tg::tensor<float> t(dims);
  for (std::size_t i = 0; i < t.size(); ++i)
    t.data()[i] = static_cast<float>(tg::random_block({seed, 1, 0}, i)[0] % 1024) / 512 - 1;
  return t;
}
const tg::tensor<float> inputs = numbers({5, 6}), targets = numbers({5, 3}, 2);

/// The bytes of every variable.
template <class Session>
std::vector<std::vector<std::byte>> bytes_of(Session& session) {
  std::vector<std::vector<std::byte>> all;
  auto& core = session.core();
  for (std::size_t i = 0; i < core.variables().size(); ++i) {
    tg::runtime::aligned_bytes copy;
    const tg::raw_view v = core.variable(i).read(copy);
    const auto* first = static_cast<const std::byte*>(v.data);
    all.emplace_back(first, first + static_cast<std::size_t>(v.dims.elements()) * tg::size_of(v.type));
  }
  return all;
}

struct trained {
  std::vector<float> losses;
  std::vector<std::vector<std::byte>> variables;
  bool operator==(const trained&) const = default;
};

tg::session_options options_of(int streams = 4, bool graphs = true) {
  return {.seed = 3, .gpu = {.memory_fraction = 1, .allow_growth = true, .streams = streams, .graphs = graphs}};
}

template <class Program, class Loss, class Train, class... Feeds>
trained train(const Program& program, const tg::session_options& options, const Loss& loss, const Train& step,
              const Feeds&... feeds) {
  tg::session session(program, options);
  trained result;
  for (int i = 0; i < 5; ++i) result.losses.push_back(std::get<0>(session.run(tg::fetch(loss, step), feeds...)));
  result.variables = bytes_of(session);
  return result;
}

/// A net with random numbers, optimizer slots and a number that counts.
auto net() {
  const auto h = tg::dropout(tg::dense<"hidden", 16>(x, tg::relu), 0.25);
  const auto loss = tg::mean(tg::square(tg::dense<"out", 3>(h) - y));
  return std::pair(loss, tg::minimize(loss, tg::adam{.learning_rate = 0.05}));
}

TEST_CASE("a net learns the same bytes on a device with streams, whatever the order of its work") {
  const auto pair = net();
  const auto loss = pair.first;
  const auto step = pair.second;
  const auto on_cpu = tg::compile([=] { return tg::on<tg::cpu<0>>(tg::outputs(loss, step)); });
  const auto anywhere = tg::compile([=] { return tg::outputs(loss, step); });
  CHECK_THAT(tg::explain(on_cpu), !Catch::Contains("GPU"));
  CHECK_THAT(tg::explain(anywhere), Catch::Contains("/device:GPU:0, the first that has a kernel"));
  const trained expected = train(on_cpu, options_of(), loss, step, x = inputs, y = targets);
  CHECK(expected.losses[4] < expected.losses[0]);
  for (std::uint64_t seed = 0; seed < 6; ++seed)
    for (const bool graphs : {false, true}) {
      INFO("seed " << seed << (graphs ? ", with graphs" : ""));
      fake::machine machine({.seed = seed, .eager = seed % 2 == 0 ? 0 : 64});
      const int streams = 1 + static_cast<int>(seed % 4);
      CHECK(train(anywhere, options_of(streams, graphs), loss, step, x = inputs, y = targets) == expected);
      // The first run is not recorded, the second is, and all but the first launch one graph.
      CHECK(machine.driver().counts().graphs_launched == (graphs ? 4 : 0));
      const auto counts = machine.driver().counts();
      CHECK((counts.blocks == 0 && counts.streams == 0 && counts.events == 0 && counts.graphs == 0));
    }
}

TEST_CASE("a product goes on with the loop that alone reads it") {
  const auto w = tg::variable<"w", float, 6, 6>(tg::glorot_uniform);
  const auto bias = tg::variable<"bias", float, 6>(tg::filled_with(0.25));
  const auto product = tg::matmul(x, w);
  const auto shifted = tg::relu(product + bias);
  const auto residual = tg::tanh(product + bias) * 0.5f + x;
  const auto other = tg::matmul(shifted, w) - tg::matmul(x, w + 1.0f);
  const auto moved = tg::assign_sub(w, 0.125f * w);
  const auto compare = [&](const auto&... results) {
    const auto on_cpu = tg::compile([=] { return tg::on<tg::cpu<0>>(tg::outputs(results...)); });
    const auto anywhere = tg::compile([=] { return tg::outputs(results...); });
    fake::machine machine({.seed = 4, .eager = 16});
    tg::session expected(on_cpu, options_of());
    tg::session found(anywhere, options_of());
    for (int i = 0; i < 3; ++i)
      CHECK(found.run(tg::fetch(results...), x = inputs) == expected.run(tg::fetch(results...), x = inputs));
    CHECK(bytes_of(found) == bytes_of(expected));
    return tg::explain(anywhere);
  };
  const auto goes_on = Catch::Contains("its loop's result");
  CHECK_THAT(compare(shifted, bias), goes_on && Catch::Contains("fused into its reader"));
  CHECK_THAT(compare(residual, bias), goes_on);
  CHECK_THAT(compare(product, shifted), !goes_on);
  // One product for each loop, and what is updated is read before.
  CHECK_THAT(compare(other, moved), goes_on);
  CHECK_THAT(compare(tg::sum(product), residual, moved), !goes_on);
}

TEST_CASE("a fed product is not computed") {
  const auto w = tg::variable<"w", float, 6, 6>(tg::glorot_uniform);
  const auto product = tg::matmul(x, w);
  const auto shifted = product + 1.0f;
  const auto program = tg::compile([=] { return tg::outputs(shifted, product); });
  fake::machine machine;
  tg::session session(program, options_of());
  tg::tensor<float> expected = inputs;
  for (float& v : expected.span()) v += 1;
  CHECK(session.run(shifted, product = inputs) == expected);
}

TEST_CASE("a convolutional net learns the same bytes") {
  const auto h = tg::max_pool<2>(tg::conv2d<"conv", 4, 3>(image, tg::relu));
  const auto flat = tg::dense<"out", 3>(tg::flatten(tg::batch_norm<"norm">(h, tg::phase::training)));
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(flat, label));
  const auto step = tg::minimize(loss, tg::momentum{.learning_rate = 0.1});
  const auto on_cpu = tg::compile([=] { return tg::on<tg::cpu<0>>(tg::outputs(loss, step)); });
  const auto anywhere = tg::compile([=] { return tg::outputs(loss, step); });
  const auto images = numbers({4, 8, 8, 1});
  const std::vector<std::int32_t> labels{0, 2, 1, 2};
  fake::machine machine({.seed = 5, .eager = 16});
  const trained found = train(anywhere, options_of(), loss, step, image = images, label = labels);
  CHECK(found == train(on_cpu, options_of(), loss, step, image = images, label = labels));
}

TEST_CASE("a net whose parts are on the host and on two devices learns the same bytes") {
  const auto a = tg::on<tg::gpu<1>>([](const auto& e) { return tg::dense<"a", 8>(e, tg::tanh); })(x);
  const auto b = tg::on<tg::cpu<0>>([](const auto& e) { return tg::dense<"b", 8>(e, tg::relu); })(a);
  const auto c = tg::on<tg::gpu<0>>([](const auto& e) { return tg::dense<"c", 3>(e); })(b);
  const auto loss = tg::mean(tg::square(c - y));
  const auto step = tg::minimize(loss, tg::adam{.learning_rate = 0.05});
  const auto plain_loss =
      tg::mean(tg::square(tg::dense<"c", 3>(tg::dense<"b", 8>(tg::dense<"a", 8>(x, tg::tanh), tg::relu)) - y));
  const auto plain_step = tg::minimize(plain_loss, tg::adam{.learning_rate = 0.05});
  const auto on_cpu = tg::compile([=] { return tg::on<tg::cpu<0>>(tg::outputs(plain_loss, plain_step)); });
  const auto apart = tg::compile([=] { return tg::outputs(loss, step); });
  const trained expected = train(on_cpu, options_of(), plain_loss, plain_step, x = inputs, y = targets);
  for (std::uint64_t seed = 0; seed < 4; ++seed)
    for (const bool graphs : {false, true}) {
      fake::machine machine({.devices = 2, .seed = seed, .eager = 32});
      const trained found = train(apart, options_of(2, graphs), loss, step, x = inputs, y = targets);
      REQUIRE(found.losses.size() == expected.losses.size());
      // Loops that are cut between devices may round otherwise.
      for (std::size_t i = 0; i < found.losses.size(); ++i)
        CHECK(found.losses[i] == Approx(expected.losses[i]).epsilon(1e-5));
    }
}

TEST_CASE("a device that is missing is replaced by the first of its type, and by the CPU where there is none") {
  const auto a = tg::on<tg::gpu<1>>([](const auto& e) { return tg::dense<"a", 8>(e, tg::tanh); })(x);
  const auto b = tg::on<tg::gpu<3>>([](const auto& e) { return tg::dense<"b", 8>(e, tg::relu); })(a);
  const auto c = tg::on<tg::gpu<0>>([](const auto& e) { return tg::dense<"c", 3>(e); })(b);
  const auto loss = tg::mean(tg::square(c - y));
  const auto step = tg::minimize(loss, tg::sgd{.learning_rate = 0.05});
  const auto apart = tg::compile([=] { return tg::outputs(loss, step); });
  const auto& asked = tg::detail::placed_graph<std::remove_const_t<decltype(apart)>::graph>::devices;
  tg::session_options options = options_of();
  std::vector<float> expected;
  for (const int devices : {4, 2, 1, 0})
    for (std::uint64_t seed = 1; seed < 4; ++seed) {
      INFO(devices << " devices, seed " << seed);
      fake::machine machine({.devices = devices, .seed = seed, .eager = 16});
      options.allow_soft_placement = false;
      if (devices < 4)
        CHECK_THAT(thrown([&] { tg::session(apart, options); }).what(), Catch::Contains("Cannot assign a device"));
      options.allow_soft_placement = true;
      tg::session session(apart, options);
      const auto& names = session.core().devices();
      REQUIRE(names.size() == 4);  // the client, and three GPUs
      for (std::size_t d = 1; d < names.size(); ++d) {
        CHECK(names[d].name.type.view() == (devices == 0 ? "CPU" : "GPU"));
        CHECK(names[d].name.id == (asked[d].name.id < devices ? asked[d].name.id : 0));
      }
      std::vector<float> losses;
      for (int i = 0; i < 5; ++i)
        losses.push_back(std::get<0>(session.run(tg::fetch(loss, step), x = inputs, y = targets)));
      CHECK(losses[4] < losses[0]);
      if (expected.empty()) expected = losses;
      for (std::size_t i = 0; i < losses.size(); ++i) CHECK(losses[i] == Approx(expected[i]).epsilon(1e-5));
    }
}

TEST_CASE("a program with nothing on a device takes nothing of one") {
  const auto doubled = 2.0f * x;
  const auto program = tg::compile([=] { return tg::on<tg::cpu<0>>(tg::outputs(doubled)); });
  fake::machine machine;
  tg::session session(program);
  CHECK(session.run(doubled, x = inputs).size() == inputs.size());
  CHECK(machine.driver().counts().blocks == 0);
}

TEST_CASE("plans that are idle go before a run on a capped device fails for memory") {
  const auto h = tg::relu(tg::matmul(x, tg::variable<"k", float, 6, 256>(tg::ones)));
  const auto total = tg::sum<1>(h);
  const auto program = tg::compile([=] { return tg::outputs(total); });
  fake::machine machine({.seed = 2});
  const auto run_all_rows = [&](auto& session, bool up) {
    int failed = 0;
    for (tg::extent i = 0; i < 80; ++i) {
      const tg::extent rows = 300 + (up ? i : 79 - i) % 40;
      try {
        const auto result = session.run(total, x = tg::tensor<float>(tg::shape{rows, 6}));
        if (result.size() != static_cast<std::size_t>(rows)) ++failed;
      } catch (const tg::error&) {
        ++failed;
      }
    }
    return failed;
  };
  {
    tg::session session(program, {.gpu = {.memory_fraction = 1, .memory_cap = 3 << 20}});
    CHECK(run_all_rows(session, true) == 0);
    CHECK(session.core().arena_bytes() > (std::size_t{1} << 20));  // it keeps what has room
    // More than the cap fails, says so, and lets nothing go; what fits goes on.
    const std::size_t idle = session.core().arena_bytes();
    CHECK(thrown([&] {
            session.run(total, x = tg::tensor<float>(tg::shape{4000, 6}));
          }).code() == tg::status_code::resource_exhausted);
    CHECK(session.core().arena_bytes() == idle);
    CHECK(run_all_rows(session, false) == 0);
  }
  {  // Sessions that live at the same time share the memory.
    tg::session first(program, {.gpu = {.memory_fraction = 1, .memory_cap = 3 << 20}});
    CHECK(run_all_rows(first, true) == 0);
    const std::size_t before = first.core().arena_bytes();
    const auto table = tg::variable<"table", float, 256, 1024>(tg::zeros);  // a third of it
    const auto sum = tg::sum(table);
    tg::session second(tg::compile([=] { return tg::outputs(sum, total); }),
                       {.gpu = {.memory_fraction = 1, .memory_cap = 3 << 20}});
    CHECK(first.core().arena_bytes() < before);
    CHECK(second.run(sum) == 0);
    CHECK(run_all_rows(second, true) == 0);
    CHECK(run_all_rows(first, true) == 0);
    // A variable that never fits costs other sessions nothing.
    const std::size_t idle = first.core().arena_bytes();
    const auto too_large = tg::variable<"too_large", float, 1024, 1024>(tg::zeros);
    const auto of_it = tg::compile([=] { return tg::outputs(tg::sum(too_large)); });
    CHECK(thrown([&] { tg::session third(of_it, {.gpu = {.memory_fraction = 1, .memory_cap = 3 << 20}}); }).code() ==
          tg::status_code::resource_exhausted);
    CHECK(idle > 0);
    CHECK(first.core().arena_bytes() == idle);
  }
  // Two at once: first with room for both, then only for one at a time.
  for (const std::int64_t cap : {3 << 20, 400 << 10}) {
    tg::session session(program, {.gpu = {.memory_fraction = 1, .memory_cap = cap}});
    std::atomic<int> failed{0};
    std::thread other([&] { failed += run_all_rows(session, false); });
    failed += run_all_rows(session, true);
    other.join();
    CHECK(failed == 0);
  }
}

TEST_CASE("fetches are what they were when the plan came to them") {
  const auto w = tg::variable<"w", float, 4>(tg::ones);
  const auto doubled = tg::assign(w, 2.0f * w);
  const auto program = tg::compile([=] { return tg::outputs(w, doubled, x); });
  fake::machine machine({.seed = 2});
  tg::session session(program, options_of());
  for (int i = 0; i < 4; ++i) {
    const auto [old, now, fed] = session.run(tg::fetch(w, doubled, x), x = inputs);
    CHECK(old.data()[3] == static_cast<float>(1 << i));
    CHECK(now.data()[3] == static_cast<float>(2 << i));
    CHECK(fed == inputs);
  }
}

TEST_CASE("variables on a device are saved and restored") {
  const auto pair = net();
  const auto loss = pair.first;
  const auto step = pair.second;
  const auto program = tg::compile([=] { return tg::outputs(loss, step); });
  const tg::test::temporary_directory directory;
  const std::string path = directory / "variables.safetensors";
  fake::machine machine({.seed = 2});
  tg::session first(program, options_of());
  for (int i = 0; i < 3; ++i) first.run(step, x = inputs, y = targets);
  tg::save(first, path);
  tg::session second(program, {.seed = 3, .initialize = false, .gpu = {.memory_fraction = 1, .allow_growth = true}});
  CHECK(thrown([&] { second.run(loss, x = inputs, y = targets); }).code() == tg::status_code::failed_precondition);
  tg::restore(second, path);
  CHECK(bytes_of(second) == bytes_of(first));
  CHECK(second.run(loss, x = inputs, y = targets) == first.run(loss, x = inputs, y = targets));
}

TEST_CASE("random operations draw other numbers in each run, replayed or not") {
  const auto drawn = tg::random_normal<float, 16>();
  const auto on_cpu = tg::compile([=] { return tg::on<tg::cpu<0>>(tg::outputs(drawn)); });
  const auto anywhere = tg::compile([=] { return tg::outputs(drawn); });
  fake::machine machine({.seed = 2});
  tg::session host(on_cpu, options_of());
  tg::session device(anywhere, options_of());
  tg::tensor<float> before;
  for (int i = 0; i < 5; ++i) {
    const auto numbers_now = device.run(drawn);
    CHECK(numbers_now == host.run(drawn));
    CHECK_FALSE(numbers_now == before);
    before = numbers_now;
  }
}

TEST_CASE("without the device, only what is asked for there is missed") {
  const auto pair = net();
  const auto loss = pair.first;
  const auto step = pair.second;
  const auto on_cpu = tg::compile([=] { return tg::on<tg::cpu<0>>(tg::outputs(loss, step)); });
  const auto anywhere = tg::compile([=] { return tg::outputs(loss, step); });
  const auto asked = tg::compile([=] { return tg::outputs(tg::on<tg::gpu<0>>(loss)); });
  const auto somewhere = tg::compile([=] { return tg::outputs(tg::on<"/job:localhost/task:0">(loss)); });
  fake::machine machine({.devices = 0});
  CHECK(train(anywhere, options_of(), loss, step, x = inputs, y = targets) ==
        train(on_cpu, options_of(), loss, step, x = inputs, y = targets));
  const tg::error e = thrown([&] { tg::session session(asked, options_of()); });
  CHECK(e.code() == tg::status_code::invalid_argument);
  CHECK_THAT(e.what(), Catch::Contains("Operation was explicitly assigned to") &&
                           Catch::Contains("/device:GPU:0 but available devices are [ /job:localhost/replica:0/task:0/"
                                           "device:CPU:0 ]"));
  tg::session_options softly = options_of();
  softly.allow_soft_placement = true;
  tg::session soft(asked, softly);
  tg::session plain(somewhere, options_of());
  CHECK(soft.run(tg::on<tg::gpu<0>>(loss), x = inputs, y = targets) ==
        plain.run(tg::on<"/job:localhost/task:0">(loss), x = inputs, y = targets));
}

TEST_CASE("whatever fails on a device names the step, and the session goes on") {
  const auto pair = net();
  const auto loss = pair.first;
  const auto step = pair.second;
  const auto program = tg::compile([=] { return tg::outputs(loss, step); });
  fake::machine machine({.seed = 4});
  tg::session session(program, options_of());
  const float expected = session.run(loss, x = inputs, y = targets);
  for (const fake::fault what : {fake::fault::launch, fake::fault::copy, fake::fault::execution})
    for (int n = 1; n < 5; ++n) {
      machine.driver().fail_at(what, n, tg::status_code::unavailable);
      const tg::error e = thrown([&] { session.run(loss, x = inputs, y = targets); });
      machine.driver().fail_at(what, 0);
      if (e.code() == tg::status_code::ok) continue;  // a graph has one launch
      CHECK(e.code() == tg::status_code::unavailable);
      CHECK_THAT(e.what(), Catch::Contains(" on /device:") && Catch::Contains("(run at "));
      CHECK(machine.driver().counts().pending == 0);
    }
  // The loss draws numbers, so a run says little; a hundred of them say that nothing is left over.
  for (int i = 0; i < 20; ++i) CHECK(session.run(loss, x = inputs, y = targets) > 0);
  CHECK(expected > 0);
}

TEST_CASE("where memory does not suffice, the error lists what has it and what may help") {
  const auto w = tg::variable<"a_large_one", float, 64, 1024>(tg::zeros);
  const auto program = tg::compile([=] { return tg::outputs(tg::matmul(tg::transpose(w), w)); });
  fake::machine machine;
  tg::session_options options = options_of();
  options.gpu.memory_cap = 2 << 20;
  tg::session session(program, options);
  const tg::error e = thrown([&] { session.run(tg::matmul(tg::transpose(w), w)); });
  CHECK(e.code() == tg::status_code::resource_exhausted);
  CHECK_THAT(e.what(), Catch::Contains("/device:GPU:0 has no room for") &&
                           Catch::Contains("a plan of 3 steps (its largest tensors: matmul #2 float32 "
                                           "[1024, 1024] 4194304 bytes, transpose #1") &&
                           Catch::Contains("variable 'a_large_one' 256.0 KiB") && Catch::Contains("a larger cap"));
}

TEST_CASE("options that are none, and sessions that do not agree") {
  const auto program = tg::compile([=] { return tg::outputs(2.0f * x); });
  fake::machine machine({.devices = 2});
  const auto code_with = [&](const tg::gpu_options& gpu) {
    return thrown([&] { tg::session session(program, {.gpu = gpu}); });
  };
  CHECK_THAT(code_with({.streams = 0}).what(), Catch::Contains("the option gpu.streams is 0"));
  CHECK_THAT(code_with({.visible_devices = {2}}).what(), Catch::Contains("there are 2 devices"));
  CHECK(code_with({.memory_fraction = 1, .visible_devices = {1, 0}}).code() == tg::status_code::ok);
  const tg::session session(program, {.gpu = {.memory_fraction = 0.5, .allow_growth = true}});
  CHECK(code_with({.memory_fraction = 0.5, .allow_growth = true, .streams = 1}).code() == tg::status_code::ok);
  CHECK(code_with({.memory_fraction = 0.4, .allow_growth = true}).code() == tg::status_code::failed_precondition);
}

TEST_CASE("runs of several threads, of a pool, and with a deadline") {
  const auto pair = net();
  const auto loss = pair.first;
  const auto program = tg::compile([=] { return tg::outputs(loss, tg::sum(x * x)); });
  const auto squares = tg::sum(x * x);
  fake::machine machine({.seed = 6});
  tg::session_options options = options_of();
  options.inter_op_pools = {{.threads = 2}};
  tg::session session(program, options);
  const float expected = session.run(squares, x = inputs);
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) right += session.run(squares, x = inputs) == expected;
    });
  for (auto& t : threads) t.join();
  CHECK(right == 80);
  CHECK(session.run(squares, x = inputs, tg::on_pool(0)) == expected);
  CHECK(session.run(squares, x = inputs, tg::on_caller_thread()) == expected);

  CHECK(tg::test::given_time([&](std::chrono::milliseconds limit) {
    machine.driver().hold();
    const tg::test::late_watch watch(limit);
    std::atomic<bool> back{false};
    std::thread later([&] {
      while (!watch.late() && !back) std::this_thread::sleep_for(1ms);
      machine.driver().release();
    });
    // All that the device does was begun in time. Who sees first that the run is late decides: the thread that waits
    // for the device says that this is not done, any other leaves it the millisecond in which it is.
    float found = expected;
    const tg::error late =
        thrown([&] { found = session.run(squares, x = inputs, tg::timeout(limit), tg::stop_with(watch)); });
    CHECK(found == expected);
    if (late.code() != tg::status_code::ok) {
      CHECK(late.code() == tg::status_code::deadline_exceeded);
      CHECK_THAT(late.what(), Catch::Contains("waiting until it is done"));
    }
    back = true;
    later.join();
    CHECK(session.run(squares, x = inputs) == expected);
    return watch.late();  // otherwise it was so before it looked a second time
  }));
}

TEST_CASE("a feed of a tensor that a device would compute leaves its operation out") {
  const auto h = tg::matmul(x, tg::variable<"w", float, 6, 2>(tg::ones));
  const auto out = tg::sum(3.0f * h);
  const auto program = tg::compile([=] { return tg::outputs(out, h); });
  fake::machine machine({.seed = 7});
  tg::session session(program, options_of());
  const auto fed = numbers({2, 2});
  double sum = 0;
  for (const float v : fed.span()) sum += static_cast<double>(v);
  CHECK(session.run(out, h = fed) == Approx(3 * sum));
}

TEST_CASE("a run with other extents has a plan of its own") {
  const auto out = tg::sum(tg::softmax(x));
  const auto program = tg::compile([=] { return tg::outputs(out); });
  fake::machine machine({.seed = 8});
  tg::session session(program, options_of());
  for (int round = 0; round < 3; ++round)
    for (const tg::extent rows : {1, 0, 7, 64})
      CHECK(session.run(out, x = numbers({rows, 6})) == Approx(static_cast<double>(rows)).margin(1e-4));
}

TEST_CASE("a timeline has the steps of each queue, in the time of the device") {
  const auto a = tg::on<tg::gpu<0>>([](const auto& e) { return tg::dense<"a", 8>(e, tg::tanh); })(x);
  const auto b = tg::on<tg::gpu<1>>([](const auto& e) { return tg::dense<"b", 8>(e, tg::relu); })(a);
  // The sum is where sums are by default.
  const auto c = tg::sum(tg::on<tg::cpu<0>>([](const auto& e) { return tg::dense<"c", 3>(e); })(b));
  const auto program = tg::compile([=] { return tg::outputs(c); });
  fake::machine machine({.devices = 2, .seed = 9});
  tg::session session(program, options_of());
  const float expected = session.run(c, x = inputs);
  CHECK(session.run(c, x = inputs) == expected);
  for (int i = 0; i < 2; ++i) {
    tg::trace timeline;
    CHECK(session.run(c, x = inputs, tg::trace_to(timeline)) == expected);
    const auto whole = nlohmann::json::parse(timeline.json());
    std::map<int, std::string> devices;
    std::map<std::pair<int, int>, std::string> lanes;
    std::map<std::string, double> end;
    std::map<std::string, int> steps;
    for (const auto& e : whole.at("traceEvents")) {
      if (e.at("name") == "process_name") devices[e.at("pid")] = e.at("args").at("name");
      if (e.at("name") == "thread_name") lanes[{e.at("pid"), e.at("tid")}] = e.at("args").at("name");
    }
    for (const auto& e : whole.at("traceEvents")) {
      if (e.at("ph") != "X") continue;
      const std::string lane = devices.at(e.at("pid")) + " " + lanes.at({e.at("pid"), e.at("tid")});
      ++steps[lane];
      CHECK(e.at("dur").get<double>() > 0);
      CHECK(e.at("ts").get<double>() >= end[lane] - 0.0015);  // rounded to nanoseconds
      end[lane] = e.at("ts").get<double>() + e.at("dur").get<double>();
    }
    CHECK(steps.at("/device:GPU:0 kernels 0") >= 1);  // a product goes on with its loop
    CHECK(steps.at("/device:GPU:1 kernels 0") >= 1);
    CHECK(steps.at("/device:GPU:0 copies from the host") == 2);
    CHECK(steps.at("/device:GPU:0 copies to the host") == 1);
    CHECK(steps.at("/device:GPU:0 copies to other devices") == 1);
    CHECK(steps.at("/device:GPU:1 copies to the host") == 1);
    CHECK(steps.at("/device:CPU:0 thread 0") >= 1);
  }
  CHECK(session.run(c, x = inputs) == expected);
}

}  // namespace
