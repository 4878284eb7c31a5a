// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Two connections in one test, whose bytes and clock the test moves by hand.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tagma/io/crc32c.hpp"
#include "tagma/transport/connection.hpp"
#include "tagma/transport/driven_link.hpp"
#include "transport/services.hpp"

namespace tagma::transport::test {

/// One end.
class end final : public driven_link {
 public:
  end(side which, const options& how, std::shared_ptr<service> with, const std::int64_t& now, unsigned nonce = 1)
      : driven_link({which, how, nonce_of(which, nonce), which == side::connects ? "there" : "a stranger", false, true},
                    with, now),
        now_(now) {}

  static digest nonce_of(side which, unsigned n) {
    digest d{};
    d[0] = static_cast<std::uint8_t>(n);
    d[1] = which == side::connects ? 1 : 2;
    return d;
  }

  template <class F>
  auto with(const F& f) {
    take_wishes();
    return with_connection(f);
  }
  /// All that it has to send, and sends it.
  std::string out(std::size_t most = SIZE_MAX) {
    std::string bytes;
    std::span<const std::byte> pieces[4];
    while (bytes.size() < most) {
      const std::size_t count = with([&](connection& c) { return c.gather(pieces, now_); });
      if (count == 0) break;
      std::size_t n = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t part = std::min(pieces[i].size(), most - bytes.size());
        bytes.append(reinterpret_cast<const char*>(pieces[i].data()), part);
        n += part;
      }
      with([&](connection& c) { c.sent(n, now_); });
    }
    return bytes;
  }
  /// Takes bytes.
  void in(std::string_view bytes) {
    with([&](connection& c) { c.receive(bytes, now_); });
    take_wishes();
  }
  void advance() {
    with([&](connection& c) { c.advance(now_); });
  }
  [[nodiscard]] bool is_over() {
    return with([](connection& c) { return c.is_over(); });
  }

 protected:
  void wake() override {}
  [[nodiscard]] bool is_here() const override { return true; }
  [[nodiscard]] std::int64_t clock() const override { return now_; }

 private:
  const std::int64_t& now_;
};

/// Both.
struct both {
  explicit both(const options& client = task("worker"), const options& server = task("ps"), unsigned nonce = 1)
      : a(side::connects, client, at_a, now, nonce), b(side::accepts, server, at_b, now, nonce) {}

  std::int64_t now = 0;
  std::shared_ptr<service> at_a = std::make_shared<service>(), at_b = std::make_shared<service>();
  end a, b;

  /// Moves bytes until there are none.
  void run() {
    for (;;) {
      const std::string there = a.out();
      b.in(there);
      const std::string back = b.out();
      a.in(back);
      if (there.empty() && back.empty()) return;
    }
  }
  /// Lets time pass, in steps of 100 ms, with what both send.
  void pass(std::int64_t ns) {
    for (const std::int64_t until = now + ns; now < until;) {
      now = std::min(until, now + 100 * ms);
      a.advance();
      b.advance();
      run();
    }
  }
};

/// The bytes of a frame with a payload.
inline std::string frame_of(frame f, std::string_view payload = {}) {
  f.length = static_cast<std::uint32_t>(payload.size());
  f.payload_crc = payload.empty() ? 0 : io::crc32c(payload);
  const frame_bytes header = encode(f);
  return std::string(reinterpret_cast<const char*>(header.data()), header.size()).append(payload);
}

/// The frames in bytes: header and payload.
inline std::vector<std::pair<frame, std::string>> frames_in(std::string_view bytes) {
  std::vector<std::pair<frame, std::string>> all;
  while (!bytes.empty()) {
    const decoded_frame d = decode_frame(bytes, {});
    if (d.verdict != frame_verdict::good || bytes.size() < frame_header_bytes + d.header.length) break;
    all.emplace_back(d.header, bytes.substr(frame_header_bytes, d.header.length));
    bytes.remove_prefix(frame_header_bytes + d.header.length);
  }
  return all;
}

}  // namespace tagma::transport::test
