// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/waiting_steps.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>
#include <vector>

#include "support/errors.hpp"
#include "tagma/control_flow.hpp"
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;
using tg::status_code, tg::test::code_of, tg::test::text_of;

constexpr auto x = tg::placeholder<"x", float, 4, 5, 3>();
constexpr tg::queue_of<"sequences", tg::queue_options{.capacity = 8}, tg::spec<float, 4, 5, 3>> sequences;
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

constexpr auto step = [](auto before, auto now) {
  const auto next = before * 0.5f + now;
  return tg::next(next).emit(next);
};

}  // namespace

TEST_CASE("a recurrent network learns from a queue what it learns from feeds") {
  const auto fed = loss_of(x);
  const auto train_fed = tg::minimize(fed, tg::adam{.learning_rate = 0.05});
  const auto by_feeds = tg::compile([=] { return tg::outputs(fed, train_fed); });
  const auto taken = loss_of(tg::dequeue(sequences));
  const auto train = tg::minimize(taken, tg::adam{.learning_rate = 0.05});
  const auto by_queue = tg::compile([=] { return tg::outputs(taken, train); });
  tg::session plain(by_feeds, {.seed = 3});
  std::vector<float> expected;
  for (int i = 0; i < 20; ++i) expected.push_back(std::get<0>(plain.run(tg::fetch(fed, train_fed), x = numbers(i))));
  for (const auto kind : {tg::isolation::runs, tg::isolation::variables})
    for (const int threads : {1, 3})
      for (const int pools : {0, 1}) {
        const tg::container state(kind);
        tg::session_options options{.seed = 3, .intra_op_threads = threads, .inter_op_threads = threads};
        options.state = state;
        if (pools > 0) options.inter_op_pools = {{.threads = 1}};
        tg::session session(by_queue, options);
        const queue into(state, "sequences", sequences.options);
        CHECK(code_of([&] { session.run(train, tg::timeout(2ms)); }) == status_code::deadline_exceeded);
        std::thread loader([&] {
          for (int i = 0; i < 20; ++i) into.enqueue(numbers(i));
          into.close();
        });
        std::vector<float> seen;
        for (int i = 0; i < 20; ++i) seen.push_back(std::get<0>(session.run(tg::fetch(taken, train))));
        loader.join();
        CHECK(seen == expected);
        CHECK(code_of([&] { session.run(train); }) == status_code::out_of_range);
      }
}

