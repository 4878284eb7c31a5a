// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A few processes of a world that talk to each other at random while everything goes wrong, and the promises of
/// connections checked at every step: messages come once, whole and in order, calls and attempts end once, nothing is
/// lost but with a connection, and when the faults are over there is progress.

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tagma/transport/simulated/world.hpp"
#include "transport/services.hpp"

namespace tagma::transport::test {

/// What a run of a world has found.
struct findings {
  std::vector<std::string> wrong{};
  std::uint64_t history = 0, messages = 0, answers = 0, losses = 0;

  void check(bool good, const std::string& what) {
    if (!good && wrong.size() < 5) wrong.push_back(what);
  }
};

/// The bytes of a message, by who sends it, and its number.
inline void fill(std::vector<std::byte>& to, std::uint64_t number) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<std::byte>((i >> 8) * 31 + i * 7 + number * 13);
}

class random_world {
 public:
  explicit random_world(std::uint64_t seed) : world_(seed), dice_(seed + (std::uint64_t{1} << 40)) {}
  ~random_world() { over_ = true; }
  random_world(const random_world&) = delete;
  random_world& operator=(const random_world&) = delete;

  findings run() {
    for (int i = 0; i < 3; ++i) begin(i);
    const int rounds = 30 + static_cast<int>(dice_.below(30));
    for (int i = 0; i < rounds; ++i) {
      draw_weather();
      if (dice_.one_in(6)) draw_fault();
      for (int p = 0; p < 3; ++p) act(p);
      world_.run_for(static_cast<std::int64_t>(dice_.below(300)) * ms);
    }
    calm();
    found_.history = world_.history();
    return found_;
  }

 private:
  struct process;
  struct talk;

  /// A message with all that belongs to it.
  struct letter final : call, send_attempt {
    random_world* of = nullptr;
    int process = 0, life = 0;
    std::uint64_t number = 0;
    std::vector<std::byte> bulk{}, answer{};
    bool asks = false, keeps_answer = false;
    int ends = 0, frees = 0;

    placement place(const incoming& m) override {
      of->found_.check(ends == 0, "the answer of a call that has ended is placed");
      if (!keeps_answer) return placement::buffered();
      answer.resize(m.bulk_size);
      return placement::at(answer.data());
    }
    void replied(incoming& m) noexcept override {
      ++ends;
      ++of->found_.answers;
      std::vector<std::byte> wanted(m.bulk.size());
      fill(wanted, number + 1);
      of->found_.check(std::equal(wanted.begin(), wanted.end(), m.bulk.begin()), "an answer is not whole");
      of->found_.check(m.body == std::to_string(number), "an answer to something else");
    }
    void failed(const error& why) noexcept override {
      ++ends;
      of->check_error(why);
    }
    void ended(std::exception_ptr) noexcept override {
      ++frees;
      bulk.assign(bulk.size(), std::byte{0xee});  // whoever reads it later sends damaged bytes
    }
  };

  /// One end of a connection.
  struct talk final : handler {
    random_world* of = nullptr;
    int process = 0, life = 0;
    std::shared_ptr<transport::link> with{};  // of who connects
    transport::link* there = nullptr;
    std::uint64_t sent = 0, came = 0;
    bool is_over = false, is_open = false, full = false;
    std::deque<receipt> held{};
    std::map<std::uint32_t, std::vector<std::byte>> places{};

    [[nodiscard]] bool is_alive() const { return !of->over_ && life == of->processes_[process].life; }

