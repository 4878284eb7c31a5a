// SPDX-License-Identifier: BSL-1.0
#include "tagma/input.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using tg::test::code_of, tg::test::text_of;
using out_of_range = std::integral_constant<tg::status_code, tg::status_code::out_of_range>;

TEST_CASE("a value for a number of epochs", "[scenario 111]") {
  auto limited = tg::limit_epochs("Love Me", 2);
  CHECK(std::string(limited()) == "Love Me");
  CHECK(std::string(limited()) == "Love Me");
  CHECK(text_of([&] { static_cast<void>(limited()); }) == "OutOfRange: all 2 epochs are over");
  CHECK(text_of([&] { static_cast<void>(tg::limit_epochs(1, 0)); }) ==
        "InvalidArgument: limit_epochs: num_epochs is 0, which must be 1 or more");
  int calls = 0;
  auto counted = tg::limit_epochs([&] { return ++calls; }, 3);
  auto copy = counted;
  CHECK(counted() == 1);
  CHECK(copy() == 2);
  CHECK(counted() == 3);
  CHECK(code_of([&] { static_cast<void>(copy()); }) == out_of_range::value);
}

TEST_CASE("rows of a tensor in order, some epochs long") {
  auto rows = tg::input_producer<tg::spec<float, 2>>(tg::tensor<float>({3, 2}, {1, 2, 3, 4, 5, 6}),
                                                     {.num_epochs = 2, .shuffle = false, .capacity = 4});
  tg::coordinator coord;
  CHECK(rows.start(coord) == 1);
  for (int epoch = 0; epoch < 2; ++epoch)
    for (int r = 0; r < 3; ++r) {
      const auto [row] = rows.dequeue();
      CHECK(row.dims() == tg::shape{2});
      CHECK(row[0] == static_cast<float>(2 * r + 1));
    }
  CHECK(code_of([&] { static_cast<void>(rows.dequeue()); }) == out_of_range::value);
  coord.join();
}

TEST_CASE("rows of another shape than is declared are refused where a producer is made") {
  const tg::tensor<float> rows({3, 2});
  CHECK(text_of([&] { static_cast<void>(tg::input_producer<tg::spec<float, 3>>(rows)); }) ==
        "InvalidArgument: input_producer: rows of component 0 have shape [2], declared is [3]");
  CHECK(text_of([&] { static_cast<void>(tg::input_producer<tg::spec<float>>(rows)); }) ==
        "InvalidArgument: input_producer: rows of component 0 have shape [2], declared is []");
  CHECK(text_of([&] {
          static_cast<void>(
              tg::slice_input_producer<tg::spec<float, 2>, tg::spec<float, 1, 2>>({}, rows, tg::tensor<float>({3, 2})));
        }) == "InvalidArgument: slice_input_producer: rows of component 1 have shape [2], declared is [1, 2]");
  static_cast<void>(tg::input_producer<tg::spec<float, tg::dyn>>(rows));
  CHECK(text_of([&] { static_cast<void>(tg::input_producer<tg::spec<float>>(tg::tensor<float>(tg::shape{}))); }) ==
        "InvalidArgument: input_producer: there are no rows to produce");
}

TEST_CASE("each epoch is a permutation, and all permutations come as often", "[scenario 112]") {
  const std::vector<std::string> texts = {"abc", "def", "a text that is longer than fits into a string object"};
  auto names = tg::string_input_producer(texts, {.num_epochs = 600});
  tg::coordinator coord;
  names.start(coord);
  std::map<std::string, int> orders;
  for (int epoch = 0; epoch < 600; ++epoch) {
    std::string order;
    for (int i = 0; i < 3; ++i) {
      const auto one = names.dequeue();
      const std::string text(one.get<0>()[0]);
      const auto at = std::find(texts.begin(), texts.end(), text);
      REQUIRE(at != texts.end());
      order += static_cast<char>('0' + (at - texts.begin()));
    }
    ++orders[order];
  }
  CHECK(code_of([&] { static_cast<void>(names.dequeue()); }) == out_of_range::value);
  coord.join();
  CHECK(orders.size() == 6);
  for (const auto& [order, count] : orders) {
    CHECK(std::set<char>(order.begin(), order.end()).size() == 3);
    CHECK(count >= 60);
    CHECK(count <= 140);
  }
}

TEST_CASE("equal seeds are equal orders, other seeds are others") {
  const auto order = [](std::uint64_t seed) {
    auto numbers = tg::range_input_producer(20, {.num_epochs = 2, .seed = seed});
    numbers.start();
    const auto [all] = numbers.dequeue_many(40);
    numbers.join();
    return std::vector<std::int64_t>(all.begin(), all.end());
  };
  const auto first = order(1);
  CHECK(first == order(1));
  CHECK(first != order(2));
  CHECK(!std::equal(first.begin(), first.begin() + 20, first.begin() + 20));
  for (int epoch = 0; epoch < 2; ++epoch) {
    auto sorted = std::vector<std::int64_t>(first.begin() + 20 * epoch, first.begin() + 20 * (epoch + 1));
    std::sort(sorted.begin(), sorted.end());
    for (int i = 0; i < 20; ++i) CHECK(sorted[static_cast<std::size_t>(i)] == i);
  }
}

