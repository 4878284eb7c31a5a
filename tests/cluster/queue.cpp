// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/queue.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <set>
#include <thread>

#include "support/errors.hpp"
#include "support/servers.hpp"
#include "tagma/program_files.hpp"
#include "tagma/programs.hpp"
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;
using tg::test::servers;
using tg::test::text_of;

const tg::cluster two({{"ps", {"a:1"}}, {"worker", {"b:1"}}});
const tg::task_id ps{"ps", 0};

using pairs = tg::cluster_queue<tg::spec<float, 2>, tg::spec<std::int64_t>>;

TEST_CASE("a queue of a server is used as one of this process") {
  servers all(two);
  const pairs q(all.network, two, ps, "examples", {.capacity = 5}, all.client());
  const pairs same(all.network, two, ps, "examples", {.capacity = 5}, all.client());
  q.enqueue(tg::tensor<float>({2}, {1, 2}), 3);
  q.enqueue_many(tg::tensor<float>({2, 2}, {3, 4, 5, 6}), tg::tensor<std::int64_t>({2}, {7, 8}));
  CHECK(same.size() == 3);
  {
    const auto [row, label] = same.dequeue();
    CHECK(row.dims() == tg::shape{2});
    CHECK(row[1] == 2);
    CHECK(label[0] == 3);
  }
  const auto [rows, labels] = same.dequeue_many(2);
  CHECK(rows.dims() == tg::shape{2, 2});
  CHECK(rows.data()[2] == 5);
  CHECK(labels[1] == 8);
  // More than there is room for, while somebody takes.
  std::thread puts([&] {
    for (std::int64_t i = 0; i < 12; ++i) q.enqueue(tg::tensor<float>({2}, {0, static_cast<float>(i)}), i);
    q.close();
  });
  const auto most = same.dequeue_many(8);
  CHECK(most.get<1>()[7] == 7);
  puts.join();
  CHECK(same.dequeue_up_to(8).get<1>().size() == 4);
  const std::string closed = text_of([&] { (void)same.dequeue(); });
  CHECK(closed.starts_with("OutOfRange: /job:ps/replica:0/task:0: "));
  CHECK(closed.find(" (run at ") == std::string::npos);  // which would be a line of the server
  CHECK(text_of([&] { q.enqueue(tg::tensor<float>({2}), 1); }).starts_with("Cancelled: "));
  CHECK(text_of([&] { q.close(); }).starts_with("Cancelled: "));
}

TEST_CASE("who is late or cancelled takes nothing from a queue of a server") {
  servers all(two);
  const pairs q(all.network, two, ps, "examples", {}, all.client());
  q.enqueue(tg::tensor<float>({2}), 1);
  const std::string late = text_of([&] { (void)q.dequeue_many(2, tg::timeout(20ms)); });
  INFO(late);
  CHECK(late.starts_with("DeadlineExceeded: "));
  CHECK(q.size() == 1);
  tg::cancellation stop;
  std::thread stops([&] { stop.cancel(); });
  CHECK(text_of([&] { (void)q.dequeue_many(2, tg::stop_with(stop)); }).starts_with("Cancelled: "));
  stops.join();
  CHECK(q.size() == 1);
  CHECK(q.dequeue(tg::timeout(20s)).get<1>()[0] == 1);
}

