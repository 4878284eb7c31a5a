// SPDX-License-Identifier: BSL-1.0
// Loops and steps that wait in plans with steps on devices with streams.
#include "tagma/device/fake/provide.hpp"
#include "tagma/fake_gpu.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

#include "support/errors.hpp"
#include "tagma/control_flow.hpp"
#include "tagma/observe/trace.hpp"
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
namespace fake = tg::device::fake;
using namespace std::chrono_literals;
using tg::status_code, tg::test::code_of, tg::test::text_of;

constexpr auto x = tg::placeholder<"x", float, 4, 5, 3>();
constexpr tg::queue_of<"sequences", tg::queue_options{.capacity = 8}, tg::spec<float, 4, 5, 3>> sequences;
constexpr tg::queue_of<"rows", tg::queue_options{.capacity = 32}, tg::spec<float, 3>> rows_of_three;
using queue = tg::queue<tg::spec<float, 4, 5, 3>>;

tg::tensor<float> numbers(int seed) {
  tg::tensor<float> t({4, 5, 3});
  for (std::size_t i = 0; i < t.size(); ++i)
    t.data()[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(seed) * 13) % 11) / 11 - 0.5f;
  return t;
}

auto loss_of(const auto& in) {
  const auto blocks = tg::repeat<"block", 3>([](const auto& h) { return h + tg::dense<"hidden", 6>(h, tg::relu); });
  return tg::mean(tg::square(tg::dense<"out", 2>(blocks(tg::lstm<"cells", 6>(in))) - 1.0f));
}

constexpr auto four = tg::placeholder<"four", float, 4, 3>();
tg::tensor<float> ones_of_four() {
  tg::tensor<float> t({4, 3});
  for (float& f : t.span()) f = 1;
  return t;
}

constexpr auto step = [](auto before, auto now) {
  const auto next = before * 0.5f + now;
  return tg::next(next).emit(next);
};

tg::session_options options_of(bool pooled, const tg::container& state) {
  tg::session_options options{.seed = 3, .gpu = {.memory_fraction = 0.5, .allow_growth = true}};
  if (pooled) options.inter_op_pools = {{.threads = 3}};
  options.state = state;
  return options;
}

TEST_CASE("a recurrent network on a GPU learns from a queue what it learns from feeds") {
  const auto fed = loss_of(x);
  const auto train_fed = tg::minimize(fed, tg::adam{.learning_rate = 0.05});
  const auto by_feeds = tg::compile([=] { return tg::outputs(fed, train_fed); });
  const auto taken = loss_of(tg::dequeue(sequences));
  const auto train = tg::minimize(taken, tg::adam{.learning_rate = 0.05});
  const auto by_queue = tg::compile([=] { return tg::outputs(taken, train); });
  fake::machine machine({.devices = 1, .seed = 5});
  tg::session plain(by_feeds, {.seed = 3, .gpu = {.memory_fraction = 0.5, .allow_growth = true}});
  std::vector<float> expected;
  for (int i = 0; i < 20; ++i) expected.push_back(std::get<0>(plain.run(tg::fetch(fed, train_fed), x = numbers(i))));
  for (const auto kind : {tg::isolation::runs, tg::isolation::variables})
    for (const bool pooled : {false, true}) {
      const tg::container state(kind);
      tg::session session(by_queue, options_of(pooled, state));
      const queue into(state, "sequences", sequences.options);
      CHECK(code_of([&] { session.run(train, tg::timeout(2ms)); }) == status_code::deadline_exceeded);
      std::thread loader([&] {
        for (int i = 0; i < 20; ++i) into.enqueue(numbers(i));
        into.close();
      });
      std::vector<float> seen;
      for (int i = 0; i < 20; ++i) seen.push_back(std::get<0>(session.run(tg::fetch(taken, train))));
      loader.join();
      for (std::size_t i = 0; i < 20; ++i) CHECK(seen[i] == Approx(expected[i]).epsilon(1e-5));
      CHECK(code_of([&] { session.run(train); }) == status_code::out_of_range);
    }
}

