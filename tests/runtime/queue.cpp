// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/queue.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "tagma/runtime/caught.hpp"
#include "tagma/tensor/tensor.hpp"

namespace {

namespace tg = tagma;
using tg::queue_options, tg::queue_kind;
using tg::runtime::queue;
using tg::test::code_of, tg::test::text_of;

/// An attempt that remembers how it ended.
class attempt final : public tg::runtime::queue_attempt {
 public:
  [[nodiscard]] bool done() const { return count > 0; }
  /// "", or the text of the error.
  [[nodiscard]] std::string error() const {
    if (failed == nullptr) return "";
    return text_of([&] { std::rethrow_exception(failed); });
  }
  /// The numbers that it has dequeued.
  [[nodiscard]] std::vector<float> numbers() const {
    std::vector<float> all;
    elements.each([&](tg::extent, const tg::runtime::queue_element& e) {
      all.push_back(*static_cast<const float*>(e.component(0).data));
    });
    return all;
  }
  int count = 0;

 private:
  void ended(std::exception_ptr e) noexcept override {
    ++count;
    failed = e;
  }
  std::exception_ptr failed;
};

const tg::tensor_spec scalar{tg::dtype::float32, {}};

struct numbers_queue {
  explicit numbers_queue(const queue_options& options) : q("q", options, {&scalar, 1}) {}
  [[nodiscard]] bool has_priorities() const { return q.options().kind == queue_kind::priority; }

  attempt& enqueue(float value) {
    const tg::raw_view view{&value, tg::dtype::float32, {}};
    attempt& a = add();
    const auto priority = static_cast<std::int64_t>(value);
    q.enqueue(a, q.make({&view, 1}, has_priorities() ? &priority : nullptr));
    return a;
  }
  attempt& enqueue_many(const std::vector<float>& values) {
    const tg::raw_view view{values.data(), tg::dtype::float32, {static_cast<tg::extent>(values.size())}};
    std::vector<std::int64_t> priorities;
    for (const float v : values) priorities.push_back(static_cast<std::int64_t>(v));
    attempt& a = add();
    const tg::array_view<const std::int64_t> all(priorities);
    q.enqueue(a, q.make_rows({&view, 1}, has_priorities() ? &all : nullptr));
    return a;
  }
  attempt& dequeue(tg::extent n = 1, bool up_to = false) {
    attempt& a = add();
    q.dequeue(a, n, up_to);
    return a;
  }
  attempt& close() {
    attempt& a = add();
    q.close(a);
    return a;
  }
  attempt& add() { return *attempts.emplace_back(std::make_unique<attempt>()); }

