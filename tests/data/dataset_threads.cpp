// SPDX-License-Identifier: BSL-1.0
#include "tagma/datasets.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <latch>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "tagma/autotune.hpp"

namespace {

namespace tg = tagma;
namespace ds = tagma::datasets;
using namespace std::chrono_literals;
using tg::status_code;
using tg::test::code_of, tg::test::text_of;
using number = std::int64_t;

/// A token as std::stop_token is one.
struct some_token {
  std::atomic<bool> stop{false};
  [[nodiscard]] bool stop_requested() const { return stop; }
};

/// A function that counts its calls and tells of one of them.
struct watched {
  struct state {
    std::atomic<int> calls{0};
    std::promise<void> reached;
  };
  int awaited;
  std::shared_ptr<state> shared = std::make_shared<state>();

  number operator()(number x) const {
    if (shared->calls.fetch_add(1) + 1 == awaited) shared->reached.set_value();
    return x;
  }
  [[nodiscard]] bool reached() const {
    return shared->reached.get_future().wait_for(1min) == std::future_status::ready;
  }
};

/// The numbers from 0 on, of a source that lacks memory two of three times when it is asked for its position.
class forgetful_source final : public ds::stage<number> {
  class pass final : public ds::cursor<number> {
   public:
    void save(ds::number_list& to) const override {
      if (asked_++ % 3 != 0) throw std::bad_alloc();
      to.push(next_);
    }
    void restore(ds::position_reader& from) override { next_ = from.take(); }

   private:
    ds::got advance(number& to) override {
      to = next_++;
      return ds::got::element;
    }
    number next_ = 0;
    mutable int asked_ = 0;
  };

