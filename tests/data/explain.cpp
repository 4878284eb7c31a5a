// SPDX-License-Identifier: BSL-1.0
#include "tagma/data/explain.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "tagma/datasets.hpp"

namespace {

namespace tg = tagma;
namespace ds = tagma::datasets;
using tg::status_code;
using tg::test::code_of;
using number = std::int64_t;

/// A clock that goes on where somebody says so; one for each thread, so that no thread's work falls into another's.
thread_local std::int64_t time_ns = 0;
std::int64_t read_clock() { return time_ns; }
constexpr ds::pass_options measured{.measure = true, .clock = read_clock};

/// A function that takes so many milliseconds.
auto takes(int ms) {
  return [ms](number x) {
    time_ns += ms * 1'000'000;
    return x;
  };
}
template <class T>
void read_all(tg::dataset_iterator<T>& pass, int ms = 0) {
  for (T x{}; pass.next(x);) time_ns += ms * 1'000'000;
}
/// The counters of the stage at a place, from the end on.
template <class T>
const ds::stage_counters& counters(const tg::dataset_iterator<T>& pass, std::size_t i) {
  return pass.measured()->counters(i);
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

TEST_CASE("each stage of a measured pass counts elements, bytes and its own time") {
  // By numbers, and through cursors.
  for (const bool numbered : {true, false}) {
    const auto input = numbered ? ds::range(10) : ds::range(10).filter([](number) { return true; });
    auto pass = ds::iterate(input.map(takes(3)).map(takes(1)).batch(4), measured);
    read_all(pass, 2);
    for (const auto& [i, elements, ms] : {std::tuple(0, 3, 0), {1, 10, 10}, {2, 10, 30}, {3, 10, 0}}) {
      const auto& c = counters(pass, static_cast<std::size_t>(i));
      CHECK(c.elements.load() == elements);
      CHECK(c.bytes.load() == 80);
      CHECK(c.own_ns.load() == ms * 1'000'000);
      CHECK(c.empty_ns.load() == 0);
    }
    // Two ends of batches, and the call that finds the end.
    CHECK(pass.measured()->elapsed_ns() == 46'000'000);
    CHECK(pass.measured()->asked_ns() == 40'000'000);
  }
}

TEST_CASE("an explanation is a table and a sentence") {
  auto pass = ds::iterate(ds::range(10).map(takes(3)).batch(5), measured);
  CHECK(tg::explain(pass).ends_with("Nothing was asked for yet.\n"));
  read_all(pass);
  CHECK(tg::explain(pass) ==
        "stage             threads  elements  elements/s  bytes/s  works s  empty s  full s  bytes kept  most bytes\n"
        "batch 5                 0         2          67     2667    0.000    0.000   0.000           0           0\n"
        "  map                   0        10         333     2667    0.030    0.000   0.000           0           0\n"
        "    range 0 1 10        0        10         333     2667    0.000    0.000   0.000           0           0\n"
        "The bottleneck is map: its own work took 0.030 s of 0.030 s, in the thread that asks. A prefetch behind it "
        "would do it meanwhile.\n");
}

TEST_CASE("the bottleneck is whatever takes longest beside the others") {
  {
    auto pass = ds::iterate(ds::range(10).map(takes(3)), measured);
    read_all(pass, 20);
    CHECK(has(tg::explain(pass),
              "The bottleneck is whoever asks: it did other things for 0.200 s of 0.230 s, and "
              "waited for elements for 0.030 s."));
  }
  {
    auto pass = ds::iterate(ds::range(10).map(takes(3)).prefetch(2), measured);
    read_all(pass, 1);
    CHECK(counters(pass, 1).own_ns.load() == 30'000'000);
    CHECK(counters(pass, 0).elements.load() == 10);
    CHECK(counters(pass, 0).threads.load() == 1);
    CHECK(has(tg::explain(pass), "The bottleneck is map: its own work took 0.030 s"));
    CHECK(has(tg::explain(pass), "in one thread. Threads of its own"));
  }
  {
    auto pass = ds::iterate(ds::range(10).map(takes(3), {.threads = 1}), measured);
    read_all(pass, 1);
    CHECK(counters(pass, 0).threads.load() == 1);
    CHECK(counters(pass, 0).own_ns.load() == 30'000'000);
    CHECK(has(tg::explain(pass), "The bottleneck is parallel_map"));
    CHECK(has(tg::explain(pass), "shared by 1 thread, and it was waited for"));
  }
}

TEST_CASE("bytes that a stage keeps are those of elements that nobody took") {
  const auto strings = ds::range(8).map([](number x) { return std::string(static_cast<std::size_t>(x + 1), 'x'); });
  auto shuffle = ds::iterate(strings.filter([](const std::string&) { return true; }).shuffle(8), measured);
  auto ahead = ds::iterate(strings.prefetch(8), measured);
  auto cache = ds::iterate(strings.filter([](const std::string&) { return true; }).cache(), measured);
  auto slots = ds::iterate(strings.cache(), measured);
  (void)shuffle.next();
  read_all(shuffle);
  read_all(ahead);
  read_all(cache);
  read_all(slots);
  CHECK(counters(shuffle, 0).most_bytes.load() == 36);
  CHECK(counters(shuffle, 0).held_bytes.load() == 0);
  CHECK(counters(ahead, 0).most_bytes.load() >= 8);
  CHECK(counters(ahead, 0).most_bytes.load() <= 36);
  CHECK(counters(ahead, 0).held_bytes.load() == 0);
  CHECK(counters(cache, 0).held_bytes.load() == 36);
  CHECK(counters(slots, 0).held_bytes.load() == 36);
  CHECK(ds::bytes_of(std::tuple(1.0f, std::string("ab"), tg::tensor<number>(tg::shape{3}),
                                std::pair(std::vector<int>{1, 2}, std::vector<std::string>{"a", "bcd"}))) == 42);
}

TEST_CASE("a stage that is read twice, and datasets that a function makes") {
  const auto ten = ds::range(10).map(takes(1));
  auto both = ds::iterate(ds::zip(ten, ten.concatenate(ten)), measured);
  CHECK(both.measured()->size() == 4);
  read_all(both);
  CHECK(counters(both, 0).elements.load() == 10);
  CHECK(counters(both, 1).elements.load() == 20);
  auto made = ds::iterate(ds::range(3).flat_map([ten](number) { return ten; }).repeat(2), measured);
  read_all(made);
  CHECK(counters(made, 0).elements.load() == 60);
  CHECK(counters(made, 1).own_ns.load() == 60'000'000);
  CHECK(counters(made, 2).elements.load() == 6);
}

TEST_CASE("errors count as elements, and positions are those of a pass that is not measured") {
  const auto data = ds::range(30).map([](number x) { return x % 3 == 1 ? throw 1 : x; }).ignore_errors().prefetch(2);
  auto pass = ds::iterate(data, measured), plain = data.iterator();
  for (int i = 0; i < 7; ++i) CHECK(pass.next() == plain.next());
  CHECK(pass.state() == plain.state());
  auto later = ds::iterate(data, measured, pass.state());
  CHECK(later.next() == plain.next());
  read_all(pass);
  CHECK(counters(pass, 1).elements.load() == 20);
  CHECK(counters(pass, 2).elements.load() == 30);
}

TEST_CASE("what cannot be explained") {
  auto pass = ds::range(3).iterator();
  CHECK(pass.measured() == nullptr);
  CHECK(code_of([&] { (void)tg::explain(pass); }) == status_code::failed_precondition);
  CHECK(code_of([] { (void)ds::iterate(ds::range(3), {.threads = -1}); }) == status_code::invalid_argument);
}

TEST_CASE("the stages of a dataset") {
  const auto data = ds::zip(ds::range(4).repeat(), ds::range(4).filter([](number) { return true; })).prefetch(2);
  CHECK(tg::explain(data) ==
        "stage              elements  by number\n"
        "prefetch            unknown         no\n"
        "  zip               unknown         no\n"
        "    repeat          endless        yes\n"
        "      range 0 1 4         4        yes\n"
        "    filter          unknown         no\n"
        "      range 0 1 4         4        yes\n");
}

}  // namespace
