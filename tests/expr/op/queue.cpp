// SPDX-License-Identifier: BSL-1.0
#include "tagma/queues.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "support/errors.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;
using tg::queue_kind, tg::queue_options;
using tg::test::code_of, tg::test::text_of;

constexpr auto x = tg::placeholder<"x", float, 2>();
constexpr auto n = tg::placeholder<"n", std::int64_t>();
constexpr auto xs = tg::placeholder<"xs", float, tg::dyn, 2>();
constexpr auto ns = tg::placeholder<"ns", std::int64_t, tg::dyn>();
using pairs = tg::queue_of<"pairs", queue_options{.capacity = 4}, tg::spec<float, 2>, tg::spec<std::int64_t>>;

TEST_CASE("tuples pass through a queue between sessions, and C++ sees the same queue") {
  constexpr pairs q;
  const auto put = tg::enqueue(q, x, n);
  const auto put_many = tg::enqueue_many(q, xs, ns);
  const auto size = tg::size_of_queue(q);
  const auto loader = tg::compile([=] { return tg::outputs(put, put_many, size); });
  const auto [a, b] = tg::dequeue(q);
  const auto first = a * 2.0f;
  const auto second = b;
  const auto [as, bs] = tg::dequeue_many<2>(q);
  const auto rows = as;
  const auto numbers = tg::sum(bs);
  const auto trainer = tg::compile([=] { return tg::outputs(first, second, rows, numbers); });
  const tg::container shared;
  tg::session load(loader, {.state = shared});
  tg::session train(trainer, {.state = shared});
  CHECK(load.run(put, x = tg::tensor<float>({2}, {1.0f, 2.0f}), n = std::int64_t{7}) == 1);
  CHECK(load.run(put_many, xs = tg::tensor<float>({2, 2}, {3.0f, 4.0f, 5.0f, 6.0f}),
                 ns = tg::tensor<std::int64_t>({2}, {8, 9})) == 2);
  CHECK(load.run(size) == 3);
  const auto [f, s] = train.run(tg::fetch(first, second));
  CHECK(f[1] == 4);
  CHECK(s == 7);
  const auto [r, total] = train.run(tg::fetch(rows, numbers));
  CHECK(r == tg::tensor<float>({2, 2}, {3.0f, 4.0f, 5.0f, 6.0f}));
  CHECK(total == 17);
  const tg::queue<tg::spec<float, 2>, tg::spec<std::int64_t>> same(shared, "pairs", q.options);
  same.enqueue(tg::tensor<float>({2}), 11);
  CHECK(train.run(second) == 11);
  CHECK(code_of([&] { static_cast<void>(train.run(second, tg::timeout(10ms))); }) ==
        tg::status_code::deadline_exceeded);
  same.enqueue(tg::tensor<float>({2}), 12);
  CHECK(train.run(second) == 12);
}

TEST_CASE("what is in a queue is given as far as it goes when the queue is closed") {
  constexpr pairs q;
  const auto put = tg::enqueue_many(q, xs, ns);
  const auto [as, bs] = tg::dequeue_up_to<3>(q);
  const auto rows = as;
  const auto numbers = bs * 10;
  const auto close = tg::close_queue(q);
  const auto program = tg::compile([=] { return tg::outputs(put, rows, numbers, close); });
  for (const int threads : {1, 3}) {
    tg::session s(program, {.intra_op_threads = threads, .inter_op_threads = threads});
    s.run(put, xs = tg::tensor<float>({4, 2}), ns = tg::tensor<std::int64_t>({4}, {1, 2, 3, 4}));
    CHECK(s.run(numbers) == tg::tensor<std::int64_t>({3}, {10, 20, 30}));
    CHECK(s.run(close) == 1);
    const auto [r, m] = s.run(tg::fetch(rows, numbers));
    CHECK(r.dims() == tg::shape{1, 2});
    CHECK(m == tg::tensor<std::int64_t>({1}, {40}));
    CHECK_THAT(text_of([&] { static_cast<void>(s.run(numbers)); }),
               Catch::StartsWith("OutOfRange: ") && Catch::Contains("dequeue_up_to") &&
                   Catch::Contains("FIFO queue 'pairs' is closed and has insufficient elements (requested 3, current "
                                   "size 0)"));
    CHECK(code_of([&] {
            s.run(put, xs = tg::tensor<float>({1, 2}), ns = tg::tensor<std::int64_t>({1}, {1}));
          }) == tg::status_code::cancelled);
    CHECK(code_of([&] { s.run(close); }) == tg::status_code::cancelled);
  }
}

