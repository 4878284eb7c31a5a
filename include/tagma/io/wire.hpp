// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Messages of protocol buffers as they are encoded: fields with a number, a type and a value.
/// https://protobuf.dev/programming-guides/encoding

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tagma::io::wire {

/// How a value is encoded. Groups, of types 3 and 4, are refused.
enum class type : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

/// A field: a number of the types `varint`, `fixed64` and `fixed32`, or bytes. `raw` is all of its value as it is
/// encoded, without the length of bytes.
struct field {
  std::uint32_t number = 0;
  wire::type type = type::varint;
  std::uint64_t value = 0;
  std::string_view raw{};
};

/// Takes a varint from the beginning of `bytes`; false if there is none, or one that 64 bits do not hold.
[[nodiscard]] constexpr bool take_varint(std::string_view& bytes, std::uint64_t& value) {
  value = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (i == 9 && byte > 1) return false;
    value |= std::uint64_t{byte & 0x7fu} << (7 * i);
    if (byte < 0x80) {
      bytes.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

/// Reads the fields of a message, which outlives what is read.
class reader {
 public:
  constexpr explicit reader(std::string_view message) : left_(message) {}

  /// The next field. False at the end of the message and, then not `good()`, where it is damaged.
  [[nodiscard]] constexpr bool next(field& f) {
    if (left_.empty()) return false;
    std::uint64_t key = 0;
    if (!take_varint(left_, key) || key >> 3 == 0 || key > UINT32_MAX) return stop();
    f.number = static_cast<std::uint32_t>(key >> 3);
    f.type = static_cast<type>(key & 7);
    f.value = 0;
    const std::string_view before = left_;
    switch (f.type) {
      case type::varint:
        if (!take_varint(left_, f.value)) return stop();
        f.raw = before.substr(0, before.size() - left_.size());
        return true;
      case type::bytes: {
        std::uint64_t length = 0;
        if (!take_varint(left_, length) || length > left_.size()) return stop();
        return take(f, static_cast<std::size_t>(length));
      }
      case type::fixed64:
        return take_number(f, 8);
      case type::fixed32:
        return take_number(f, 4);
    }
    return stop();
  }
  /// Whether everything so far was sound.
  [[nodiscard]] constexpr bool good() const { return good_; }

 private:
  constexpr bool take(field& f, std::size_t length) {
    f.raw = left_.substr(0, length);
    left_.remove_prefix(length);
    return true;
  }
  constexpr bool take_number(field& f, std::size_t length) {
    if (left_.size() < length) return stop();
    for (std::size_t i = length; i-- > 0;) f.value = f.value << 8 | static_cast<unsigned char>(left_[i]);
    return take(f, length);
  }
  constexpr bool stop() {
    left_ = {};
    return good_ = false;
  }

  std::string_view left_;
  bool good_ = true;
};

void put_varint(std::string& to, std::uint64_t value);
/// Appends a field of bytes: a text, a message or packed numbers.
void put_bytes(std::string& to, std::uint32_t number, std::string_view bytes);
/// Appends a field of a number.
/// @{
void put_integer(std::string& to, std::uint32_t number, std::int64_t value);
void put_float(std::string& to, std::uint32_t number, float value);
void put_double(std::string& to, std::uint32_t number, double value);
/// @}
/// As in a field, or packed.
[[nodiscard]] std::string bytes_of_double(double value);

}  // namespace tagma::io::wire

#ifndef TAGMA_COMPILED
#include "tagma/io/wire.ipp"
#endif