 public:
  [[nodiscard]] tg::owned<ds::cursor<number>> start(std::uint64_t, ds::iteration&) const override {
    return tg::owned<ds::cursor<number>>(new pass);
  }
  [[nodiscard]] tg::extent size() const override { return ds::endless; }
  void describe(std::string& to) const override { to += "forgetful"; }
};

TEST_CASE("positions that threads have no memory for are those before, and more elements") {
  const tg::dataset<number> source(tg::make_counted<forgetful_source>());
  const auto twice = [](number x) { return 2 * x; };
  for (const auto& data : {source.map(twice).prefetch(3), source.map(twice, {.threads = 2, .ahead = 5})}) {
    auto pass = data.iterator();
    for (number i = 0; i < 200; ++i) {
      REQUIRE(pass.next() == 2 * i);
      if (i % 7 != 0) continue;
      auto later = data.resume(pass.state());
      for (number k = 1; k < 60; ++k) REQUIRE(later.next() == 2 * (i + k));
    }
  }
}

TEST_CASE("a prefetch begins with the first element and stays as far ahead as it was told", "[scenario 132]") {
  for (int ahead = 1; ahead <= 4; ++ahead) {
    const watched f{6};
    auto pass = ds::range(100).map(std::function<number(number)>(f)).prefetch(ahead).iterator();
    CHECK(f.shared->calls == 0);
    for (int taken = 1; taken <= 6 - ahead; ++taken) {
      CHECK(pass.next() == taken - 1);
      CHECK(f.shared->calls <= taken + ahead);
    }
    CHECK(f.reached());
    CHECK(f.shared->calls == 6);
  }
}

TEST_CASE("more elements ahead than there is memory for are one error that names the stage") {
  // Of a dataset whose end nobody knows. More than any memory has: nothing is asked of the system.
  const auto unknown = ds::range(5).filter([](number) { return true; });
  constexpr tg::extent most = std::numeric_limits<tg::extent>::max();
  const auto same = [](number x) { return x; };
  for (const bool maps : {false, true}) {
    const auto data = maps ? unknown.map(same, {.threads = 2, .ahead = most}) : unknown.prefetch(most);
    auto pass = data.iterator();
    CHECK_THAT(text_of([&] { (void)pass.next(); }),
               Catch::StartsWith("ResourceExhausted: ") &&
                   Catch::Contains((maps ? "map of " : "prefetch of ") + std::to_string(most) + " elements"));
    number x = 0;
    for (int i = 0; i < 2; ++i) CHECK_FALSE(pass.next(x));
    CHECK_FALSE(data.resume(pass.state()).next(x));
    // No more than there are, where that is known.
    const auto known = maps ? ds::range(5).map(same, {.threads = 2, .ahead = most}) : ds::range(5).prefetch(most);
    number expected = 0;
    for (const number y : known) CHECK(y == expected++);
    CHECK(expected == 5);
  }
  CHECK_THAT(text_of([] { (void)ds::range(number{1} << 61).cache(); }),
             Catch::StartsWith("ResourceExhausted: ") && Catch::Contains("cache of 2305843009213693952 elements"));
}

TEST_CASE("a map works on as many elements ahead as it was told") {
  const watched f{7};
  auto pass = ds::range(100).map(std::function<number(number)>(f), {.threads = 3, .ahead = 5}).iterator();
  CHECK(f.shared->calls == 0);
  CHECK(pass.next() == 0);
  CHECK(pass.next() == 1);
  CHECK(f.reached());
  CHECK(f.shared->calls == 7);
}

TEST_CASE("threads call a function at the same time, and the order stays") {
  for (const bool numbered : {true, false}) {
    const auto both = std::make_shared<std::latch>(2);
    const auto input = numbered ? ds::range(50) : ds::range(50).filter([](number) { return true; });
    const auto data = input.map(
        [both](number x) {
          if (x < 2) both->arrive_and_wait();
          return x;
        },
        {.threads = 2});
    number expected = 0;
    for (const number x : data) CHECK(x == expected++);
    CHECK(expected == 50);
  }
}

TEST_CASE("without an order the first that is ready comes first") {
  const auto second = std::make_shared<std::latch>(1);
  const auto data = ds::range(40).map(
      [second](number x) {
        if (x == 0) second->wait();
        return x;
      },
      {.threads = 2, .ordered = false, .ahead = 4});
  auto pass = data.iterator();
  CHECK(code_of([&] { (void)pass.state(); }) == status_code::failed_precondition);
  CHECK(pass.next() == 1);
  second->count_down();
  std::vector<number> all{1};
  for (number x = 0; pass.next(x);) all.push_back(x);
  std::sort(all.begin(), all.end());
  REQUIRE(all.size() == 40);
  for (number i = 0; i < 40; ++i) CHECK(all[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("stages behind a map without order give each element once, and have no position") {
  const auto doubled = ds::range(60).map([](number x) { return x * 2; }, {.threads = 2, .ordered = false});
  const auto one = [](const tg::tensor<number>& t) { return t[0]; };
  const auto same = [](number x) { return x; };
  const std::vector<tg::dataset<number>> all{
      doubled.prefetch(2),
      doubled.prefetch(ds::autotune),
      doubled.map(same, ds::autotune),
      doubled.map(same, {.threads = 2}),
      doubled.map(same, {.threads = 2, .ordered = false}),
      doubled.batch(1).map(one),
      doubled.batch(7).prefetch(1).unbatch().map(one),
      doubled.interleave([](number x) { return ds::from_tensors(x); }, {.cycle = 3, .ahead = 1}),
      ds::range(6).interleave(
          [](number x) {
            return ds::range(x * 10, x * 10 + 10).map([](number y) { return y * 2; }, {.threads = 2, .ordered = false});
          },
          {.cycle = 2, .ahead = 2}),
      ds::zip(doubled, ds::range(60)).map([](number x, number) { return x; }),
      doubled.shuffle(10, 1),
      doubled.cache(),
      ds::range(0).concatenate(doubled)};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const bool limited : {false, true}) {
      CAPTURE(i, limited);
      auto pass = all[i].iterator();
      std::vector<number> read;
      for (number x = 0; limited ? pass.next(x, tg::timeout(1min)) : pass.next(x);) {
        read.push_back(x);
        if (read.size() % 20 == 1)
          CHECK(text_of([&] { (void)pass.state(); }) ==
                "FailedPrecondition: a map whose results come in any order has no position to go on from");
      }
      std::sort(read.begin(), read.end());
      REQUIRE(read.size() == 60);
      for (number k = 0; k < 60; ++k) CHECK(read[static_cast<std::size_t>(k)] == 2 * k);
    }
  // Another process, whose cache is filled anew, may have another order.
  CHECK(code_of([&] { (void)all[11].iterator().state(); }) == status_code::failed_precondition);
  // By number there is an order.
  const auto numbered = doubled.batch(1).map(one).global_shuffle(3);
  auto pass = numbered.iterator();
  (void)pass.next();
  const number second = numbered.resume(pass.state()).next();
  CHECK(pass.next() == second);
  // A position in a map with order is none of a map without.
  const ds::position of_ordered = ds::range(60).map(same, {.threads = 2}).iterator().state();
  CHECK(code_of([&] { (void)ds::range(60).map(same, {.threads = 2, .ordered = false}).resume(of_ordered); }) ==
        status_code::invalid_argument);
}

TEST_CASE("a prefetch knows of a map without order that it met between two positions") {
  // The second of the datasets that are read in turn gives its elements in any order: what is behind it has no
  // position, also where that dataset has ended, and where the last mark of the prefetch lies before it.
  const auto data = ds::range(3).flat_map([](number x) {
    const auto ten = ds::range(10 * x, 10 * x + 10);
    const auto same = [](number y) { return y; };
    return x == 1 ? ten.map(same, {.threads = 2, .ordered = false}) : ten.map(same);
  });
  for (const auto& of : {data.prefetch(1), data.shuffle(2, 1), data.prefetch(1).map([](number x) { return x; })}) {
    auto pass = of.iterator();
    for (int i = 0; i < 15; ++i) (void)pass.next();
    CHECK(code_of([&] { (void)pass.state(); }) == status_code::failed_precondition);
    for (int i = 0; i < 10; ++i) (void)pass.next();
    CHECK(code_of([&] { (void)pass.state(); }) == status_code::failed_precondition);
  }
}

TEST_CASE("a function that ends its dataset lets those finish that others work on") {
  // More elements than any run comes to: that it ends is what the function has said. How many come behind the
  // hundredth depends on when its thread comes back from it.
  const auto data = ds::range(number{1} << 50)
                        .map(
                            [](number x) {
                              if (x == 100) throw ds::end_of_data();
                              return x;
                            },
                            {.threads = 3, .ordered = false});
  std::vector<number> all;
  for (const number x : data) all.push_back(x);
  std::sort(all.begin(), all.end());
  REQUIRE(all.size() >= 100);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == static_cast<number>(i + (i >= 100)));
}

TEST_CASE("a call that is late or cancelled loses nothing") {
  for (const int stage : {0, 1, 2}) {
    const auto open = std::make_shared<std::latch>(1);
    const auto slow = ds::range(9).map([open](number x) {
      if (x == 4) open->wait();
      return x;
    });
    const auto ahead = stage == 0 ? slow.prefetch(3)
                       : stage == 1
                           ? slow.map([](number x) { return x; }, {.threads = 2})
                           : ds::from_tensors(number{9}).interleave([slow](number) { return slow; }, {.ahead = 2});
    auto pass = ahead.batch(3).iterator();
    CHECK(pass.next() == tg::tensor<number>({3}, {0, 1, 2}));
    CHECK(code_of([&] { (void)pass.next(tg::timeout(20ms)); }) == status_code::deadline_exceeded);
    const ds::position at = pass.state();
    some_token token;
    std::thread stopping([&] { token.stop = true; });
    CHECK(code_of([&] { (void)pass.next(tg::stop_with(token)); }) == status_code::cancelled);
    stopping.join();
    tg::cancellation cancel;
    std::thread cancelling([&] { cancel.cancel(); });
    CHECK(code_of([&] { (void)pass.next(tg::stop_with(cancel)); }) == status_code::cancelled);
    cancelling.join();
    open->count_down();
    CHECK(pass.next(tg::timeout(1min)) == tg::tensor<number>({3}, {3, 4, 5}));
    CHECK(pass.next() == tg::tensor<number>({3}, {6, 7, 8}));
    CHECK(ahead.batch(3).resume(at).next() == tg::tensor<number>({3}, {3, 4, 5}));
  }
}

TEST_CASE("a pass that is given up ends its threads, wherever they are") {
  const auto endless = ds::range(10).repeat();
  const auto none = [](number) { return false; };
  const std::vector<tg::dataset<number>> all{
      endless.prefetch(2), endless.prefetch(2).prefetch(3),
      endless.filter([](number x) { return x < 5; }).map([](number x) { return x; }, {.threads = 3}).prefetch(1),
      endless.interleave([](number x) { return ds::range(x).repeat(); }, {.cycle = 3, .ahead = 2}).prefetch(2)};
  for (const auto& data : all) {
    (void)data.iterator();
    auto pass = data.iterator();
    (void)pass.next();
    pass = data.iterator();
    (void)pass.next();
  }
  // Somebody looks for what never comes.
  for (const auto& data :
       {endless.filter(none).prefetch(1), endless.filter(none).map([](number x) { return x; }, {.threads = 2}),
        endless.batch(std::int64_t{1} << 40).map([](const tg::tensor<number>&) { return number{0}; }).prefetch(1)}) {
    auto pass = data.iterator();
    CHECK(code_of([&] { (void)pass.next(tg::timeout(5ms)); }) == status_code::deadline_exceeded);
  }
}

TEST_CASE("the bytes are the same for any number of threads") {
  const auto read = [](int threads, tg::extent ahead) {
    std::vector<number> all;
    const auto data = ds::range(1000)
                          .global_shuffle(7)
                          .map([](number x) { return x * x; }, {.threads = threads})
                          .shuffle(50, 3)
                          .prefetch(ahead)
                          .batch(32)
                          .repeat(2)
                          .prefetch(ahead);
    for (const auto& batch : data) all.insert(all.end(), batch.begin(), batch.end());
    return all;
  };
  const std::vector<number> expected = read(0, 0);
  CHECK(expected.size() == 2000);
  for (const int threads : {1, 2, 3, 8})
    for (const tg::extent ahead : {0, 1, 7}) CHECK(read(threads, ahead) == expected);
}

TEST_CASE("a cache behind threads has numbers, by which it keeps elements") {
  for (int way = 0; way < 6; ++way) {
    CAPTURE(way);
    const watched f{-1};
    const auto calls = [&] { return f.shared->calls.exchange(0); };
    const auto made = [&]() -> tg::dataset<number> {
      const auto range = ds::range(40);
      if (way == 1) return range.map(f, {.threads = 2}).cache();
      if (way == 2) return range.map(f, ds::autotune).cache();
      if (way == 3) return range.map(f).prefetch(3).cache();
      if (way == 4) return range.map(f).prefetch(ds::autotune).cache();
      if (way == 5) return range.map(f, {.threads = 2}).cache().prefetch(2).cache();
      return range.map(f).cache();
    };
    const auto read = [](const tg::dataset<number>& of) {
      std::vector<number> all;
      for (const number x : of) all.push_back(x);
      return all;
    };
    std::vector<number> in_order(40);
    for (number i = 0; i < 40; ++i) in_order[static_cast<std::size_t>(i)] = i;
    const std::vector<number> shuffled = read(ds::range(40).global_shuffle(3).repeat(2));
    const auto data = made();
    CHECK(data.is_indexed());
    CHECK(read(data.global_shuffle(3).repeat(2)) == shuffled);
    CHECK(calls() == 40);
    CHECK(read(data) == in_order);
    CHECK(calls() == 0);
    const auto filled_in_turn = made();
    CHECK(read(filled_in_turn) == in_order);
    CHECK(calls() == 40);
    CHECK(read(filled_in_turn.repeat(2).skip(40)) == in_order);
    CHECK(read(filled_in_turn.global_shuffle(3).repeat(2)) == shuffled);
    CHECK(calls() == 0);
    // Some are there.
    const auto in_part = made();
    CHECK(read(in_part.take(5)).size() == 5);
    CHECK(read(in_part.global_shuffle(1).take(5)).size() == 5);
    CHECK(read(in_part) == in_order);
    (void)calls();
    CHECK(read(in_part.global_shuffle(3).repeat(2)) == shuffled);
    CHECK(calls() == 0);
    // Where a pass is does not depend on what a cache has.
    for (number at = 0; at <= 40; ++at) {
      const auto from = made();
      auto here = from.iterator();
      CHECK(here.skip(at / 2) == at / 2);
      for (number i = at / 2; i < at; ++i) CHECK(here.next() == i);
      const ds::position position = here.state();
      for (const auto& of : {data, in_part, made(), from}) {
        auto rest = of.resume(position);
        number x = 0;
        for (number i = at; i < 40; ++i) REQUIRE(rest.next() == i);
        CHECK_FALSE(rest.next(x));
        CHECK_FALSE(of.resume(rest.state()).next(x));
      }
    }
    ds::position wrong = data.iterator().state();
    wrong.back() = 41;
    CHECK(code_of([&] { (void)data.resume(wrong); }) == status_code::invalid_argument);
  }
  std::atomic<int> calls{0};
  const auto fails = ds::range(9).map(
      [&](number x) {
        ++calls;
        return x == 4 ? throw std::runtime_error("4") : x;
      },
      {.threads = 2});
  const auto kept = fails.cache();
  for (int pass = 0; pass < 3; ++pass) {
    auto it = kept.iterator();
    for (number i = 0; i < 9; ++i)
      if (i == 4)
        CHECK_THROWS_WITH(it.next(), "4");
      else
        CHECK(it.next() == i);
    calls = pass < 2 ? 0 : calls.load();
  }
  CHECK(calls.load() <= 5);
  CHECK_THAT(
      text_of([&] {
        (void)ds::range(9).map([](number x) { return x; }, {.threads = 2, .ordered = false}).cache().global_shuffle(1);
      }),
      Catch::StartsWith("InvalidArgument: ") && Catch::Contains("a map in any order"));
}

TEST_CASE("passes of one dataset run at once") {
  const auto data =
      ds::range(200).map([](number x) { return x + 1; }, {.threads = 2}).cache().shuffle(20, 1).prefetch(4);
  std::vector<std::vector<number>> read(4);
  std::vector<std::thread> threads;
  for (auto& mine : read)
    threads.emplace_back([&] {
      for (const number x : data) mine.push_back(x);
    });
  for (std::thread& t : threads) t.join();
  CHECK(read[0].size() == 200);
  for (const auto& mine : read) CHECK(mine == read[0]);
}

}  // namespace
