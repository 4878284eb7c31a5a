// SPDX-License-Identifier: BSL-1.0
#include "tagma/data/autotune.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "tagma/autotune.hpp"
#include "tagma/datasets.hpp"

namespace {

namespace tg = tagma;
namespace ds = tagma::datasets;
using namespace std::chrono_literals;
using tg::status_code;
using tg::test::code_of;
using number = std::int64_t;

/// How many there are, and how many there were at most.
struct gauge {
  std::atomic<int> now{0}, most{0};
  void change(int by) {
    const int n = now += by;
    for (int seen = most; n > seen && !most.compare_exchange_weak(seen, n);) {
    }
  }
};
template <class T>
std::vector<T> rest(tg::dataset_iterator<T> pass) {
  std::vector<T> all;
  for (T x{}; pass.next(x);) all.push_back(x);
  return all;
}

TEST_CASE("elements, order and positions do not depend on what is found") {
  const auto square = [](number x) {
    if (x % 7 == 0) std::this_thread::sleep_for(50us);
    return x * x;
  };
  const auto tuned = ds::range(1000)
                         .global_shuffle(7)
                         .map(square, ds::autotune)
                         .shuffle(50, 3)
                         .map([](number x) { return x + 1; }, ds::autotune)
                         .batch(32)
                         .repeat(2)
                         .prefetch(ds::autotune);
  const auto plain = ds::range(1000)
                         .global_shuffle(7)
                         .map(square)
                         .shuffle(50, 3)
                         .map([](number x) { return x + 1; })
                         .batch(32)
                         .repeat(2);
  const auto expected = rest(plain.iterator());
  CHECK(rest(tuned.iterator()) == expected);
  for (const auto& [threads, bytes] : {std::pair(1, 1), {2, 1000}, {3, 100'000}, {8, 0}}) {
    const ds::pass_options how{.threads = threads, .bytes = bytes};
    CHECK(rest(ds::iterate(tuned, how)) == expected);
    auto pass = ds::iterate(tuned, how);
    CHECK(pass.skip(40) == 40);
    for (int i = 40; i < 55; ++i) CHECK(pass.next() == expected[static_cast<std::size_t>(i)]);
    CHECK(tuned.resume(pass.state()).next() == expected[55]);
    CHECK(ds::iterate(tuned, how, pass.state()).next() == expected[55]);
  }
  // A position of one is one of the other.
  auto pass = ds::range(90).map(square, ds::autotune).iterator();
  CHECK(pass.skip(40) == 40);
  CHECK(ds::range(90).map(square, {.threads = 2}).resume(pass.state()).next() == 1600);
}

TEST_CASE("a pass has no more threads at work than its budget") {
  for (const int budget : {1, 2, 3, 5}) {
    gauge calls;
    const auto asker = std::this_thread::get_id();
    const auto work = [&, asker](number x) {
      if (std::this_thread::get_id() == asker) return x;
      calls.change(1);
      std::this_thread::sleep_for(200us);
      calls.change(-1);
      return x;
    };
    const auto data = ds::range(150)
                          .map(work, ds::autotune)
                          .map(work, ds::autotune)
                          .prefetch(ds::autotune)
                          .repeat(2)
                          .map(work, ds::autotune);
    auto pass = ds::iterate(data, {.threads = budget});
    number next = 0;
    for (number x = 0; pass.next(x);) CHECK(x == next++ % 150);
    CHECK(next == 300);
    CHECK(calls.most <= budget);
    CHECK(calls.most >= 1);
  }
}

TEST_CASE("a pass keeps no more bytes than its budget") {
  for (const int elements : {1, 2, 5, 40}) {
    gauge kept;
    const auto make = [&](number x) {
      kept.change(1);
      return std::string(1000, static_cast<char>('a' + x % 26));
    };
    auto pass = ds::iterate(ds::range(2000).map(make, ds::autotune), {.threads = 4, .bytes = elements * 1000});
    std::string text;
    for (number i = 0; pass.next(text); ++i) {
      CHECK(text[0] == static_cast<char>('a' + i % 26));
      if (i % 100 == 0) std::this_thread::sleep_for(300us);
      kept.change(-1);
    }
    CHECK(kept.most <= elements + 1);  // and the one that was taken
  }
}

TEST_CASE("several stages share one budget of bytes") {
  gauge kept;
  const auto make = [&](number x) {
    kept.change(1);
    return std::tuple(x, std::string(1000, 'x'));
  };
  const auto same = [](number x, const std::string& text) { return std::tuple(x, text); };
  // Two maps and two prefetches: elements of the maps are copied, so that the first kind is counted by its text.
  const auto data = ds::range(2000).map(make, ds::autotune).prefetch(ds::autotune).prefetch(ds::autotune);
  auto pass = ds::iterate(data, {.threads = 6, .bytes = 12 * 1008});
  std::tuple<number, std::string> element;
  for (number i = 0; pass.next(element); ++i) {
    CHECK(std::get<0>(element) == i);
    if (i % 200 == 0) std::this_thread::sleep_for(500us);
    kept.change(-1);
  }
  CHECK(kept.most <= 12 + 1);
  CHECK(rest(ds::iterate(ds::range(100).map(make, ds::autotune).map(same, ds::autotune), {.bytes = 1})).size() == 100);
}

TEST_CASE("branches of a zip go on with a budget for less than an element of each") {
  const auto branch =
      ds::range(300).map([](number x) { return std::string(100, static_cast<char>(x % 100)); }, ds::autotune);
  for (const int threads : {1, 2, 8}) {
    auto pass = ds::iterate(ds::zip(branch.prefetch(ds::autotune), branch, branch.concatenate(branch)),
                            {.threads = threads, .bytes = 10});
    CHECK(rest(std::move(pass)).size() == 300);
  }
}

TEST_CASE("errors, ends and calls with limits are those of other maps") {
  const auto f = [](number x) {
    if (x == 20) throw ds::end_of_data();
    if (x % 3 == 1) throw tg::error(status_code::data_loss, "x");
    return x;
  };
  auto pass = ds::iterate(ds::range(1000).map(f, ds::autotune), {.threads = 3});
  for (number i = 0; i < 20; ++i)
    if (i % 3 == 1)
      CHECK(code_of([&] { (void)pass.next(); }) == status_code::data_loss);
    else
      CHECK(pass.next() == i);
  number x = 0;
  CHECK_FALSE(pass.next(x));
  CHECK_FALSE(pass.next(x));

  const auto open = std::make_shared<std::atomic<bool>>(false);
  const auto slow = ds::range(9).map(
      [open](number i) {
        while (i == 4 && !*open) std::this_thread::sleep_for(100us);
        return i;
      },
      ds::autotune);
  auto late = slow.batch(3).prefetch(ds::autotune).iterator();
  CHECK(late.next() == tg::tensor<number>({3}, {0, 1, 2}));
  CHECK(code_of([&] { (void)late.next(tg::timeout(20ms)); }) == status_code::deadline_exceeded);
  *open = true;
  CHECK(late.next(tg::timeout(1min)) == tg::tensor<number>({3}, {3, 4, 5}));
}

TEST_CASE("a tuned pass that is given up ends its threads") {
  const auto endless = ds::range(10).repeat();
  for (int i = 0; i < 20; ++i) {
    auto pass = endless.map([](number x) { return x; }, ds::autotune).prefetch(ds::autotune).iterator();
    (void)pass.next();
    (void)pass.skip(i * 10);
  }
  auto inner = ds::range(50).interleave(
      [](number x) { return ds::range(x).map([](number y) { return y; }, ds::autotune); }, {.cycle = 3, .ahead = 2});
  CHECK(rest(inner.iterator()).size() == 1225);
}

TEST_CASE("more threads are found where a function waits") {
  // Which number is found depends on the machine; that several are at work at once does not.
  gauge calls;
  const auto work = [&](number x) {
    calls.change(1);
    std::this_thread::sleep_for(1ms);
    calls.change(-1);
    return x;
  };
  auto pass = ds::iterate(ds::range(1'000'000).map(work, ds::autotune), {.threads = 8});
  for (int i = 0; i < 100'000 && calls.most < 4; ++i) CHECK(pass.next() == i);
  CHECK(calls.most >= 4);
}

TEST_CASE("tuned stages are explained") {
  auto pass = ds::iterate(ds::range(100).map([](number x) { return x; }, ds::autotune).prefetch(ds::autotune),
                          {.measure = true, .threads = 2});
  for (number x = 0; pass.next(x);) {
  }
  for (const std::size_t i : {0u, 1u}) {
    CHECK(pass.measured()->counters(i).elements.load() == 100);
    CHECK(pass.measured()->counters(i).bytes.load() == 800);
    CHECK(pass.measured()->counters(i).threads.load() == 1);
    CHECK(pass.measured()->counters(i).held_bytes.load() == 0);
    CHECK(pass.measured()->counters(i).most_bytes.load() >= 8);
  }
  CHECK(tg::explain(pass).find("parallel_map") != std::string::npos);
}

}  // namespace
