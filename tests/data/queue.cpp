// SPDX-License-Identifier: BSL-1.0
#include "tagma/queues.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/errors.hpp"

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;
using tg::queue_kind;
using tg::test::code_of, tg::test::text_of;
using pairs = tg::queue<tg::spec<float, 2>, tg::spec<std::int64_t>>;

TEST_CASE("tuples go in and come out") {
  const pairs q({.capacity = 4});
  q.enqueue(tg::tensor<float>({2}, {1.0f, 2.0f}), 7);
  q.enqueue_many(tg::tensor<float>({2, 2}, {3.0f, 4.0f, 5.0f, 6.0f}), tg::tensor<std::int64_t>({2}, {8, 9}));
  CHECK(q.size() == 3);
  const auto [x, n] = q.dequeue();
  CHECK(x.dims() == tg::shape{2});
  CHECK(x[1] == 2);
  CHECK(n[0] == 7);
  const auto [xs, ns] = q.dequeue_many(2);
  CHECK(xs == tg::tensor<float>({2, 2}, {3.0f, 4.0f, 5.0f, 6.0f}));
  CHECK(ns == tg::tensor<std::int64_t>({2}, {8, 9}));
  const auto [none, zero] = q.dequeue_many(0);
  CHECK(none.dims() == tg::shape{0, 2});
  CHECK(zero.dims() == tg::shape{0});
}

TEST_CASE("elements of open extents are padded at their ends to the largest of a batch", "[scenario 82]") {
  const tg::queue<tg::spec<float, tg::dyn, 3, tg::dyn>, tg::spec<tg::string_element, tg::dyn>> q(
      {.kind = queue_kind::padding});
  tg::tensor<float> a({1, 3, 2}), b({2, 3, 1});
  for (int i = 0; i < 6; ++i) a[i] = static_cast<float>(i + 1), b[i] = static_cast<float>(10 * (i + 1));
  q.enqueue(a, tg::tensor<tg::string_element>({1}, {"one"}));
  q.enqueue(b, tg::tensor<tg::string_element>({2}, {"a text that is longer than others are", "three"}));
  const auto [all, texts] = q.dequeue_up_to(2);
  REQUIRE(all.dims() == tg::shape{2, 2, 3, 2});
  for (tg::extent i = 0; i < 2; ++i)
    for (tg::extent j = 0; j < 3; ++j)
      for (tg::extent k = 0; k < 2; ++k) {
        CHECK(all(0, i, j, k) == (i < 1 ? a(i, j, k) : 0));
        CHECK(all(1, i, j, k) == (k < 1 ? b(i, j, k) : 0));
      }
  REQUIRE(texts.dims() == tg::shape{2, 2});
  CHECK(texts(0, 0) == "one");
  CHECK(texts(0, 1).empty());
  CHECK(texts(1, 0) == "a text that is longer than others are");
  const tg::queue<tg::spec<float, tg::dyn>> plain;
  CHECK(code_of([&] { static_cast<void>(plain.dequeue_many(0)); }) == tg::status_code::invalid_argument);
  plain.enqueue(tg::tensor<float>({2}));
  CHECK(text_of([&] { static_cast<void>(plain.dequeue_many(1, tg::timeout(60s))); }).empty());
  plain.enqueue(tg::tensor<float>({2}));
  CHECK(text_of([&] { static_cast<void>(plain.dequeue_many(2)); }) ==
        "InvalidArgument: a FIFO queue without a name: several elements at once need components without open extents, "
        "or a padding "
        "queue; component 0 is float32 [?]");
}

