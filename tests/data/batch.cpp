// SPDX-License-Identifier: BSL-1.0
#include "tagma/input.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "support/errors.hpp"

namespace {

namespace tg = tagma;
using tg::test::code_of, tg::test::text_of;
constexpr auto out_of_range = tg::status_code::out_of_range;

/// 0, 1, ..., `end` - 1.
auto count_to(std::int64_t end) {
  return [n = std::int64_t{0}, end]() mutable {
    if (n == end) tg::fail(out_of_range, "the end");
    return n++;
  };
}
/// All batches of numbers, one behind the other, and how many there were.
template <class Batcher>
std::vector<std::int64_t> all_of(Batcher& from, int& batches) {
  std::vector<std::int64_t> all;
  batches = 0;
  try {
    for (;; ++batches) {
      const auto batch = from.next();
      for (const std::int64_t n : batch.template get<0>().span()) all.push_back(n);
    }
  } catch (const tg::error& e) {
    CHECK(e.code() == out_of_range);
  }
  return all;
}
std::vector<std::int64_t> up_to(std::int64_t end) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(end));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST_CASE("batches of what a function makes; the rest is dropped, or a smaller batch") {
  for (const bool smaller : {false, true}) {
    std::int64_t n = 0;
    auto batches = tg::batch<tg::spec<float, 2>, tg::spec<std::int64_t>, tg::spec<tg::string_element>>(
        [&] {
          if (n == 10) tg::fail(out_of_range, "the end");
          ++n;
          return std::tuple(tg::tensor<float>({2}, {static_cast<float>(n), 0.5f}), n, "text " + std::to_string(n));
        },
        {.batch_size = 4, .allow_smaller_final_batch = smaller});
    tg::coordinator coord;
    CHECK(batches.start(coord) == 1);
    for (std::int64_t first : {1, 5}) {
      const auto [x, i, text] = batches.next();
      REQUIRE(x.dims() == tg::shape{4, 2});
      for (int k = 0; k < 4; ++k) {
        CHECK(x(k, 0) == static_cast<float>(first + k));
        CHECK(i[k] == first + k);
        CHECK(text[k] == "text " + std::to_string(first + k));
      }
    }
    if (smaller) CHECK(batches.next().get<1>() == tg::tensor<std::int64_t>({2}, {9, 10}));
    CHECK(code_of([&] { static_cast<void>(batches.next()); }) == out_of_range);
    coord.join();
  }
}

TEST_CASE("a source that makes many at once") {
  auto batches = tg::batch<tg::spec<std::int64_t>>(
      [n = std::int64_t{0}]() mutable {
        if (n == 6) tg::fail(out_of_range, "the end");
        n += 3;
        return tg::tensor<std::int64_t>({3}, {n - 3, n - 2, n - 1});
      },
      {.batch_size = 4, .enqueue_many = true, .allow_smaller_final_batch = true});
  batches.start();
  int count = 0;
  CHECK(all_of(batches, count) == up_to(6));
  CHECK(count == 2);
  auto numbers = tg::batch<tg::spec<std::int64_t>>(count_to(3), {.enqueue_many = true});
  numbers.start();
  CHECK(code_of([&] { static_cast<void>(numbers.next()); }) == out_of_range);
  CHECK(text_of([&] { numbers.join(); }) ==
        "InvalidArgument: batch: with enqueue_many a source returns tensors, not numbers");
}

TEST_CASE("elements of open extents are padded, if that is asked for") {
  const auto lines = [n = tg::extent{0}]() mutable {
    if (n == 4) tg::fail(out_of_range, "the end");
    tg::tensor<std::int64_t> line({++n});
    std::fill(line.begin(), line.end(), n);
    return line;
  };
  auto batches = tg::batch<tg::spec<std::int64_t, tg::dyn>>(lines, {.batch_size = 2, .dynamic_pad = true});
  batches.start();
  CHECK(batches.next().get<0>() == tg::tensor<std::int64_t>({2, 2}, {1, 0, 2, 2}));
  CHECK(batches.next().get<0>() == tg::tensor<std::int64_t>({2, 4}, {3, 3, 3, 0, 4, 4, 4, 4}));
  CHECK(code_of([&] { static_cast<void>(tg::batch<tg::spec<std::int64_t, tg::dyn>>(lines)); }) ==
        tg::status_code::invalid_argument);
}