TEST_CASE("what a run takes that is late or cancelled meanwhile is not lost") {
  constexpr tg::queue_of<"numbers", queue_options{.capacity = 2}, tg::spec<std::int64_t>> q;
  const auto some = tg::dequeue_up_to<3>(q);
  constexpr std::int64_t count = 3000;
  for (const int threads : {1, 2}) {
    const tg::container state;
    tg::session s(tg::compile([=] { return tg::outputs(some); }),
                  {.intra_op_threads = threads, .inter_op_threads = threads, .state = state});
    const tg::queue<tg::spec<std::int64_t>> same(state, "numbers", q.options);
    std::thread puts([&] {
      for (std::int64_t i = 0; i < count; ++i) same.enqueue(i);
      same.close();
    });
    std::mt19937 random(7);
    std::int64_t next = 0;
    for (bool open = true; open;) try {
        for (const std::int64_t i : s.run(some, tg::timeout(std::chrono::microseconds(random() % 30)))) {
          if (i != next++) FAIL("element " << next - 1 << " is lost, " << i << " came");
        }
      } catch (const tg::error& e) {
        open = e.code() != tg::status_code::out_of_range;
        if (open) CHECK(e.code() == tg::status_code::deadline_exceeded);
      }
    puts.join();
    CHECK(next == count);
  }
}

TEST_CASE("what is fed in place of an element leaves the queue alone", "[scenario 40]") {
  constexpr tg::queue_of<"numbers", queue_options{}, tg::spec<std::int64_t>> q;
  const auto a = tg::dequeue(q);
  const auto b = a + std::int64_t{1};
  const tg::container state;
  tg::session s(tg::compile([=] { return tg::outputs(b); }), {.state = state});
  const tg::queue<tg::spec<std::int64_t>> same(state, "numbers");
  CHECK(s.run(b, a = std::int64_t{5}, tg::timeout(60s)) == 6);
  same.enqueue(7);
  CHECK(s.run(b, a = std::int64_t{8}) == 9);
  CHECK(same.size() == 1);
  CHECK(s.run(b) == 8);
}

TEST_CASE("a padding queue gives batches of the largest extents") {
  constexpr tg::queue_of<"texts", queue_options{.kind = queue_kind::padding}, tg::spec<float, tg::dyn>,
                         tg::spec<std::int64_t>>
      q;
  constexpr auto v = tg::placeholder<"v", float, tg::dyn>();
  const auto put = tg::enqueue(q, v, n);
  const auto [one, number] = tg::dequeue(q);
  const auto single = tg::sum(one);
  const auto [vs, labels] = tg::dequeue_many<2>(q);
  const auto padded = vs + 1.0f;
  const auto both = labels;
  const auto program = tg::compile([=] { return tg::outputs(put, single, padded, both); });
  tg::session s(program);
  for (const tg::extent length : {3, 1, 2, 0, 2}) {
    tg::tensor<float> row({length});
    for (float& f : row.span()) f = static_cast<float>(length);
    s.run(put, v = row, n = static_cast<std::int64_t>(length));
  }
  CHECK(s.run(single) == 9);
  const auto [p, l] = s.run(tg::fetch(padded, both));
  CHECK(p == tg::tensor<float>({2, 2}, {2.0f, 1.0f, 3.0f, 3.0f}));
  CHECK(l == tg::tensor<std::int64_t>({2}, {1, 2}));
  CHECK(s.run(padded) == tg::tensor<float>({2, 2}, {1.0f, 1.0f, 3.0f, 3.0f}));
}

