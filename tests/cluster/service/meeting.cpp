// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/service/meeting.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/bytes_of_hex.hpp"
#include "tagma/cluster/service/elements.hpp"
#include "tagma/tensor/tensor.hpp"

namespace {

namespace tg = tagma;
namespace service = tg::service;
using service::edge_of_run;
using service::message;
using tg::transport::placement;

constexpr std::uint64_t graph = 1, step = 7;

std::string text_of(const std::exception_ptr& e) {
  try {
    if (e != nullptr) std::rethrow_exception(e);
  } catch (const std::exception& thrown) {
    return thrown.what();
  }
  return "";
}

struct giver final : tg::runtime::send_attempt {
  explicit giver(const tg::tensor<std::string_view>& texts) { value = tg::erase(texts); }
  void ended(std::exception_ptr e) noexcept override { ++times, error = text_of(e); }
  int times = 0;
  std::string error;
};

struct taker final : tg::runtime::receive_attempt {
  [[nodiscard]] std::byte* place(const tg::tensor_spec& come) override {
    if (come.type != wanted) tg::fail(tg::status_code::invalid_argument, "not this one");
    spec = come;
    room.assign(tg::raw_view{nullptr, come.type, come.dims}.bytes(), std::byte{});
    return room.data();
  }
  void keep(std::vector<std::byte> characters) noexcept override { kept = std::move(characters); }
  void ended(std::exception_ptr e) noexcept override { ++times, error = text_of(e); }
  /// The texts that came; all of them are within what is kept.
  [[nodiscard]] std::vector<std::string> texts() const {
    std::vector<std::string> all(room.size() / sizeof(std::string_view));
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::string_view t;
      std::memcpy(&t, room.data() + i * sizeof t, sizeof t);
      const char* const first = reinterpret_cast<const char*>(kept.data());
      REQUIRE((t.empty() || (t.data() >= first && t.data() + t.size() <= first + kept.size())));
      all[i] = std::string(t);
    }
    return all;
  }
  tg::dtype wanted = tg::dtype::string;
  tg::tensor_spec spec{};
  std::vector<std::byte> room, kept;
  int times = 0;
  std::string error;
};

/// A link that only notes what it is told not to bring.
struct idle_link final : tg::transport::link {
  tg::transport::send_result send(tg::transport::outgoing) override { return {}; }
  tg::transport::send_result start(tg::transport::outgoing, std::int64_t, tg::transport::call&) override { return {}; }
  tg::transport::send_result reply(std::uint64_t, tg::transport::outgoing) override { return {}; }
  tg::transport::send_result fail(std::uint64_t, const tg::error&) override { return {}; }
  void cancel(std::uint64_t) override {}
  void discard(std::uint32_t transfer) override { discarded.push_back(transfer); }
  void consumed(const tg::transport::receipt&) override {}
  void close() override {}
  void abort(tg::error) override {}
  [[nodiscard]] tg::transport::identity peer() const override { return {}; }
  [[nodiscard]] tg::transport::link_counters counters() const override { return {}; }
  std::vector<std::uint32_t> discarded;
};

/// What a meeting says, and a way to it.
struct place_to_meet {
  service::meeting of{graph, step, [this](std::int32_t, tg::transport::outgoing m) { said.push_back(std::move(m)); }};
  std::deque<tg::transport::outgoing> said;
  idle_link link;

  [[nodiscard]] std::string bulk(std::size_t i) const {
    return {reinterpret_cast<const char*>(said[i].bulk.data()), said[i].bulk.size()};
  }
  [[nodiscard]] static edge_of_run edge(std::int32_t number, const tg::tensor_spec& spec) {
    return {graph, step, number, spec};
  }
  [[nodiscard]] placement announce(const edge_of_run& e, std::uint64_t bytes, std::uint32_t transfer = 3) {
    tg::transport::incoming m;
    m.bulk_size = bytes;
    m.transfer = transfer;
    return of.place(link, m, e);
  }
  void bring(const edge_of_run& e, std::string_view bytes, std::uint32_t transfer = 3) {
    tg::transport::incoming m;
    m.bulk_size = bytes.size();
    m.transfer = bytes.empty() ? 0 : transfer;
    m.buffer.resize(bytes.size());
    if (!bytes.empty()) std::memcpy(m.buffer.data(), bytes.data(), bytes.size());
    of.received(link, m, e);
  }
  /// As a peer does that says this.
  void say(const edge_of_run& e, std::string_view bytes, std::uint32_t transfer = 3) {
    if (bytes.empty() || announce(e, bytes.size(), transfer).what() == placement::kind::buffer)
      bring(e, bytes, transfer);
  }
};

constexpr tg::tensor_spec texts_of(tg::extent n) { return {tg::dtype::string, {n}}; }