TEST_CASE("rows that belong together come together, and characters are copied") {
  auto slices = [] {
    const std::vector<std::string> names = {"a", "a name that is longer than others", ""};
    return tg::slice_input_producer<tg::spec<std::int64_t, 2>, tg::spec<tg::string_element>>(
        {.num_epochs = 4, .seed = 3}, tg::tensor<std::int64_t>({3, 2}, {0, 0, 1, 10, 2, 20}),
        tg::tensor<tg::string_element>({3}, {names[0], names[1], names[2]}));
  }();
  slices.start();
  std::array<int, 3> seen{};
  for (int i = 0; i < 12; ++i) {
    const auto [numbers, name] = slices.dequeue();
    CHECK(numbers[1] == 10 * numbers[0]);
    CHECK(name[0] == (numbers[0] == 0 ? "a" : numbers[0] == 1 ? "a name that is longer than others" : ""));
    ++seen[static_cast<std::size_t>(numbers[0])];
  }
  CHECK(seen == std::array{4, 4, 4});
  slices.join();
}

TEST_CASE("there is something to produce, as often as somebody wants") {
  CHECK(text_of([] { static_cast<void>(tg::string_input_producer({})); }) ==
        "InvalidArgument: string_input_producer: there are no rows to produce");
  CHECK(text_of([] { static_cast<void>(tg::range_input_producer(0)); }) ==
        "InvalidArgument: range_input_producer: the limit is 0, which must be 1 or more");
  CHECK(text_of([] { static_cast<void>(tg::range_input_producer(3, {.num_epochs = 0})); }) ==
        "InvalidArgument: range_input_producer: num_epochs is 0, which must be 1 or more");
  CHECK(text_of([] { static_cast<void>(tg::input_producer<tg::spec<float>>(tg::tensor<float>(1.0f))); }) ==
        "InvalidArgument: input_producer: there are no rows to produce");
  CHECK(text_of([] {
          static_cast<void>(tg::slice_input_producer<tg::spec<float>, tg::spec<float>>({}, tg::tensor<float>({2}),
                                                                                       tg::tensor<float>({3})));
        }) == "InvalidArgument: slice_input_producer: tensors have 2 and 3 rows, not as many each");
}

TEST_CASE("a producer without end stops with the coordinator, and with its own end") {
  auto numbers = tg::range_input_producer(3, {.capacity = 5});
  tg::coordinator coord;
  numbers.start(coord);
  CHECK(numbers.dequeue_many(100).get<0>().dims() == tg::shape{100});
  coord.request_stop();
  coord.join();
  auto dropped = tg::range_input_producer(3, {.capacity = 5});
  dropped.start();
}

TEST_CASE("graphs read what a producer puts into a queue of their container") {
  constexpr tg::queue_of<"indices", tg::queue_options{.capacity = 8}, tg::spec<std::int64_t>> indices;
  const auto total = tg::sum(tg::dequeue_many<5>(indices));
  const tg::container shared;
  tg::session session(tg::compile([=] { return tg::outputs(total); }), {.state = shared});
  auto numbers =
      tg::range_input_producer(10, {.num_epochs = 1, .capacity = 8, .place = {.in = shared, .name = "indices"}});
  tg::coordinator coord;
  numbers.start(coord);
  CHECK(session.run(total) + session.run(total) == 45);
  CHECK(code_of([&] { static_cast<void>(session.run(total)); }) == out_of_range::value);
  coord.join();
  CHECK(code_of([&] {
          static_cast<void>(tg::range_input_producer(10, {.capacity = 9, .place = {.in = shared, .name = "indices"}}));
        }) == tg::status_code::invalid_argument);
}

TEST_CASE("a queue that has a name has a container, in which it is found by that") {
  const std::string refused =
      "InvalidArgument: the place of a queue is 'n' and no container: name the container as well, .place = {.in = "
      "state, .name = ...}, or leave the name out";
  CHECK(text_of([] { (void)tg::range_input_producer(10, {.place = {.name = "n"}}); }) == refused);
  CHECK(text_of([] {
          const auto source = [] { return std::tuple(tg::tensor<float>({2})); };
          (void)tg::batch<tg::spec<float, 2>>(source, {.batch_size = 3, .place = {.name = "n"}});
        }) == refused);
  CHECK(code_of([] { (void)tg::range_input_producer(10, {.place = {.in = tg::container()}}); }) ==
        tg::status_code::invalid_argument);
}

}  // namespace