TEST_CASE("a priority queue and a shuffled one in graphs") {
  constexpr tg::queue_of<"first", queue_options{.kind = queue_kind::priority, .capacity = 5}, tg::spec<float, 2>> first;
  const auto put = tg::enqueue(first, n, x);
  const auto put_many = tg::enqueue_many(first, ns, xs);
  const auto get = tg::dequeue_many<3>(first);
  const auto program = tg::compile([=] { return tg::outputs(put, put_many, get); });
  tg::session s(program);
  s.run(put_many, xs = tg::tensor<float>({2, 2}, {5.0f, 5.0f, 1.0f, 1.0f}), ns = tg::tensor<std::int64_t>({2}, {5, 1}));
  s.run(put, x = tg::tensor<float>({2}, {3.0f, 3.0f}), n = std::int64_t{3});
  CHECK(s.run(get) == tg::tensor<float>({3, 2}, {1.0f, 1.0f, 3.0f, 3.0f, 5.0f, 5.0f}));
  CHECK_THAT(text_of([&] {
               s.run(put_many, xs = tg::tensor<float>({2, 2}), ns = tg::tensor<std::int64_t>({0}));
             }),
             Catch::Contains("0 priorities for 2 rows"));
}

TEST_CASE("a batch for which a run has no memory stays in its queue") {
  constexpr tg::queue_of<"large", queue_options{.kind = queue_kind::padding},
                         tg::spec<float, tg::dyn, tg::dyn, tg::dyn>>
      q;
  const auto v = tg::placeholder<"v", float, tg::dyn, tg::dyn, tg::dyn>();
  const auto put = tg::enqueue(q, v);
  const auto all = tg::dequeue_many<3>(q);
  const auto one = tg::dequeue(q);
  const auto program = tg::compile([=] { return tg::outputs(put, all, one); });
  tg::session s(program);
  s.run(put, v = tg::tensor<float>({3000000, 1, 1}));
  s.run(put, v = tg::tensor<float>({1, 3000000, 1}));
  s.run(put, v = tg::tensor<float>({1, 1, 3000000}));
  CHECK_FALSE(text_of([&] { static_cast<void>(s.run(all)); }).empty());
  CHECK(s.run(one).dims() == tg::shape{3000000, 1, 1});
  CHECK(s.run(one).dims() == tg::shape{1, 3000000, 1});
  CHECK(s.run(one).dims() == tg::shape{1, 1, 3000000});
}

TEST_CASE("one element of six open axes leaves a queue as it is") {
  constexpr tg::queue_of<"six", queue_options{}, tg::spec<float, tg::dyn, tg::dyn, tg::dyn, tg::dyn, tg::dyn, tg::dyn>>
      q;
  const auto v = tg::placeholder<"v", float, tg::dyn, tg::dyn, tg::dyn, tg::dyn, tg::dyn, tg::dyn>();
  const auto put = tg::enqueue(q, v);
  const auto one = tg::dequeue(q);
  const auto program = tg::compile([=] { return tg::outputs(put, one); });
  tg::session s(program);
  const tg::tensor<float> given({1, 2, 1, 1, 3, 1}, {1, 2, 3, 4, 5, 6});
  s.run(put, v = given);
  CHECK(s.run(one) == given);
}

