// SPDX-License-Identifier: BSL-1.0
// Functions that end their dataset: what follows is the same for any number of threads, with numbers and without.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "tagma/autotune.hpp"
#include "tagma/data/splits.hpp"
#include "tagma/datasets.hpp"

namespace {

namespace tg = tagma;
namespace ds = tagma::datasets;
using tg::status_code, tg::test::code_of;
using number = std::int64_t;
using numbers = std::vector<number>;
using data = tg::dataset<number>;

numbers all(const data& of) {
  numbers read;
  for (const number x : of) read.push_back(x);
  return read;
}
/// What a pass gives from here on; -1: an error.
numbers read(tg::dataset_iterator<number> pass) {
  numbers found;
  for (number x = 0;;) {
    const status_code code = code_of([&] { x = pass.next(); });
    if (code == status_code::out_of_range) return found;
    REQUIRE((code == status_code::ok || code == status_code::failed_precondition));
    found.push_back(code == status_code::ok ? x : -1);
  }
}
/// Elements from any position on are those of the whole, also where a position is that of a pass which goes on at one.
void check_positions(const data& of, const numbers& whole) {
  auto pass = of.iterator();
  for (std::size_t at = 0; at <= whole.size(); ++at) {
    const ds::position here = pass.state();
    auto rest = of.resume(of.resume(here).state());
    number x = 0;
    for (std::size_t i = at; i < whole.size(); ++i) REQUIRE(rest.next() == whole[i]);
    CHECK_FALSE(rest.next(x));
    CHECK_FALSE(of.resume(rest.state()).next(x));
    if (at < whole.size()) REQUIRE(pass.next() == whole[at]);
  }
}

number ends_at_5(number x) {
  if (x == 5) throw ds::end_of_data();
  return x;
}
/// The numbers 0 to 9, which a function ends at 5, made in several ways.
std::vector<data> ways() {
  std::vector<data> made;
  for (const auto& input : {ds::range(10), ds::range(10).filter([](number) { return true; })}) {
    for (const int threads : {0, 1, 3}) made.push_back(input.map(ends_at_5, {.threads = threads}));
    made.push_back(input.map(ends_at_5, ds::autotune));
  }
  return made;
}
number sum(const tg::tensor<number>& of) {
  number s = 0;
  for (const number x : of) s = (10 * s + x) % 100'003;
  return s;
}

TEST_CASE("a repetition and a concatenation go on behind a function that ended its dataset") {
  for (const data& e : ways()) {
    const auto check = [](const data& of, const numbers& expected) {
      CHECK(all(of) == expected);
      check_positions(of, expected);
    };
    check(e, {0, 1, 2, 3, 4});
    check(e.repeat(2), {0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
    check(e.concatenate(ds::range(3)), {0, 1, 2, 3, 4, 0, 1, 2});
    check(ds::range(2).concatenate(e), {0, 1, 0, 1, 2, 3, 4});
    check(e.concatenate(e).repeat(2).take(12), {0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1});
    check(e.cache().repeat(2), {0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
    check(e.batch(4).map(sum).cache().repeat(2), {123, 4, 123, 4});
    check(e.repeat(2).map([](number x) { return x; }, {.threads = 2}).cache().repeat(2),
          {0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
    if (e.is_indexed()) {
      const data kept = e.repeat(2).cache();
      auto by_number = kept.skip(7).iterator();  // keeps 7, which is no longer there in turn
      CHECK(by_number.next() == 7);
      check(kept, {0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
      check(e.cache().skip(7), {7, 8, 9});
      CHECK(read(e.cache().global_shuffle(2).iterator()) == read(e.global_shuffle(2).iterator()));
    }
    check(e.repeat(2).cache(), {0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
    check(e.prefetch(2).repeat(2), {0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
    check(e.repeat().take(7), {0, 1, 2, 3, 4, 0, 1});
    check(e.repeat(2).batch(4).map(sum), {123, 4012, 34});
    check(e.batch(2).map(sum).repeat(2), {1, 23, 4, 1, 23, 4});
    check(e.batch(2, true).map(sum).repeat(2), {1, 23, 1, 23});
    check(ds::zip(e.repeat(2), ds::range(8)).map([](number a, number b) { return 10 * a + b; }),
          {0, 11, 22, 33, 44, 5, 16, 27});
    auto pass = e.repeat(2).iterator();
    CHECK(pass.skip(3) == 3);
    CHECK(pass.next() == 3);
    CHECK(pass.next() == 4);
    CHECK(pass.next() == 0);
    CHECK(pass.skip(2) == 2);
    CHECK(pass.next() == 3);
  }
}

TEST_CASE("an element that is passed by ends nothing") {
  for (const data& e : ways()) {
    const auto check = [](const data& of, const numbers& expected) {
      CHECK(all(of) == expected);
      check_positions(of, expected);
    };
    check(e.skip(4), {4});
    check(e.skip(5), {});
    check(e.skip(7), {7, 8, 9});
    check(e.shard(2, 0), {0, 2, 4, 6, 8});
    check(e.shard(2, 1), {1, 3});
    check(e.batch(2).skip(3).map(sum), {67, 89});
    check(e.batch(2).shard(2, 1).map(sum), {23, 67});
    check(e.repeat(2).skip(7), {7, 8, 9, 0, 1, 2, 3, 4});
    check(e.repeat(2).shard(2, 1), {1, 3, 0, 2, 4, 6, 8});
    check(e.concatenate(ds::range(3)).skip(7), {7, 8, 9, 0, 1, 2});
    check(ds::zip(e, ds::range(10, 20)).skip(7).map([](number a, number b) { return 100 * a + b; }), {717, 818, 919});
    check(ds::fold(e, 2, 1).train, {0, 2, 4, 6, 8});
    check(ds::fold(e, 3, 2).train, {0, 1, 3, 4, 6, 7, 9});
    check(ds::fold(e.repeat(2).shard(3, 1), 3, 1).train, {1, 7, 0, 6, 9});
    check(e.repeat(2).epoch(1).shard(2, 1), {1, 3, 0, 2, 4, 6, 8});
    check(e.prefetch(2).skip(4), {4});
    if (e.is_indexed()) check(e.prefetch(2).skip(7), {7, 8, 9});  // nothing is computed before the first is asked for
  }
}

TEST_CASE("a shuffle by numbers cannot obey a function that ends its dataset") {
  const auto e = ds::range(10).map(ends_at_5);
  for (const auto& of : {e.global_shuffle(1), e.repeat(2).global_shuffle(1), e.repeat(2).shuffle(4, 1)}) {
    auto pass = of.iterator();
    int refused = 0, read = 0;
    for (number i = 0; i < of.size(); ++i) {
      const status_code code = code_of([&] { (void)pass.next(); });
      CHECK((code == status_code::ok || code == status_code::failed_precondition));
      ++(code == status_code::ok ? read : refused);
    }
    CHECK(refused == of.size() / 10);
    CHECK(code_of([&] { (void)pass.next(); }) == status_code::out_of_range);
  }
}

/// Maps of a range, with a function that ends it.
std::vector<data> ways_of(number size, std::vector<int> of_threads) {
  const auto twice = [](number x) { return 2 * x; };
  std::vector<data> made{ds::range(size).map(ends_at_5, ds::autotune)};
  for (const int threads : of_threads) {
    made.push_back(ds::range(size).map(ends_at_5, {.threads = threads}));
    made.push_back(made.back().prefetch(2));
    made.push_back(made.back().prefetch(ds::autotune));
  }
  for (data& of : std::vector<data>(made)) {
    made.push_back(of.map(twice));
    made.push_back(of.map(twice, {.threads = 2}));
    made.push_back(of.map(twice, ds::autotune));
  }
  return made;
}

TEST_CASE("an end out of order is the same error for any number of threads") {
  for (const number size : {12, 70}) {
    const numbers expected = read(ds::range(size).map(ends_at_5).global_shuffle(2).iterator());
    CHECK(expected.size() == static_cast<std::size_t>(size));
    CHECK(std::count(expected.begin(), expected.end(), -1) == 1);
    numbers twice = expected;
    for (number& x : twice) x = x < 0 ? x : 2 * x;
    const std::vector<data> all_ways = ways_of(size, {0, 1, 2});
    for (std::size_t way = 0; way < all_ways.size(); ++way) {
      CAPTURE(size, way);
      const numbers& whole = way < 10 ? expected : twice;
      const data of = all_ways[way].global_shuffle(2), more = of.prefetch(3);
      REQUIRE(read(of.iterator()) == whole);
      REQUIRE(read(more.iterator()) == whole);
      CHECK(read(of.take(size).global_shuffle(2).iterator()).size() == whole.size());
      auto pass = of.iterator();
      for (std::size_t at = 0; at <= whole.size(); ++at) {
        REQUIRE(read(of.resume(pass.state())) == numbers(whole.begin() + static_cast<std::ptrdiff_t>(at), whole.end()));
        if (at < whole.size()) (void)code_of([&] { (void)pass.next(); });
      }
      auto skipped = of.iterator();
      CHECK(skipped.skip(4) == 4);
      CHECK(read(std::move(skipped)) == numbers(whole.begin() + 4, whole.end()));
    }
    numbers found = read(ds::range(size).map(ends_at_5, {.threads = 2, .ordered = false}).global_shuffle(2).iterator());
    std::sort(found.begin(), found.end());
    numbers sorted = expected;
    std::sort(sorted.begin(), sorted.end());
    CHECK(found == sorted);
  }
}

/// Stages at random; `way` is how the function is called that ends its dataset.
class maker {
 public:
  explicit maker(unsigned seed) : random_(seed) {}

  data make(int way, std::string& text) {
    const number end = below(14);
    passes_by_ = below(2) == 0;
    caches_ = passes_by_ && below(2) == 0;
    const auto f = [end](number x) {
      if (x == end) throw ds::end_of_data();
      return x;
    };
    const auto range = ds::range(10);
    const auto input = way < 4 ? range : range.filter([](number) { return true; });
    data made = way % 4 == 3 ? input.map(f, ds::autotune) : input.map(f, {.threads = way % 4 == 2 ? 3 : way % 4});
    text = "end " + std::to_string(end);
    for (int i = below(5); i >= 0; --i) made = behind(made, text);
    return made;
  }
  /// Whether elements are passed by behind a cache, which asks for those that have no numbers.
  [[nodiscard]] bool needs_numbers() const { return caches_; }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

 private:
  data behind(const data& of, std::string& text) {
    const int kind = below(passes_by_ ? 9 : 8), n = 1 + below(4), m = below(n), threads = below(3);
    text += " " + std::to_string(kind) + ":" + std::to_string(n) + "," + std::to_string(m);
    const auto fives = [](number x) {
      if (x % 7 == 5) throw ds::end_of_data();
      return x + 1;
    };
    switch (kind) {
      case 0:
        return of.repeat(n).take(200);
      case 1:
        return of.concatenate(ds::range(n));
      case 2:
        return ds::range(n).concatenate(of);
      case 3:
        return of.take(4 * n);
      case 4:
        return of.batch(n, m == 0).map(sum);
      case 5:
        return of.map(fives, {.threads = passes_by_ ? 0 : threads});
      case 6:
        return ds::zip(of, ds::range(6 * n)).map([](number a, number b) { return a % 1000 + b; });
      case 7:
        if (passes_by_) return caches_ && threads == 2 ? of.cache() : of.shard(n, m);
        return m == 0 ? of.cache() : of.prefetch(n);
      default:
        return m == 0 ? of.skip(n) : ds::fold(of, n + 1, m).train;
    }
  }

  std::mt19937 random_;
  bool passes_by_ = false, caches_ = false;
};

TEST_CASE("pipelines behind functions that end their dataset do not depend on threads or numbers") {
  for (unsigned seed = 0; seed < 250; ++seed) {
    numbers expected;
    for (int way = 0; way < 8; ++way) {
      maker make(seed);
      std::string text;
      const data of = make.make(way, text);
      CAPTURE(seed, way, text);
      if (make.needs_numbers() && way > 3) break;
      if (way == 0) expected = all(of);
      REQUIRE(all(of) == expected);
      REQUIRE(all(of) == expected);  // with what caches have now
      if (static_cast<int>(seed % 4) == way % 4) check_positions(of, expected);
    }
  }
}

}  // namespace