  queue q;
  std::vector<std::unique_ptr<attempt>> attempts;
};

using list = std::vector<float>;

TEST_CASE("a queue gives what it was given, in order, and tells why it does not", "[scenario 71]") {
  numbers_queue all({.capacity = 5});
  attempt& many = all.enqueue_many({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  for (int i = 1; i <= 10; ++i) {
    CHECK(many.done() == (i > 5));
    CHECK(all.q.size() == std::min(5, 11 - i));
    const attempt& one = all.dequeue();
    CHECK(one.numbers() == list{static_cast<float>(i)});
  }
  CHECK(many.error().empty());
  const attempt& waits = all.dequeue();
  CHECK_FALSE(waits.done());
  all.enqueue(11);
  CHECK(waits.numbers() == list{11});
}

TEST_CASE("several elements are taken as they come, more than the queue holds", "[scenario 72]") {
  numbers_queue all({.capacity = 2});
  const attempt& four = all.dequeue(4);
  for (int i = 0; i < 4; ++i) {
    CHECK_FALSE(four.done());
    CHECK(all.enqueue(static_cast<float>(i)).done());
    CHECK(all.q.size() == 0);
  }
  CHECK(four.numbers() == list{0, 1, 2, 3});
}

TEST_CASE("a batch that is larger than the queue meets two that take it, and a close", "[scenario 76]") {
  numbers_queue all({.capacity = 4});
  all.enqueue_many({10, 20, 30, 40});
  const attempt &first = all.dequeue(3), &second = all.dequeue(3);
  CHECK(first.numbers() == list{10, 20, 30});
  CHECK_FALSE(second.done());
  CHECK(all.close().done());
  CHECK(second.error() ==
        "OutOfRange: FIFO queue 'q' is closed and has insufficient elements (requested 3, current size 1)");
  CHECK(all.dequeue().numbers() == list{40});
}

TEST_CASE("what waits to enqueue comes before a close", "[scenario 77]") {
  numbers_queue all({.capacity = 4});
  all.enqueue_many({10, 20, 30, 40});
  const attempt &waits = all.enqueue(50), &close = all.close();
  CHECK_FALSE(waits.done());
  CHECK_FALSE(close.done());
  CHECK_FALSE(all.q.is_closed());
  CHECK(all.dequeue().numbers() == list{10});
  CHECK((waits.done() && close.done()));
  CHECK(all.dequeue(4, true).numbers() == list{20, 30, 40, 50});
  CHECK(all.q.size() == 0);
  CHECK(all.enqueue(60).error() == "Cancelled: FIFO queue 'q' is closed");
  CHECK(all.close().error() == "Cancelled: FIFO queue 'q' is already closed");
  CHECK(all.enqueue_many({}).error().empty());
}

TEST_CASE("a batch that is half in the queue is accepted after a close was asked for", "[scenario 78]") {
  numbers_queue all({.capacity = 4});
  all.enqueue_many({10, 20, 30});
  const attempt &half = all.enqueue_many({50, 60}), &close = all.close(), &late = all.enqueue(70), &twice = all.close();
  CHECK((!half.done() && !close.done() && !late.done() && !twice.done()));
  CHECK(all.dequeue().numbers() == list{10});
  CHECK((half.error().empty() && close.done()));
  CHECK(late.error() == "Cancelled: FIFO queue 'q' is closed");
  CHECK(twice.error() == "Cancelled: FIFO queue 'q' is already closed");
  CHECK(all.dequeue(4).numbers() == list{20, 30, 50, 60});
}

TEST_CASE("a closed queue gives what it has, and no more", "[scenario 80]") {
  for (const bool up_to : {false, true}) {
    numbers_queue empty({.capacity = 4});
    const attempt& waits = empty.dequeue(4, up_to);
    empty.close();
    CHECK(waits.error() ==
          "OutOfRange: FIFO queue 'q' is closed and has insufficient elements (requested 4, current size 0)");
    numbers_queue some({.capacity = 4});
    some.enqueue_many({1, 2, 3});
    const attempt& four = some.dequeue(4, up_to);
    CHECK(some.q.size() == 0);
    some.close();
    CHECK(four.numbers() == (up_to ? list{1, 2, 3} : list{}));
    CHECK(some.q.size() == (up_to ? 0 : 3));
    CHECK(some.dequeue(3, up_to).numbers() == (up_to ? list{} : list{1, 2, 3}));
  }
}

TEST_CASE("closing at once cancels what waits to enqueue or to close") {
  numbers_queue all({.capacity = 2});
  const attempt &half = all.enqueue_many({1, 2, 3}), &close = all.close();
  all.q.close_now();
  CHECK(half.error() == "Cancelled: FIFO queue 'q': the enqueue operation was cancelled");
  CHECK(close.error() == "Cancelled: FIFO queue 'q': the close operation was cancelled");
  all.q.close_now();
  CHECK(all.dequeue(2).numbers() == list{1, 2});
  CHECK(all.dequeue().error().starts_with("OutOfRange: "));
}

TEST_CASE("who is cancelled gives back what it holds") {
  numbers_queue all({.capacity = 3});
  all.enqueue_many({1, 2});
  attempt& three = all.dequeue(3);
  const attempt& behind = all.dequeue(2);
  CHECK(all.q.size() == 0);
  all.q.cancel(three);
  CHECK(three.error() == "Cancelled: FIFO queue 'q': the dequeue operation was cancelled");
  CHECK(behind.numbers() == list{1, 2});
  all.q.cancel(three);
  CHECK(three.count == 1);
  attempt& many = all.enqueue_many({1, 2, 3, 4, 5});
  all.q.cancel(many);
  CHECK(all.q.size() == 3);
  CHECK(all.dequeue(3).numbers() == list{1, 2, 3});
}

TEST_CASE("nothing is asked for", "[scenario 81]") {
  numbers_queue all({.capacity = 0});
  CHECK(all.dequeue(0).done());
  CHECK(all.dequeue(0, true).done());
  CHECK(all.enqueue_many({}).done());
  CHECK_FALSE(all.enqueue(1).done());
  CHECK(text_of([&] { all.dequeue(-1); }) ==
        "InvalidArgument: FIFO queue 'q': requested -1 elements, which is less than 0");
}

TEST_CASE("a shuffled queue keeps some to choose among until it is closed") {
  numbers_queue all({.kind = queue_kind::shuffle, .capacity = 12, .min_after_dequeue = 10, .seed = 3});
  list in;
  for (int i = 0; i < 12; ++i) in.push_back(static_cast<float>(i));
  all.enqueue_many(in);
  const attempt& five = all.dequeue(5);
  CHECK(five.elements.size() == 2);
  all.enqueue_many({12, 13, 14});
  CHECK(five.done());
  CHECK(all.q.size() == 10);
  CHECK_FALSE(all.dequeue(1).done());
  all.close();
  list out = five.numbers();
  for (int i = 0; i < 9; ++i) {
    const list one = all.dequeue().numbers();
    out.insert(out.end(), one.begin(), one.end());
  }
  const list before = out;
  std::sort(out.begin(), out.end());
  CHECK(std::unique(out.begin(), out.end()) == out.end());
  CHECK(before != out);
  // The same seed gives the same order.
  const auto order = [](std::uint64_t seed) {
    numbers_queue again({.kind = queue_kind::shuffle, .capacity = -1, .seed = seed});
    again.enqueue_many({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    return again.dequeue(10).numbers();
  };
  CHECK(order(1) == order(1));
  CHECK(order(1) != order(2));
}

TEST_CASE("a shuffled queue that closes gives the rest to who takes as many as there are", "[scenario 92]") {
  numbers_queue all({.kind = queue_kind::shuffle, .capacity = 10, .min_after_dequeue = 2});
  all.enqueue_many({1, 2, 3, 4});
  const attempt& three = all.dequeue(3, true);
  CHECK_FALSE(three.done());
  all.close();
  CHECK(three.numbers().size() == 3);
  CHECK(all.dequeue(3, true).numbers().size() == 1);
}

TEST_CASE("a priority queue gives the smallest first, of equal ones the first, and loses nothing", "[scenario 98]") {
  numbers_queue all({.kind = queue_kind::priority, .capacity = 6});
  all.enqueue_many({5, 1, 4});
  const attempt& five = all.dequeue(5);
  CHECK(five.elements.empty());  // in order: all at once
  all.enqueue_many({0, 3});
  CHECK(five.numbers() == list{0, 1, 3, 4, 5});
  CHECK(text_of([&] { all.dequeue(7); }) ==
        "InvalidArgument: priority queue 'q': requested 7 elements at once, the capacity is 6");
  const float values[] = {1, 2, 3};
  for (const float& v : values) {
    const tg::raw_view view{&v, tg::dtype::float32, {}};
    const std::int64_t priority = 7;
    all.q.enqueue(all.add(), all.q.make({&view, 1}, &priority));
  }
  const attempt& more = all.dequeue(4, true);
  CHECK_FALSE(more.done());
  all.close();
  CHECK(more.numbers() == list{1, 2, 3});
}

TEST_CASE("a tuple that is another one is refused before it waits", "[scenario 96]") {
  const tg::tensor_spec specs[] = {{tg::dtype::int32, {}}, {tg::dtype::float32, {3, tg::dyn}}};
  queue q("tuples", {.capacity = 0}, {specs, 2});
  const std::int32_t number = 3;
  const float matrix[12] = {};
  const tg::raw_view good[] = {{&number, tg::dtype::int32, {}}, {matrix, tg::dtype::float32, {3, 4}}};
  CHECK(q.make({good, 2}).size() == 1);
  CHECK(text_of([&] {
          static_cast<void>(q.make({good, 1}));
        }) == "InvalidArgument: FIFO queue 'tuples': a tuple has 2 components, not 1");
  const tg::raw_view other[] = {{&number, tg::dtype::int32, {}}, {matrix, tg::dtype::float32, {4, 3}}};
  CHECK(text_of([&] {
          static_cast<void>(q.make({other, 2}));
        }) == "InvalidArgument: FIFO queue 'tuples': component 1 is float32 [3, ?], not float32 [4, 3]");
  const tg::raw_view wrong[] = {{&number, tg::dtype::uint8, {}}, good[1]};
  CHECK(text_of([&] {
          static_cast<void>(q.make({wrong, 2}));
        }) == "InvalidArgument: FIFO queue 'tuples': component 0 is int32 [], not uint8 []");
  CHECK(code_of([&] { static_cast<void>(q.make_rows({good, 2})); }) == tg::status_code::invalid_argument);
  const tg::tensor_spec open{tg::dtype::float32, {tg::dyn, 3}};
  queue padded("padded", {.kind = queue_kind::padding}, {&open, 1});
  const tg::raw_view flat{matrix, tg::dtype::float32, {3, 4}}, rows{matrix, tg::dtype::float32, {1, 3, 4}};
  CHECK(text_of([&] {
          static_cast<void>(padded.make({&flat, 1}));
        }) == "InvalidArgument: padding FIFO queue 'padded': component 0 is float32 [?, 3], not float32 [3, 4]");
  CHECK(text_of([&] {
          static_cast<void>(padded.make_rows({&rows, 1}));
        }) ==
        "InvalidArgument: padding FIFO queue 'padded': component 0 is float32 [?, 3], not rows of float32 [3, 4]");
  CHECK(code_of([&] {
          queue("q", {.kind = queue_kind::shuffle, .capacity = 3, .min_after_dequeue = 3}, {&scalar, 1});
        }) == tg::status_code::invalid_argument);
}

TEST_CASE("strings bring their characters along") {
  const tg::tensor_spec spec{tg::dtype::string, {tg::dyn}};
  queue q("texts", {}, {&spec, 1});
  attempt in, out;
  {
    std::string a = "a text that is too long to be part of the string itself", b;
    const tg::string_element texts[] = {a, b, "c"};
    const tg::raw_view view{texts, tg::dtype::string, {3}};
    q.enqueue(in, q.make({&view, 1}));
    a.assign(a.size(), 'x');
  }
  q.dequeue(out, 1);
  const auto found = out.elements.front().component(0).as<tg::string_element>();
  CHECK(found[0] == "a text that is too long to be part of the string itself");
  CHECK(found[1].empty());
  CHECK(found[2] == "c");
}

}  // namespace
