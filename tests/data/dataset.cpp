// SPDX-License-Identifier: BSL-1.0
#include "tagma/datasets.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "tagma/data.hpp"

namespace {

namespace tg = tagma;
namespace ds = tagma::datasets;
using tg::status_code;
using tg::test::code_of, tg::test::text_of;
using number = std::int64_t;
using numbers = std::vector<number>;

template <class T>
std::vector<T> all(const tg::dataset<T>& data) {
  std::vector<T> read;
  for (T& x : data) read.push_back(std::move(x));
  return read;
}
/// `x` so many times.
tg::dataset<number> copies(number x) { return ds::from_tensors(x).repeat(x); }

static_assert(std::is_same_v<decltype(ds::range(3).map([](number) { return 1.0f; }).batch(2).prefetch(1)),
                             tg::dataset<tg::tensor<float>>>);
static_assert(std::is_same_v<decltype(ds::zip(ds::range(3), ds::from_tensors(std::string())).batch(2)),
                             tg::dataset<std::tuple<tg::tensor<number>, std::vector<std::string>>>>);

TEST_CASE("a range counts by its step, and is empty where that leads away") {
  CHECK(all(ds::range(4)) == numbers{0, 1, 2, 3});
  CHECK(all(ds::range(2, 9, 3)) == numbers{2, 5, 8});
  CHECK(all(ds::range(3, -4, -3)) == numbers{3, 0, -3});
  CHECK(all(ds::range(3, 1)).empty());
  CHECK(all(ds::range(-3)).empty());
  CHECK(code_of([] { (void)ds::range(0, 3, 0); }) == status_code::invalid_argument);
  const number most = std::numeric_limits<number>::max(), least = std::numeric_limits<number>::min();
  CHECK(all(ds::range(least, most, most)) == numbers{least, -1, most - 1});
  CHECK(code_of([&] { (void)ds::range(least, most); }) == status_code::invalid_argument);
  CHECK(all(ds::range(most, least, least)) == numbers{most, -1});
}

TEST_CASE("slices are the rows of tensors and the elements of vectors, of which there are equally many") {
  const auto rows = ds::from_slices(tg::tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}), std::vector<std::string>{"a", "b"});
  CHECK(rows.size() == 2);
  std::string texts;
  float sum = 0;
  for (const auto& [x, text] : rows) {
    CHECK(x.dims() == tg::shape{3});
    sum = sum * 10 + x[1];
    texts += text;
  }
  CHECK(sum == 25);
  CHECK(texts == "ab");
  CHECK(all(ds::from_slices(tg::tensor<float>({2}, {5, 6}))) == std::vector<tg::tensor<float>>{5.0f, 6.0f});
  CHECK(text_of([] {
          (void)ds::from_slices(tg::tensor<float>({2, 3}), tg::tensor<float>({3}));
        }) == "InvalidArgument: component 0 has 2 rows, and component 1 has 3");
  CHECK(code_of([] { (void)ds::from_slices(tg::tensor<float>(1.0f)); }) == status_code::invalid_argument);
  CHECK(all(ds::from_slices(tg::tensor<float>({0, 3}))).empty());
  CHECK(all(ds::from_tensors(1.5f, std::string("x"))) == std::vector{std::tuple(1.5f, std::string("x"))});
}

TEST_CASE("each pass calls a generator of its own, until that has no more") {
  const auto three = ds::generator([n = 0]() mutable { return n < 3 ? std::optional(n++) : std::nullopt; });
  CHECK(all(three.repeat(2)) == std::vector<int>{0, 1, 2, 0, 1, 2});
  CHECK(all(three) == std::vector<int>{0, 1, 2});
  const auto thrown = ds::generator([n = 0]() mutable -> std::optional<int> {
    if (n == 2) throw ds::end_of_data();
    return n++;
  });
  CHECK(all(thrown) == std::vector<int>{0, 1});
}

