// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Reads a source in blocks and gives views of them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/no_memory.hpp"
#include "tagma/io/byte_source.hpp"

namespace tagma::io {

/// Reads a source in blocks. Views that it gives are valid until its next call. Its memory grows with the bytes that
/// arrived, to at most twice as many, and never with a number that somebody declared.
class buffered_reader {
 public:
  /// Bytes of a block.
  static constexpr std::size_t default_block = 256 * 1024;

  /// @param block how many bytes the source is asked for at least
  buffered_reader(any_source source, std::size_t block = default_block) : source_(std::move(source)), block_(block) {
    if (block_ == 0) block_ = 1;
  }
  template <class S>
    requires(!std::is_same_v<S, any_source> && byte_source<S>)
  buffered_reader(S source, std::size_t block = default_block)
      : buffered_reader(any_source(std::move(source)), block) {}

  [[nodiscard]] std::string_view name() const { return source_.name(); }
  /// How many bytes were taken.
  [[nodiscard]] std::uint64_t position() const { return position_; }
  /// No more bytes than this can follow, or `unknown_length`.
  [[nodiscard]] std::uint64_t at_most() const {
    const std::uint64_t more = ended_ ? 0 : source_.at_most();
    return more > unknown_length - held() ? unknown_length : more + held();
  }
  [[nodiscard]] bool at_end() { return !fill(1); }

  /// The next `n` bytes, which stay; fewer where the source ends.
  [[nodiscard]] std::string_view peek(std::size_t n) {
    (void)fill(n);
    return {data_.get() + begin_, std::min(n, held())};
  }
  /// The next `n` bytes; fewer where the source ends.
  [[nodiscard]] std::string_view take(std::size_t n) {
    const std::string_view bytes = peek(n);
    drop(bytes.size());
    return bytes;
  }
  /// Bytes that have been read already, which stay.
  [[nodiscard]] std::string_view buffered() const { return {data_.get() + begin_, held()}; }
  /// Bytes that have been read already, one at least; none where the source ends.
  [[nodiscard]] std::string_view take_block() {
    (void)fill(1);
    return take(held());
  }

  /// How far the next such character is from here, not counting the first `from` bytes; npos if there is none.
  [[nodiscard]] std::size_t find(char c, std::size_t from = 0) {
    while (true) {
      if (from < held()) {
        const char* const first = data_.get() + begin_;
        if (const void* const found = std::memchr(first + from, c, held() - from))
          return static_cast<std::size_t>(static_cast<const char*>(found) - first);
        from = held();
      }
      if (!fill(from + 1)) return std::string_view::npos;
    }
  }
  /// The bytes up to the next line feed, which is taken and left out, or up to the end. False if there are none.
  [[nodiscard]] bool line(std::string_view& text) {
    const std::size_t length = find('\n');
    if (length == std::string_view::npos) {
      text = take(held());
      return !text.empty();
    }
    text = take(length + 1).substr(0, length);
    return true;
  }

  /// Copies the next `n` bytes; returns how many there were.
  [[nodiscard]] std::size_t read(void* target, std::size_t n) {
    auto* const to = static_cast<std::byte*>(target);
    std::size_t done = std::min(n, held());
    if (done > 0) std::memcpy(to, data_.get() + begin_, done);
    drop(done);
    while (done < n) {
      if (n - done < block_) {
        const std::string_view rest = take(n - done);
        if (!rest.empty()) std::memcpy(to + done, rest.data(), rest.size());
        return done + rest.size();
      }
      const std::size_t more = ended_ ? 0 : source_.read({to + done, n - done});
      ended_ = more == 0;
      if (ended_) break;
      done += more;
      position_ += more;
    }
    return done;
  }
  /// Passes `n` bytes by; returns how many there were.
  std::uint64_t skip(std::uint64_t n) {
    std::uint64_t done = 0;
    while (done < n && fill(1)) {
      const std::size_t some = static_cast<std::size_t>(std::min<std::uint64_t>(n - done, held()));
      drop(some);
      done += some;
    }
    return done;
  }
  /// Appends the next `n` bytes; returns how many there were. What is appended to grows with what arrives.
  std::uint64_t append(std::string& to, std::uint64_t n) {
    std::uint64_t done = 0;
    while (done < n && fill(1)) {
      const std::size_t some = static_cast<std::size_t>(std::min<std::uint64_t>(n - done, held()));
      to.append(take(some));
      done += some;
    }
    return done;
  }

 private:
  [[nodiscard]] std::size_t held() const { return end_ - begin_; }
  void drop(std::size_t n) {
    begin_ += n;
    position_ += n;
  }
  /// Whether `n` bytes are held, after an attempt to have them.
  [[nodiscard]] bool fill(std::size_t n) {
    while (held() < n && !ended_) more();
    return held() >= n;
  }
  /// Reads once, to the end of the buffer.
  TAGMA_COLD void more() {
    if (begin_ == end_) begin_ = end_ = 0;
    if (capacity_ - end_ < capacity_ / 4 + 1) {
      const std::size_t size = held();
      if (begin_ > 0 && size <= capacity_ / 2) {
        std::memmove(data_.get(), data_.get() + begin_, size);
      } else {
        // A short source needs no block, but room to find its end in.
        const auto first = static_cast<std::size_t>(std::min<std::uint64_t>(block_ - 1, source_.at_most())) + 1;
        const std::size_t larger = capacity_ == 0 ? first : capacity_ * 2;
        std::unique_ptr<char[]> grown(new (std::nothrow) char[larger]);
        if (grown == nullptr) fail_no_memory(1, larger, sentence({"a part of ", name()}));
        if (size > 0) std::memcpy(grown.get(), data_.get() + begin_, size);
        data_ = std::move(grown);
        capacity_ = larger;
      }
      begin_ = 0;
      end_ = size;
    }
    const std::size_t n = source_.read({reinterpret_cast<std::byte*>(data_.get()) + end_, capacity_ - end_});
    ended_ = n == 0;
    end_ += n;
  }

  any_source source_;
  std::size_t block_;
  std::unique_ptr<char[]> data_;
  std::size_t capacity_ = 0, begin_ = 0, end_ = 0;
  std::uint64_t position_ = 0;
  bool ended_ = false;
};

}  // namespace tagma::io