TEST_CASE("loops on a GPU before and behind a step that waits, and beside it") {
  constexpr auto start = tg::placeholder<"start", float, 3>();
  constexpr auto series = tg::placeholder<"series", float, tg::dyn, 3>();
  constexpr tg::queue_of<"out", tg::queue_options{.capacity = 2}, tg::spec<float, 3>> out;
  constexpr tg::queue_of<"back", tg::queue_options{.capacity = 2}, tg::spec<float, 3>> back;
  const auto [last, all] = tg::scan(tg::carry(start), tg::over(series), step);
  const auto put = tg::enqueue(out, last);
  const auto answer = tg::dequeue(back);
  const auto [behind, rows] = tg::scan(tg::carry(answer), tg::over(series), step);
  const auto result = behind + tg::sum<0>(rows);
  const auto every = all;
  const auto program = tg::compile([=] { return tg::outputs(put, result, every); });
  for (const std::uint64_t seed : {1u, 2u, 3u})
    for (const bool pooled : {false, true}) {
      fake::machine machine({.devices = 1, .seed = seed});
      const tg::container state;
      tg::session session(program, options_of(pooled, state));
      const tg::queue<tg::spec<float, 3>> given(state, "out", out.options), answers(state, "back", back.options);
      for (const tg::extent n : {4, 1, 0, 7}) {
        tg::tensor<float> s({n, 3});
        for (float& f : s.span()) f = 1;
        const tg::tensor<float> from({3}, {1.0f, 2.0f, 3.0f});
        // Somebody outside needs what the first loop has made before there is an answer.
        std::thread other([&] {
          const auto one = given.dequeue();
          tg::tensor<float> twice({3});
          for (int i = 0; i < 3; ++i) twice[i] = 2 * one.get<0>()[i];
          answers.enqueue(twice);
        });
        const auto got = session.run(tg::fetch(put, result, every), start = from, series = s, tg::timeout(60s));
        other.join();
        for (int i = 0; i < 3; ++i) {
          float level = from[i], sum = 0;
          for (tg::extent t = 0; t < n; ++t) {
            level = level * 0.5f + 1;
            CHECK(std::get<2>(got)(t, i) == level);
          }
          level *= 2;
          for (tg::extent t = 0; t < n; ++t) sum += level = level * 0.5f + 1;
          CHECK(std::get<1>(got)[i] == level + sum);
        }
      }
    }
}

TEST_CASE("runs that wait for what a loop on a GPU goes over hold no thread of their pool") {
  constexpr auto start = tg::placeholder<"start", float, 3>();
  const auto sums = std::get<0>(tg::scan(tg::carry(start), tg::over(tg::dequeue_many<4>(rows_of_three)), step));
  const auto total = tg::sum(sums);
  const auto other = tg::sum(std::get<0>(tg::scan(tg::carry(start), tg::over(four), step)));
  const auto program = tg::compile([=] { return tg::outputs(total, other); });
  fake::machine machine({.devices = 1, .seed = 7});
  const tg::container state;
  tg::session_options options = options_of(false, state);
  options.inter_op_pools = {{.threads = 1}};
  tg::session session(program, options);
  const tg::queue<tg::spec<float, 3>> into(state, "rows", rows_of_three.options);
  for (int round = 0; round < 3; ++round) {
    constexpr std::size_t runs = 6;
    const tg::tensor<float> zeros({3});
    std::array<float, runs> found{};
    std::vector<std::thread> all;
    for (std::size_t i = 0; i < runs; ++i)
      all.emplace_back([&, i] { found[i] = session.run(total, start = zeros, tg::timeout(60s)); });
    CHECK(session.run(other, start = zeros, four = ones_of_four(), tg::timeout(60s)) == 3 * 1.875f);
    for (std::size_t i = 0; i < 4 * runs; ++i) into.enqueue(tg::tensor<float>({3}, {1.0f, 1.0f, 1.0f}));
    for (auto& t : all) t.join();
    for (const float f : found) CHECK(f == 3 * 1.875f);
  }
}