TEST_CASE("behind the last element next says so, again and again") {
  auto pass = ds::range(1).iterator();
  CHECK(pass.next() == 0);
  for (int i = 0; i < 3; ++i)
    CHECK(text_of([&] { (void)pass.next(); }) == "OutOfRange: the dataset has no more elements");
  number x = 7;
  CHECK_FALSE(pass.next(x));
}

TEST_CASE("repeat makes passes, none for 0, and stops at one that has nothing") {
  CHECK(all(ds::range(2).repeat(3)) == numbers{0, 1, 0, 1, 0, 1});
  CHECK(all(ds::range(2).repeat(0)).empty());
  CHECK(all(ds::range(2).repeat().take(5)) == numbers{0, 1, 0, 1, 0});
  CHECK(ds::range(2).repeat().size() == ds::endless);
  CHECK(all(ds::range(0).repeat()).empty());
  CHECK(all(ds::range(9).filter([](number) { return false; }).repeat()).empty());
  CHECK(code_of([] { (void)ds::range(2).repeat(-2); }) == status_code::invalid_argument);
}

TEST_CASE("take and skip count from the beginning, and -1 is all") {
  const auto ten = ds::range(10), odd = ten.filter([](number x) { return x % 2 == 1; });
  CHECK(all(ten.take(3)) == numbers{0, 1, 2});
  CHECK(all(ten.take(30)).size() == 10);
  CHECK(all(ten.take(-1)).size() == 10);
  CHECK(all(ten.take(0)).empty());
  CHECK(all(ten.skip(7)) == numbers{7, 8, 9});
  CHECK(all(ten.skip(30)).empty());
  CHECK(all(ten.skip(-1)).empty());
  CHECK(all(odd.skip(2).take(2)) == numbers{5, 7});
  CHECK(all(odd.skip(-1)).empty());
  CHECK(all(odd.skip(6)).empty());
  CHECK(code_of([&] { (void)ten.take(-2); }) == status_code::invalid_argument);
}

TEST_CASE("shards share elements out by their numbers") {
  CHECK(all(ds::range(10).shard(3, 1)) == numbers{1, 4, 7});
  CHECK(ds::range(10).shard(3, 0).size() == 4);
  CHECK(all(ds::range(20).filter([](number x) { return x % 2 == 1; }).shard(4, 3)) == numbers{7, 15});
  for (const auto& [count, index] : {std::pair(0, 0), {-1, 0}, {2, -1}, {2, 2}})
    CHECK(code_of([&, n = count, i = index] { (void)ds::range(3).shard(n, i); }) == status_code::invalid_argument);
}

TEST_CASE("zip ends with the shortest", "[scenario 136]") {
  const auto rows = ds::zip(ds::range(4), ds::range(5), ds::range(2));
  CHECK(rows.size() == 2);
  CHECK(all(rows) == std::vector<std::tuple<number, number, number>>{{0, 0, 0}, {1, 1, 1}});
  const auto counted = ds::zip(ds::range(4).filter([](number) { return true; }), ds::range(2));
  CHECK(all(counted).size() == 2);
}

TEST_CASE("interleave visits datasets in turn and notices an end when it reads", "[scenario 126]") {
  const auto input = ds::from_slices(numbers{4, 5, 6}).repeat(2);
  const auto read = [&](tg::extent cycle, tg::extent block, tg::extent ahead = 0) {
    std::string text;
    for (const number x : input.interleave(copies, {.cycle = cycle, .block = block, .ahead = ahead}))
      text += std::to_string(x);
    return text;
  };
  const std::string flat = "444455555666666444455555666666";
  CHECK(read(1, 1) == flat);
  CHECK(read(1, 3) == flat);
  CHECK(all(input.flat_map(copies)).size() == flat.size());
  CHECK(read(2, 1) == "454545455664646464656565656566");
  CHECK(read(2, 3) == "444555455666444666455566655666");
  CHECK(read(7, 2) == "445566445566445566445566566566");
  for (const tg::extent ahead : {1, 2, 20}) {
    CHECK(read(2, 1, ahead) == read(2, 1));
    CHECK(read(7, 2, ahead) == read(7, 2));
  }
  CHECK(code_of([&] { (void)read(0, 1); }) == status_code::invalid_argument);
  CHECK(code_of([&] { (void)read(1, 0); }) == status_code::invalid_argument);
}