TEST_CASE("texts leave as feeds do, and are whole when they come, before or behind the wish for them") {
  for (const bool wished_first : {true, false})
    for (const std::size_t length : {std::size_t{0}, std::size_t{3}, std::size_t{1} << 20}) {
      INFO(wished_first << ", " << length);
      if (!wished_first && length > service::eager_bytes) continue;  // it stays where it is
      place_to_meet from, to;
      const std::string one(length, 'x'), zeros("\0a", 2);
      const tg::tensor<std::string_view> texts({2, 2}, {one, "", zeros, "d"});
      const tg::tensor_spec spec{tg::dtype::string, {2, 2}};
      giver give(texts);
      taker take;
      if (wished_first) {
        to.of.receive(4, 0, take);
        CHECK(to.said.back().kind == static_cast<std::uint16_t>(message::wanted));
      }
      from.of.send(4, 1, give);
      const bool waits = length > service::eager_bytes;
      REQUIRE(from.said.size() == (waits ? 0 : 1));
      CHECK(from.of.waiting().size() == (waits ? 1 : 0));
      from.of.wanted(4);
      REQUIRE(from.said.size() == 1);
      CHECK(give.times == 0);
      std::string expected;
      service::add_elements(expected, tg::erase(texts));
      CHECK(from.bulk(0) == expected);
      CHECK(edge_of_run::read(from.said[0].body).spec == spec);
      to.say(edge_of_run::read(from.said[0].body), from.bulk(0));
      from.said[0].attempt->ended(nullptr);
      CHECK(give.times == 1);
      CHECK(give.error.empty());
      if (!wished_first) to.of.receive(4, 0, take);
      CHECK(take.times == 1);
      CHECK(take.error.empty());
      CHECK(take.spec == spec);
      CHECK(take.texts() == std::vector<std::string>{one, "", zeros, "d"});
    }
}

TEST_CASE("no texts are no bytes") {
  place_to_meet from, to;
  const tg::tensor<std::string_view> none({0, 3});
  giver give(none);
  taker take;
  from.of.send(4, 1, give);
  CHECK(give.times == 1);
  CHECK(from.said[0].bulk.empty());
  to.of.receive(4, 0, take);
  to.say(edge_of_run::read(from.said[0].body), "");
  CHECK(take.times == 1);
  CHECK(take.error.empty());
  CHECK(take.spec.dims == tg::shape{0, 3});
}

TEST_CASE("what an edge of texts cannot be is refused with its number, whether somebody waits or not") {
  struct wrong {
    tg::extent texts;
    const char* hex;
    const char* says;
  };
  for (const bool waits : {true, false})
    for (const wrong& w : {wrong{2, "0100000000000000 61", "edge 4: string [2] has no 9 bytes"},
                           wrong{1, "", "edge 4: string [1] has no 0 bytes"},
                           wrong{1, "0200000000000000 61", "edge 4: text 0 of string [1] ends at 2"},
                           wrong{2, "0200000000000000 0100000000000000 6162", "edge 4: text 1"},
                           wrong{1, "ffffffffffffff7f 61", "edge 4: text 0"},
                           wrong{1, "0100000000000000 6162", "edge 4: the elements end at 9"},
                           wrong{0, "61", "edge 4: the elements end at 0"}}) {
      INFO(w.hex << (waits ? ", waits" : ""));
      place_to_meet to;
      taker take;
      if (waits) to.of.receive(4, 0, take);
      const std::string bytes = tg::test::bytes_of_hex(w.hex);
      const edge_of_run e = to.edge(4, texts_of(w.texts));
      if (!bytes.empty()) {
        const placement p = to.announce(e, bytes.size());
        if (p.what() == placement::kind::refuse) {
          CHECK(std::string(p.why()->what()).find(w.says) != std::string::npos);
          continue;
        }
      }
      to.bring(e, bytes);
      if (!waits) to.of.receive(4, 0, take);
      CHECK(take.times == 1);
      CHECK(take.error.starts_with("InvalidArgument: "));
      CHECK(take.error.find(w.says) != std::string::npos);
      CHECK(take.room.empty());  // nothing was made room for
    }
}

TEST_CASE("texts of any declared length are buffered as they come, not given room before") {
  place_to_meet to;
  taker take;
  to.of.receive(4, 0, take);
  const edge_of_run e = to.edge(4, texts_of(tg::extent{1} << 55));
  CHECK(to.announce(e, std::uint64_t{1} << 63).what() == placement::kind::buffer);
  CHECK(take.room.empty());
  CHECK(to.announce(e, std::uint64_t{1} << 63).what() == placement::kind::refuse);  // it comes twice
  to.bring(e, "12345678", 9);                                                       // another transfer
  CHECK(take.times == 0);
  to.of.abandoned(to.link, 3, 4, tg::error(tg::status_code::unavailable, "not to its end"));
  CHECK(take.times == 1);
  CHECK(take.error == "Unavailable: not to its end");
}

