// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Numbers and texts of the bodies of messages, little-endian and without padding.

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/tensor/spec.hpp"
#include "tagma/transport/frame.hpp"

namespace tagma::service {

/// Writes a body.
class word_writer {
 public:
  template <class T>
  void number(T value) {
    transport::put_number(bytes_, value);
  }
  /// The bits of a number of 64 bits, as IEEE 754 has them.
  void real(double value) { number(std::bit_cast<std::uint64_t>(value)); }
  /// One byte.
  void flag(bool value) { number(static_cast<std::uint8_t>(value)); }
  /// A length of four bytes, and the characters.
  void text(std::string_view t);
  /// A type, a rank and as many extents.
  void spec(const tensor_spec& s);
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads one back. Everything throws InvalidArgument where the body ends too early or has what cannot be.
class word_reader {
 public:
  /// @param what names the message in sentences
  word_reader(std::string_view bytes, const char* what) : bytes_(bytes), what_(what) {}

  template <class T>
  [[nodiscard]] T number() {
    return transport::get_number<T>(take(sizeof(T)).data());
  }
  [[nodiscard]] double real() { return std::bit_cast<double>(number<std::uint64_t>()); }
  [[nodiscard]] bool flag();
  [[nodiscard]] std::string text();
  /// Of a tensor that there is: without open extents, of a size that is allowed.
  [[nodiscard]] tensor_spec spec();
  /// How many things follow that have at least `least` bytes each.
  [[nodiscard]] std::size_t count(std::size_t least);
  /// Throws if bytes are left.
  void end() const;

 private:
  [[nodiscard]] std::string_view take(std::size_t size);
  [[noreturn]] void refuse(std::string_view why) const;

  std::string_view bytes_;
  std::size_t at_ = 0;
  const char* what_;
};

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/words.ipp"
#endif
