// SPDX-License-Identifier: BSL-1.0
// Random attempts on one queue, with deadlines on a clock that stands until somebody lets it go on, beside a model of
// the rules that says of each attempt when and how it ends, and with what. TAGMA_QUEUE_SEEDS says how many seeds, 2,000
// if it is not set.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "tagma/runtime/queue.hpp"

namespace {

namespace tg = tagma;
using tg::extent, tg::queue_kind;
using tg::runtime::queue;

/// How an attempt ends.
enum class ending { waits, done, cancelled, few, closed, closed_twice };

struct element {
  std::int64_t priority = 0, arrival = 0, value = 0;
  bool operator<(const element& o) const { return std::pair(priority, arrival) < std::pair(o.priority, o.arrival); }
};

struct modelled {
  enum class what { enqueue, dequeue, close };
  what does = what::enqueue;
  std::deque<element> elements;  ///< that are not added yet, or that it holds
  extent wanted = 0;
  bool up_to = false;
  int deadline = 0;
  ending how = ending::waits;
  extent left = 0;  ///< in the queue, where it ended with too few
};

/// What the rules say.
class model {
 public:
  model(queue_kind kind, extent capacity, extent least) : kind_(kind), capacity_(capacity), least_(least) {}

  void begin(modelled& a) {
    if (a.does == modelled::what::dequeue ? a.wanted == 0 : a.does == modelled::what::enqueue && a.elements.empty()) {
      a.how = ending::done;
      return;
    }
    line_of(a).push_back(&a);
    flush();
  }
  void cancel(modelled& a) {
    if (a.how != ending::waits) return;
    auto& line = line_of(a);
    line.erase(std::find(line.begin(), line.end(), &a));
    if (a.does == modelled::what::dequeue) put_back(a);
    a.how = ending::cancelled;
    flush();
  }
  void close_now() {
    closed = true;
    for (modelled* a : writers_) a->how = ending::cancelled;
    writers_.clear();
    flush();
  }
  [[nodiscard]] extent size() const { return static_cast<extent>(held_.size()); }

  bool closed = false;

 private:
  [[nodiscard]] std::deque<modelled*>& line_of(const modelled& a) {
    return a.does == modelled::what::dequeue ? readers_ : writers_;
  }
  void flush() {
    for (bool moved = true; moved;) {
      moved = false;
      while (write()) moved = true;
      while (read()) moved = true;
    }
  }
  /// True if the first who adds has done something.
  bool write() {
    if (writers_.empty()) return false;
    modelled& a = *writers_.front();
    const bool closes = a.does == modelled::what::close;
    const auto before = a.elements.size();
    if (closed) {
      a.how = closes ? ending::closed_twice : ending::closed;
    } else if (closes) {
      closed = true;
      a.how = ending::done;
    } else {
      for (; !a.elements.empty() && (capacity_ < 0 || size() < capacity_); a.elements.pop_front())
        add(a.elements.front());
      if (a.elements.empty()) a.how = ending::done;
    }
    if (a.how != ending::waits) writers_.pop_front();
    return a.how != ending::waits || a.elements.size() != before;
  }
  bool read() {
    if (readers_.empty()) return false;
    modelled& a = *readers_.front();
    const extent there = closed ? size() : std::max<extent>(size() - least_, 0);
    const extent missing = a.wanted - static_cast<extent>(a.elements.size());
    const bool together = kind_ == queue_kind::priority && !(closed && a.up_to);
    const extent taken = there >= missing ? missing : together ? 0 : there;
    for (extent i = 0; i < taken; ++i) a.elements.push_back(take());
    if (taken == missing || (closed && a.up_to && !a.elements.empty())) {
      a.how = ending::done;
    } else if (closed) {
      put_back(a);
      a.how = ending::few;
      a.left = size();
    }
    if (a.how != ending::waits) readers_.pop_front();
    return a.how != ending::waits || taken > 0;
  }
  void add(element e) {
    e.arrival = ++arrivals_;
    held_.push_back(e);
  }
  element take() {
    auto at = held_.begin();
    if (kind_ == queue_kind::priority) at = std::min_element(held_.begin(), held_.end());
    const element e = *at;
    held_.erase(at);
    return e;
  }
  void put_back(modelled& a) {
    held_.insert(held_.begin(), a.elements.begin(), a.elements.end());
    a.elements.clear();
  }

  queue_kind kind_;
  extent capacity_, least_;
  std::deque<element> held_;
  std::deque<modelled*> writers_, readers_;
  std::int64_t arrivals_ = 0;
};

class attempt final : public tg::runtime::queue_attempt {
 public:
  int times = 0;
  std::string error;
  [[nodiscard]] std::vector<std::int64_t> values() const {
    std::vector<std::int64_t> all;
    elements.each([&](extent, const tg::runtime::queue_element& e) {
      all.push_back(*static_cast<const std::int64_t*>(e.component(0).data));
    });
    return all;
  }