TEST_CASE("a run with loops on a GPU that waits ends early when it must, and the next one is whole") {
  const auto taken = tg::dequeue_many<4>(rows_of_three);
  constexpr auto start = tg::placeholder<"start", float, 3>();
  const auto before = std::get<0>(tg::scan(tg::carry(start), tg::over(four), step));
  const auto behind = std::get<0>(tg::scan(tg::carry(before), tg::over(taken), step));
  const auto end = behind * 1.0f;
  const auto program = tg::compile([=] { return tg::outputs(end); });
  for (const bool pooled : {false, true})
    for (const std::uint64_t seed : {1u, 2u}) {
      fake::machine machine({.devices = 1, .seed = seed});
      const tg::container state;
      tg::session session(program, options_of(pooled, state));
      const tg::queue<tg::spec<float, 3>> into(state, "rows", rows_of_three.options);
      const tg::tensor<float> ones({3}, {1.0f, 1.0f, 1.0f});
      for (int round = 0; round < 3; ++round) {
        CHECK(code_of([&] { (void)session.run(end, start = ones, four = ones_of_four(), tg::timeout(5ms)); }) ==
              status_code::deadline_exceeded);
        tg::cancellation stop;
        std::thread waiting([&] {
          CHECK(code_of([&] { (void)session.run(end, start = ones, four = ones_of_four(), tg::stop_with(stop)); }) ==
                status_code::cancelled);
        });
        std::this_thread::sleep_for(2ms);
        stop.cancel();
        waiting.join();
        // What a loop does fails on the device.
        for (int i = 0; i < 4; ++i) into.enqueue(ones);
        machine.driver().fail_at(fake::fault::execution, 3);
        CHECK(code_of([&] { (void)session.run(end, start = ones, four = ones_of_four(), tg::timeout(60s)); }) ==
              status_code::internal);
        while (into.size() > 0) (void)into.dequeue();
        for (int i = 0; i < 4; ++i) into.enqueue(ones);
        float level = 1;
        for (int i = 0; i < 8; ++i) level = level * 0.5f + 1;
        CHECK(session.run(end, start = ones, four = ones_of_four(), tg::timeout(60s))[1] == level);
      }
      into.close();
      CHECK(code_of([&] { (void)session.run(end, start = ones, four = ones_of_four()); }) == status_code::out_of_range);
    }
}

TEST_CASE("an error in a loop on a GPU behind a step that waits names the iteration") {
  constexpr tg::queue_of<"indices", tg::queue_options{}, tg::spec<std::int32_t, 3>> indices;
  constexpr auto table = tg::placeholder<"table", float, 2>();
  constexpr auto zero = tg::placeholder<"zero", float>();
  const auto picked = tg::scan(tg::carry(zero), tg::over(tg::dequeue(indices)), [table](auto sum, auto row) {
    return tg::next(sum + tg::on<"/cpu:0">([](auto t, auto r) { return tg::gather(t, r); })(table, row));
  });
  const auto sum = std::get<0>(picked);
  fake::machine machine({.devices = 1, .seed = 3});
  const tg::container state;
  tg::session session(tg::compile([=] { return tg::outputs(sum); }), options_of(false, state));
  const tg::queue<tg::spec<std::int32_t, 3>> into(state, "indices", indices.options);
  into.enqueue(tg::tensor<std::int32_t>({3}, {0, 1, 5}));
  into.enqueue(tg::tensor<std::int32_t>({3}, {0, 1, 1}));
  const tg::tensor<float> two({2}, {1.0f, 10.0f});
  CHECK_THAT(text_of([&] { (void)session.run(sum, table = two, zero = 0.0f); }),
             Catch::Contains("in iteration 2 of 3 of loop") && !Catch::Contains("more error"));
  CHECK(session.run(sum, table = two, zero = 0.0f) == 21);
}