TEST_CASE("loops before and behind a step that waits, and beside it") {
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
  for (const int threads : {1, 3}) {
    const tg::container state;
    tg::session session(program, {.intra_op_threads = threads, .inter_op_threads = threads, .state = state});
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
      const auto got = session.run(tg::fetch(put, result, every), start = from, series = s);
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

TEST_CASE("threads of a pool do loops beside one another, and queues give meanwhile what makes others longer") {
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
  const auto also = last(start * 4.0f, series * 1.0f);
  const auto program = tg::compile([=] { return tg::outputs(one, other, beside, also); });
  const auto level = [](float from, tg::extent n) {
    for (tg::extent t = 0; t < n; ++t) from = from * 0.5f + 1;
    return from;
  };
  const auto ones = [](tg::extent n) {
    tg::tensor<float> t({n, 3});
    for (float& f : t.span()) f = 1;
    return t;
  };
  const tg::container state;
  tg::session_options options{.intra_op_threads = 1, .inter_op_pools = {{.threads = 3}}};
  options.state = state;
  tg::session session(program, options);
  const tg::queue<tg::spec<float, tg::dyn, 3>> first(state, "some", padding), second(state, "others", padding);
  for (tg::extent run = 0; run < 12; ++run) {
    const tg::extent n = 5 + 3 * run, m = 70 - 5 * run;
    std::thread loader([&] {
      first.enqueue(ones(n));
      second.enqueue(ones(m));
    });
    const auto got =
        session.run(tg::fetch(one, other, beside, also), start = tg::tensor<float>({3}, {1.0f, 1.0f, 1.0f}),
                    series = ones(400), tg::timeout(60s));
    loader.join();
    CHECK(std::get<0>(got)[1] == level(1, n));
    CHECK(std::get<1>(got)[1] == level(2, m));
    CHECK(std::get<2>(got)[1] == level(3, 400));
    CHECK(std::get<3>(got)[1] == level(4, 400));
  }
}

TEST_CASE("a loop keeps the variables that it reads, whichever steps are done before it") {
  constexpr auto start = tg::placeholder<"start", float, 3>();
  constexpr auto series = tg::placeholder<"series", float, 4, 3>();
  constexpr tg::queue_of<"out", tg::queue_options{.capacity = 2}, tg::spec<float, 3>> out;
  constexpr tg::queue_of<"back", tg::queue_options{.capacity = 2}, tg::spec<float, 3>> back;
  const auto v = tg::variable<"v", float, 3>(tg::ones);
  const auto put = tg::enqueue(out, v * 2.0f + start);
  const auto behind = std::get<0>(tg::scan(tg::carry(tg::dequeue(back)), tg::over(series),
                                           [v](auto before, auto now) { return tg::next(before * v + now); }));
  const auto beside = tg::sum(series) + tg::sum(start);  // stands behind the loop, and is done before it
  const auto set = tg::assign(v, start);
  const auto program = tg::compile([=] { return tg::outputs(put, behind, beside, set); });
  const auto all_of = [](float f) { return tg::tensor<float>({3}, {f, f, f}); };
  tg::tensor<float> s({4, 3});
  for (float& f : s.span()) f = 1;
  for (const auto kind : {tg::isolation::runs, tg::isolation::variables}) {
    const tg::container state(kind);
    tg::session session(program, {.intra_op_threads = 1, .state = state});
    const tg::queue<tg::spec<float, 3>> given(state, "out", out.options), answers(state, "back", back.options);
    for (int run = 0; run < 8; ++run) {
      session.run(set, start = all_of(1));
      std::thread other([&] {
        (void)given.dequeue();  // the run has read v
        for (int k = 2; k < 6; ++k) session.run(set, start = all_of(static_cast<float>(k)));
        answers.enqueue(all_of(1));
      });
      const auto got = session.run(tg::fetch(put, behind, beside), start = all_of(0), series = s, tg::timeout(60s));
      other.join();
      CHECK(std::get<1>(got)[0] == 5);  // with v of then
      CHECK(std::get<2>(got) == 12);
    }
    CHECK(session.run(set, start = all_of(1))[0] == 1);
    CHECK(state.bytes() <= 4096);
  }
}

TEST_CASE("an error in a loop behind a step that waits names the iteration") {
  constexpr tg::queue_of<"rows", tg::queue_options{}, tg::spec<std::int32_t, 3>> rows;
  constexpr auto table = tg::placeholder<"table", float, 2>();
  constexpr auto zero = tg::placeholder<"zero", float>();
  const auto picked = tg::scan(tg::carry(zero), tg::over(tg::dequeue(rows)),
                               [table](auto sum, auto row) { return tg::next(sum + tg::gather(table, row)); });
  const auto sum = std::get<0>(picked);
  const tg::container state;
  tg::session session(tg::compile([=] { return tg::outputs(sum); }), {.state = state});
  const tg::queue<tg::spec<std::int32_t, 3>> into(state, "rows", rows.options);
  into.enqueue(tg::tensor<std::int32_t>({3}, {0, 1, 5}));
  into.enqueue(tg::tensor<std::int32_t>({3}, {0, 1, 1}));
  const tg::tensor<float> two({2}, {1.0f, 10.0f});
  CHECK_THAT(text_of([&] { (void)session.run(sum, table = two, zero = 0.0f); }),
             Catch::Contains("in iteration 2 of 3 of loop"));
  CHECK(session.run(sum, table = two, zero = 0.0f) == 21);
}

TEST_CASE("what waits cannot do so in the body of a loop") {
  constexpr tg::queue_of<"numbers", tg::queue_options{}, tg::spec<float>> q;
  constexpr auto series = tg::placeholder<"series", float, 3>();
  constexpr auto count = tg::placeholder<"count", std::int64_t>();
  const auto counted = tg::scan(tg::carry(count), tg::over(series),
                                [q](auto before, auto now) { return tg::next(before + tg::enqueue(q, now)); });
  const auto all = std::get<0>(counted);
  tg::session session(tg::compile([=] { return tg::outputs(all); }));
  CHECK_THAT(text_of([&] { (void)session.run(all, series = tg::tensor<float>({3}), count = std::int64_t{0}); }),
             Catch::StartsWith("Unimplemented: ") && Catch::Contains("enqueue #") &&
                 Catch::Contains("waits, which nothing in the body of a loop"));
}

TEST_CASE("what only one branch reads is taken whichever is done") {
  constexpr tg::queue_of<"rows", tg::queue_options{}, tg::spec<float, 3>> q;
  constexpr auto series = tg::placeholder<"series", float, 3>();
  const auto taken = tg::dequeue(q);
  const auto either = tg::cond(
      tg::sum(series) > 0.0f, [&] { return taken + 1.0f; }, [&] { return series * 2.0f; });
  const tg::container state;
  tg::session session(tg::compile([=] { return tg::outputs(either); }), {.state = state});
  const tg::queue<tg::spec<float, 3>> into(state, "rows", q.options);
  for (const float v : {1.0f, -1.0f}) {
    into.enqueue(tg::tensor<float>({3}, {5.0f, 6.0f, 7.0f}));
    const std::array<float, 3> now{v, v, v};
    CHECK(session.run(either, series = now)[1] == (v > 0 ? 7 : -2));
    CHECK(into.size() == 0);
  }
}