 private:
  void ended(std::exception_ptr e) noexcept override {
    ++times;
    if (e != nullptr) error = tg::test::text_of([&] { std::rethrow_exception(e); });
  }
};

const tg::tensor_spec number{tg::dtype::int64, {}};

/// @return what happened, step by step
std::string live(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const auto kind = static_cast<queue_kind>(below(4));
  const extent capacity = below(5) == 0 ? -1 : below(6) == 0 ? 0 : 1 + below(4);
  const extent least =
      kind != queue_kind::shuffle ? 0 : below(capacity < 0 ? 4 : std::max(1, static_cast<int>(capacity)));
  queue q("q", {.kind = kind, .capacity = capacity, .min_after_dequeue = least, .seed = seed}, {&number, 1});
  model rules(kind, capacity, least);
  struct both {
    attempt real;
    modelled expected;
  };
  std::vector<std::unique_ptr<both>> all;
  std::string log;
  int now = 0;
  std::int64_t next = 0;
  const auto cancel = [&](both& a) {
    q.cancel(a.real);
    rules.cancel(a.expected);
  };
  for (int step = 0; step < 60; ++step) {
    const int what = below(24);
    const auto add = [&](modelled::what does) -> both& {
      both& a = *all.emplace_back(std::make_unique<both>());
      a.expected.does = does;
      a.expected.deadline = below(3) == 0 ? now + 1 + below(4) : 1 << 30;
      return a;
    };
    if (what < 8) {
      both& a = add(modelled::what::enqueue);
      std::vector<std::int64_t> values, priorities;
      for (int n = what < 4 ? 1 : below(7); n > 0; --n) {
        values.push_back(next++);
        priorities.push_back(below(3));
        a.expected.elements.push_back({kind == queue_kind::priority ? priorities.back() : 0, 0, values.back()});
      }
      const tg::raw_view rows{values.data(), tg::dtype::int64, tg::shape{static_cast<extent>(values.size())}};
      const tg::array_view<const std::int64_t> of_rows(priorities);
      q.enqueue(a.real, q.make_rows({&rows, 1}, kind == queue_kind::priority ? &of_rows : nullptr));
      rules.begin(a.expected);
    } else if (what < 15) {
      both& a = add(modelled::what::dequeue);
      a.expected.wanted = what < 10 ? 1 : below(6);
      a.expected.up_to = what >= 13;
      if (kind == queue_kind::priority && capacity >= 0 && !(a.expected.up_to && rules.closed))
        a.expected.wanted = std::min(a.expected.wanted, capacity);
      q.dequeue(a.real, a.expected.wanted, a.expected.up_to);
      rules.begin(a.expected);
    } else if (what < 18 && !all.empty()) {
      cancel(*all[static_cast<std::size_t>(below(static_cast<int>(all.size())))]);
    } else if (what == 18 && below(4) == 0) {
      both& a = add(modelled::what::close);
      q.close(a.real);
      rules.begin(a.expected);
    } else if (what == 19 && below(12) == 0) {
      q.close_now();
      rules.close_now();
    } else {
      ++now;
      for (const auto& a : all)
        if (a->expected.deadline == now) cancel(*a);
    }
    CHECK(q.size() == rules.size());
    CHECK(q.is_closed() == rules.closed);
    log += std::to_string(q.size()) + (rules.closed ? "c" : " ");
    for (const auto& a : all) {
      const ending how = a->expected.how;
      CHECK(a->real.times == (how == ending::waits ? 0 : 1));
      if (how == ending::waits || a->real.times == 0) continue;
      const std::string& error = a->real.error;
      const auto says = [&](const char* code, const std::string& text) {
        return error.starts_with(code) && error.find(text) != std::string::npos;
      };
      if (how == ending::done) CHECK(error.empty());
      if (how == ending::cancelled) CHECK(says("Cancelled: ", "operation was cancelled"));
      if (how == ending::few) CHECK(says("OutOfRange: ", "current size " + std::to_string(a->expected.left) + ")"));
      if (how == ending::closed) CHECK(says("Cancelled: ", " is closed"));
      if (how == ending::closed_twice) CHECK(says("Cancelled: ", " is already closed"));
      if (a->expected.does != modelled::what::dequeue) continue;
      const std::vector<std::int64_t> got = a->real.values();
      for (const std::int64_t v : got) log += std::to_string(v) + ",";
      CHECK(got.size() == a->expected.elements.size());
      if (kind == queue_kind::shuffle) continue;
      for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == a->expected.elements[i].value);
    }
  }
  // Each element is in one place, and nothing waits for ever.
  q.close_now();
  rules.close_now();
  std::vector<std::int64_t> seen;
  for (const auto& a : all) {
    CHECK(a->real.times == 1);
    if (a->expected.does == modelled::what::dequeue)
      for (const std::int64_t v : a->real.values()) seen.push_back(v);
  }
  std::sort(seen.begin(), seen.end());
  CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
  return log;
}

TEST_CASE("random lives of queues are what the rules say, with deadlines, and are the same again") {
  const char* const asked = std::getenv("TAGMA_QUEUE_SEEDS");
  const unsigned seeds = asked == nullptr ? 2000 : static_cast<unsigned>(std::atoi(asked));
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    INFO("seed " << seed);
    const std::string once = live(seed);
    REQUIRE(once == live(seed));
  }
}

}  // namespace