    void connected(transport::link& l) override {
      of->found_.check(is_alive(), "a process that is no more is told");
      there = &l;
      is_open = true;
    }
    /// In the order of sending, without a gap.
    void announced(const incoming& m) {
      of->found_.check(is_alive() && !is_over, "a message after the end");
      std::uint64_t number = 0;
      for (const char c : m.body.substr(0, m.body.find(' '))) number = number * 10 + static_cast<unsigned>(c - '0');
      // Those that were cancelled before they went leave gaps.
      of->found_.check(number > came, "message " + std::to_string(number) + " came behind " + std::to_string(came));
      came = number;
      ++of->found_.messages;
    }
    placement place(transport::link&, const incoming& m) override {
      announced(m);
      const std::uint64_t drawn = of->dice_.below(8);
      if (drawn == 0) return placement::refused(error(status_code::not_found, "not wanted"));
      if (drawn < 4) return placement::buffered();
      std::vector<std::byte>& v = places[m.transfer];
      v.resize(m.bulk_size);
      return placement::at(v.data());
    }
    void received(transport::link& l, incoming& m) override {
      if (m.bulk_size == 0) announced(m);
      of->found_.check(is_alive() && !is_over, "a message after the end");
      const std::uint64_t number = std::stoull(std::string(m.body));
      std::vector<std::byte> wanted(m.bulk.size());
      fill(wanted, number);
      of->found_.check(std::equal(wanted.begin(), wanted.end(), m.bulk.begin()),
                       "message " + std::to_string(number) + " is not whole");
      places.erase(m.transfer);
      if (of->dice_.one_in(3)) {
        m.held = true;
        held.push_back(m.receipt);
      }
      if (m.wants_reply) of->answer(*this, l, m, number);
    }
    void abandoned(transport::link&, std::uint32_t transfer) override { places.erase(transfer); }
    void writable(transport::link&) override { full = false; }
    void closed(transport::link&) override { end(); }
    void lost(transport::link&, const error& why) override {
      of->check_error(why);
      ++of->found_.losses;
      end();
    }
    void end() {
      of->found_.check(!is_over, "the end of a connection comes twice");
      is_over = true;
      there = nullptr;
    }
    void let_go() {
      for (; !held.empty() && there != nullptr; held.pop_front()) there->consumed(held.front());
    }
  };

  struct process_state {
    int life = 0;
    std::map<int, std::shared_ptr<talk>> to{};  // connections that it began
    std::vector<std::shared_ptr<talk>> from{};
  };

  [[nodiscard]] static std::string name_of(int p) { return "p" + std::to_string(p); }

  [[nodiscard]] options settings(int p) {
    options o = task("worker", p);
    o.secret = "secret";
    o.self.incarnation = dice_.next();
    o.limits.body_bytes = 1024;
    o.limits.window_bytes = std::uint64_t{4096} << dice_.below(8);
    o.limits.chunk_bytes = 1024u << dice_.below(6);
    o.limits.transfers = static_cast<std::uint32_t>(1 + dice_.below(8));
    o.limits.buffered_bytes = 200'000;
    o.limits.queued_messages = 1 + dice_.below(40);
    return o;
  }

  void check_error(const error& why) {
    found_.check(why.code() == status_code::unavailable || why.code() == status_code::deadline_exceeded ||
                     why.code() == status_code::cancelled || why.code() == status_code::not_found ||
                     why.code() == status_code::resource_exhausted,
                 why.what());
  }

  void begin(int p) {
    simulated::network& n = world_.process(name_of(p));
    n.listen(name_of(p), settings(p), [this, p] {
      auto t = std::make_shared<talk>();
      t->of = this;
      t->process = p;
      t->life = processes_[p].life;
      processes_[p].from.push_back(t);
      return t;
    });
  }

  void act(int p) {
    process_state& me = processes_[p];
    for (int q = 0; q < p; ++q) {
      std::shared_ptr<talk>& t = me.to[q];
      if (t == nullptr || t->is_over) {
        t = std::make_shared<talk>();
        t->of = this;
        t->process = p;
        t->life = me.life;
        options how = settings(p);
        how.wanted_task = q;
        t->with = world_.process(name_of(p)).connect(name_of(q), how, t, 2 * s);
      }
      for (std::uint64_t n = dice_.below(12); n > 0; --n) send(*t, t->with.get());
      if (dice_.one_in(3)) t->let_go();
      if (!calm_ && dice_.one_in(40)) t->with->close();
    }
    for (const auto& t : me.from) {
      if (t->there == nullptr) continue;
      for (std::uint64_t n = dice_.below(6); n > 0; --n) send(*t, t->there);
      if (dice_.one_in(3)) t->let_go();
    }
    std::erase_if(me.from, [](const auto& t) { return t->is_over; });
  }

  letter& write(const talk& t, std::uint64_t number) {
    letters_.push_back(std::make_unique<letter>());
    letter& l = *letters_.back();
    l.of = this;
    l.process = t.process;
    l.life = t.life;
    l.number = number;
    return l;
  }

  [[nodiscard]] std::size_t draw_size() {
    return static_cast<std::size_t>(dice_.below(std::uint64_t{2} << dice_.below(17)));
  }

