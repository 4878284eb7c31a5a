// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of buffered_reader.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/io/buffered_reader.hpp"

namespace tagma::io {

TAGMA_DECL buffered_reader::buffered_reader(any_source source, std::size_t block)
    : source_(std::move(source)), block_(block) {
  if (block_ == 0) block_ = 1;
}

TAGMA_DECL std::uint64_t buffered_reader::at_most() const {
  const std::uint64_t more = ended_ ? 0 : source_.at_most();
  return more > unknown_length - held() ? unknown_length : more + held();
}

TAGMA_DECL std::string_view buffered_reader::peek(std::size_t n) {
  (void)fill(n);
  return {data_.get() + begin_, std::min(n, held())};
}

TAGMA_DECL std::string_view buffered_reader::take(std::size_t n) {
  const std::string_view bytes = peek(n);
  drop(bytes.size());
  return bytes;
}

TAGMA_DECL std::string_view buffered_reader::take_block() {
  (void)fill(1);
  return take(held());
}

TAGMA_DECL std::size_t buffered_reader::find(char c, std::size_t from) {
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

TAGMA_DECL bool buffered_reader::line(std::string_view& text) {
  const std::size_t length = find('\n');
  if (length == std::string_view::npos) {
    text = take(held());
    return !text.empty();
  }
  text = take(length + 1).substr(0, length);
  return true;
}

TAGMA_COLD TAGMA_DECL void buffered_reader::skip_mark() {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  for (std::size_t n = 1; n <= mark.size(); ++n)  // no byte is waited for that need not be there
    if (peek(n) != mark.substr(0, n)) return;
  drop(mark.size());
}

TAGMA_DECL std::size_t buffered_reader::read(void* target, std::size_t n) {
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

TAGMA_DECL std::uint64_t buffered_reader::skip(std::uint64_t n) {
  std::uint64_t done = 0;
  while (done < n && fill(1)) {
    const std::size_t some = static_cast<std::size_t>(std::min<std::uint64_t>(n - done, held()));
    drop(some);
    done += some;
  }
  return done;
}

TAGMA_DECL std::uint64_t buffered_reader::append(std::string& to, std::uint64_t n) {
  std::uint64_t done = 0;
  while (done < n && fill(1)) {
    const std::size_t some = static_cast<std::size_t>(std::min<std::uint64_t>(n - done, held()));
    to.append(take(some));
    done += some;
  }
  return done;
}

TAGMA_DECL void buffered_reader::drop(std::size_t n) {
  begin_ += n;
  position_ += n;
}

TAGMA_DECL bool buffered_reader::fill(std::size_t n) {
  while (held() < n && !ended_) more();
  return held() >= n;
}

TAGMA_COLD TAGMA_DECL void buffered_reader::more() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (capacity_ - end_ < capacity_ / 4 + 1) {
    const std::size_t size = held();
    if (begin_ > 0 && size <= capacity_ / 2) {
      std::memmove(data_.get(), data_.get() + begin_, size);
    } else {
      // A short source needs no block, but room to find its end in.
      const auto first = static_cast<std::size_t>(std::min<std::uint64_t>(block_ - 1, source_.at_most())) + 1;
      const std::size_t larger = capacity_ == 0 ? first : capacity_ * 2;
      owned<char[]> grown(new (std::nothrow) char[larger]);
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

}  // namespace tagma::io