TEST_CASE("what waits cannot do so in the body of a loop on a GPU") {
  constexpr auto series = tg::placeholder<"series", float, 3>();
  constexpr auto count = tg::placeholder<"count", std::int64_t>();
  constexpr tg::queue_of<"numbers", tg::queue_options{}, tg::spec<float>> q;
  const auto counted = tg::scan(tg::carry(count), tg::over(series),
                                [q](auto before, auto now) { return tg::next(before + tg::enqueue(q, now)); });
  const auto all = std::get<0>(counted);
  fake::machine machine({.devices = 1, .seed = 3});
  tg::session session(tg::compile([=] { return tg::outputs(all); }), options_of(false, {}));
  CHECK_THAT(text_of([&] { (void)session.run(all, series = tg::tensor<float>({3}), count = std::int64_t{0}); }),
             Catch::StartsWith("Unimplemented: ") && Catch::Contains("waits, which nothing in the body of a loop"));
}

TEST_CASE("loops on two devices and on the host around a step that waits, and the time of their steps") {
  constexpr auto start = tg::placeholder<"start", float, 3>();
  const auto taken = tg::dequeue_many<4>(rows_of_three);
  const auto across = std::get<0>(tg::scan(tg::carry(start), tg::over(taken), [](auto h, auto e) {
    const auto host = tg::on<"/cpu:0">([](auto n) { return tg::tanh(n) * 0.5f; })(e);
    const auto second = tg::on<"/gpu:1">([](auto b) { return tg::exp(b * 0.125f); })(h);
    return tg::next(h * 0.5f + host + second);
  }));
  const auto on_host = tg::on<"/cpu:0">([](auto h, auto all) {
    return std::get<0>(tg::scan(tg::carry(h), tg::over(all), [](auto b, auto n) { return tg::next(b - n); }));
  })(across, taken);
  const auto all = tg::on<"/gpu:1">([](auto e) { return e * 2.0f; })(on_host);
  const auto program = tg::compile([=] { return tg::outputs(all); });
  for (const std::uint64_t seed : {1u, 2u, 3u})
    for (const bool traced : {false, true}) {
      fake::machine machine({.devices = 2, .seed = seed});
      const tg::container state;
      tg::session session(program, options_of(seed == 2, state));
      const tg::queue<tg::spec<float, 3>> into(state, "rows", rows_of_three.options);
      for (int run = 0; run < 3; ++run) {
        std::array<float, 3> h{0.25f, -0.5f, 1.0f};
        for (int i = 0; i < 4; ++i)
          into.enqueue(tg::tensor<float>({3}, {0.5f * static_cast<float>(i), 0.25f, static_cast<float>(run)}));
        const tg::tensor<float> from({3}, {h[0], h[1], h[2]});
        tg::trace times;
        const auto found =
            traced ? session.run(all, start = from, tg::trace_to(times)) : session.run(all, start = from);
        const auto element = [&](int i, std::size_t j) {
          return j == 0 ? 0.5f * static_cast<float>(i) : j == 1 ? 0.25f : static_cast<float>(run);
        };
        for (std::size_t j = 0; j < 3; ++j) {
          for (int i = 0; i < 4; ++i) h[j] = h[j] * 0.5f + std::tanh(element(i, j)) * 0.5f + std::exp(h[j] * 0.125f);
          for (int i = 0; i < 4; ++i) h[j] -= element(i, j);
          CHECK(found[static_cast<tg::extent>(j)] == Approx(2 * h[j]));
        }
        if (traced) CHECK(times.size() > 4 * 5);
      }
    }
}