  void send(talk& t, transport::link* to) {
    if (to == nullptr || t.full) return;
    letter& l = write(t, t.sent + 1);
    l.bulk.resize(dice_.one_in(2) ? draw_size() : 0);
    fill(l.bulk, l.number);
    l.keeps_answer = dice_.one_in(2);
    outgoing m{.kind = 1, .body = std::to_string(l.number) + " " + std::string(dice_.below(200), 'b'), .bulk = l.bulk};
    m.attempt = &l;
    send_result r;
    if (dice_.one_in(2)) {
      r = to->start(std::move(m), static_cast<std::int64_t>(1 + dice_.below(2000)) * ms, l);
      l.asks = static_cast<bool>(r);
    } else {
      r = to->send(std::move(m));
    }
    t.full = r.status == send_status::full;
    if (!r) {
      letters_.pop_back();
      return;
    }
    ++t.sent;
    if (dice_.one_in(10)) to->cancel(r.number);
  }

  void answer(const talk& t, transport::link& l, const incoming& m, std::uint64_t number) {
    if (dice_.one_in(20)) return;
    letter& a = write(t, number);
    a.bulk.resize(dice_.one_in(2) ? draw_size() : 0);
    fill(a.bulk, number + 1);
    const send_result r =
        l.reply(m.request, {.kind = 2, .body = std::to_string(number), .bulk = a.bulk, .attempt = &a});
    if (!r) letters_.pop_back();
  }

  void draw_weather() {
    simulated::weather& w = world_.weather;
    w.delay_ns = static_cast<std::int64_t>(1 + dice_.below(20)) * ms / 10;
    w.jitter_ns = dice_.one_in(2) ? 5 * ms : 0;
    w.bytes_per_second = dice_.one_in(2) ? 20'000'000 : 0;
    w.pipe_bytes = 1000u << dice_.below(10);
    w.splits = dice_.one_in(2);
  }

  void draw_fault() {
    const int a = static_cast<int>(dice_.below(3)), b = (a + 1 + static_cast<int>(dice_.below(2))) % 3;
    switch (dice_.below(6)) {
      case 0:
        return world_.cut(name_of(a), name_of(b));
      case 1:
        return world_.part(name_of(a), name_of(b));
      case 2:
        return world_.join(name_of(a), name_of(b));
      case 3:
        return world_.stop(name_of(a), static_cast<std::int64_t>(dice_.below(5000)) * ms);
      case 4:
        return world_.advance_clock(name_of(a), static_cast<std::int64_t>(dice_.below(200)) * ms);
      default:
        restart(a);
    }
  }

  void restart(int p) {
    world_.restart(name_of(p), dice_.one_in(2));
    const int life = processes_[p].life + 1;
    processes_[p] = {};
    processes_[p].life = life;
    begin(p);
  }

  /// The faults are over.
  void calm() {
    calm_ = true;
    world_.weather = {};
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < a; ++b) world_.join(name_of(a), name_of(b));
    world_.run_for(15 * s);  // what was lost is noticed
    for (int p = 0; p < 3; ++p) act(p);
    for (int i = 0; i < 40; ++i) {
      for (auto& p : processes_) {
        for (auto& [q, t] : p.to) t->let_go();
        for (auto& t : p.from) t->let_go();
      }
      world_.run_for(500 * ms);
    }
    for (int p = 0; p < 3; ++p)
      for (const auto& [q, t] : processes_[p].to) {
        found_.check(t->is_open && !t->is_over, "no connection from " + name_of(p) + " to " + name_of(q));
        found_.check(t->with->counters().queued == 0, "something is left to be sent");
        letter& l = write(*t, ++t->sent);
        l.asks = static_cast<bool>(t->with->start({.kind = 1, .body = std::to_string(l.number)}, 60 * s, l));
        found_.check(l.asks, "a connection that takes nothing");
      }
    world_.run_for(70 * s);
    for (const auto& l : letters_) {
      if (l->life != processes_[l->process].life) continue;
      if (l->asks) found_.check(l->ends == 1, "a call ended " + std::to_string(l->ends) + " times");
      if (!l->bulk.empty()) found_.check(l->frees == 1, "bulk was free " + std::to_string(l->frees) + " times");
    }
  }

  std::vector<std::unique_ptr<letter>> letters_;
  process_state processes_[3];
  findings found_;
  bool over_ = false, calm_ = false;
  simulated::world world_;
  simulated::dice dice_;
};

}  // namespace tagma::transport::test