TEST_CASE("several threads ask one source, and several sources have threads of their own") {
  std::atomic<std::int64_t> n{0};
  auto batches = tg::batch<tg::spec<std::int64_t>>(
      [&] {
        const std::int64_t i = n++;
        if (i >= 1000) tg::fail(out_of_range, "the end");
        return i;
      },
      {.batch_size = 8, .num_threads = 4});
  tg::coordinator coord;
  CHECK(batches.start(coord) == 4);
  int count = 0;
  auto all = all_of(batches, count);
  CHECK(count == 125);
  std::sort(all.begin(), all.end());
  CHECK(all == up_to(1000));
  coord.join();

  std::vector<decltype(count_to(0))> sources = {count_to(30), count_to(5), count_to(9)};
  auto joined = tg::batch_join<tg::spec<std::int64_t>>(sources, {.batch_size = 4});
  CHECK(joined.start() == 3);
  all = all_of(joined, count);
  CHECK(count == 11);
  std::vector<std::int64_t> left = up_to(30);
  for (const std::int64_t end : {5, 9})
    for (const std::int64_t i : up_to(end)) left.push_back(i);
  std::sort(left.begin(), left.end());
  std::sort(all.begin(), all.end());
  CHECK(all == left);
}

TEST_CASE("an order that is drawn, from elements that wait") {
  const auto order = [](std::uint64_t seed) {
    auto batches = tg::shuffle_batch<tg::spec<std::int64_t>>(
        count_to(100), {.batch_size = 10, .capacity = 100, .min_after_dequeue = 99, .seed = seed});
    batches.start();
    int count = 0;
    auto all = all_of(batches, count);
    CHECK(count == 10);
    return all;
  };
  const auto first = order(1);
  CHECK(first != up_to(100));
  auto sorted = first;
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted == up_to(100));
  CHECK(order(2) != first);
  CHECK(text_of([] {
          static_cast<void>(
              tg::shuffle_batch<tg::spec<std::int64_t>>(count_to(1), {.capacity = 5, .min_after_dequeue = 5}));
        }) == "InvalidArgument: shuffle_batch: the capacity of 5 must be more than min_after_dequeue, which is 5");

  std::vector<decltype(count_to(0))> sources = {count_to(30), count_to(5)};
  auto joined = tg::shuffle_batch_join<tg::spec<std::int64_t>>(
      sources, {.batch_size = 4, .capacity = 20, .min_after_dequeue = 10, .allow_smaller_final_batch = true});
  CHECK(joined.start() == 2);
  int count = 0;
  CHECK(all_of(joined, count).size() == 35);
}