TEST_CASE("a dataset that a function makes fails where it is opened") {
  const auto data = ds::range(4).flat_map([](number x) {
    if (x == 2) tg::fail(status_code::not_found, "no dataset");
    return ds::range(x, x + 2);
  });
  CHECK(all(data.ignore_errors()) == numbers{0, 1, 1, 2, 3, 4});
}

TEST_CASE("an element that fails is an error in its place, and the next call goes on", "[scenario 130]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto checked = [](float x) {
    if (std::isnan(x)) tg::fail(status_code::invalid_argument, "no number");
    return x;
  };
  const auto input = ds::from_slices(std::vector<float>{1, 2, 3, nan, 5});
  for (const auto& data : {input.map(checked), input.map(checked, {.threads = 2}), input.map(checked).prefetch(2)}) {
    auto pass = data.iterator();
    for (const float x : {1.0f, 2.0f, 3.0f}) CHECK(pass.next() == x);
    CHECK(text_of([&] { (void)pass.next(); }) == "InvalidArgument: no number");
    CHECK(pass.next() == 5);
    CHECK(code_of([&] { (void)pass.next(); }) == status_code::out_of_range);
  }
  CHECK(all(input.map(checked).ignore_errors()) == std::vector<float>{1, 2, 3, 5});
  std::vector<float> seen;
  CHECK(code_of([&] {
          for (const float x : input.map(checked)) seen.push_back(x);
        }) == status_code::invalid_argument);
  CHECK(seen.size() == 3);
}

TEST_CASE("who handles errors sees each, and may make others of them") {
  const auto bad = ds::range(4).map([](number x) {
    if (x % 2 == 1) tg::fail(status_code::data_loss, "odd");
    return x;
  });
  const auto count = std::make_shared<int>(0);
  CHECK(all(bad.on_error([count](const std::exception_ptr&) { ++*count; })) == numbers{0, 2});
  CHECK(*count == 2);
  auto pass = bad.on_error([](const std::exception_ptr&) { tg::fail(status_code::aborted, "enough"); }).iterator();
  CHECK(pass.next() == 0);
  CHECK(code_of([&] { (void)pass.next(); }) == status_code::aborted);
  CHECK(pass.next() == 2);
}

TEST_CASE("a function ends its dataset by end_of_data, and by no other error out of a range", "[scenario 131]") {
  const auto ending = [](number x) {
    if (x == 100) throw ds::end_of_data();
    return x;
  };
  for (const int threads : {0, 1, 2, 5})
    for (const auto& data : {ds::range(105), ds::range(105).filter([](number) { return true; })}) {
      auto pass = data.map(ending, {.threads = threads}).iterator();
      for (number i = 0; i < 100; ++i) REQUIRE(pass.next() == i);
      for (int i = 0; i < 3; ++i) CHECK(code_of([&] { (void)pass.next(); }) == status_code::out_of_range);
      number x = 0;
      CHECK_FALSE(data.map(ending, {.threads = threads}).resume(pass.state()).next(x));
    }
  const auto batches = all(ds::range(105).map(ending).batch(8));
  REQUIRE(batches.size() == 13);
  CHECK(batches.back() == tg::tensor<number>({4}, {96, 97, 98, 99}));
  CHECK(all(ds::range(105).map(ending).batch(10)).size() == 10);
  auto shuffled = ds::range(105).map(ending).global_shuffle().iterator();
  int refused = 0, read = 0;
  for (int i = 0; i < 105; ++i) ++(code_of([&] { (void)shuffled.next(); }) == status_code::ok ? read : refused);
  CHECK(refused == 1);
  CHECK(code_of([&] { (void)all(ds::range(105).map(ending).shuffle(9)); }) == status_code::failed_precondition);
  const auto outside = ds::range(3).map([](number x) {
    if (x == 1) tg::fail(status_code::out_of_range, "a position outside of a tensor");
    return x;
  });
  CHECK(all(outside.ignore_errors()) == numbers{0, 2});
}

