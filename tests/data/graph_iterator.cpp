// SPDX-License-Identifier: BSL-1.0
#include "tagma/data/graph_iterator.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "support/errors.hpp"
#include "tagma/autotune.hpp"
#include "tagma/iterators.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;
using tg::status_code, tg::test::code_of, tg::test::text_of;

constexpr tg::iterator_of<"numbers", tg::spec<std::int64_t>> numbers;
const auto number = tg::get_next(numbers);
const auto twice = number + number;
const auto program = tg::compile([] { return tg::outputs(number, twice); });

}  // namespace

TEST_CASE("a run gets one element, however many read it, until the end", "[scenario 138]") {
  const tg::container state;
  tg::session session(program, {.state = state});
  CHECK_THAT(
      text_of([&] { (void)session.run(number); }),
      Catch::StartsWith("FailedPrecondition: ") && Catch::Contains("iterator 'numbers' has not been initialized"));
  tg::set_iterator(state, numbers, tg::datasets::range(3));
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto [one, two] = session.run(tg::fetch(number, twice));
    CHECK(one == i);
    CHECK(two == 2 * i);
  }
  for (int i = 0; i < 2; ++i)
    CHECK_THAT(text_of([&] { (void)session.run(number); }),
               Catch::StartsWith("OutOfRange: ") && Catch::Contains("end of sequence"));
  tg::set_iterator(state, numbers, tg::datasets::range(10, 12));
  CHECK(session.run(number) == 10);
  tg::session other(program, {.state = state});
  CHECK(other.run(number) == 11);
}

TEST_CASE("a map without order, and stages behind it, give a graph each element once") {
  const auto doubled =
      tg::datasets::range(40).map([](std::int64_t x) { return x * 2; }, {.threads = 2, .ordered = false});
  const auto first = [](const tg::tensor<std::int64_t>& t) { return t[0]; };
  const tg::container state;
  tg::session session(program, {.state = state});
  for (const auto& data : {doubled, doubled.batch(1).map(first), doubled.batch(1).prefetch(2).map(first)}) {
    tg::set_iterator(state, numbers, data);
    std::set<std::int64_t> all;
    for (int i = 0; i < 40; ++i) all.insert(session.run(number));
    CHECK(all.size() == 40);
    CHECK(code_of([&] { (void)session.run(number); }) == status_code::out_of_range);
    CHECK(code_of([&] { (void)tg::iterator_position(state, numbers); }) == status_code::failed_precondition);
  }
}

TEST_CASE("elements of several components, with texts and extents that change") {
  using text = std::string_view;
  constexpr tg::iterator_of<"batches", tg::spec<float, tg::dyn, 2>, tg::spec<text, tg::dyn>, tg::spec<bool>> batches;
  using element = std::tuple<tg::tensor<float>, std::vector<std::string>, bool>;
  const auto made = tg::datasets::range(5).map([](std::int64_t i) {
    element e{tg::tensor<float>(tg::shape{i, 2}), {}, i % 2 == 0};
    for (std::int64_t r = 0; r < i; ++r) {
      std::get<0>(e)[2 * r] = static_cast<float>(r);
      std::get<1>(e).push_back("a text of some length, number " + std::to_string(r));
    }
    return e;
  });
  const auto [rows, names, even] = tg::get_next(batches);
  const auto sums = tg::sum<1>(rows * 3.0f);
  const tg::container state;
  tg::session session(tg::compile([=, r = rows, n = names, e = even] { return tg::outputs(r, n, e, sums); }),
                      {.state = state});
  tg::set_iterator(state, batches, made);
  for (std::int64_t i = 0; i < 5; ++i) {
    const auto got = session.run(tg::fetch(names, even, sums));
    CHECK(std::get<0>(got).dims() == tg::shape{i});
    CHECK(std::get<1>(got) == (i % 2 == 0));
    CHECK(std::get<2>(got).dims() == tg::shape{i});
    for (std::int64_t r = 0; r < i; ++r) {
      CHECK(std::get<0>(got)[r] == "a text of some length, number " + std::to_string(r));
      CHECK(std::get<2>(got)[r] == 3.0f * static_cast<float>(r));
    }
  }
}

