// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Where bytes arrive: behind each other in a buffer, or at once where they belong.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "tagma/transport/frame.hpp"

namespace tagma::transport {

/// Where the next bytes go: into the first, and when that is full into the second.
struct inlet_room {
  std::span<std::byte> first{}, second{};
};

/// A buffer that is filled at its end and emptied at its beginning. It grows only while it is full.
class inlet {
 public:
  explicit inlet(std::size_t size) : buffer_(size) {}

  /// The room behind what is there, which there always is.
  [[nodiscard]] std::span<std::byte> room() {
    if (begin_ == end_) begin_ = end_ = 0;
    if (begin_ > 0 && buffer_.size() - end_ < frame_header_bytes) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
    return {buffer_.data() + end_, buffer_.size() - end_};
  }
  /// So many bytes were put there.
  void add(std::size_t n) { end_ += n; }
  [[nodiscard]] std::string_view view() const {
    return {reinterpret_cast<const char*>(buffer_.data()) + begin_, end_ - begin_};
  }
  void take(std::size_t n) { begin_ += n; }
  void widen(std::size_t size) { buffer_.resize(std::max(size, buffer_.size())); }
  [[nodiscard]] std::size_t capacity() const { return buffer_.size(); }

 private:
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0, end_ = 0;
};

}  // namespace tagma::transport
