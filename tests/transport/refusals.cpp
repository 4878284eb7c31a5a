// SPDX-License-Identifier: BSL-1.0
// What a connection does not let the other end do, and what it says of it.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "transport/pair.hpp"

namespace tagma::transport::test {

using Catch::Matchers::Contains;

namespace {

/// What a server with small limits says of frames, behind a good handshake; "" if it goes on.
std::string says(const std::string& frames, const std::function<void(both&)>& prepare = {}) {
  options ps = task("ps");
  ps.limits.body_bytes = 1024;
  ps.limits.window_bytes = 4096;
  ps.limits.chunk_bytes = 1024;
  ps.limits.transfers = 2;
  both p(task("worker"), ps);
  p.run();
  if (prepare) prepare(p);
  p.b.in(frames);
  if (!p.b.is_over()) return "";
  // The other end is told, and that is the last word.
  const std::vector<std::pair<frame, std::string>> said = frames_in(p.b.out());
  REQUIRE(!said.empty());
  CHECK(said.back().first.type == frame_type::refusal);
  CHECK(p.at_b->count("lost") == 1);
  CHECK_THAT(p.at_b->last(), Contains(said.back().second));
  return p.at_b->last();
}

std::string message(frame f, const std::string& body = {}) {
  f.type = frame_type::message;
  return frame_of(f, body);
}

std::string chunk(std::uint32_t transfer, std::uint64_t offset, const std::string& bytes) {
  return frame_of({.type = frame_type::chunk, .transfer = transfer, .value = offset}, bytes);
}

}  // namespace

TEST_CASE("what breaks the protocol ends the connection, by name") {
  const std::string k(1000, 'x');
  CHECK(says(message({.kind = 1}, k)).empty());
  CHECK_THAT(says(message({.transfer = 2, .value = 5})),
             Contains("/job:worker/task:0 broke the protocol: it sent a transfer out of order"));
  CHECK_THAT(says(chunk(1, 0, "x")), Contains("a chunk of no transfer"));
  CHECK_THAT(says(message({.transfer = 1, .value = 5}) + chunk(1, 1, "x")), Contains("at another place"));
  CHECK_THAT(says(message({.transfer = 1, .value = 5}) + chunk(1, 0, "123456")), Contains("at another place"));
  CHECK_THAT(says(message({.transfer = 1, .value = 5}) + chunk(1, 0, "12345") + chunk(1, 5, "6")),
             Contains("no transfer"));
  CHECK_THAT(says(message({.flags = frame_announced, .transfer = 1, .value = 1u << 20}) + chunk(1, 0, "x")),
             Contains("a chunk that nobody asked for"));
  const frame_bytes unchecked =
      encode({.type = frame_type::chunk, .flags = frame_unchecked, .length = 1, .transfer = 1});
  CHECK_THAT(says(message({.transfer = 1, .value = 5}) +
                  std::string(reinterpret_cast<const char*>(unchecked.data()), 48) + "x"),
             Contains("a chunk without a checksum"));
  std::string three;
  for (std::uint32_t i = 1; i <= 3; ++i) three += message({.transfer = i, .value = 5});
  CHECK_THAT(says(three), Contains("more transfers than are taken"));
  CHECK_THAT(says(message({.transfer = 1, .value = 4096 - 47})), Contains("more than its credit"));
  CHECK(says(message({.transfer = 1, .value = 4096 - 48})).empty());
  CHECK_THAT(says(message({}, std::string(1025, 'x'))), Contains("longer than its type may be"));
  CHECK_THAT(says(frame_of({.type = frame_type::want, .transfer = 7})), Contains("not announced"));
  CHECK_THAT(says(frame_of({.type = frame_type::drop, .transfer = 7})), Contains("the end of no transfer"));
  CHECK_THAT(says(frame_of({.type = frame_type::credit, .value = 1})), Contains("less credit than before"));
  CHECK_THAT(says(frame_of({.type = frame_type::goodbye}) + message({})), Contains("behind its good-bye"));
  CHECK_THAT(says(frame_of({.type = frame_type::goodbye}) + frame_of({.type = frame_type::goodbye})),
             Contains("good-bye twice"));
  CHECK_THAT(says(message({.transfer = 1, .value = 5}) + frame_of({.type = frame_type::goodbye})),
             Contains("before the end of what it sends"));
}

TEST_CASE("one call has one answer") {
  asked call;
  const auto begin = [&](both& p) { (void)p.b.start({.kind = 1}, s, call); };
  const frame answer{.flags = frame_is_reply, .transfer = 1, .request = 1, .value = 5};
  CHECK_THAT(says(message(answer) + message({.flags = frame_is_reply, .request = 1}), begin),
             Contains("two answers to one call"));
  CHECK(call.ends() == 1);
  asked other;
  CHECK(says(message({.flags = frame_is_reply, .request = 1}, "a") +
                 message({.flags = frame_is_reply, .request = 1}, "b"),
             [&](both& p) { (void)p.b.start({.kind = 1}, s, other); })
            .empty());
  CHECK(other.ends() == 1);
  CHECK(other.body() == "a");
  // An answer to nothing is dropped.
  CHECK(says(message({.flags = frame_is_reply, .request = 77}, "a")).empty());
}

TEST_CASE("a refusal of the other end is the end, with its words") {
  both p;
  p.run();
  p.b.in(frame_of({.type = frame_type::refusal, .kind = 8}, "too\nmuch"));
  CHECK(p.at_b->last() == "lost: ResourceExhausted: /job:worker/task:0 refused the connection: too?much");
  CHECK(p.b.out().empty());
}

TEST_CASE("a stream with any bit flipped is noticed, or has the bytes that were sent") {
  // Messages with and without bulk, recorded behind a handshake.
  both p;
  p.run();
  const std::vector<std::byte> bulk = pattern(700);
  REQUIRE(p.a.send({.kind = 1, .body = "a body"}));
  REQUIRE(p.a.send({.kind = 2, .body = "b", .bulk = bulk}));
  REQUIRE(p.a.send({.kind = 3}));
  const std::string stream = p.a.out();
  std::size_t noticed = 0;
  for (std::size_t bit = 0; bit < stream.size() * 8; bit += 1 + bit % 3) {
    both q;
    q.run();
    std::string bytes = stream;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    q.b.in(bytes);
    noticed += q.at_b->has("lost: DataLoss") ? 1u : 0u;
    for (const got& m : q.at_b->messages()) REQUIRE((m.kind != 2 || m.bulk == bulk));
    REQUIRE((q.b.is_over() || q.at_b->size() < 3));
  }
  CHECK(noticed > stream.size());
}

TEST_CASE("what a declared length says is not believed") {
  both p;
  p.run();
  frame f{.type = frame_type::message, .kind = 1, .transfer = 1, .value = std::uint64_t{1} << 40};
  f.flags = frame_announced;
  p.at_b->places = [](link&, const incoming&) { return placement::buffered(); };
  p.b.in(frame_of(f));
  CHECK(!p.b.is_over());
  p.b.with([](connection& c) { CHECK(c.buffer_bytes() < 100'000); });
  // It is refused, since nobody buffers as much.
  CHECK(frames_in(p.b.out()).back().first.type == frame_type::reject);
}

TEST_CASE("a body that the other end does not take is refused here") {
  options ps = task("ps");
  ps.limits.body_bytes = 1024;
  both p(task("worker"), ps);
  p.run();
  asked call;
  watched w;
  const std::vector<std::byte> bulk = pattern(10);
  REQUIRE(p.a.send({.kind = 4, .body = std::string(1025, 'x')}));
  REQUIRE(p.a.start({.kind = 5, .body = std::string(1025, 'x'), .bulk = bulk, .attempt = &w}, s, call));
  REQUIRE(p.a.send({.kind = 6, .body = std::string(1024, 'x')}));
  p.run();
  CHECK_THAT(p.at_a->last(), Contains("rejected 4: InvalidArgument") && Contains("1025"));
  CHECK_THAT(call.what(), Contains("InvalidArgument"));
  CHECK(w.ends() == 1);
  REQUIRE(p.at_b->size() == 1);
  CHECK(p.at_b->messages()[0].kind == 6);
  CHECK_THROWS_WITH(p.a.send({.body = std::string(70'000, 'x')}), Contains("InvalidArgument") && Contains("70000"));
  CHECK_THROWS_WITH(p.a.start({}, 0, call), Contains("InvalidArgument"));
  CHECK_THROWS_WITH(p.a.reply(0, {}), Contains("InvalidArgument"));
}

TEST_CASE("calls without number are too many") {
  options worker = task("worker");
  worker.limits.open_calls = 3;
  both p(worker);
  p.run();
  std::vector<asked> calls(4);
  for (asked& c : calls) REQUIRE(p.a.start({.kind = 1}, s, c));
  p.run();
  CHECK_THAT(calls[3].what(), Contains("ResourceExhausted"));
  CHECK(calls[2].ends() == 0);
}

TEST_CASE("what a handler throws ends its connection, and says so") {
  both p;
  p.run();
  p.at_b->receives = [](link&, incoming&) { fail(status_code::internal, "a mistake"); };
  REQUIRE(p.a.send({.kind = 1}));
  p.run();
  CHECK_THAT(p.at_b->last(), Contains("a handler of /job:ps/task:0 threw: Internal: a mistake"));
  CHECK_THAT(p.at_a->last(), Contains("a mistake"));
}

TEST_CASE("both ends close when what is queued was sent") {
  both p;
  p.run();
  const std::vector<std::byte> bulk = pattern(3'000'000);
  p.at_b->receives = echo;
  asked call;
  REQUIRE(p.a.start({.kind = 1, .bulk = bulk}, 60 * s, call));
  p.a.close();
  CHECK(p.a.send({.kind = 1}).status == send_status::closed);
  p.run();
  CHECK(call.bulk() == bulk);
  CHECK(p.at_a->told() == std::vector<std::string>{"connected", "closed"});
  CHECK(p.at_b->told() == std::vector<std::string>{"connected", "closing", "closed"});
  CHECK(p.a.is_over());
}

TEST_CASE("an end that does not take what is queued is not waited for for ever") {
  options worker = task("worker"), ps = task("ps");
  worker.patience.close_ns = s;
  ps.limits.window_bytes = 4096;
  ps.limits.body_bytes = 1024;
  both p(worker, ps);
  p.run();
  p.at_b->receives = [](link&, incoming& m) { m.held = true; };
  for (int i = 0; i < 10; ++i) REQUIRE(p.a.send({.kind = 1, .body = std::string(1000, 'x')}));
  p.a.close();
  p.pass(900 * ms);
  CHECK(!p.a.is_over());
  p.pass(200 * ms);
  CHECK_THAT(p.at_a->last(), Contains("DeadlineExceeded") && Contains("/job:ps/task:0") && Contains("1.0 s"));
  CHECK(p.b.is_over());
}

TEST_CASE("an end that closes leaves no call of the other waiting") {
  both p;
  p.run();
  asked call;
  REQUIRE(p.a.start({.kind = 1}, 60 * s, call));
  p.run();
  p.b.close();
  p.run();
  CHECK_THAT(call.what(), Contains("Unavailable") && Contains("has closed the connection"));
  CHECK(p.at_a->last() == "closed");
}

TEST_CASE("a stream that breaks is a loss, with the last contact") {
  both p;
  p.run();
  p.pass(1500 * ms);
  p.now += 700 * ms;
  p.a.with([&](connection& c) { c.broken("the connection was reset", p.now); });
  CHECK_THAT(p.at_a->last(),
             Contains("lost: Unavailable: /job:ps/task:0 was lost: the connection was reset; the last contact was 1."));
}

TEST_CASE("idle ends keep each other, know how far they are, and whose clock is ahead") {
  both p;
  p.run();
  p.pass(20 * s);
  CHECK(!p.a.is_over());
  CHECK(!p.b.is_over());
  const std::uint64_t before = p.a.counters().frames_sent;
  p.pass(10 * s);
  const std::uint64_t after = p.a.counters().frames_sent;
  CHECK(after - before >= 18);
  CHECK(after - before <= 22);
  // Answers that take 30 ms, from a clock that is 5 s ahead.
  both q;
  q.run();
  for (int i = 0; i < 60; ++i) {
    q.now += s;
    q.a.advance();
    for (const auto& [f, payload] : frames_in(q.a.out())) {
      if (f.type != frame_type::ping) continue;
      q.now += 30 * ms;
      q.a.in(frame_of({.type = frame_type::pong,
                       .request = f.value,
                       .value = f.value + static_cast<std::uint64_t>(5 * s + 15 * ms)}));
    }
  }
  CHECK(q.a.counters().round_trip_ns > 29 * ms);
  CHECK(q.a.counters().round_trip_ns <= 30 * ms);
  // A pong of what was never asked changes nothing.
  const std::int64_t trip = q.a.counters().round_trip_ns;
  q.a.in(frame_of({.type = frame_type::pong, .request = ~std::uint64_t{0} >> 1, .value = 1}));
  CHECK(q.a.counters().round_trip_ns == trip);
}

TEST_CASE("a process that slept does not take the others for lost") {
  both p;
  p.run();
  p.now += 60 * s;
  p.a.advance();
  CHECK(!p.a.is_over());
  p.run();
  p.pass(10 * s);
  CHECK(!p.a.is_over());
  CHECK(!p.b.is_over());
}

TEST_CASE("who asks many questions and reads no answers costs little") {
  both p;
  p.run();
  std::string pings;
  for (int i = 0; i < 1000; ++i) pings += frame_of({.type = frame_type::ping, .value = 7});
  p.b.in(pings);
  CHECK(frames_in(p.b.out()).size() < 5);
}

}  // namespace tagma::transport::test