TEST_CASE("an error counts as the element in whose place it stands") {
  const auto bad = ds::range(10).map([](number x) {
    if (x == 4) tg::fail(status_code::data_loss, "four");
    return x;
  });
  for (const auto& data : {bad, bad.prefetch(3)}) {
    CHECK(all(data.take(6).ignore_errors()) == numbers{0, 1, 2, 3, 5});
    CHECK(all(data.shard(2, 0).ignore_errors()) == numbers{0, 2, 6, 8});
    auto batches = data.batch(4).iterator();
    CHECK(batches.next() == tg::tensor<number>({4}, {0, 1, 2, 3}));
    CHECK(text_of([&] { (void)batches.next(); }) == "DataLoss: four");
    CHECK(batches.next() == tg::tensor<number>({2}, {8, 9}));
    auto rows = ds::zip(data, ds::range(10)).skip(3).iterator();
    CHECK(rows.next() == std::tuple(3, 3));
    CHECK(code_of([&] { (void)rows.next(); }) == status_code::data_loss);
    CHECK(rows.next() == std::tuple(5, 5));
  }
}

TEST_CASE("functions of tuples take their components or all in one") {
  const auto rows = ds::zip(ds::range(3), ds::range(3, 6));
  CHECK(all(rows.map([](number x, number y) { return x * y; })) == numbers{0, 4, 10});
  CHECK(all(rows.map([](const std::tuple<number, number>& row) { return std::get<1>(row); })) == numbers{3, 4, 5});
  CHECK(all(rows.filter([](number x, number) { return x > 1; })).size() == 1);
}

TEST_CASE("elements may be structs") {
  struct point {
    float x = 0;
    std::string name;
  };
  const auto points = ds::range(3).map([](number x) { return point{static_cast<float>(x), std::to_string(x)}; });
  std::string names;
  for (const point& p : points.shuffle(10).cache().repeat(2)) names += p.name;
  CHECK(names.size() == 6);
  const auto batch = points.map([](point p) { return std::tuple(p.x, p.name); }).batch(3).iterator().next();
  CHECK(std::get<0>(batch) == tg::tensor<float>({3}, {0, 1, 2}));
  CHECK(std::get<1>(batch) == std::vector<std::string>{"0", "1", "2"});
}

