// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// TFRecord files: each record is its length as eight bytes, their checksum, its bytes, and their checksum, numbers
/// with the lowest byte first and checksums masked CRC-32C. https://www.tensorflow.org/tutorials/load_data/tfrecord

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/io/buffered_reader.hpp"
#include "tagma/io/byte_sink.hpp"
#include "tagma/io/crc32c.hpp"
#include "tagma/tensor/size.hpp"

namespace tagma::io {

namespace detail {

/// A number of `Bytes` bytes, the lowest first.
template <std::size_t Bytes>
[[nodiscard]] constexpr std::uint64_t little_endian(const char* from) {
  std::uint64_t value = 0;
  for (std::size_t i = Bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(from[i]);
  return value;
}
template <std::size_t Bytes>
constexpr void put_little_endian(char* to, std::uint64_t value) {
  for (std::size_t i = 0; i < Bytes; ++i, value >>= 8) to[i] = static_cast<char>(value & 0xff);
}

}  // namespace detail

/// The records of a TFRecord file, in memory that grows with the bytes that arrive. The key is `name:offset`, the
/// offset of the record's first byte, that of its length, in the unpacked file. `next` throws `data_loss` for a file
/// that ends inside a record and for a checksum that is wrong; no record is given behind that.
class tf_record_reader {
 public:
  /// @param in `open(path, compression::gzip)` for a compressed file
  explicit tf_record_reader(buffered_reader in) : in_(std::move(in)) {}

  [[nodiscard]] bool next(std::string_view& value) {
    if (ended_) return false;
    offset_ = in_.position();
    ended_ = true;  // also if this throws
    const std::string_view head = in_.take(head_bytes);
    if (head.empty()) return false;
    if (head.size() < head_bytes) truncated("its length", head_bytes - head.size());
    const std::uint64_t length = detail::little_endian<8>(head.data());
    if (unmask_crc(static_cast<std::uint32_t>(detail::little_endian<4>(head.data() + 8))) != crc32c(head.substr(0, 8)))
      corrupted("length");
    if (length > static_cast<std::uint64_t>(max_bytes) || length + foot_bytes > in_.at_most())
      fail(status_code::data_loss, {in_.name(), ": truncated record at ", offset_, ": it says that it has ", length,
                                    " bytes, more than can follow"});
    const std::size_t needed = static_cast<std::size_t>(length) + foot_bytes;
    const std::string_view bytes = in_.take(needed);
    if (bytes.size() < needed) truncated("its data", needed - bytes.size());
    value = bytes.substr(0, needed - foot_bytes);
    if (unmask_crc(static_cast<std::uint32_t>(detail::little_endian<4>(value.data() + value.size()))) != crc32c(value))
      corrupted("data");
    ended_ = false;
    return true;
  }
  [[nodiscard]] std::string key() const { return sentence({in_.name(), ":", offset_}); }

 private:
  static constexpr std::size_t head_bytes = 12, foot_bytes = 4;

  [[noreturn]] TAGMA_COLD void truncated(std::string_view what, std::size_t missing) const {
    fail(status_code::data_loss, {in_.name(), ": truncated record at ", offset_, ": ", missing, " bytes of ", what,
                                  " or its checksum are missing"});
  }
  [[noreturn]] TAGMA_COLD void corrupted(std::string_view what) const {
    fail(status_code::data_loss,
         {in_.name(), ": corrupted record at ", offset_, ": the checksum of its ", what, " is not that of the file"});
  }

  buffered_reader in_;
  std::uint64_t offset_ = 0;
  bool ended_ = false;
};

/// Writes a TFRecord file. What was written is in the file after `flush` (of a compressed one, after `close`).
class tf_record_writer {
 public:
  /// @param to `create(path, compression::gzip)` for a compressed file
  explicit tf_record_writer(any_sink to) : to_(std::move(to)) {}
  template <class S>
    requires(!std::is_same_v<S, any_sink> && byte_sink<S>)
  explicit tf_record_writer(S to) : to_(std::move(to)) {}
  tf_record_writer(tf_record_writer&& other) noexcept
      : to_(std::move(other.to_)), held_(std::move(other.held_)), closed_(std::exchange(other.closed_, true)) {}
  tf_record_writer& operator=(tf_record_writer&&) = delete;
  /// Closes the file, and is silent about what goes wrong; `close` is not.
  ~tf_record_writer() {
    try {
      close();
    } catch (...) {
    }
  }

  /// Throws `failed_precondition` after `close`, and what the sink throws.
  void write(std::string_view value) {
    if (closed_) fail(status_code::failed_precondition, {to_.name(), ": is closed, and takes no more records"});
    char head[12], foot[4];
    detail::put_little_endian<8>(head, value.size());
    detail::put_little_endian<4>(head + 8, mask_crc(crc32c({head, 8})));
    detail::put_little_endian<4>(foot, mask_crc(crc32c(value)));
    held_.append(head, sizeof head);
    if (value.size() < enough) {
      held_.append(value);
    } else {
      flush();
      to_.write(std::as_bytes(std::span(value)));
    }
    held_.append(foot, sizeof foot);
    if (held_.size() >= enough) flush();
  }
  /// Hands on what is held back.
  void flush() {
    if (!held_.empty()) to_.write(std::as_bytes(std::span(held_)));
    held_.clear();
  }
  /// Writes what is left, the end of a compressed file. Nothing if called again.
  void close() {
    if (std::exchange(closed_, true)) return;
    flush();
    to_.finish();
  }

 private:
  static constexpr std::size_t enough = 64 * 1024;

  any_sink to_;
  std::string held_;
  bool closed_ = false;
};

}  // namespace tagma::io