TEST_CASE("what is kept of what a source makes") {
  auto even =
      tg::batch<tg::spec<std::int64_t>>(count_to(20), {.batch_size = 5}, [](std::int64_t n) { return n % 2 == 0; });
  even.start();
  int count = 0;
  CHECK(all_of(even, count) == std::vector<std::int64_t>{0, 2, 4, 6, 8, 10, 12, 14, 16, 18});

  const auto rows = [n = std::int64_t{0}]() mutable {
    if (n == 9) tg::fail(out_of_range, "the end");
    n += 3;
    return std::tuple(tg::tensor<std::int64_t>({3}, {n - 3, n - 2, n - 1}), tg::tensor<float>({3, 2}));
  };
  auto some = tg::batch<tg::spec<std::int64_t>, tg::spec<float, 2>>(
      rows, {.batch_size = 2, .enqueue_many = true, .allow_smaller_final_batch = true},
      [](const tg::tensor<std::int64_t>& n, const auto&) {
        return tg::tensor<bool>({3}, {true, false, n[0] == 3});
      });
  some.start();
  CHECK(all_of(some, count) == std::vector<std::int64_t>{0, 3, 5, 6});
  CHECK(count == 2);

  auto short_mask = tg::batch<tg::spec<std::int64_t>, tg::spec<float, 2>>(
      rows, {.enqueue_many = true}, [](const auto&...) { return std::vector<bool>{true}; });
  short_mask.start();
  CHECK(text_of([&] { short_mask.join(); }) ==
        "InvalidArgument: keep_input says of 1 rows whether to keep them, given are int64 [3]");
  auto one_by_one = tg::batch<tg::spec<std::int64_t>, tg::spec<float, 2>>(
      rows, {}, [](const auto&...) { return std::vector<bool>{true}; });
  one_by_one.start();
  CHECK(text_of([&] { one_by_one.join(); }) ==
        "InvalidArgument: batch: keep_input tells rows apart, which are there with enqueue_many");
  auto no_rows = tg::batch<tg::spec<std::int64_t>>(count_to(9), {.enqueue_many = true},
                                                   [](std::int64_t) { return std::vector<bool>{true}; });
  no_rows.start();
  CHECK(code_of([&] { no_rows.join(); }) == tg::status_code::invalid_argument);
  auto none = tg::batch<tg::spec<std::int64_t>, tg::spec<float, 2>>(rows, {.enqueue_many = true},
                                                                    [](const auto&...) { return false; });
  none.start();
  CHECK(code_of([&] { static_cast<void>(none.next()); }) == out_of_range);
}

TEST_CASE("a batch has elements, and a thread makes them") {
  CHECK(text_of([] { static_cast<void>(tg::batch<tg::spec<std::int64_t>>(count_to(1), {.batch_size = 0})); }) ==
        "InvalidArgument: batch: the batch size is 0, which must be 1 or more");
  CHECK(code_of([] { static_cast<void>(tg::batch<tg::spec<std::int64_t>>(count_to(1), {.num_threads = 0})); }) ==
        tg::status_code::invalid_argument);
  CHECK(code_of([] { static_cast<void>(tg::batch_join<tg::spec<float>>(std::vector<float (*)()>{})); }) ==
        tg::status_code::invalid_argument);
}

TEST_CASE("a line of queues: the end of the data goes down it") {
  tg::coordinator coord;
  auto names = tg::string_input_producer({"a", "b", "c"}, {.num_epochs = 10, .capacity = 2});
  auto batches = tg::batch_of(names.queue(), {.batch_size = 4, .num_threads = 2, .allow_smaller_final_batch = true});
  auto shuffled = tg::shuffle_batch_of(names.queue(), {.batch_size = 4, .capacity = 8, .min_after_dequeue = 4});
  names.start(coord);
  batches.start(coord);
  int count = 0, elements = 0;
  try {
    for (;; ++count) elements += static_cast<int>(batches.next().get<0>().size());
  } catch (const tg::error& e) {
    CHECK(e.code() == out_of_range);
  }
  CHECK(count == 8);
  CHECK(elements == 30);
  coord.join();
  CHECK(!coord.should_stop());
  shuffled.start();
  CHECK(code_of([&] { static_cast<void>(shuffled.next()); }) == out_of_range);
}

TEST_CASE("a stop ends a line of queues wherever it waits") {
  tg::coordinator coord;
  auto numbers = tg::range_input_producer(7, {.capacity = 3});
  auto batches = tg::batch_of(numbers.queue(), {.batch_size = 2, .num_threads = 2, .capacity = 4});
  numbers.start(coord);
  batches.start(coord);
  for (int i = 0; i < 50; ++i) static_cast<void>(batches.next());
  coord.request_stop();
  coord.join();
  CHECK(!batches.is_running());
}

}  // namespace
