// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/queue_list.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "support/errors.hpp"
#include "tagma/queue_lists.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;
using tg::queue_kind, tg::queue_options;
using tg::test::code_of, tg::test::text_of;

constexpr auto which = tg::placeholder<"which", std::int64_t>();
constexpr auto small = tg::placeholder<"small", std::int32_t>();
constexpr auto n = tg::placeholder<"n", std::int64_t>();
constexpr auto ns = tg::placeholder<"ns", std::int64_t, tg::dyn>();
constexpr tg::queue_of<"left", queue_options{.capacity = 2}, tg::spec<std::int64_t>> left;
constexpr tg::queue_of<"right", queue_options{.kind = queue_kind::shuffle}, tg::spec<std::int64_t>> right;

TEST_CASE("an index chooses a queue in each run") {
  const auto q = tg::queue_from_list(which, left, right);
  const auto put = tg::enqueue(q, n);
  const auto put_many = tg::enqueue_many(tg::queue_from_list(small, left, right), ns);
  const auto get = tg::dequeue(q) * std::int64_t{10};
  const auto two = tg::dequeue_many<2>(q);
  const auto rest = tg::sum(tg::dequeue_up_to<5>(q));
  const auto size = tg::size_of_queue(q);
  const auto close = tg::close_queue(q);
  const auto close_now = tg::close_queue_now(q);
  const tg::container state;
  tg::session s(tg::compile([=] { return tg::outputs(put, put_many, get, two, rest, size, close, close_now); }),
                {.state = state});
  const tg::queue<tg::spec<std::int64_t>> own(state, "left", left.options);
  for (const std::int64_t i : {0, 1, 0, 1, 1}) CHECK(s.run(put, which = i, n = 5 + i) == 1);
  CHECK(own.size() == 2);
  CHECK(s.run(size, which = std::int64_t{1}) == 3);
  CHECK(s.run(get, which = std::int64_t{0}) == 50);
  CHECK(s.run(get, which = std::int64_t{1}) == 60);
  CHECK(s.run(put_many, small = 1, ns = tg::tensor<std::int64_t>({3}, {6, 6, 6})) == 3);
  CHECK(s.run(two, which = std::int64_t{1}) == tg::tensor<std::int64_t>({2}, {6, 6}));
  CHECK(code_of([&] { static_cast<void>(s.run(two, which = std::int64_t{0}, tg::timeout(10ms))); }) ==
        tg::status_code::deadline_exceeded);
  CHECK(own.size() == 1);
  CHECK(s.run(close, which = std::int64_t{1}) == 3);
  CHECK(s.run(rest, which = std::int64_t{1}) == 18);
  CHECK(code_of([&] { s.run(put, which = std::int64_t{1}, n = std::int64_t{0}); }) == tg::status_code::cancelled);
  CHECK(s.run(put, which = std::int64_t{0}, n = std::int64_t{7}) == 1);
  CHECK(s.run(close_now, which = std::int64_t{0}) == 2);
  CHECK(own.is_closed());
}

TEST_CASE("an index that is not in the list is an error, and no queue is touched", "[scenario 90]") {
  const auto put = tg::enqueue(tg::queue_from_list(3, left, right), n);
  const auto get = tg::dequeue(tg::queue_from_list(which, left, right));
  const auto size = tg::size_of_queue(tg::queue_from_list(1, left, right));
  tg::session s(tg::compile([=] { return tg::outputs(put, get, size); }));
  CHECK_THAT(text_of([&] { s.run(put, n = std::int64_t{1}); }),
             Catch::StartsWith("InvalidArgument: chosen_enqueue #") &&
                 Catch::Contains("the index 3 is not in [0, 2), the places of the queues"));
  for (const std::int64_t i : {-1, 2})
    CHECK(code_of([&] { static_cast<void>(s.run(get, which = i)); }) == tg::status_code::invalid_argument);
  CHECK(s.run(size) == 0);
}

TEST_CASE("a run that waits for a chosen queue ends by what another run adds") {
  const auto put = tg::enqueue(right, n);
  const auto get = tg::dequeue(tg::queue_from_list(which, left, right));
  tg::session s(tg::compile([=] { return tg::outputs(put, get); }));
  std::int64_t got = 0;
  std::thread waits([&] { got = s.run(get, which = std::int64_t{1}); });
  std::this_thread::sleep_for(5ms);
  s.run(put, n = std::int64_t{9});
  waits.join();
  CHECK(got == 9);
}

TEST_CASE("tuples of open extents, with priorities") {
  constexpr tg::queue_of<"a", queue_options{.kind = queue_kind::priority}, tg::spec<float, tg::dyn>,
                         tg::spec<std::int64_t>>
      a;
  constexpr tg::queue_of<"b", queue_options{.kind = queue_kind::priority, .capacity = 9}, tg::spec<float, tg::dyn>,
                         tg::spec<std::int64_t>>
      b;
  constexpr auto row = tg::placeholder<"row", float, tg::dyn>();
  const auto q = tg::queue_from_list(which, a, b);
  const auto put = tg::enqueue(q, n, row, n);
  const auto [vector, number] = tg::dequeue(q);
  tg::session s(tg::compile([=, v = vector, m = number] { return tg::outputs(put, v, m); }));
  for (const std::int64_t k : {3, 1, 2})
    s.run(put, which = std::int64_t{1}, n = k, row = tg::tensor<float>(tg::shape{k}));
  for (const std::int64_t k : {1, 2, 3}) {
    const auto [v, m] = s.run(tg::fetch(vector, number), which = std::int64_t{1});
    CHECK(v.dims() == tg::shape{k});
    CHECK(m == k);
  }
}

}  // namespace