TEST_CASE("variables that loops read before and behind a wait are of one moment") {
  const auto v = tg::variable<"v", float, 3>(tg::ones);
  constexpr auto start = tg::placeholder<"start", float, 3>();
  constexpr tg::queue_of<"asked", tg::queue_options{.capacity = 2}, tg::spec<float, 3>> asked;
  const auto with_v = [&](const auto& from) {
    return std::get<0>(
        tg::scan(tg::carry(from), tg::over(four), [v](auto h, auto e) { return tg::next(h * 0.5f + v * e); }));
  };
  const auto put = tg::enqueue(asked, with_v(start));
  const auto answer = tg::dequeue(rows_of_three);
  const auto behind = with_v(answer);
  const auto moved = tg::assign_add(v, behind);
  const auto set = tg::assign(v, start);
  const auto program = tg::compile([=] { return tg::outputs(put, behind, moved, set, v); });
  for (const auto kind : {tg::isolation::runs, tg::isolation::variables})
    for (const bool pooled : {false, true}) {
      INFO(static_cast<int>(kind) << pooled);
      fake::machine machine({.devices = 1, .seed = 9});
      const tg::container state(kind);
      tg::session session(program, options_of(pooled, state));
      const tg::queue<tg::spec<float, 3>> given(state, "asked", asked.options),
          answers(state, "rows", rows_of_three.options);
      const tg::tensor<float> ones({3}, {1.0f, 1.0f, 1.0f}), twos({3}, {2.0f, 2.0f, 2.0f});
      for (int round = 0; round < 4; ++round) {
        session.run(set, start = ones);
        float seen = 0;
        std::thread waiting([&] {
          const auto got =
              session.run(tg::fetch(put, behind, moved), start = ones, four = ones_of_four(), tg::timeout(60s));
          seen = std::get<1>(got)[0];
        });
        CHECK(given.dequeue().get<0>()[0] == 1.9375f);  // it has read v, and waits
        session.run(set, start = twos, tg::timeout(60s));
        answers.enqueue(twos);
        waiting.join();
        CHECK(seen == 2);               // v of then
        CHECK(session.run(v)[0] == 4);  // from the value of now
      }
    }
}

TEST_CASE("loops on a GPU are beside queues that give meanwhile what makes others longer") {
  constexpr auto start = tg::placeholder<"start", float, 3>();
  constexpr auto series = tg::placeholder<"series", float, tg::dyn, 3>();
  constexpr auto padding = tg::queue_options{.kind = tg::queue_kind::padding, .capacity = 64};
  constexpr tg::queue_of<"some", padding, tg::spec<float, tg::dyn, 3>> some;
  constexpr tg::queue_of<"others", padding, tg::spec<float, tg::dyn, 3>> others;
  const auto last = [](const auto& from, const auto& rows) {
    return std::get<0>(tg::scan(tg::carry(from), tg::over(rows), step));
  };
  const auto one = last(start, tg::dequeue(some));
  const auto other = last(start * 2.0f, tg::dequeue(others));
  const auto beside = last(start * 3.0f, series);
  const auto program = tg::compile([=] { return tg::outputs(one, other, beside); });
  const auto level = [](float from, tg::extent n) {
    for (tg::extent t = 0; t < n; ++t) from = from * 0.5f + 1;
    return from;
  };
  const auto ones = [](tg::extent n) {
    tg::tensor<float> t({n, 3});
    for (float& f : t.span()) f = 1;
    return t;
  };
  for (const bool pooled : {false, true}) {
    fake::machine machine({.devices = 1, .seed = 6});
    const tg::container state;
    tg::session session(program, options_of(pooled, state));
    const tg::queue<tg::spec<float, tg::dyn, 3>> first(state, "some", padding), second(state, "others", padding);
    for (tg::extent run = 0; run < 8; ++run) {
      const tg::extent n = 5 + 3 * run, m = 40 - 5 * run;
      std::thread loader([&] {
        first.enqueue(ones(n));
        second.enqueue(ones(m));
      });
      const auto got = session.run(tg::fetch(one, other, beside), start = tg::tensor<float>({3}, {1.0f, 1.0f, 1.0f}),
                                   series = ones(100), tg::timeout(60s));
      loader.join();
      CHECK(std::get<0>(got)[1] == level(1, n));
      CHECK(std::get<1>(got)[1] == level(2, m));
      CHECK(std::get<2>(got)[1] == level(3, 100));
    }
  }
}

}  // namespace