TEST_CASE("an element that cannot be had is an error of its run, and the next goes on") {
  const tg::container state;
  tg::session session(program, {.state = state});
  tg::set_iterator(state, numbers, tg::datasets::range(4).map([](std::int64_t i) {
    if (i == 1) tg::fail(status_code::data_loss, "this one is broken");
    return i;
  }));
  CHECK(session.run(number) == 0);
  CHECK_THAT(text_of([&] { (void)session.run(number); }),
             Catch::StartsWith("DataLoss: ") && Catch::Contains("this one is broken"));
  CHECK(session.run(number) == 2);

  constexpr tg::iterator_of<"threes", tg::spec<float, 3>> threes;
  const auto three = tg::get_next(threes);
  tg::session of_threes(tg::compile([=] { return tg::outputs(three); }), {.state = state});
  tg::set_iterator(state, threes,
                   tg::datasets::range(2, 5).map([](std::int64_t n) { return tg::tensor<float>(tg::shape{n}); }));
  CHECK_THAT(
      text_of([&] { (void)of_threes.run(three); }),
      Catch::StartsWith("InvalidArgument: ") &&
          Catch::Contains("iterator 'threes': component 0 of an element is float32 [2], declared is float32 [3]"));
  CHECK(of_threes.run(three).dims() == tg::shape{3});
}

TEST_CASE("a position goes on in another container as if nothing had happened") {
  const auto shuffled = tg::datasets::range(50).global_shuffle(7).repeat(2).prefetch(3);
  std::vector<std::int64_t> whole;
  for (const std::int64_t i : shuffled) whole.push_back(i);
  for (const std::size_t stop : {std::size_t{0}, std::size_t{1}, std::size_t{49}, std::size_t{50}, std::size_t{77}}) {
    std::vector<std::int64_t> seen;
    tg::datasets::position at;
    {
      const tg::container state;
      tg::session session(program, {.state = state});
      CHECK(code_of([&] { (void)tg::iterator_position(state, numbers); }) == status_code::failed_precondition);
      tg::set_iterator(state, numbers, shuffled);
      for (std::size_t i = 0; i < stop; ++i) seen.push_back(session.run(number));
      at = tg::iterator_position(state, numbers);
    }
    const tg::container state;
    tg::session session(program, {.state = state});
    tg::set_iterator(state, numbers, shuffled, at);
    while (seen.size() < whole.size()) seen.push_back(session.run(number));
    CHECK(seen == whole);
    CHECK(code_of([&] { (void)session.run(number); }) == status_code::out_of_range);
  }
}

TEST_CASE("runs that wait for an element hold no thread, and end when they are late") {
  const tg::container state;
  std::atomic<bool> go{false};
  tg::set_iterator(state, numbers,
                   tg::datasets::range(3).map(
                       [&](std::int64_t i) {
                         while (i == 1 && !go) std::this_thread::sleep_for(1ms);
                         return i;
                       },
                       {.threads = 1}));
  tg::session session(program, {.inter_op_threads = 1, .state = state});
  CHECK(session.run(number) == 0);
  CHECK(code_of([&] { (void)session.run(number, tg::timeout(3ms)); }) == status_code::deadline_exceeded);
  go = true;
  CHECK(session.run(number) == 1);  // it was not lost
  CHECK(session.run(number) == 2);
}

/// Lets functions that wait go on, however a test ends: iterators wait for them as they are destroyed.
struct opened_at_end {
  std::atomic<bool>& gate;
  ~opened_at_end() { gate = true; }
};