TEST_CASE("a component of a padding queue has the axes of its type, and no other number of them", "[scenario 97]") {
  const auto refused = [](const auto& q, const tg::tensor<float>& t) { return text_of([&] { q.enqueue(t); }); };
  // Without extents it is a scalar, not of any shape.
  const tg::queue<tg::spec<float>> scalars({.kind = queue_kind::padding});
  CHECK(refused(scalars, tg::tensor<float>({1})) ==
        "InvalidArgument: a padding FIFO queue without a name: component 0 is float32 [], not float32 [1]");
  scalars.enqueue(1.0f);
  scalars.enqueue(2.0f);
  const auto both = scalars.dequeue_many(2);
  CHECK(both.get<0>() == tg::tensor<float>({2}, {1.0f, 2.0f}));
  // With open ones their number is known.
  const tg::queue<tg::spec<float, tg::dyn, tg::dyn>> tables({.kind = queue_kind::padding});
  CHECK(refused(tables, tg::tensor<float>(tg::shape{})) ==
        "InvalidArgument: a padding FIFO queue without a name: component 0 is float32 [?, ?], not float32 []");
  CHECK(refused(tables, tg::tensor<float>({3})) ==
        "InvalidArgument: a padding FIFO queue without a name: component 0 is float32 [?, ?], not float32 [3]");
  CHECK(refused(tables, tg::tensor<float>({1, 3, 2})) ==
        "InvalidArgument: a padding FIFO queue without a name: component 0 is float32 [?, ?], not float32 [1, 3, 2]");
  CHECK(text_of([&] {
          tables.enqueue_many(tg::tensor<float>({3, 2}));
        }) ==
        "InvalidArgument: a padding FIFO queue without a name: component 0 is float32 [?, ?], not rows of float32 [2]");
  CHECK(tables.size() == 0);
}

TEST_CASE("priorities are in order, and bring what is theirs, whoever enqueued it", "[scenario 98]") {
  for (const int threads : {1, 4}) {
    const tg::queue<tg::spec<std::int64_t>, tg::spec<float, 2>> q({.kind = queue_kind::priority});
    constexpr int each = 50;
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        std::mt19937 random(static_cast<unsigned>(t));
        for (int i = 0; i < each; ++i) {
          const auto priority = static_cast<std::int64_t>(random() % 30) - 10;
          const auto value = static_cast<float>(priority);
          q.enqueue_at(priority, priority, tg::tensor<float>({2}, {value, 2 * value}));
        }
      });
    for (std::thread& t : all) t.join();
    const auto [priorities, values] = q.dequeue_many(threads * each);
    CHECK(std::is_sorted(priorities.span().begin(), priorities.span().end()));
    for (tg::extent i = 0; i < threads * each; ++i) {
      CHECK(values(i, 0) == static_cast<float>(priorities[i]));
      CHECK(values(i, 1) == 2 * static_cast<float>(priorities[i]));
    }
  }
}

TEST_CASE("programs share a queue of one name, and are told if it is another one",
          "[scenario 86][scenario 87][scenario 88]") {
  const tg::container shared;
  const pairs q(shared, "pairs", {.capacity = 10});
  q.enqueue(tg::tensor<float>({2}), 1);
  CHECK(pairs(shared, "pairs", {.capacity = 10}).size() == 1);
  CHECK(pairs(shared, "others", {.capacity = 10}).size() == 0);
  CHECK(text_of([&] { pairs(shared, "pairs", {.capacity = 15}); }) ==
        "InvalidArgument: the container has FIFO queue 'pairs' with a capacity of 10, asked for is one with a capacity "
        "of 15");
  CHECK_THAT(text_of([&] { pairs(shared, "pairs", {.kind = queue_kind::shuffle, .capacity = 10}); }),
             Catch::Contains("which is a FIFO queue, asked for is one which is a random shuffle queue"));
  CHECK_THAT(
      text_of([&] { (tg::queue<tg::spec<float, 3>, tg::spec<std::int64_t>>(shared, "pairs", {.capacity = 10})); }),
      Catch::Contains("with component 0 float32 [2], asked for is one with component 0 float32 [3]"));
  CHECK_THAT(text_of([&] { (tg::queue<tg::spec<float, 2>>(shared, "pairs", {.capacity = 10})); }),
             Catch::Contains("with so many components: 2"));
  using numbers = tg::queue<tg::spec<std::int64_t>>;
  const numbers shuffled(shared, "shuffled", {.kind = queue_kind::shuffle, .capacity = 10, .seed = 21});
  CHECK_THAT(text_of([&] {
               numbers(shared, "shuffled",
                       {.kind = queue_kind::shuffle, .capacity = 10, .min_after_dequeue = 5, .seed = 21});
             }),
             Catch::Contains("min_after_dequeue"));
  CHECK_THAT(text_of([&] { numbers(shared, "shuffled", {.kind = queue_kind::shuffle, .capacity = 10, .seed = 12}); }),
             Catch::Contains("seed"));
  CHECK(numbers(shared, "shuffled", {.kind = queue_kind::shuffle, .capacity = 10}).size() == 0);
}

