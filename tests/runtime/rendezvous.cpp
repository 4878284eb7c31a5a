// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/rendezvous.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace tg = tagma;
using tg::runtime::local_rendezvous;

/// How an attempt has ended: "", or the error.
struct outcome {
  std::atomic<int> times{0};
  std::string error;
  void note(const std::exception_ptr& e) {
    try {
      if (e != nullptr) std::rethrow_exception(e);
    } catch (const tg::error& thrown) {
      error = thrown.what();
    }
    ++times;
  }
};
struct giver final : tg::runtime::send_attempt {
  giver() : giver(std::vector<float>{7}) {}
  explicit giver(const std::vector<float>& v) : held(v) {
    value = {held.data(), tg::dtype::float32, {static_cast<tg::extent>(held.size())}};
  }
  void ended(std::exception_ptr e) noexcept override { end.note(e); }
  std::vector<float> held;
  outcome end;
};
struct taker final : tg::runtime::receive_attempt {
  [[nodiscard]] std::byte* place(const tg::tensor_spec& come) override {
    if (refuses) tg::fail(tg::status_code::invalid_argument, "not this one");
    got.resize(static_cast<std::size_t>(come.dims.elements()));
    return reinterpret_cast<std::byte*>(got.data());
  }
  void keep(std::vector<std::byte>) noexcept override {}
  void ended(std::exception_ptr e) noexcept override { end.note(e); }
  std::vector<float> got;
  outcome end;
  bool refuses = false;
};

TEST_CASE("who comes second copies, whoever that is") {
  for (const bool sender_first : {true, false}) {
    local_rendezvous meeting;
    giver give({1, 2, 3});
    taker take;
    if (sender_first) meeting.send(4, 0, give), meeting.receive(4, 1, take);
    if (!sender_first) meeting.receive(4, 1, take), meeting.send(4, 0, give);
    CHECK(take.got == give.held);
    CHECK(give.end.times == 1);
    CHECK(take.end.times == 1);
    CHECK(give.end.error.empty());
    CHECK(take.end.error.empty());
    CHECK(meeting.bytes() == 12);
  }
}

struct text_giver final : tg::runtime::send_attempt {
  explicit text_giver(const std::vector<std::string_view>& v) {
    value = {v.data(), tg::dtype::string, {static_cast<tg::extent>(v.size())}};
  }
  void ended(std::exception_ptr e) noexcept override { end.note(e); }
  outcome end;
};
struct text_taker final : tg::runtime::receive_attempt {
  [[nodiscard]] std::byte* place(const tg::tensor_spec& come) override {
    got.resize(static_cast<std::size_t>(come.dims.elements()));
    return is_read ? reinterpret_cast<std::byte*>(got.data()) : nullptr;
  }
  void keep(std::vector<std::byte> characters) noexcept override { kept = std::move(characters); }
  void ended(std::exception_ptr e) noexcept override { end.note(e); }
  std::vector<std::string_view> got;
  std::vector<std::byte> kept;
  outcome end;
  bool is_read = true;
};

TEST_CASE("who takes texts has their characters, whatever becomes of those that were handed over") {
  for (const bool is_read : {true, false})
    for (const int count : {0, 1, 4}) {
      local_rendezvous meeting;
      std::vector<std::string> all{"", std::string(100'000, 'x'), "\0a", "z"};
      const std::vector<std::string> expected(all.begin(), all.begin() + count);
      const std::vector<std::string_view> views(all.begin(), all.begin() + count);
      std::size_t bytes = 0;
      for (const std::string& t : expected) bytes += 8 + t.size();
      text_giver give(views);
      text_taker take;
      take.is_read = is_read;
      meeting.receive(4, 1, take);
      meeting.send(4, 0, give);
      for (std::string& t : all) t.assign(t.size(), '!');
      REQUIRE(take.end.times == 1);
      CHECK(take.end.error.empty());
      CHECK(give.end.times == 1);
      CHECK(meeting.bytes() == static_cast<std::int64_t>(bytes));
      if (!is_read) continue;
      CHECK(take.got.size() == expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) CHECK(take.got[i] == expected[i]);
    }
}

TEST_CASE("edges do not meet one another, and what is not met waits") {
  local_rendezvous meeting;
  giver give({1});
  taker take, other;
  meeting.send(1, 0, give);
  meeting.receive(2, 0, take);
  CHECK(give.end.times == 0);
  CHECK(take.end.times == 0);
  meeting.cancel(2, take);
  CHECK(take.end.error.find("Cancelled") == 0);
  meeting.cancel(2, take);  // it waits no more
  CHECK(take.end.times == 1);
  meeting.receive(1, 0, other);
  CHECK(other.got == std::vector<float>{1});
}

TEST_CASE("a receiver that has no place for what comes fails alone") {
  local_rendezvous meeting;
  giver give({1});
  taker take;
  take.refuses = true;
  meeting.receive(1, 0, take);
  meeting.send(1, 0, give);
  CHECK(give.end.error.empty());
  CHECK(take.end.error == "InvalidArgument: not this one");
}

TEST_CASE("an edge has two ends") {
  local_rendezvous meeting;
  giver one({1}), two({2});
  meeting.send(1, 0, one);
  CHECK_THROWS_AS(meeting.send(1, 0, two), tg::error);
}

TEST_CASE("behind an end with an error nothing waits") {
  local_rendezvous meeting;
  giver give({1}), late({2});
  taker take;
  meeting.send(1, 0, give);
  meeting.receive(2, 0, take);
  meeting.abort(tg::error(tg::status_code::unavailable, "task 1 is lost"));
  CHECK(give.end.error == "Unavailable: task 1 is lost");
  CHECK(take.end.error == "Unavailable: task 1 is lost");
  CHECK_THROWS_AS(meeting.send(3, 0, late), tg::error);
  meeting.abort(tg::error(tg::status_code::internal, "again"));
  CHECK(give.end.times == 1);
}

TEST_CASE("many threads hand over, take and cancel, and each attempt ends once") {
  local_rendezvous meeting;
  constexpr int edges = 400;
  std::vector<giver> give(edges);
  std::vector<taker> take(edges);
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    for (int i = 0; i < edges; ++i) meeting.send(i, 0, give[static_cast<std::size_t>(i)]);
  });
  threads.emplace_back([&] {
    for (int i = edges; i-- > 0;) meeting.receive(i, 0, take[static_cast<std::size_t>(i)]);
  });
  threads.emplace_back([&] {
    for (int i = 0; i < edges; i += 3) meeting.cancel(i, give[static_cast<std::size_t>(i)]);
  });
  for (std::thread& t : threads) t.join();
  meeting.abort(tg::error(tg::status_code::cancelled, "the end"));
  for (int i = 0; i < edges; ++i) {
    INFO(i);
    CHECK(give[static_cast<std::size_t>(i)].end.times == 1);
    CHECK(take[static_cast<std::size_t>(i)].end.times == 1);
  }
}

}  // namespace
