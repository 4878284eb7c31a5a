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
