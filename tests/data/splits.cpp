// SPDX-License-Identifier: BSL-1.0
#include "tagma/data/splits.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "support/errors.hpp"
#include "tagma/datasets.hpp"

namespace {

namespace ds = tagma::datasets;
using tagma::dataset, tagma::extent, tagma::status_code, tagma::test::code_of, tagma::test::text_of;
using list = std::vector<std::int64_t>;

list all_of(const dataset<std::int64_t>& data) {
  list all;
  for (const std::int64_t i : data) all.push_back(i);
  return all;
}
bool is_whole(list a, const list& b, extent count) {
  a.insert(a.end(), b.begin(), b.end());
  std::sort(a.begin(), a.end());
  list whole(static_cast<std::size_t>(count));
  for (extent i = 0; i < count; ++i) whole[static_cast<std::size_t>(i)] = i;
  return a == whole;
}

}  // namespace

TEST_CASE("two parts have all elements between them") {
  for (const extent count : {0, 1, 2, 7, 100})
    for (const extent train : {0, 1, 5, 99, 200}) {
      const auto [a, b] = ds::split(ds::range(count).global_shuffle(3, {.reshuffle = false}), train);
      CHECK(a.size() == std::min(count, train));
      CHECK(b.size() == count - a.size());
      CHECK(is_whole(all_of(a), all_of(b), count));
      CHECK(is_whole(all_of(a.epoch(4)), all_of(b), count));
    }
  CHECK(code_of([] { (void)ds::split(ds::range(3), -1); }) == status_code::invalid_argument);
}

TEST_CASE("folds validate with each element once") {
  for (const extent count : {0, 1, 2, 3, 10, 61})
    for (const extent folds : {2, 3, 7}) {
      list validated;
      for (extent i = 0; i < folds; ++i) {
        const auto [train, validation] = ds::fold(ds::range(count), folds, i);
        CHECK(train.is_indexed());
        CHECK(train.size() == static_cast<extent>(all_of(train).size()));
        CHECK(train.size() + validation.size() == count);
        CHECK(is_whole(all_of(train), all_of(validation), count));
        // By number, in a pass, and behind a filter, where there are no numbers.
        const auto filtered = ds::fold(ds::range(count).filter([](std::int64_t) { return true; }), folds, i).train;
        CHECK(!filtered.is_indexed());
        CHECK(all_of(filtered) == all_of(train));
        for (const std::int64_t v : all_of(validation)) validated.push_back(v);
      }
      CHECK(is_whole(validated, {}, count));
    }
  CHECK(code_of([] { (void)ds::fold(ds::range(3), 1, 0); }) == status_code::invalid_argument);
  CHECK(code_of([] { (void)ds::fold(ds::range(3), 3, 3); }) == status_code::invalid_argument);
}

TEST_CASE("a fold goes on where it was") {
  std::mt19937 random(11);
  for (int round = 0; round < 100; ++round) {
    const auto below = [&](extent n) { return static_cast<extent>(random() % static_cast<std::uint64_t>(n)); };
    const extent count = below(50), folds = 2 + below(4), index = below(folds);
    auto data = ds::range(count);
    if (round % 3 == 1) data = data.global_shuffle(random());
    if (round % 3 == 2) data = data.filter([](std::int64_t i) { return i % 5 != 0; });
    const auto train = ds::fold(data, folds, index).train;
    const list whole = all_of(train);
    auto pass = train.iterator();
    const std::size_t stop = random() % (whole.size() + 1);
    for (std::size_t i = 0; i < stop; ++i) CHECK(pass.next() == whole[i]);
    auto again = train.resume(pass.state());
    for (std::size_t i = stop; i < whole.size(); ++i) CHECK(again.next() == whole[i]);
    CHECK(code_of([&] { (void)again.next(); }) == status_code::out_of_range);
  }
}

TEST_CASE("an element stays in its part in every pass, however it is shuffled before") {
  const auto check = [](const dataset<std::int64_t>& of, const ds::parts<std::int64_t>& parts) {
    const list train = all_of(parts.train), validation = all_of(parts.validation);
    CHECK(is_whole(train, validation, 40));
    list twice = train;
    twice.insert(twice.end(), train.begin(), train.end());
    CHECK(all_of(parts.train.repeat(2)) == twice);
    CHECK(all_of(parts.train.epoch(5)) == train);
    CHECK(all_of(parts.validation.epoch(5)) == validation);
    CHECK(all_of(of) != all_of(of.epoch(5)));
    // Behind, each pass has an order of its own.
    const auto shuffled = parts.train.shuffle(100, 1);
    CHECK(all_of(shuffled) != all_of(shuffled.epoch(1)));
    CHECK(is_whole(all_of(shuffled.epoch(1)), validation, 40));
  };
  const auto numbers = ds::range(40);
  for (const auto& of : {numbers.global_shuffle(7), numbers.shuffle(8, 3),
                         numbers.filter([](std::int64_t) { return true; }).shuffle(50, 3).prefetch(2),
                         numbers.global_shuffle(2).map([](std::int64_t i) { return i; }, {.threads = 2})}) {
    check(of, ds::split(of, 31));
    check(of, ds::fold(of, 5, 2));
  }
  // Which pass it is may be chosen.
  const auto other = numbers.global_shuffle(7).epoch(3);
  check(other, ds::split(other, 31));
  CHECK(all_of(ds::split(other, 31).train) != all_of(ds::split(numbers.global_shuffle(7), 31).train));
}

TEST_CASE("elements that come in any order have no parts") {
  const auto any = ds::range(9).map([](std::int64_t i) { return i; }, {.threads = 2, .ordered = false}).cache();
  CHECK(text_of([&] { (void)ds::split(any, 3); }) ==
        "InvalidArgument: split: a map gives the elements in any order, so that an element may be in both parts, or in "
        "none");
  CHECK(code_of([&] { (void)ds::fold(any, 3, 0); }) == status_code::invalid_argument);
}