TEST_CASE("what was made for a run that was late is for the next one, however it is made") {
  std::atomic<bool> go{false};
  const auto slow = [&go](std::int64_t i) {
    while (i % 4 == 1 && !go) std::this_thread::sleep_for(1ms);
    return i;
  };
  const auto first = tg::datasets::range(9);
  const std::vector<tg::dataset<std::int64_t>> ways{
      first.map(slow),
      first.map(slow, {.threads = 2}),
      first.map(slow).prefetch(1),
      first.filter([](std::int64_t) { return true; }).map(slow),
      first.map(slow).batch(2).unbatch().map([](const tg::tensor<std::int64_t>& t) { return t[0]; }),
      first.map(slow).shuffle(1)};
  for (std::size_t way = 0; way < ways.size(); ++way) {
    INFO("way " << way);
    const tg::container state;
    tg::session session(program, {.inter_op_threads = 1, .state = state});
    const opened_at_end opened{go};
    tg::set_iterator(state, numbers, ways[way]);
    for (std::int64_t i = 0; i < 9; ++i) {
      go = i % 4 != 1;
      if (!go) {  // however long the function takes, a run ends; some have the element from a batch before
        const status_code code = code_of([&] {
          const std::int64_t got = session.run(number, tg::timeout(5ms));
          CHECK(got == i);
        });
        if (code == status_code::ok) continue;
        REQUIRE(code == status_code::deadline_exceeded);
        go = true;
        if (i == 5) {  // a position is before what nobody has
          const auto at = tg::iterator_position(state, numbers);
          const tg::container elsewhere;
          tg::session resumed(program, {.state = elsewhere});
          tg::set_iterator(elsewhere, numbers, ways[way], at);
          for (std::int64_t k = i; k < 9; ++k) REQUIRE(resumed.run(number) == k);
        }
      }
      REQUIRE(session.run(number) == i);
    }
    CHECK(code_of([&] { (void)session.run(number); }) == status_code::out_of_range);
  }
}

TEST_CASE("an error that was made for a run that was late is for the next one, and a new dataset has neither") {
  std::atomic<bool> go{false};
  const auto broken = [&go](std::int64_t i) {
    while (i == 1 && !go) std::this_thread::sleep_for(1ms);
    if (i == 1) tg::fail(status_code::data_loss, {"number one is broken"});
    return i;
  };
  const tg::container state;
  tg::session session(program, {.state = state});
  const opened_at_end opened{go};
  for (int round = 0; round < 2; ++round) {
    go = false;
    tg::set_iterator(state, numbers, tg::datasets::range(3).map(broken));
    CHECK(session.run(number) == 0);
    CHECK(code_of([&] { (void)session.run(number, tg::timeout(3ms)); }) == status_code::deadline_exceeded);
    if (round == 1) tg::set_iterator(state, numbers, tg::datasets::range(3).map([](std::int64_t i) { return i + 10; }));
    go = true;
    if (round == 0) CHECK(code_of([&] { (void)session.run(number); }) == status_code::data_loss);
    CHECK(session.run(number) == (round == 0 ? 2 : 10));
  }
}

TEST_CASE("elements come once where many runs are late") {
  const tg::container state;
  tg::set_iterator(state, numbers, tg::datasets::range(2000).map([](std::int64_t i) {
    if (i % 7 == 0) std::this_thread::sleep_for(50us);
    return i;
  }));
  std::vector<std::vector<std::int64_t>> seen(3);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < seen.size(); ++t)
    threads.emplace_back([&, t] {
      tg::session session(program, {.state = state});
      for (int n = 0;; ++n) {
        try {
          seen[t].push_back(session.run(number, tg::timeout(std::chrono::microseconds(20 + n % 200))));
        } catch (const tg::error& e) {
          if (e.code() == status_code::out_of_range) return;
        }
      }
    });
  for (std::thread& t : threads) t.join();
  std::vector<std::int64_t> all;
  for (const auto& own : seen) all.insert(all.end(), own.begin(), own.end());
  std::sort(all.begin(), all.end());
  std::vector<std::int64_t> whole(2000);
  for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = static_cast<std::int64_t>(i);
  CHECK(all == whole);
}