TEST_CASE("a cache is complete after a whole pass", "[scenario 137]") {
  const auto source = std::make_shared<numbers>(numbers{1, 2, 3});
  const auto calls = std::make_shared<int>(0);
  const auto generated = ds::generator([source, calls, i = std::size_t{0}]() mutable -> std::optional<number> {
    ++*calls;
    if (i == source->size()) return std::nullopt;
    return (*source)[i++];
  });
  const auto cached = generated.cache();
  auto pass = cached.repeat(2).iterator();
  for (const number x : {1, 2, 3, 1}) CHECK(pass.next() == x);
  source->clear();
  CHECK(pass.next() == 2);
  CHECK(pass.next() == 3);
  CHECK(*calls == 4);
  CHECK(all(cached) == numbers{1, 2, 3});
  CHECK(all(ds::range(10).cache().take(5).repeat(2)) == numbers{0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
  CHECK(all(ds::range(10).filter([](number) { return true; }).cache().take(5).repeat(2)).size() == 10);
}

TEST_CASE("a cache keeps nothing of a pass with errors, and each element where these have numbers") {
  const auto calls = std::make_shared<int>(0);
  const auto fails_once = [calls](number x) {
    if (++*calls == 2) tg::fail(status_code::unavailable, "later");
    return x;
  };
  const auto behind = ds::range(3).filter([](number) { return true; }).map(fails_once).cache();
  CHECK(all(behind.ignore_errors()) == numbers{0, 2});
  CHECK(all(behind) == numbers{0, 1, 2});
  CHECK(all(behind) == numbers{0, 1, 2});
  CHECK(*calls == 6);
  *calls = 0;
  const auto numbered = ds::range(3).map(fails_once).cache();
  CHECK(all(numbered.ignore_errors()) == numbers{0, 2});
  CHECK(all(numbered.global_shuffle(1)).size() == 3);
  CHECK(*calls == 4);
}

TEST_CASE("a pass with a buffer has the order of shuffled_order, another one in each pass") {
  const auto order = [](tg::extent buffer, std::uint64_t seed, std::uint64_t epoch) {
    numbers read;
    for (const tg::extent i : tg::shuffled_order(20, buffer, seed, epoch)) read.push_back(i);
    return read;
  };
  const auto filtered = ds::range(20).filter([](number) { return true; });
  for (const auto& data : {ds::range(20), filtered})
    for (const tg::extent buffer : {1, 5, 20, 100}) {
      CHECK(all(data.shuffle(buffer, 3)) == order(buffer, 3, 0));
      CHECK(all(data.shuffle(buffer, 3).epoch(4)) == order(buffer, 3, 4));
      const numbers twice = all(data.shuffle(buffer, 3).repeat(2));
      CHECK(numbers(twice.begin() + 20, twice.end()) == order(buffer, 3, 1));
      const numbers same = all(data.shuffle(buffer, 3, {.reshuffle = false}).repeat(2));
      CHECK(numbers(same.begin() + 20, same.end()) == order(buffer, 3, 0));
    }
  CHECK(all(ds::range(20).shuffle(20, 0)) != all(ds::range(20).shuffle(20, 1)));
  CHECK(code_of([] { (void)ds::range(3).shuffle(0); }) == status_code::invalid_argument);
}

TEST_CASE("a global order needs numbers, is that of all shards together, and comes before threads") {
  const auto data = ds::range(100).global_shuffle(5);
  const numbers whole = all(data);
  numbers sorted = whole;
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted == all(ds::range(100)));
  CHECK(whole != sorted);
  const numbers first = all(data.shard(2, 0)), second = all(data.shard(2, 1));
  for (std::size_t i = 0; i < 50; ++i) CHECK((whole[2 * i] == first[i] && whole[2 * i + 1] == second[i]));
  CHECK(all(data.repeat(2).skip(100)) == all(data.epoch(1)));
  CHECK(all(data.epoch(1)) != whole);
  const auto negated = ds::range(100).map([](number x) { return -x; }, {.threads = 3}).global_shuffle(5);
  numbers expected = whole;
  for (number& x : expected) x = -x;
  CHECK(all(negated) == expected);
  CHECK(negated.stage()->threaded());
  CHECK(code_of([] { (void)ds::range(3).filter([](number) { return true; }).global_shuffle(); }) ==
        status_code::invalid_argument);
  CHECK(code_of([] { (void)ds::range(3).repeat().global_shuffle(); }) == status_code::invalid_argument);
}

TEST_CASE("a position is a few numbers, and found again at once where elements have numbers") {
  const auto calls = std::make_shared<int>(0);
  const auto data =
      ds::range(1'000'000'000).global_shuffle(1).map([calls](number x) { return ++*calls, x; }).batch(4).repeat();
  auto pass = data.iterator();
  CHECK(pass.skip(300'000'000) == 300'000'000);
  CHECK(*calls == 0);
  const ds::position at = pass.state();
  CHECK(at.size() == 2);
  CHECK(data.resume(at).next() == pass.next());
  CHECK(*calls == 8);
}

TEST_CASE("what is no position of a dataset is refused") {
  const auto data = ds::range(10).filter([](number) { return true; }).batch(2);
  ds::position at = data.iterator().state();
  const auto code = [&](const ds::position& p) { return code_of([&] { (void)data.resume(p); }); };
  CHECK(code(at) == status_code::ok);
  CHECK(code({}) == status_code::invalid_argument);
  CHECK(code(ds::range(10).iterator().state()) == status_code::invalid_argument);
  CHECK(code(ds::position(at.begin(), at.end() - 1)) == status_code::invalid_argument);
  at.push_back(0);
  CHECK(code(at) == status_code::invalid_argument);
  at.pop_back();
  at.back() = 11;
  CHECK(code(at) == status_code::invalid_argument);
}

}  // namespace
