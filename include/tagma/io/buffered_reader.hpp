// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Reads a source in blocks and gives views of them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/no_memory.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/io/byte_source.hpp"

namespace tagma::io {

/// Reads a source in blocks. Views that it gives are valid until its next call. Its memory grows with the bytes that
/// arrived, to at most twice as many, and never with a number that somebody declared.
class buffered_reader {
 public:
  /// Bytes of a block.
  static constexpr std::size_t default_block = 256 * 1024;

  /// @param block how many bytes the source is asked for at least
  buffered_reader(any_source source, std::size_t block = default_block);
  template <class S>
    requires(!std::is_same_v<S, any_source> && byte_source<S>)
  buffered_reader(S source, std::size_t block = default_block)
      : buffered_reader(any_source(std::move(source)), block) {}

  /// What messages call it.
  [[nodiscard]] std::string_view name() const { return source_.name(); }
  /// How many bytes were taken.
  [[nodiscard]] std::uint64_t position() const { return position_; }
  /// No more bytes than this can follow, or `unknown_length`.
  [[nodiscard]] std::uint64_t at_most() const;
  /// True if no byte is left.
  [[nodiscard]] bool at_end() { return !fill(1); }

  /// The next `n` bytes, which stay; fewer where the source ends.
  [[nodiscard]] std::string_view peek(std::size_t n);
  /// The next `n` bytes; fewer where the source ends.
  [[nodiscard]] std::string_view take(std::size_t n);
  /// Bytes that have been read already, which stay.
  [[nodiscard]] std::string_view buffered() const { return {data_.get() + begin_, held()}; }
  /// Bytes that have been read already, one at least; none where the source ends.
  [[nodiscard]] std::string_view take_block();

  /// How far the next such character is from here, not counting the first `from` bytes; npos if there is none.
  [[nodiscard]] std::size_t find(char c, std::size_t from = 0);
  /// The bytes up to the next line feed, which is taken and left out, or up to the end. False if there are none.
  [[nodiscard]] bool line(std::string_view& text);

  /// At the beginning of a text, passes the byte order mark of UTF-8 by, if there is one.
  void skip_byte_order_mark() {
    if (position_ == 0) [[unlikely]]
      skip_mark();
  }

  /// Copies the next `n` bytes; returns how many there were.
  [[nodiscard]] std::size_t read(void* target, std::size_t n);
  /// Passes `n` bytes by; returns how many there were.
  std::uint64_t skip(std::uint64_t n);
  /// Appends the next `n` bytes; returns how many there were. What is appended to grows with what arrives.
  std::uint64_t append(std::string& to, std::uint64_t n);

 private:
  [[nodiscard]] std::size_t held() const { return end_ - begin_; }
  void skip_mark();
  void drop(std::size_t n);
  /// Whether `n` bytes are held, after an attempt to have them.
  [[nodiscard]] bool fill(std::size_t n);
  /// Reads once, to the end of the buffer.
  void more();

  any_source source_;
  std::size_t block_;
  owned<char[]> data_;
  std::size_t capacity_ = 0, begin_ = 0, end_ = 0;
  std::uint64_t position_ = 0;
  bool ended_ = false;
};

}  // namespace tagma::io

#ifndef TAGMA_COMPILED
#include "tagma/io/buffered_reader.ipp"
#endif