TEST_CASE("elements are neither lost nor there twice, whoever gives up") {
  servers all(two);
  using numbers = tg::cluster_queue<tg::spec<std::int64_t>>;
  constexpr std::int64_t count = 400;
  constexpr int takers = 3;
  std::vector<std::vector<std::int64_t>> got(takers);
  std::thread puts([&, how = all.client()] {
    const numbers q(all.network, two, ps, "numbers", {.capacity = 3}, how);
    for (std::int64_t i = 0; i < count; ++i) q.enqueue(i);
    q.close();
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < takers; ++t)
    threads.emplace_back([&, t, how = all.client()] {
      const numbers q(all.network, two, ps, "numbers", {.capacity = 3}, how);
      std::mt19937 random(static_cast<unsigned>(t));
      for (;;) try {
          const auto n = static_cast<tg::extent>(random() % 4 + 1);
          const auto some = q.dequeue_up_to(n, tg::timeout(std::chrono::microseconds(random() % 600)));
          for (const std::int64_t i : some.get<0>()) got[static_cast<std::size_t>(t)].push_back(i);
        } catch (const tg::error& e) {
          if (e.code() == tg::status_code::out_of_range) return;
          if (e.code() != tg::status_code::deadline_exceeded) throw;
        }
    });
  puts.join();
  for (auto& t : threads) t.join();
  std::set<std::int64_t> seen;
  std::size_t taken = 0;
  for (const auto& one : got) {
    CHECK(std::is_sorted(one.begin(), one.end()));
    seen.insert(one.begin(), one.end());
    taken += one.size();
  }
  CHECK(taken == static_cast<std::size_t>(count));
  CHECK(seen.size() == static_cast<std::size_t>(count));
}

TEST_CASE("queues of servers of every kind") {
  servers all(two);
  const auto how = all.client();
  const tg::cluster_queue<tg::spec<std::string_view>> first(all.network, two, ps, "first",
                                                            {.kind = tg::queue_kind::priority}, how);
  first.enqueue_at(9, tg::tensor<std::string_view>({}, {"last"}));
  first.enqueue_at(-4, tg::tensor<std::string_view>({}, {"first, with \0 in it"}));
  const std::int64_t between[] = {0, 0};
  first.enqueue_many_at(between, tg::tensor<std::string_view>({2}, {"", "between"}));
  CHECK(text_of([&] { first.enqueue("x"); }) == "InvalidArgument: queue 'first': each element needs a priority");
  CHECK(first.dequeue().get<0>()[0] == "first, with \0 in it");
  CHECK(first.dequeue().get<0>()[0].empty());
  const auto rest = first.dequeue_many(2);
  CHECK(rest.get<0>()[1] == "last");

  const tg::cluster_queue<tg::spec<int, tg::dyn>> padded(all.network, two, ps, "padded",
                                                         {.kind = tg::queue_kind::padding}, how);
  padded.enqueue(tg::tensor<int>({1}, {5}));
  padded.enqueue(tg::tensor<int>({3}, {6, 7, 8}));
  const auto both = padded.dequeue_many(2);
  CHECK(both.get<0>().dims() == tg::shape{2, 3});
  CHECK(both.get<0>().data()[1] == 0);

  const tg::cluster_queue<tg::spec<int>> mixed(
      all.network, two, ps, "mixed", {.kind = tg::queue_kind::shuffle, .min_after_dequeue = 2, .seed = 5}, how);
  for (int i = 0; i < 6; ++i) mixed.enqueue(i);
  const auto four = mixed.dequeue_many(4);
  CHECK(text_of([&] { (void)mixed.dequeue(tg::timeout(10ms)); }).starts_with("DeadlineExceeded: "));
  mixed.close();
  const auto two_more = mixed.dequeue_up_to(9);
  std::multiset<int> seen;
  for (const int i : four.get<0>()) seen.insert(i);
  for (const int i : two_more.get<0>()) seen.insert(i);
  CHECK(seen == std::multiset<int>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("a program and a queue of a server are the two ends of one queue") {
  servers all(two);
  constexpr tg::queue_of<"work", tg::queue_options{.capacity = 4}, tg::spec<float>> work;
  const auto twice = 2.0f * tg::dequeue(work);
  const tg::any_program program(tg::compile([=] { return tg::outputs(tg::on<"/job:ps/task:0">(twice)); }), {"twice"});
  tg::cluster_session session(all.network, two, {"worker", 0}, program, all.client());
  const tg::cluster_queue<tg::spec<float>> q(all.network, two, ps, "work", {.capacity = 4}, all.client());
  std::thread puts([&] { q.enqueue(21.0f); });
  CHECK(session.run("twice", tg::timeout(20s)).value<float>() == 42);
  puts.join();
  const std::string other = text_of([&] {
    const tg::cluster_queue<tg::spec<float>> wrong(all.network, two, ps, "work", {.capacity = 5}, all.client());
  });
  INFO(other);
  CHECK(other.find("/job:ps/replica:0/task:0: ") != std::string::npos);
  CHECK(other.find("'work'") != std::string::npos);
  CHECK(text_of([&] { q.enqueue(tg::tensor<float>({2})); }).find("one_0") != std::string::npos);
}

TEST_CASE("many different counts are as good as one") {
  servers all(two);
  const tg::cluster_queue<tg::spec<int>> q(all.network, two, ps, "many", {}, all.client());
  for (tg::extent n = 1; n < 40; ++n) {
    tg::tensor<int> rows({n});
    q.enqueue_many(rows);
    REQUIRE(q.dequeue_many(n).get<0>().size() == static_cast<std::size_t>(n));
  }
  for (const tg::extent count : {-1, -2}) {
    CHECK(text_of([&] { (void)q.dequeue_many(count); }).starts_with("InvalidArgument: "));
    CHECK(text_of([&] { (void)q.dequeue_up_to(count); }).starts_with("InvalidArgument: "));
  }
}

}  // namespace