TEST_CASE("a late call loses nothing and does no harm", "[scenario 91]") {
  const tg::queue<tg::spec<float>> q;
  for (int i = 0; i < 2; ++i)
    CHECK_THAT(
        text_of([&] { static_cast<void>(q.dequeue(tg::timeout(10ms))); }),
        Catch::StartsWith("DeadlineExceeded: ") && Catch::Contains("while it waited for a FIFO queue without a name"));
  q.enqueue(37.0f);
  CHECK(code_of([&] { static_cast<void>(q.dequeue_many(2, tg::timeout(10ms))); }) ==
        tg::status_code::deadline_exceeded);
  CHECK(q.size() == 1);
  CHECK(q.dequeue().get<0>()[0] == 37);
  tg::cancellation token;
  std::thread other([&] {
    std::this_thread::sleep_for(20ms);
    token.cancel();
  });
  CHECK(code_of([&] { static_cast<void>(q.dequeue(tg::stop_with(token))); }) == tg::status_code::cancelled);
  other.join();
  const tg::queue<tg::spec<float>> full({.capacity = 0});
  CHECK(code_of([&] { full.enqueue(1.0f, tg::timeout(5ms)); }) == tg::status_code::deadline_exceeded);
}

TEST_CASE("threads that enqueue, and threads that dequeue, until the queue is closed") {
  for (const auto kind : {queue_kind::fifo, queue_kind::shuffle, queue_kind::priority}) {
    const tg::queue<tg::spec<std::int64_t>> q(
        {.kind = kind, .capacity = 7, .min_after_dequeue = kind == queue_kind::shuffle ? 3 : 0});
    constexpr std::int64_t each = 2000;
    std::vector<std::thread> writers, readers;
    std::array<std::int64_t, 3> sums{}, counts{};
    std::array<tg::status_code, 3> ends{};
    for (std::int64_t t = 0; t < 3; ++t) {
      writers.emplace_back([&, t] {
        for (std::int64_t i = 0; i < each; ++i) {
          const std::int64_t n = t * each + i;
          const bool many = i % 3 == 0, ordered = kind == queue_kind::priority;
          const tg::tensor<std::int64_t> row({1}, {n});
          if (many)
            ordered ? q.enqueue_many_at({&n, 1}, row) : q.enqueue_many(row);
          else
            ordered ? q.enqueue_at(n, n) : q.enqueue(n);
        }
      });
      readers.emplace_back([&, t] {
        const auto r = static_cast<std::size_t>(t);
        try {
          for (int i = 0;; ++i) {
            const auto batch = q.dequeue_up_to(1 + i % 4);
            const auto& [numbers] = batch;
            for (const std::int64_t n : numbers.span()) sums[r] += n, ++counts[r];
          }
        } catch (const tg::error& e) {
          ends[r] = e.code();
        }
      });
    }
    for (std::thread& w : writers) w.join();
    q.close();
    for (std::thread& r : readers) r.join();
    for (const tg::status_code end : ends) CHECK(end == tg::status_code::out_of_range);
    CHECK(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) == 3 * each);
    CHECK(std::accumulate(sums.begin(), sums.end(), std::int64_t{0}) == 3 * each * (3 * each - 1) / 2);
  }
}

TEST_CASE("components of six axes are queued one by one, and form no batch") {
  const tg::queue<tg::spec<float, 1, 1, 1, 1, 1, 2>> six;
  six.enqueue(tg::tensor<float>({1, 1, 1, 1, 1, 2}, {3, 4}));
  CHECK(six.dequeue().get<0>().data()[1] == 4);
  CHECK(
      text_of([&] { six.state().check_batches(true); }) ==
      "InvalidArgument: a FIFO queue without a name: a batch of component 0, float32 [1, 1, 1, 1, 1, 2], would have 7 "
      "axes");
}