TEST_CASE("runs that wait hold no thread, and end when they can, are cancelled or the queue is closed") {
  constexpr tg::queue_of<"numbers", queue_options{.capacity = 2}, tg::spec<std::int64_t>> q;
  const auto put = tg::enqueue(q, n);
  const auto get = tg::dequeue(q);
  const auto close = tg::close_queue_now(q);
  const auto program = tg::compile([=] { return tg::outputs(put, get, close); });
  tg::session s(program, {.intra_op_threads = 1, .inter_op_threads = 2});
  constexpr int each = 300;
  std::int64_t sums[3] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 1; i <= each; ++i) s.run(put, n = static_cast<std::int64_t>(i));
    });
    threads.emplace_back([&, t] {
      for (int i = 1; i <= each; ++i) sums[t] += s.run(get);
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(sums[0] + sums[1] + sums[2] == 3 * each * (each + 1) / 2);
  s.run(put, n = std::int64_t{1});
  s.run(put, n = std::int64_t{2});
  tg::status_code ended = tg::status_code::ok;
  std::thread waits([&] { ended = code_of([&] { s.run(put, n = std::int64_t{3}); }); });
  std::this_thread::sleep_for(10ms);
  CHECK(s.run(close) == 2);
  waits.join();
  CHECK(ended == tg::status_code::cancelled);
  CHECK(s.run(get) == 1);
  CHECK(s.run(get) == 2);
  CHECK(code_of([&] { static_cast<void>(s.run(get)); }) == tg::status_code::out_of_range);
}

TEST_CASE("texts pass through a queue of a graph, and what a run returns owns them") {
  using text = std::string_view;
  constexpr tg::queue_of<"names", tg::queue_options{.capacity = 10}, tg::spec<text>, tg::spec<std::int64_t>> names;
  constexpr auto name = tg::placeholder<"name", text>();
  constexpr auto number = tg::placeholder<"number", std::int64_t>();
  const auto put = tg::enqueue(names, name, number);
  const auto [word, at] = tg::dequeue(names);
  const auto [some, numbers] = tg::dequeue_up_to<4>(names);
  const auto close = tg::close_queue(names);
  constexpr tg::queue_of<"second", tg::queue_options{.capacity = 10}, tg::spec<text, 2>> second;
  const auto on = tg::enqueue(second, tg::stack(word, word));
  const auto couples = tg::dequeue_many<2>(second);
  tg::session s(tg::compile([=, word_ = word, at_ = at, some_ = some, numbers_ = numbers] {
    return tg::outputs(put, word_, at_, some_, numbers_, close, on, couples);
  }));
  for (std::int64_t k = 0; k < 9; ++k) {
    std::string fed = "a name that is longer than what a string holds " + std::to_string(k);
    s.run(put, name = fed, number = k);
    fed.assign(fed.size(), '?');
  }
  const auto [first, zero] = s.run(tg::fetch(word, at));
  CHECK(first == "a name that is longer than what a string holds 0");
  CHECK(zero == 0);
  const auto [four, their_numbers] = s.run(tg::fetch(some, numbers));
  s.run(tg::fetch(some, numbers));  // other texts, where the first were
  REQUIRE(four.dims() == tg::shape{4});
  for (int k = 0; k < 4; ++k) {
    CHECK(four[k] == "a name that is longer than what a string holds " + std::to_string(k + 1));
    CHECK(their_numbers[k] == k + 1);
  }
  CHECK_THROWS(s.run(couples, tg::timeout(std::chrono::milliseconds(1))));
  for (std::int64_t k = 9; k < 11; ++k) s.run(put, name = "from here", number = k);
  s.run(on), s.run(on);
  const auto both = s.run(couples);
  CHECK(both == tg::tensor<text>({2, 2}, {"from here", "from here", "from here", "from here"}));
}

TEST_CASE("what is dequeued trains a model on the next line") {
  constexpr tg::queue_of<"batches", queue_options{.capacity = 3}, tg::spec<float, 4, 2>, tg::spec<float, 4, 1>> q;
  constexpr auto in = tg::placeholder<"in", float, 4, 2>();
  constexpr auto out = tg::placeholder<"out", float, 4, 1>();
  const auto put = tg::enqueue(q, in, out);
  const auto [a, b] = tg::dequeue(q);
  const auto loss = tg::mean_squared_error(tg::dense<"layer", 1>(a), b);
  const auto train = tg::minimize(loss, tg::sgd{.learning_rate = 0.1});
  const auto program = tg::compile([=] { return tg::outputs(put, loss, train); });
  tg::session s(program);
  tg::tensor<float> i({4, 2}), o({4, 1});
  for (int k = 0; k < 8; ++k) i[k] = 0.3f * static_cast<float>(k % 5) - 0.5f;
  for (int k = 0; k < 4; ++k) o[k] = i[2 * k] - 2 * i[2 * k + 1];
  float before = 0, after = 0;
  for (int step = 0; step < 200; ++step) {
    s.run(put, in = i, out = o);
    const auto [l, done] = s.run(tg::fetch(loss, train));
    (step == 0 ? before : after) = l;
  }
  CHECK(after < before / 10);
}

}  // namespace
