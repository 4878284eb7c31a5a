// SPDX-License-Identifier: BSL-1.0
// Whatever bytes come, at a connection before and behind the handshake: they never make it need more memory than its
// limits say, write beyond a place, or say two ends of one thing. The first byte of an input says how the rest is read.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/fuzz.hpp"
#include "tagma/transport/connection.hpp"
#include "tagma/transport/driven_link.hpp"

namespace {

namespace transport = tagma::transport;
namespace fuzz = tagma::fuzz;

/// Takes what comes, each in another way.
class service final : public transport::handler {
 public:
  void connected(transport::link&) override { open = true; }
  transport::placement place(transport::link&, const transport::incoming& m) override {
    if (m.kind % 3 == 0) return transport::placement::buffered();
    if (m.kind % 3 == 1 || m.bulk_size > 100'000)
      return transport::placement::refused(tagma::error(tagma::status_code::not_found, "no"));
    std::vector<std::byte>& v = places[m.transfer];
    v.resize(m.bulk_size);
    return transport::placement::at(v.data());
  }
  void received(transport::link& from, transport::incoming& m) override {
    fuzz::expect(open && !over, "messages come between beginning and end");
    fuzz::expect(m.bulk.size() == m.bulk_size, "bulk is whole");
    places.erase(m.transfer);
    m.held = m.kind % 5 == 0;
    if (m.wants_reply) (void)from.reply(m.request, {.kind = m.kind, .body = std::string(m.body)});
  }
  void abandoned(transport::link&, std::uint32_t transfer) override { places.erase(transfer); }
  void closed(transport::link&) override { end(); }
  void lost(transport::link&, const tagma::error& why) override {
    // The other end may refuse with any code.
    const bool threw = std::string_view(why.what()).starts_with("Internal: a handler of");
    fuzz::expect(!threw, "no handler threw");
    end();
  }
  void end() {
    fuzz::expect(!over, "there is one end");
    over = true;
  }

  bool open = false, over = false;
  std::map<std::uint32_t, std::vector<std::byte>> places{};
};

/// A call of ours, which they may answer.
class question final : public transport::call {
 public:
  transport::placement place(const transport::incoming& m) override {
    fuzz::expect(ends == 0, "an answer comes before the end");
    if (m.bulk_size > bulk.size()) return transport::placement::buffered();
    return transport::placement::at(bulk.data());
  }
  void replied(transport::incoming&) noexcept override { ++ends; }
  void failed(const tagma::error&) noexcept override { ++ends; }
  int ends = 0;
  std::vector<std::byte> bulk = std::vector<std::byte>(50'000);
};

class end final : public transport::driven_link {
 public:
  end(transport::side which, const transport::options& how, std::shared_ptr<service> with)
      : driven_link({which, how, transport::digest{}, "there", false, true}, with, 0) {}
  template <class F>
  auto with(const F& f) {
    take_wishes();
    return with_connection(f);
  }
  std::string out() {
    std::string bytes;
    std::span<const std::byte> pieces[8];
    for (;;) {
      const std::size_t count = with([&](transport::connection& c) { return c.gather(pieces, now); });
      if (count == 0) return bytes;
      std::size_t n = 0;
      for (std::size_t i = 0; i < count; ++i) {
        bytes.append(reinterpret_cast<const char*>(pieces[i].data()), pieces[i].size());
        n += pieces[i].size();
      }
      with([&](transport::connection& c) { c.sent(n, now); });
    }
  }
  std::int64_t now = 0;

 protected:
  void wake() override {}
  bool is_here() const override { return true; }
  std::int64_t clock() const override { return now; }
};

transport::options settings() {
  transport::options o;
  o.self.job = "worker";
  o.insecure = true;
  o.limits.body_bytes = 2048;
  o.limits.window_bytes = 8192;
  o.limits.chunk_bytes = 4096;
  o.limits.transfers = 4;
  o.limits.buffered_bytes = 100'000;
  return o;
}

/// Gives bytes to an end in pieces of this size.
void feed(end& e, std::string_view bytes, std::size_t step) {
  while (!bytes.empty()) {
    const std::size_t n = std::min(step, bytes.size());
    e.with([&](transport::connection& c) {
      c.receive(bytes.substr(0, n), e.now);
      if (const auto where = c.offered())
        c.answer_offer(where->size() % 2 == 0 ? std::nullopt
                                              : std::optional(tagma::error(tagma::status_code::not_found, "no")));
      // What has come and its own growth, and nothing that was only said.
      fuzz::expect(c.buffer_bytes() < 100'000 + 2 * 70'000, "memory is limited");
    });
    bytes.remove_prefix(n);
  }
  (void)e.out();
}

/// The bytes of frames with their checksums set right, so that what is behind them is reached.
std::string mended(std::string_view bytes) {
  std::string to(bytes);
  for (std::size_t at = 0; at + transport::frame_header_bytes <= to.size();) {
    std::memcpy(to.data() + at, "tgm1\x01", 5);
    const auto length = transport::get_number<std::uint32_t>(to.data() + at + 8) % 600;
    const std::size_t payload = std::min<std::size_t>(length, to.size() - at - transport::frame_header_bytes);
    const auto put = [&to](std::size_t place, std::uint32_t n) {
      std::string number;
      transport::put_number(number, n);
      to.replace(place, 4, number);
    };
    put(at + 8, static_cast<std::uint32_t>(payload));
    const std::string_view body = std::string_view(to).substr(at + transport::frame_header_bytes, payload);
    put(at + 12, payload == 0 ? 0 : tagma::io::crc32c(body));
    put(at + 44, tagma::io::crc32c(std::string_view(to).substr(at, 44)));
    at += transport::frame_header_bytes + payload;
  }
  return to;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const unsigned how = data[0];
  std::string bytes(fuzz::text_of(data + 1, size - 1));
  if ((how & 1) != 0) bytes = mended(bytes);
  const std::size_t step = (how & 2) != 0 ? 7 : SIZE_MAX;
  question q;
  if ((how & 4) != 0) {
    end a(transport::side::connects, settings(), std::make_shared<service>());
    end b(transport::side::accepts, settings(), std::make_shared<service>());
    feed(a, bytes, step);
    feed(b, bytes, step);
    return 0;
  }
  end c(transport::side::connects, settings(), std::make_shared<service>());
  const auto at_d = std::make_shared<service>();
  end d(transport::side::accepts, settings(), at_d);
  for (int i = 0; i < 3; ++i) {
    const std::string there = c.out();
    d.with([&](transport::connection& n) { n.receive(there, 0); });
    const std::string back = d.out();
    c.with([&](transport::connection& n) { n.receive(back, 0); });
  }
  fuzz::expect(at_d->open, "two ends meet");
  fuzz::expect(static_cast<bool>(d.start({.kind = 1}, 1'000'000'000, q)), "a call begins");
  (void)d.out();
  feed(d, bytes, step);
  d.now = 2'000'000'000;
  d.with([&](transport::connection& n) { n.advance(d.now); });
  fuzz::expect(q.ends == 1, "a call has one end");
  d.with([&](transport::connection& n) { n.broken("it ends", d.now); });
  fuzz::expect(at_d->over, "a connection has an end");
  fuzz::expect(at_d->places.empty(), "every place is given back");
  return 0;
}