TEST_CASE("numbers that the type of a component does not have are refused") {
  const tg::queue<tg::spec<std::uint8_t>, tg::spec<bool>, tg::spec<std::int64_t>> q;
  q.enqueue(255, true, std::numeric_limits<std::uint32_t>::max());
  CHECK(q.dequeue().get<2>()[0] == 4294967295);
  CHECK(text_of([&] { q.enqueue(256L, true, 0); }) == "InvalidArgument: component 0 is uint8 [], which has no 256");
  CHECK(text_of([&] { q.enqueue(-1, true, 0); }) == "InvalidArgument: component 0 is uint8 [], which has no -1");
  CHECK(text_of([&] { q.enqueue(1, 2, 0); }) == "InvalidArgument: component 1 is bool [], which has no 2");
  CHECK(text_of([&] { q.enqueue(1, true, std::numeric_limits<std::uint64_t>::max()); }) ==
        "InvalidArgument: component 2 is int64 [], which has no 18446744073709551615");
  CHECK(q.size() == 0);
}

TEST_CASE("a call that was cancelled before it began does nothing") {
  const tg::queue<tg::spec<float>> q;
  q.enqueue(1.0f);
  tg::cancellation token;
  token.cancel();
  CHECK(code_of([&] { q.enqueue(2.0f, tg::stop_with(token)); }) == tg::status_code::cancelled);
  CHECK(code_of([&] { static_cast<void>(q.dequeue(tg::stop_with(token))); }) == tg::status_code::cancelled);
  CHECK(code_of([&] { static_cast<void>(q.dequeue_up_to(1, tg::stop_with(token))); }) == tg::status_code::cancelled);
  CHECK(code_of([&] { q.close(tg::stop_with(token)); }) == tg::status_code::cancelled);
  CHECK(q.size() == 1);
  CHECK_FALSE(q.is_closed());
}

TEST_CASE("elements of a priority queue come with priorities, and those of others without") {
  const tg::queue<tg::spec<float>> ordered({.kind = queue_kind::priority, .capacity = 3}), plain;
  const tg::tensor<float> rows({3}, {1, 2, 3});
  CHECK(text_of([&] { ordered.enqueue(1.0f); }) ==
        "InvalidArgument: a priority queue without a name: each element needs a priority");
  CHECK(code_of([&] { ordered.enqueue_many(rows); }) == tg::status_code::invalid_argument);
  CHECK(code_of([&] { plain.enqueue_at(1, 1.0f); }) == tg::status_code::invalid_argument);
  const std::vector<std::int64_t> priorities{5, 1, 3}, none;
  CHECK(code_of([&] { plain.enqueue_many_at(priorities, rows); }) == tg::status_code::invalid_argument);
  CHECK_THAT(text_of([&] { ordered.enqueue_many_at(none, rows); }), Catch::Contains("0 priorities for 3 rows"));
  ordered.enqueue_many_at(priorities, rows);
  const auto all = ordered.dequeue_many(3);
  CHECK(all.get<0>() == tg::tensor<float>({3}, {2, 3, 1}));
  CHECK(code_of([&] { static_cast<void>(ordered.dequeue_up_to(4)); }) == tg::status_code::invalid_argument);
  ordered.enqueue_at(1, 7.0f);
  ordered.close();
  CHECK(ordered.dequeue_up_to(4).get<0>().dims() == tg::shape{1});  // what is left is less than that
}

TEST_CASE("a batch for which there is no memory stays in its queue, in its order") {
  const tg::queue<tg::spec<float, tg::dyn, tg::dyn, tg::dyn>> q({.kind = queue_kind::padding});
  q.enqueue(tg::tensor<float>({3000000, 1, 1}));
  q.enqueue(tg::tensor<float>({1, 3000000, 1}));
  q.enqueue(tg::tensor<float>({1, 1, 3000000}));
  CHECK(code_of([&] { static_cast<void>(q.dequeue_many(3)); }) == tg::status_code::resource_exhausted);
  CHECK(q.size() == 3);
  CHECK(q.dequeue().get<0>().dims() == tg::shape{3000000, 1, 1});
  CHECK(q.dequeue().get<0>().dims() == tg::shape{1, 3000000, 1});
}

TEST_CASE("names of queues follow the grammar of names", "[scenario 70]") {
  const tg::container shared;
  for (const char* const name : {"", "_foo", "-cat", "12$%", "a b", "/x"})
    CHECK_THAT(text_of([&] { (tg::queue<tg::spec<float>>(shared, name)); }),
               Catch::StartsWith("InvalidArgument: a queue cannot be called '" + std::string(name) + "'"));
  for (const char* const name : {"cat", "cat.0-dog", ".cat", "a/b_c"})
    CHECK(text_of([&] { (tg::queue<tg::spec<float>>(shared, name)); }).empty());
}

}  // namespace