TEST_CASE("the end of a transfer that came early is not that of another one on its edge") {
  place_to_meet to;
  taker take;
  take.wanted = tg::dtype::float32;
  CHECK(to.announce(to.edge(4, texts_of(1)), 20, 1).what() == placement::kind::buffer);
  to.of.receive(4, 0, take);
  const edge_of_run numbers = to.edge(4, {tg::dtype::float32, {8}});
  CHECK(to.announce(numbers, 32, 2).what() == placement::kind::at);
  to.of.abandoned(to.link, 1, 4, tg::error(tg::status_code::unavailable, "not to its end"));
  CHECK(take.times == 0);  // its memory is being written
  idle_link other;
  to.of.abandoned(other, 2, 4, tg::error(tg::status_code::unavailable, "not to its end"));
  CHECK(take.times == 0);
  to.of.abandoned(to.link, 2, 4, tg::error(tg::status_code::unavailable, "not to its end"));
  CHECK(take.times == 1);
}

TEST_CASE("of what nobody waits for only small tensors are kept") {
  for (const bool texts : {true, false}) {
    INFO(texts);
    place_to_meet to;
    const auto announced = [&](std::int32_t edge, std::uint64_t bytes) {
      const tg::tensor_spec numbers{tg::dtype::uint8, {static_cast<tg::extent>(bytes)}};
      return to.announce(to.edge(edge, texts ? texts_of(1) : numbers), bytes).what();
    };
    CHECK(announced(1, service::eager_bytes) == placement::kind::buffer);
    CHECK(announced(2, service::eager_bytes + 1) == placement::kind::refuse);
    taker take;
    take.wanted = texts ? tg::dtype::string : tg::dtype::uint8;
    to.of.receive(3, 0, take);
    CHECK(announced(3, service::eager_bytes + 1) == (texts ? placement::kind::buffer : placement::kind::at));
  }
}

TEST_CASE("whoever waits for what was refused before is told why") {
  place_to_meet to;
  taker take, late;
  CHECK(to.announce(to.edge(4, {tg::dtype::float32, {8}}), 31).what() == placement::kind::refuse);
  to.of.refuse(5, tg::error(tg::status_code::resource_exhausted, "too much"));
  to.of.receive(4, 0, take);
  to.of.receive(5, 0, late);
  CHECK(take.times == 1);
  CHECK(take.error.starts_with("InvalidArgument: "));
  CHECK(late.times == 1);
  CHECK(late.error == "ResourceExhausted: too much");
  CHECK(to.said.empty());
}

TEST_CASE("random bytes are texts within them, or refused") {
  std::mt19937 random(5);
  for (int i = 0; i < 20'000; ++i) {
    place_to_meet to;
    taker take;
    std::string bytes(random() % 60, '\0');
    for (char& c : bytes) c = static_cast<char>(random() % 4 == 0 ? random() % 30 : 0);
    const bool waits = random() % 2 == 0;
    if (waits) to.of.receive(4, 0, take);
    const edge_of_run e = to.edge(4, texts_of(static_cast<tg::extent>(random() % 5)));
    if (!bytes.empty() && to.announce(e, bytes.size()).what() == placement::kind::refuse) continue;
    to.bring(e, bytes);
    if (!waits) to.of.receive(4, 0, take);
    REQUIRE(take.times == 1);
    REQUIRE((take.error.empty() || take.error.starts_with("InvalidArgument: ")));
    (void)take.texts();
  }
}

TEST_CASE("whoever takes texts is told when the run ends or its step is given up, while they wait or come") {
  const tg::error why(tg::status_code::aborted, "the run is over");
  const std::string large(std::size_t{1} << 20, 'x');
  const tg::tensor<std::string_view> texts({1}, {large});
  for (const bool all : {true, false}) {
    INFO(all);
    place_to_meet at;
    giver give(texts);
    taker waits, comes;
    at.of.send(1, 1, give);
    at.of.receive(2, 0, waits);
    at.of.receive(3, 0, comes);
    CHECK(at.announce(at.edge(3, texts_of(1)), 20, 6).what() == placement::kind::buffer);
    if (all) at.of.abort(why);
    if (!all) at.of.cancel(1, give), at.of.cancel(2, waits), at.of.cancel(3, comes);
    CHECK(give.times == 1);
    CHECK(waits.times == 1);
    CHECK(waits.error.starts_with(all ? "Aborted: " : "Cancelled: "));
    CHECK(comes.times == 0);
    CHECK(at.link.discarded == std::vector<std::uint32_t>{6});
    at.of.abandoned(at.link, 6, 3, why);
    CHECK(comes.times == 1);
    at.of.wanted(1);
    CHECK(give.times == 1);
    for (const tg::transport::outgoing& m : at.said) CHECK(m.kind == static_cast<std::uint16_t>(message::wanted));
  }
}

TEST_CASE("a tensor of another type than is waited for, or of none, ends the attempt") {
  for (const tg::tensor_spec& spec : {tg::tensor_spec{}, tg::tensor_spec{tg::dtype::float32, {0}}}) {
    place_to_meet to;
    taker take;
    to.of.receive(4, 0, take);
    to.say(to.edge(4, spec), "");
    CHECK(take.times == 1);
    CHECK(take.error.starts_with("InvalidArgument: "));
  }
}

}  // namespace
