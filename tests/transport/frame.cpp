// SPDX-License-Identifier: BSL-1.0
#include "tagma/transport/frame.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tagma/io/crc32c.hpp"

namespace tagma::transport::test {

namespace {

std::string text_of(const frame_bytes& b) { return {reinterpret_cast<const char*>(b.data()), b.size()}; }

/// A good frame of each type.
std::vector<frame> good_frames() {
  std::vector<frame> all;
  for (const frame_type type : {frame_type::hello, frame_type::answer, frame_type::proof, frame_type::accepted})
    all.push_back({.type = type, .length = 32, .payload_crc = 1});
  all.push_back({.type = frame_type::refusal, .length = 5, .payload_crc = 1, .kind = 14});
  all.push_back({.type = frame_type::message, .kind = 65535});
  all.push_back(
      {.type = frame_type::message, .length = 7, .payload_crc = 9, .kind = 3, .transfer = 1, .value = 1 << 20});
  all.push_back({.type = frame_type::message, .flags = frame_wants_reply, .request = 1, .time_left_ms = 1});
  all.push_back({.type = frame_type::message,
                 .flags = frame_wants_reply | frame_announced,
                 .transfer = 8,
                 .request = ~0ull,
                 .value = 1,
                 .time_left_ms = ~0u});
  all.push_back({.type = frame_type::message, .flags = frame_is_reply, .transfer = 3, .request = 7, .value = 4});
  all.push_back({.type = frame_type::message, .flags = frame_is_reply | frame_is_error, .kind = 5, .request = 7});
  all.push_back({.type = frame_type::chunk, .length = 1, .payload_crc = 1, .transfer = 2, .value = 5});
  all.push_back({.type = frame_type::chunk, .flags = frame_unchecked, .length = 1, .transfer = 2});
  all.push_back({.type = frame_type::want, .transfer = 1});
  all.push_back(
      {.type = frame_type::reject, .flags = frame_is_reply, .kind = 1, .transfer = 1, .request = 2, .value = 9});
  all.push_back({.type = frame_type::drop, .transfer = 1});
  all.push_back({.type = frame_type::credit, .value = 1});
  all.push_back({.type = frame_type::ping, .value = 77});
  all.push_back({.type = frame_type::pong, .request = 77, .value = 78});
  all.push_back({.type = frame_type::goodbye});
  all.push_back({.type = frame_type::segment, .length = 56, .payload_crc = 3});
  all.push_back({.type = frame_type::moved});
  all.push_back({.type = frame_type::moved, .length = 3, .payload_crc = 3, .kind = 9});
  return all;
}

std::string reason(const frame& f) { return std::string(decode_frame(text_of(encode(f)), {}).reason); }

/// A header with a byte changed and its checksum made right again.
std::string changed(const frame& f, std::size_t at, char to) {
  std::string bytes = text_of(encode(f)).substr(0, 44);
  bytes[at] = to;
  put_number(bytes, io::crc32c(bytes));
  return bytes;
}

}  // namespace

TEST_CASE("a frame is read as it was written") {
  for (const frame& f : good_frames()) {
    std::string bytes = text_of(encode(f));
    bytes.append(20, 'm');  // what is behind it
    const decoded_frame d = decode_frame(bytes, {});
    INFO(d.reason);
    REQUIRE(d.verdict == frame_verdict::good);
    CHECK(d.header == f);
  }
}

TEST_CASE("the beginning of a good frame is not enough, and no error") {
  for (const frame& f : good_frames())
    for (std::size_t size = 0; size < frame_header_bytes; ++size)
      REQUIRE(decode_frame(text_of(encode(f)).substr(0, size), {}).verdict == frame_verdict::more);
}

TEST_CASE("a header with any bit flipped is refused") {
  for (const frame& f : good_frames()) {
    for (std::size_t bit = 0; bit < frame_header_bytes * 8; ++bit) {
      std::string bytes = text_of(encode(f));
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
      REQUIRE(decode_frame(bytes, {}).verdict == frame_verdict::bad);
    }
  }
}

TEST_CASE("bytes of another protocol are refused with the first of them") {
  CHECK(decode_frame("G", {}).verdict == frame_verdict::bad);
  CHECK(decode_frame("GET / HTTP/1.1", {}).reason == "bytes that are no frame of tagma");
  CHECK(decode_frame("tgm2", {}).verdict == frame_verdict::bad);
  CHECK(decode_frame("tgm1", {}).verdict == frame_verdict::more);
}

TEST_CASE("each field is checked") {
  using type = frame_type;
  const frame ping{.type = type::ping};
  CHECK(decode_frame(changed(ping, 4, 2), {}).reason == "a frame of another version of the protocol");
  CHECK(decode_frame(changed(ping, 4, 0), {}).reason == "a frame of another version of the protocol");
  CHECK(decode_frame(changed(ping, 18, 1), {}).reason == "a frame with a reserved field that is not 0");
  CHECK(decode_frame(changed(ping, 5, 0), {}).reason == "a frame of an unknown type");
  CHECK(decode_frame(changed(ping, 5, 6), {}).reason == "a frame of an unknown type");
  CHECK(decode_frame(changed(ping, 5, 27), {}).reason == "a frame of an unknown type");
  CHECK(reason({.type = type::ping, .flags = 0x8000}) == "a frame with a critical flag that is not known");
  CHECK(reason({.type = type::ping, .flags = 0x0100}) == "a frame with a critical flag that is not known");
  CHECK(reason({.type = type::ping, .flags = 0x00ff}).empty());
  CHECK(reason({.type = type::ping, .length = 1}) == "a frame that is longer than its type may be");
  CHECK(reason({.type = type::hello, .length = 2049}) == "a frame that is longer than its type may be");
  CHECK(reason({.type = type::proof, .length = 33}) == "a frame that is longer than its type may be");
  CHECK(reason({.type = type::refusal, .length = 1025, .kind = 1}) == "a frame that is longer than its type may be");
  CHECK(reason({.type = type::message, .length = 65537}) == "a frame that is longer than its type may be");
  CHECK(reason({.type = type::message, .length = ~0u}) == "a frame that is longer than its type may be");
  CHECK(reason({.type = type::chunk, .length = 262145, .transfer = 1}) ==
        "a frame that is longer than its type may be");
  CHECK(reason({.type = type::ping, .kind = 1}) == "a frame with a kind that its type has not");
  CHECK(reason({.type = type::refusal}) == "a frame with an unknown status code");
  CHECK(reason({.type = type::refusal, .kind = 16}) == "a frame with an unknown status code");
  for (const frame& f : {frame{.type = type::moved, .length = 1, .kind = 16}, frame{.type = type::moved, .kind = 1},
                         frame{.type = type::moved, .length = 1}})
    CHECK(reason(f) == "a frame with an unknown status code, or with one and no reason");
  CHECK(reason({.type = type::segment, .length = 257}) == "a frame that is longer than its type may be");
  CHECK(reason({.type = type::ping, .transfer = 1}) == "a frame with a transfer that its type has not");
  CHECK(reason({.type = type::ping, .request = 1}) == "a frame with a request that its type has not");
  CHECK(reason({.type = type::goodbye, .value = 1}) == "a frame with a value that its type has not");
  CHECK(reason({.type = type::ping, .time_left_ms = 1}) == "a frame with a deadline that its type has not");
  CHECK(reason({.type = type::ping, .payload_crc = 1}) == "a frame with a checksum of nothing");
  CHECK(reason({.type = type::want}) == "a frame that names no transfer");
  CHECK(reason({.type = type::chunk, .transfer = 1}) == "a chunk without bytes");
}

TEST_CASE("a message says one thing") {
  const auto message = [](frame f) {
    f.type = frame_type::message;
    return reason(f);
  };
  CHECK(message({.flags = frame_wants_reply | frame_is_reply, .request = 1, .time_left_ms = 1}) ==
        "a message that is both call and answer");
  CHECK(message({.request = 1}) == "a message with a request that is no call, or a call without one");
  CHECK(message({.flags = frame_wants_reply, .time_left_ms = 1}) ==
        "a message with a request that is no call, or a call without one");
  CHECK(message({.time_left_ms = 1}) == "a message with a deadline that is no call, or a call without one");
  CHECK(message({.flags = frame_wants_reply, .request = 1}) ==
        "a message with a deadline that is no call, or a call without one");
  CHECK(message({.value = 1}) == "a message with bulk and no transfer, or a transfer without bulk");
  CHECK(message({.transfer = 1}) == "a message with bulk and no transfer, or a transfer without bulk");
  CHECK(message({.transfer = 1, .value = ~0ull}) == "a message with more bulk than is taken");
  CHECK(message({.flags = frame_announced}) == "a message that announces what it has not");
  CHECK(message({.flags = frame_announced | frame_is_reply, .transfer = 1, .request = 1, .value = 1}) ==
        "a message that announces what it has not");
  CHECK(message({.flags = frame_is_error, .kind = 1}) == "an error that is no answer, or has an unknown status code");
  CHECK(message({.flags = frame_is_error | frame_is_reply, .kind = 16, .request = 1}) ==
        "an error that is no answer, or has an unknown status code");
}

TEST_CASE("frames are what docs/wire.md says") {
  const auto hex = [](std::string_view bytes) {
    std::string text;
    for (const char c : bytes) {
      text += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
      text += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
    }
    return text;
  };
  CHECK(hex(text_of(encode({.type = frame_type::ping, .value = 0x0102030405060708}))) ==
        "74676d31011600000000000000000000"
        "00000000000000000000000000000000"
        "0807060504030201000000000e40e21e");
  const std::string body = "hello";
  CHECK(hex(text_of(encode({.type = frame_type::message,
                            .flags = frame_wants_reply,
                            .length = 5,
                            .payload_crc = io::crc32c(body),
                            .kind = 0x1234,
                            .transfer = 3,
                            .request = 42,
                            .value = 1'000'000,
                            .time_left_ms = 1500})) +
            body) ==
        "74676d3101100001050000004cbb719a"
        "34120000030000002a00000000000000"
        "40420f0000000000dc050000f6e18e34"
        "68656c6c6f");
}

}  // namespace tagma::transport::test
