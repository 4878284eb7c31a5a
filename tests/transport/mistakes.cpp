// SPDX-License-Identifier: BSL-1.0
// Mistakes made on purpose, each of which must be found: by the test that is named here, written down in short, or by
// random worlds. What is not found says nothing about what is right.
#ifdef TAGMA_BREAKABLE

#include "tagma/transport/mistakes.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "tagma/transport/asio/segment.hpp"
#include "transport/pair.hpp"
#include "transport/simulated/random_worlds.hpp"

namespace tagma::transport::test {

namespace {

/// A connection makes this mistake while the object lives.
struct made {
  explicit made(mistake m) { mistake_made = m; }
  made(const made&) = delete;
  made& operator=(const made&) = delete;
  ~made() { mistake_made = mistake::none; }
};

/// Whether one of a few random worlds finds that something is wrong.
bool random_worlds_find() {
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    if (!random_world(seed).run().wrong.empty()) return true;
  return false;
}

/// Whether the bytes of a message with bulk, with one of the last bytes flipped, are taken for good.
bool damage_goes_through(bool in_bulk) {
  both p;
  p.run();
  const std::vector<std::byte> bulk = pattern(1000);
  (void)p.a.send(
      {.kind = 1, .body = std::string(100, 'x'), .bulk = in_bulk ? std::span(bulk) : std::span<std::byte const>()});
  std::string bytes = p.a.out();
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  p.b.in(bytes);
  return p.at_b->size() == 1;
}

/// Whether a frame with a critical flag that nobody knows is taken.
bool unknown_flag_goes_through() {
  both p;
  p.run();
  p.b.in(frame_of({.type = frame_type::ping, .flags = 0x8000}));
  return !p.b.is_over();
}

/// Whether who sends more than it may is let go on.
bool greed_goes_through() {
  options ps = task("ps");
  ps.limits.window_bytes = 3000;
  ps.limits.body_bytes = 1024;
  both p(task("worker"), ps);
  p.run();
  p.at_b->receives = [](link&, incoming& m) { m.held = true; };
  for (int i = 0; i < 3; ++i) p.b.in(frame_of({.type = frame_type::message}, std::string(1000, 'x')));
  return !p.b.is_over();
}

/// Whether somebody who recorded a meeting gets in with it.
bool replay_goes_through() {
  options worker = task("worker"), ps = task("ps");
  worker.secret = ps.secret = "x";
  both p(worker, ps, 1), q(worker, ps, 2);
  std::string said;
  for (int i = 0; i < 3; ++i) {
    const std::string now = p.a.out();
    said += now;
    p.b.in(now);
    p.a.in(p.b.out());
  }
  q.b.in(said);
  return q.at_b->has("connected");
}

/// Whether somebody who sends a proof back gets in with it.
bool reflection_goes_through() {
  options worker = task("worker"), ps = task("ps");
  worker.secret = ps.secret = "x";
  both p(worker, ps);
  p.b.in(p.a.out());
  p.a.in(p.b.out());
  p.a.in(frame_of({.type = frame_type::accepted}, frames_in(p.a.out()).at(0).second));
  return p.at_a->has("connected");
}

/// Whether somebody who knows nothing gets in.
bool guess_goes_through() {
  options worker = task("worker"), ps = task("ps");
  worker.secret = "guess";
  ps.secret = "x";
  both p(worker, ps);
  p.run();
  return p.at_b->has("connected");
}

/// Whether two ends that have nothing to say lose each other.
bool idle_ends_lose_each_other() {
  both p;
  p.run();
  p.pass(10 * s);
  return p.at_a->has("lost");
}

/// Whether who is silent is never missed.
bool silence_goes_unseen() {
  both p;
  p.run();
  for (int i = 0; i < 100; ++i) {
    p.now += 100 * ms;
    p.a.advance();
    (void)p.a.out();
  }
  return !p.at_a->has("lost");
}

/// Whether a small transfer waits for all of a large one.
bool the_large_starve_the_small() {
  both p;
  p.run();
  const std::vector<std::byte> bulk = pattern(3'000'000);
  std::vector<std::byte> to(bulk.size());
  p.at_b->places = [&](link&, const incoming&) { return placement::at(to.data()); };
  (void)p.a.send({.kind = 1, .bulk = bulk});
  (void)p.a.send({.kind = 2, .bulk = std::span(bulk).first(1000)});
  while (p.at_b->size() == 0) p.b.in(p.a.out(100'000));
  return p.at_b->messages()[0].kind == 1;
}

/// Whether who was told to stop goes on.
bool rejected_bulk_goes_on() {
  both p;
  p.run();
  const std::vector<std::byte> bulk = pattern(3'000'000);
  std::vector<std::byte> to(bulk.size());
  std::uint32_t transfer = 0;
  p.at_b->places = [&](link&, const incoming& m) {
    transfer = m.transfer;
    return placement::at(to.data());
  };
  (void)p.a.send({.kind = 1, .bulk = bulk});
  p.b.in(p.a.out(1'000'000));
  p.b.discard(transfer);
  p.a.in(p.b.out());
  p.run();
  return p.a.counters().bulk_sent == bulk.size();
}

/// Whether who was refused waits for ever.
bool nobody_says_that_there_is_room() {
  options worker = task("worker");
  worker.limits.queued_messages = 4;
  both p(worker);
  p.run();
  while (p.a.send({.kind = 1}))
    ;
  p.run();
  return !p.at_a->has("writable");
}

/// Whether two ends disagree about what one may send.
bool the_last_byte_is_one_too_many() {
  options worker = task("worker"), ps = task("ps");
  ps.limits.body_bytes = 1024;
  ps.limits.window_bytes = 8 * 1048 - 1;
  both p(worker, ps);
  p.run();
  p.at_b->receives = [](link&, incoming& m) { m.held = true; };
  for (int i = 0; i < 9; ++i) (void)p.a.send({.kind = 1, .body = std::string(1000, 'x')});
  p.run();
  return p.b.is_over();
}

/// Whether bytes are read that nobody wrote.
bool nonsense_is_read() {
  const auto memory = asio::segment::make(4096);
  REQUIRE(memory != nullptr);
  const auto file = static_cast<int>(get_number<std::uint64_t>(memory->where().data() + 8));
  const std::uint64_t written = 5000;
  REQUIRE(::pwrite(file, &written, sizeof written, 320) == sizeof written);  // in the lane of the other end
  std::byte to[8];
  return memory->read({to, {}}) > 0;
}

struct trap {
  mistake what;
  const char* name;
  std::function<bool()> goes_wrong;
};

}  // namespace

TEST_CASE("every mistake is found") {
  const std::vector<trap> traps{
      {mistake::body_not_checked, "body_not_checked", [] { return damage_goes_through(false); }},
      {mistake::chunk_not_checked, "chunk_not_checked", [] { return damage_goes_through(true); }},
      {mistake::flags_not_checked, "flags_not_checked", unknown_flag_goes_through},
      {mistake::credit_believed, "credit_believed", greed_goes_through},
      {mistake::heartbeat_forgotten, "heartbeat_forgotten", idle_ends_lose_each_other},
      {mistake::loss_not_seen, "loss_not_seen", silence_goes_unseen},
      {mistake::nonce_not_bound, "nonce_not_bound", replay_goes_through},
      {mistake::one_label_for_both, "one_label_for_both", reflection_goes_through},
      {mistake::proof_believed, "proof_believed", guess_goes_through},
      {mistake::chunks_not_in_turns, "chunks_not_in_turns", the_large_starve_the_small},
      {mistake::rejected_goes_on, "rejected_goes_on", rejected_bulk_goes_on},
      {mistake::room_not_told, "room_not_told", nobody_says_that_there_is_room},
      {mistake::positions_believed, "positions_believed", nonsense_is_read},
      {mistake::credit_off_by_one, "credit_off_by_one", the_last_byte_is_one_too_many},
      {mistake::credit_forgotten, "credit_forgotten", random_worlds_find},
      {mistake::offset_not_kept, "offset_not_kept", random_worlds_find},
      {mistake::call_ended_twice, "call_ended_twice", random_worlds_find},
      {mistake::call_never_ended, "call_never_ended", random_worlds_find},
      {mistake::attempt_forgotten, "attempt_forgotten", random_worlds_find},
  };
  for (const trap& t : traps) {
    INFO(t.name);
    CHECK(!t.goes_wrong());
    const made it(t.what);
    CHECK(t.goes_wrong());
  }
}

}  // namespace tagma::transport::test

#endif
