// SPDX-License-Identifier: BSL-1.0
#include "tagma/transport/connection.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "transport/pair.hpp"

namespace tagma::transport::test {

using Catch::Matchers::Contains;

namespace {

/// A pair that has met.
struct met : both {
  explicit met(const options& client = task("worker"), const options& server = task("ps")) : both(client, server) {
    run();
    REQUIRE(at_a->last() == "connected");
    REQUIRE(at_b->last() == "connected");
  }
};

options small_window(options o, std::uint64_t window) {
  o.limits.window_bytes = window;
  o.limits.body_bytes = 1024;
  return o;
}

}  // namespace

TEST_CASE("two ends meet, and know each other") {
  met p;
  CHECK(to_string(p.a.peer()) == "/job:ps/task:0");
  CHECK(p.b.peer().job == "worker");
  CHECK(p.b.peer().incarnation == 7);
  CHECK(p.b.peer().library == TAGMA_VERSION);
}

TEST_CASE("who waits for ever is not due at once") {
  options patient = task("worker");
  patient.patience.lost_ns = patient.patience.handshake_ns = patient.patience.close_ns = INT64_MAX;
  both p(patient);
  p.now = s;
  p.run();
  CHECK(p.at_a->last() == "connected");
  p.pass(3600 * s);
  CHECK(p.a.with([](const connection& c) { return c.next_timer(); }) > p.now);
  p.a.close();
  p.a.advance();
  CHECK(p.a.with([](const connection& c) { return c.next_timer(); }) > p.now);
}

TEST_CASE("messages arrive once, whole and in order") {
  met p;
  for (std::uint16_t i = 0; i < 100; ++i) REQUIRE(p.a.send({.kind = i, .body = std::string(i, 'x')}));
  p.run();
  const std::vector<got> messages = p.at_b->messages();
  REQUIRE(messages.size() == 100);
  for (std::uint16_t i = 0; i < 100; ++i) CHECK((messages[i].kind == i && messages[i].body == std::string(i, 'x')));
  CHECK(p.a.counters().messages_sent == 100);
  CHECK(p.b.counters().messages_received == 100);
  CHECK(p.a.counters().bytes_sent == p.b.counters().bytes_received);
  CHECK(p.a.counters().frames_sent == p.b.counters().frames_received);
}

TEST_CASE("a message that was queued before the ends met is sent then") {
  both p;
  REQUIRE(p.a.send({.kind = 3, .body = "early"}));
  p.run();
  REQUIRE(p.at_b->size() == 1);
  CHECK(p.at_b->messages()[0].body == "early");
}

TEST_CASE("bulk goes to where it is placed") {
  met p;
  const std::vector<std::byte> bulk = pattern(1'000'003);
  std::vector<std::byte> to(bulk.size());
  p.at_b->places = [&](link&, const incoming& m) {
    CHECK(m.kind == 5);
    CHECK(m.body == "here");
    CHECK(m.bulk_size == bulk.size());
    return placement::at(to.data());
  };
  watched w;
  REQUIRE(p.a.send({.kind = 5, .body = "here", .bulk = bulk, .attempt = &w}));
  CHECK(w.ends() == 0);
  p.run();
  CHECK(w.ends() == 1);
  CHECK(w.what().empty());
  REQUIRE(p.at_b->size() == 1);
  CHECK(to == bulk);
  CHECK(p.at_b->messages()[0].bulk == bulk);
}

TEST_CASE("bytes are read to where they belong, whatever the size of a read") {
  for (const std::size_t step : {1u, 47u, 48u, 49u, 1000u, 70'000u, 400'000u}) {
    met p;
    const std::vector<std::byte> bulk = pattern(step == 1 ? 3000 : 700'001);
    std::vector<std::byte> to(bulk.size());
    p.at_b->places = [&](link&, const incoming&) { return placement::at(to.data()); };
    REQUIRE(p.a.send({.kind = 1, .body = "b", .bulk = bulk}));
    REQUIRE(p.a.send({.kind = 2, .body = "c"}));
    std::size_t direct = 0;
    for (std::string bytes = p.a.out(step); !bytes.empty(); bytes = p.a.out(step)) {
      std::string_view left = bytes;
      while (!left.empty()) {
        p.b.with([&](connection& c) {
          const inlet_room room = c.receive_into();
          REQUIRE(!room.first.empty());
          const bool there = room.first.data() >= to.data() && room.first.data() < to.data() + to.size();
          const std::size_t first = std::min(left.size(), room.first.size());
          const std::size_t second = std::min(left.size() - first, room.second.size());
          std::memcpy(room.first.data(), left.data(), first);
          if (second > 0) std::memcpy(room.second.data(), left.data() + first, second);
          if (there) direct += first;
          left.remove_prefix(first + second);
          c.received(first + second, p.now);
        });
      }
    }
    CHECK(to == bulk);
    REQUIRE(p.at_b->size() == 2);
    CHECK(direct > 0);
  }
}

TEST_CASE("bulk that is buffered belongs to the receiver") {
  met p;
  const std::vector<std::byte> bulk = pattern(300'000);
  std::vector<std::byte> kept;
  p.at_b->receives = [&](link&, incoming& m) { kept = std::move(m.buffer); };
  REQUIRE(p.a.send({.kind = 1, .bulk = bulk}));
  p.run();
  CHECK(kept == bulk);
  CHECK(kept.capacity() == bulk.size());  // it was not moved from one buffer to the next
}

TEST_CASE("bulk that is refused is skipped, and the sender is told") {
  met p;
  const std::vector<std::byte> bulk = pattern(20'000'000);
  p.at_b->places = [](link&, const incoming&) {
    return placement::refused(error(status_code::not_found, "no such edge"));
  };
  watched w;
  REQUIRE(p.a.send({.kind = 9, .bulk = bulk, .attempt = &w}));
  REQUIRE(p.a.send({.kind = 10, .body = "next"}));
  p.run();
  CHECK(w.ends() == 1);
  CHECK(p.at_a->last() == "rejected 9: NotFound: no such edge");
  REQUIRE(p.at_b->size() == 1);
  CHECK(p.at_b->messages()[0].body == "next");
  CHECK(p.a.counters().bulk_sent < bulk.size());
  p.at_b->places = [](link&, const incoming&) -> placement { fail(status_code::out_of_range, "thrown"); };
  REQUIRE(p.a.send({.kind = 11, .bulk = std::span(bulk).first(1000)}));
  p.run();
  CHECK(p.at_a->last() == "rejected 11: OutOfRange: thrown");
}

TEST_CASE("what is larger than all that a connection buffers is refused before it comes") {
  options server = task("ps");
  server.limits.buffered_bytes = 10'000'000;
  met p(task("worker"), server);
  const std::vector<std::byte> bulk = pattern(10'000'001);
  REQUIRE(p.a.send({.kind = 1, .bulk = bulk}));
  p.run();
  CHECK_THAT(p.at_a->last(), Contains("10000001") && Contains("ResourceExhausted"));
  CHECK(p.a.counters().bulk_sent == 0);
  // What is not larger has its turn, one after the other.
  for (int i = 0; i < 3; ++i) REQUIRE(p.a.send({.kind = 2, .bulk = std::span(bulk).first(10'000'000)}));
  p.run();
  CHECK(p.at_b->size() == 3);
}

TEST_CASE("chunks of several messages take turns, and small messages pass") {
  options client = task("worker"), server = task("ps");
  client.limits.chunk_bytes = 1024;
  server.limits.window_bytes = 1 << 20;
  met p(client, server);
  const std::vector<std::byte> bulk = pattern(100'000);
  for (std::uint16_t i = 1; i <= 3; ++i) REQUIRE(p.a.send({.kind = i, .bulk = bulk}));
  REQUIRE(p.a.send({.kind = 4, .body = "small"}));
  std::vector<std::uint32_t> order;
  std::size_t chunks_before_small = 0;
  bool small = false;
  for (const auto& [f, payload] : frames_in(p.a.out())) {
    if (f.type == frame_type::chunk) order.push_back(f.transfer);
    if (f.type == frame_type::chunk && !small) ++chunks_before_small;
    if (f.kind == 4) small = true;
  }
  REQUIRE(order.size() == 3 * 98);
  CHECK(chunks_before_small < 8);
  for (std::size_t i = 10; i + 3 < order.size() - 10; ++i) CHECK(order[i] == order[i + 3]);
}

TEST_CASE("a heartbeat goes between chunks") {
  met p;
  const std::vector<std::byte> bulk = pattern(8'000'000);
  std::vector<std::byte> to(bulk.size());
  p.at_b->places = [&](link&, const incoming&) { return placement::at(to.data()); };
  REQUIRE(p.a.send({.kind = 1, .bulk = bulk}));
  const std::string announcement = p.a.out(1000);
  p.b.in(announcement);
  p.a.in(p.b.out());
  p.b.in(p.a.out(100'000));
  p.now = 2 * s;
  p.a.advance();
  std::size_t behind = 0;
  for (std::string bytes = p.a.out(700'000); behind == 0 && !bytes.empty(); bytes = {}) {
    p.b.in(bytes);
    if (!frames_in(p.b.out()).empty()) behind = bytes.size();
  }
  CHECK(behind > 0);
}

TEST_CASE("a sender without credit waits, and says when it is full") {
  options client = small_window(task("worker"), 1 << 20), server = small_window(task("ps"), 8 * 1024);
  client.limits.queued_messages = 50;
  met p(client, server);
  p.at_b->receives = [](link&, incoming& m) { m.held = true; };
  int taken = 0;
  while (p.a.send({.kind = 1, .body = std::string(1000, 'x')})) {
    ++taken;
    p.run();
    REQUIRE(taken < 1000);
  }
  CHECK(p.a.send({.kind = 1}).status == send_status::full);
  CHECK(p.at_b->size() == 8 * 1024 / 1048);
  CHECK(taken == 50 + 8 * 1024 / 1048);
  CHECK(!p.at_a->has("writable"));
  // All are consumed in time.
  for (std::size_t seen = 0; seen < p.at_b->size();) {
    p.b.consumed(p.at_b->messages()[seen++].receipt);
    p.run();
  }
  CHECK(p.at_b->size() == static_cast<std::size_t>(taken));
  CHECK(p.at_a->count("writable") == 1);
}

TEST_CASE("every byte of credit can be used, and no more") {
  options server = small_window(task("ps"), 8 * 1048);
  met p(small_window(task("worker"), 1 << 20), server);
  p.at_b->receives = [](link&, incoming& m) { m.held = true; };
  for (int i = 0; i < 9; ++i) REQUIRE(p.a.send({.kind = 1, .body = std::string(1000, 'x')}));
  p.run();
  CHECK(p.at_b->size() == 8);
  p.a.with([](connection& c) { CHECK(c.credit_left() == 0); });
  met q(small_window(task("worker"), 1 << 20), small_window(task("ps"), 8 * 1048 - 1));
  q.at_b->receives = [](link&, incoming& m) { m.held = true; };
  for (int i = 0; i < 9; ++i) REQUIRE(q.a.send({.kind = 1, .body = std::string(1000, 'x')}));
  q.run();
  CHECK(q.at_b->size() == 7);
  CHECK(!q.a.is_over());
  CHECK(!q.b.is_over());
}

TEST_CASE("bulk that was asked for needs no credit") {
  met p(small_window(task("worker"), 8 * 1024), task("ps"));
  const std::vector<std::byte> bulk = pattern(3'000'000);
  std::vector<std::byte> to(bulk.size());
  p.at_b->receives = [&](link& from, incoming& m) { from.reply(m.request, {.kind = 2, .bulk = bulk}); };
  asked call;
  call.wanted = [&](const incoming& m) {
    CHECK(m.bulk_size == bulk.size());
    return placement::at(to.data());
  };
  REQUIRE(p.a.start({.kind = 1}, s, call));
  p.b.in(p.a.out());
  p.a.in(p.b.out());  // without a word from a
  CHECK(call.ends() == 1);
  CHECK(to == bulk);
}

TEST_CASE("a call is answered") {
  met p;
  p.at_b->receives = echo;
  asked call;
  REQUIRE(p.a.start({.kind = 12, .body = "question"}, s, call));
  p.run();
  CHECK(call.ends() == 1);
  CHECK(call.kind() == 12);
  CHECK(call.body() == "question");
  CHECK(p.at_b->messages()[0].time_left_ns == s);
  p.pass(2 * s);
  CHECK(call.ends() == 1);
  CHECK(p.a.counters().open_calls == 0);
}

TEST_CASE("a call is answered with an error") {
  met p;
  p.at_b->receives = [](link& from, incoming& m) {
    from.fail(m.request, error(status_code::not_found, "no variable 'w'"));
  };
  asked call;
  REQUIRE(p.a.start({.kind = 1}, s, call));
  p.run();
  CHECK(call.what() == "NotFound: no variable 'w'");
}

TEST_CASE("a call ends at its deadline, and its answer is dropped") {
  met p;
  std::uint64_t request = 0;
  p.at_b->receives = [&](link&, incoming& m) { request = m.request; };
  asked call;
  REQUIRE(p.a.start({.kind = 1}, 500 * ms, call));
  p.pass(400 * ms);
  CHECK(call.ends() == 0);
  p.pass(100 * ms);
  CHECK(call.ends() == 1);
  CHECK_THAT(call.what(), Contains("DeadlineExceeded") && Contains("/job:ps/task:0"));
  p.b.reply(request, {.kind = 1, .body = "late"});
  watched w;
  const std::vector<std::byte> bulk = pattern(2'000'000);
  p.b.reply(request, {.kind = 1, .bulk = bulk, .attempt = &w});
  p.run();
  CHECK(call.ends() == 1);
  CHECK(w.ends() == 1);
  CHECK(!p.a.is_over());
  CHECK(p.at_b->told() == std::vector<std::string>{"connected"});
}

TEST_CASE("a call whose answer is on its way ends at its deadline, and its place is left alone") {
  met p;
  const std::vector<std::byte> bulk = pattern(3'000'000);
  std::vector<std::byte> to(bulk.size());
  watched w;
  p.at_b->receives = [&](link& from, incoming& m) { from.reply(m.request, {.kind = 1, .bulk = bulk, .attempt = &w}); };
  asked call;
  call.wanted = [&](const incoming&) { return placement::at(to.data()); };
  REQUIRE(p.a.start({.kind = 1}, 500 * ms, call));
  p.b.in(p.a.out());
  p.a.in(p.b.out(1'000'000));
  p.now = 500 * ms;
  p.a.advance();
  CHECK(call.ends() == 1);
  const std::vector<std::byte> then = to;
  p.a.in(p.b.out(1'000'000));
  p.run();
  CHECK(to == then);
  CHECK(w.ends() == 1);
  CHECK_THAT(w.what(), Contains("DeadlineExceeded"));
  CHECK(p.b.counters().bulk_sent < bulk.size());
  CHECK(!p.a.is_over());
  asked again;
  again.wanted = call.wanted;
  REQUIRE(p.a.start({.kind = 1}, 500 * ms, again));
  p.run();
  CHECK(again.ends() == 1);
  CHECK(to == bulk);
}

TEST_CASE("a call can be cancelled, wherever it is") {
  met p;
  const std::vector<std::byte> bulk = pattern(20'000'000);
  std::vector<std::byte> to(bulk.size());
  p.at_b->places = [&](link&, const incoming&) { return placement::at(to.data()); };
  for (int i = 0; i < 3; ++i) {
    asked call;
    watched w;
    const send_result r = p.a.start({.kind = 1, .bulk = bulk, .attempt = &w}, s, call);
    REQUIRE(r);
    if (i > 0) p.b.in(p.a.out(1'000'000));
    if (i > 1) p.a.in(p.b.out()), p.b.in(p.a.out(1'000'000));
    p.a.cancel(r.number);
    p.run();
    CHECK(call.ends() == 1);
    CHECK(w.ends() == 1);
    CHECK_THAT(call.what(), Contains("Cancelled"));
    CHECK_THAT(w.what(), Contains("Cancelled"));
  }
  CHECK(p.at_b->count("abandoned") == 2);
  CHECK(p.at_b->size() == 0);
}

TEST_CASE("bulk is taken back while a part of it waits, and its memory is free") {
  met p;
  std::vector<std::byte> bulk = pattern(3'000'000);
  std::vector<std::byte> to(bulk.size());
  p.at_b->places = [&](link&, const incoming&) { return placement::at(to.data()); };
  watched w;
  const send_result r = p.a.send({.kind = 1, .bulk = bulk, .attempt = &w});
  p.b.in(p.a.out(600'000));
  p.a.cancel(r.number);
  p.a.with([](connection&) {});
  CHECK(w.ends() == 1);
  bulk.assign(bulk.size(), std::byte{0});  // checksums would tell
  p.run();
  CHECK(p.at_b->last() == "abandoned");
  CHECK(!p.b.is_over());
  CHECK(std::equal(to.begin(), to.begin() + 500'000, pattern(3'000'000).begin()));
}

TEST_CASE("a receiver that does not want the rest says so") {
  met p;
  const std::vector<std::byte> bulk = pattern(3'000'000);
  std::vector<std::byte> to(bulk.size());
  std::uint32_t transfer = 0;
  p.at_b->places = [&](link&, const incoming& m) {
    transfer = m.transfer;
    return placement::at(to.data());
  };
  watched w;
  REQUIRE(p.a.send({.kind = 6, .bulk = bulk, .attempt = &w}));
  p.b.in(p.a.out(1'000'000));
  p.b.discard(transfer);
  p.b.with([](connection&) {});
  CHECK(p.at_b->last() == "abandoned");
  const std::vector<std::byte> then = to;
  p.a.in(p.b.out());
  p.run();
  CHECK(to == then);
  CHECK(w.ends() == 1);
  CHECK_THAT(p.at_a->last(), Contains("rejected 6: Cancelled"));
  CHECK(p.a.counters().bulk_sent < bulk.size());
}

TEST_CASE("a silent peer is lost, with the time of the last contact") {
  met p;
  asked call;
  watched w;
  const std::vector<std::byte> bulk = pattern(20'000'000);
  REQUIRE(p.a.start({.kind = 1}, 60 * s, call));
  REQUIRE(p.a.send({.kind = 2, .bulk = bulk, .attempt = &w}));
  p.now += 900 * ms;
  for (int i = 0; i < 40 && p.at_a->told().size() < 2; ++i) {
    p.now += 100 * ms;
    p.a.advance();
    (void)p.a.out();
  }
  CHECK(p.at_a->last() == "lost: Unavailable: /job:ps/task:0 was lost: nothing came for 3.0 s");
  CHECK(p.now == 3000 * ms);
  CHECK(call.what() == "Unavailable: /job:ps/task:0 was lost: nothing came for 3.0 s");
  CHECK(w.ends() == 1);
  CHECK(p.a.is_over());
  CHECK(p.a.send({.kind = 1}).status == send_status::closed);
}

namespace {

/// Two ends that can share memory and have met.
struct sharing : both {
  sharing() : both(shares(task("worker")), shares(task("ps"))) { run(); }
  static options shares(options o) {
    o.shared_memory = true;
    return o;
  }
  /// The next bytes of an end, and no others.
  static std::string once(end& of) {
    std::span<const std::byte> pieces[16];
    return of.with([&](connection& c) {
      std::string bytes;
      for (std::size_t i = 0, count = c.gather(pieces, 0); i < count; ++i)
        bytes.append(reinterpret_cast<const char*>(pieces[i].data()), pieces[i].size());
      c.sent(bytes.size(), 0);
      return bytes;
    });
  }
  void offers() {
    REQUIRE(a.with([](connection& c) { return c.can_offer(); }));
    a.with([](connection& c) { c.offer("there"); });
    b.in(a.out());
  }
};

/// How bytes of an end go: come there, go there.
std::pair<bool, bool> ways(end& of) {
  return of.with([](connection& c) { return std::pair(c.receives_there(), c.sends_there()); });
}

}  // namespace

TEST_CASE("ends go over to memory, each direction by itself, and nothing is lost between") {
  sharing p;
  CHECK(!p.b.with([](connection& c) { return c.can_offer(); }));
  p.offers();
  CHECK(!p.a.with([](connection& c) { return c.can_offer(); }));
  CHECK(p.b.with([](connection& c) { return c.offered(); }) == "there");
  CHECK(p.b.with([](connection& c) { return c.offered(); }) == std::nullopt);
  const std::vector<std::byte> bulk = pattern(600'000);
  std::vector<std::byte> to(bulk.size());
  for (const auto& at : {p.at_a, p.at_b}) at->places = [&](link&, const incoming&) { return placement::at(to.data()); };
  REQUIRE(p.b.send({.kind = 1, .bulk = bulk}));
  p.b.with([](connection& c) { c.answer_offer(std::nullopt); });
  // What was ready before goes before; the last of it is that word.
  CHECK(ways(p.b) == std::pair(false, false));
  const std::string old_way = sharing::once(p.b);
  CHECK(frames_in(old_way).back().first.type == frame_type::moved);
  CHECK(ways(p.b) == std::pair(false, true));
  REQUIRE(p.a.send({.kind = 2, .body = "on its way"}));
  (void)p.a.with([](connection&) { return 0; });
  p.a.in(old_way + "bytes that only wake");
  CHECK(ways(p.a) == std::pair(true, false));
  const std::string back = sharing::once(p.a);
  CHECK(frames_in(back).back().first.type == frame_type::moved);
  CHECK(ways(p.a) == std::pair(true, true));
  p.b.in(back);
  CHECK(ways(p.b) == std::pair(true, true));
  CHECK(p.a.counters().shared_memory);
  p.run();
  REQUIRE(p.at_a->size() == 1);
  CHECK(to == bulk);
  CHECK(p.at_b->size() == 1);
  // No checksums there: memory is no wire.
  REQUIRE(p.a.send({.kind = 3, .bulk = bulk}));
  const std::string bytes = p.a.out();
  for (const auto& [f, payload] : frames_in(bytes)) {
    if (f.type != frame_type::chunk) continue;
    CHECK(f.flags == frame_unchecked);
    CHECK(f.payload_crc == 0);
  }
  to.assign(to.size(), std::byte{0});
  p.b.in(bytes);
  p.run();
  CHECK(p.at_b->size() == 2);
  CHECK(to == bulk);
}

TEST_CASE("memory that is not there is no loss") {
  sharing p;
  p.offers();
  p.b.with([](connection& c) { c.answer_offer(error(status_code::failed_precondition, "another machine")); });
  p.run();
  CHECK(p.a.with([](connection& c) { return c.stays(); }));
  REQUIRE(p.a.send({.kind = 1}));
  p.run();
  CHECK(p.at_b->size() == 1);
  CHECK(!p.a.counters().shared_memory);
}

TEST_CASE("memory is offered once, by who connects, to who can") {
  const std::string segment = frame_of({.type = frame_type::segment}, "x"),
                    moved = frame_of({.type = frame_type::moved}),
                    no = frame_of({.type = frame_type::moved, .kind = 9}, "no");
  const auto ends = [](auto&& of, const std::string& bytes) {
    of.in(bytes);
    return of.is_over();
  };
  CHECK(!ends(sharing().b, segment));
  CHECK(ends(sharing().b, segment + segment));
  CHECK(ends(sharing().b, segment + moved));
  CHECK(ends(sharing().b, moved));
  CHECK(ends(sharing().b, no));
  CHECK(ends(sharing().a, segment));
  CHECK(ends(sharing().a, moved));
  both apart;
  apart.run();
  CHECK(ends(apart.b, segment));
  for (const std::string& then : {moved, no, segment}) {
    sharing p;
    p.offers();
    CHECK(!ends(p.a, no));
    CHECK(ends(p.a, then));
  }
  // Who has taken it is not told that it is not there.
  sharing p;
  p.offers();
  p.b.with([](connection& c) { c.answer_offer(std::nullopt); });
  CHECK(ends(p.b, no));
  CHECK_THAT(p.at_b->last(), Catch::Matchers::Contains("it sent that it has moved to memory which it may not use"));
}

}  // namespace tagma::transport::test