TEST_CASE("sessions with a prefix have iterators of their own") {
  const tg::container state;
  tg::session first(program, {.state = state, .variable_prefix = "replica_1"}),
      second(program, {.state = state, .variable_prefix = "replica_2"});
  tg::set_iterator(state, numbers, tg::datasets::range(3), "replica_1");
  tg::set_iterator(state, numbers, tg::datasets::range(9).skip(5), "replica_2");
  CHECK(first.run(number) == 0);
  CHECK(second.run(number) == 5);
  const auto at = tg::iterator_position(state, numbers, "replica_2");
  tg::set_iterator(state, numbers, tg::datasets::range(9).skip(5), at, "replica_1");
  CHECK(first.run(number) == 6);
  CHECK(code_of([&] { tg::set_iterator(state, numbers, tg::datasets::range(3), "replica/"); }) ==
        status_code::invalid_argument);
}

TEST_CASE("threads and sessions share the elements of one iterator") {
  const tg::container state;
  tg::set_iterator(state, numbers, tg::datasets::range(3000));
  std::vector<std::vector<std::int64_t>> seen(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < seen.size(); ++t)
    threads.emplace_back([&, t] {
      tg::session session(program, {.state = state});
      try {
        for (;;) seen[t].push_back(session.run(number));
      } catch (const tg::error&) {
      }
    });
  for (std::thread& t : threads) t.join();
  std::set<std::int64_t> all;
  std::size_t count = 0;
  for (const auto& own : seen) {
    all.insert(own.begin(), own.end());
    count += own.size();
    CHECK(std::is_sorted(own.begin(), own.end()));
  }
  CHECK(count == 3000);
  CHECK(all.size() == 3000);
}

TEST_CASE("iterators of one name have one kind of elements") {
  const tg::container state;
  tg::set_iterator(state, numbers, tg::datasets::range(3));
  constexpr tg::iterator_of<"numbers", tg::spec<float>> others;
  CHECK(text_of(
            [&] { tg::set_iterator(state, others, tg::datasets::range(3).map([](std::int64_t) { return 1.0f; })); }) ==
        "InvalidArgument: the container has iterator 'numbers' with component 0 int64 [], asked for is one with "
        "float32 []");
  constexpr tg::iterator_of<"numbers", tg::spec<std::int64_t>, tg::spec<float>> more;
  const auto two = std::get<0>(tg::get_next(more));
  const auto wrong = tg::compile([=] { return tg::outputs(two); });
  CHECK(text_of([&] { tg::session session(wrong, {.state = state}); }) ==
        "InvalidArgument: the container has iterator 'numbers' with 1 components, asked for is one with 2");
}

TEST_CASE("an iterator's pass has budgets and is measured") {
  const tg::container state;
  tg::session session(program, {.state = state});
  std::atomic<int> calls{0};
  const auto data = tg::datasets::range(40)
                        .map([](std::int64_t i) { return i + 1; })
                        .map([&](std::int64_t i) { return ++calls, i; }, tg::datasets::autotune)
                        .prefetch(tg::datasets::autotune);
  const tg::datasets::pass_watch watch = tg::set_iterator(state, numbers, data, {.measure = true, .threads = 1});
  REQUIRE(watch.measured != nullptr);
  for (std::int64_t i = 1; i <= 30; ++i) CHECK(session.run(number) == i);
  CHECK(watch.measured->counters(0).elements.load() >= 30);
  CHECK_THAT(tg::explain(watch), Catch::Contains("prefetch") && Catch::Contains("map") && Catch::Contains("range"));
  for (std::size_t stage = 0; stage < 4; ++stage) CHECK(watch.measured->counters(stage).threads.load() <= 1);
  const tg::datasets::position at = tg::iterator_position(state, numbers);
  const tg::datasets::pass_watch plain = tg::set_iterator(state, numbers, data, {.bytes = 64}, at);
  CHECK(plain.measured == nullptr);
  for (std::int64_t i = 31; i <= 40; ++i) CHECK(session.run(number) == i);
  CHECK(code_of([&] { (void)session.run(number); }) == status_code::out_of_range);
  CHECK(code_of([&] { (void)tg::explain(plain); }) == status_code::failed_precondition);
  CHECK(code_of([&] { tg::set_iterator(state, numbers, data, {.threads = -1}); }) == status_code::invalid_argument);
  CHECK(code_of([&] {
          tg::set_iterator(state, numbers, data, {}, tg::datasets::position{1, 2});
        }) == status_code::invalid_argument);
}
