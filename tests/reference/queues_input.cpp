// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/queues.md: threads that fill queues.
#include <catch2/catch.hpp>

#include <tagma/input.hpp>
#include <tagma/tagma.hpp>

#include <atomic>

#include "support/errors.hpp"
#include "support/texts.hpp"

namespace tg = tagma;
using tagma::test::code_of;
using tagma::test::text;

TEST_CASE("reference: coordinators and runners") {
  std::vector<std::int64_t> seen;
  // example: coordinator, queue_runner, queue_runner_options, limit_epochs, limited_epochs, join_options
  tg::coordinator coord;
  tg::queue<tg::spec<std::int64_t>> q({.capacity = 10});
  auto next = tg::limit_epochs([n = std::int64_t{0}]() mutable { return n++; }, 3);  // 0, 1, 2, then OutOfRange
  tg::queue_runner runner(q, [=](const tg::run_limits& limits) mutable { q.enqueue(next(), limits); });
  runner.start(coord);
  for (auto all = q.dequeue_many(3); const std::int64_t i : all.get<0>()) seen.push_back(i);  // [0, 1, 2]
  coord.join();  // throws what went wrong in a thread
  // end
  CHECK(text(seen) == "[0, 1, 2]");

  std::atomic<int> calls = 0;
  // example: looper, status_set, named_thread
  tg::coordinator watch({tg::status_code::out_of_range, tg::status_code::cancelled});  // codes that are no errors to it
  {
    tg::looper each(
        watch, "reporter", [&] { ++calls; }, std::chrono::milliseconds(1));
    while (calls < 3) std::this_thread::yield();
  }  // ends the loop; watch.request_stop() does, too
  watch.request_stop();
  watch.join();
  // end
  CHECK(calls >= 3);
}

TEST_CASE("reference: producers") {
  // example: input_producer, slice_input_producer, input_producer_options, filled_queue, queue_place
  tg::tensor<float> images({3, 2}, {1, 2, 3, 4, 5, 6});
  tg::tensor<std::int32_t> labels({3}, {7, 8, 9});
  auto rows = tg::slice_input_producer<tg::spec<float, 2>, tg::spec<std::int32_t>>(
      {.num_epochs = 1, .shuffle = false}, images, labels);  // row i of each at once
  auto alone =
      tg::input_producer<tg::spec<float, 2>>(images, {.num_epochs = 2, .seed = 7});  // each pass in another order
  rows.start();
  auto [image, label] = rows.dequeue();  // views: image is [1, 2], label[0] is 7
  // end
  CHECK(text(image) == "[1, 2]");
  CHECK(label[0] == 7);
  (void)rows.dequeue_many(2);
  CHECK(code_of([&] { (void)rows.dequeue(); }) == tg::status_code::out_of_range);
  alone.start();
  CHECK(alone.dequeue_many(6).get<0>().dims() == tg::shape{6, 2});

  // example: string_input_producer, range_input_producer, start_queue_runners
  tg::coordinator coord;
  auto files = tg::string_input_producer({"a.csv", "b.csv"}, {.num_epochs = 1, .shuffle = false});
  auto numbers = tg::range_input_producer(3, {.num_epochs = 1, .shuffle = false});  // 0, 1, 2
  tg::start_queue_runners(coord, files, numbers);
  auto two = numbers.dequeue_many(2);  // two.get<0>() is [0, 1]
  // end
  CHECK(text(two.get<0>()) == "[0, 1]");
  CHECK(text(files.dequeue_many(2).get<0>()) == "['a.csv', 'b.csv']");
  (void)numbers.dequeue();
  coord.join();
}

TEST_CASE("reference: batches") {
  // example: batch, batcher, batch_options, keep_all
  auto counted = tg::limit_epochs([n = 0]() mutable { return ++n; }, 5);
  auto pairs = tg::batch<tg::spec<std::int64_t>, tg::spec<float>>(
      [=]() mutable {
        const int n = counted();  // OutOfRange behind the last
        return std::tuple(std::int64_t{n}, 0.5f * static_cast<float>(n));
      },
      {.batch_size = 2, .allow_smaller_final_batch = true});
  pairs.start();
  auto [numbers, halves] = pairs.next();  // [1, 2] and [0.5, 1]; the third batch has one element
  // end
  CHECK(text(numbers) == "[1, 2]");
  CHECK(text(halves) == "[0.5, 1]");
  (void)pairs.next();
  CHECK(pairs.next().get<0>().size() == 1);
  CHECK(code_of([&] { (void)pairs.next(); }) == tg::status_code::out_of_range);

  // example: batch_join, shuffle_batch_join
  const auto source = [](int first) {
    return tg::limit_epochs([n = first]() mutable { return std::int64_t{n++}; }, 4);
  };
  std::vector sources{source(0), source(100)};  // each with threads of its own
  auto joined = tg::batch_join<tg::spec<std::int64_t>>(sources, {.batch_size = 8});
  auto drawn = tg::shuffle_batch_join<tg::spec<std::int64_t>>(
      std::vector{source(0), source(100)}, {.batch_size = 4, .capacity = 8, .min_after_dequeue = 4, .seed = 7});
  // end
  joined.start();
  tg::tensor<std::int64_t> all(joined.next().get<0>());
  std::sort(all.begin(), all.end());
  CHECK(text(all) == "[0, 1, 2, 3, 100, 101, 102, 103]");
  drawn.start();
  CHECK(drawn.next().get<0>().size() == 4);

  // example: batch_of, shuffle_batch_of, shuffle_batch, shuffle_batch_options
  auto rows = tg::range_input_producer(100, {.num_epochs = 1, .shuffle = false});
  auto tens = tg::batch_of(rows.queue(), {.batch_size = 10});
  auto mixed = tg::shuffle_batch<tg::spec<std::int64_t>>(
      [&](const tg::run_limits& limits) { return rows.dequeue(limits).get<0>()[0]; },
      {.batch_size = 10,
       .capacity = 50,
       .min_after_dequeue = 20,
       .seed = 7});  // as tg::shuffle_batch_of(rows.queue(), ...)
  // end
  auto drawn_again = tg::shuffle_batch_of(rows.queue(), {.batch_size = 10, .capacity = 50, .min_after_dequeue = 20});
  rows.start();
  tens.start();
  CHECK(text(tens.next().get<0>()) == "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]");
}
