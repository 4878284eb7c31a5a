// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// TFRecord files: each record is its length as eight bytes, their checksum, its bytes, and their checksum, numbers
/// with the lowest byte first and checksums masked CRC-32C. https://www.tensorflow.org/tutorials/load_data/tfrecord

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/io/buffered_reader.hpp"
#include "tagma/io/byte_sink.hpp"
#include "tagma/io/crc32c.hpp"
#include "tagma/io/little_endian.hpp"
#include "tagma/tensor/size.hpp"

namespace tagma::io {

/// The records of a TFRecord file, in memory that grows with the bytes that arrive. The key is `name:offset`, the
/// offset of the record's first byte, that of its length, in the unpacked file. `next` throws `data_loss` for a file
/// that ends inside a record and for a checksum that is wrong; no record is given behind that.
class tf_record_reader {
 public:
  /// @param in `open(path, compression::gzip)` for a compressed file
  explicit tf_record_reader(buffered_reader in) : in_(std::move(in)) {}

  /// Gets the next record; false at the end.
  [[nodiscard]] bool next(std::string_view& value);
  /// The key of the record that `next` gave.
  [[nodiscard]] std::string key() const { return sentence({in_.name(), ":", offset_}); }

 private:
  static constexpr std::size_t head_bytes = 12, foot_bytes = 4;

  [[noreturn]] void truncated(std::string_view what, std::size_t missing) const;
  [[noreturn]] void corrupted(std::string_view what) const;

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
  ~tf_record_writer();

  /// Throws `failed_precondition` after `close`, and what the sink throws.
  void write(std::string_view value);
  /// Hands on what is held back.
  void flush();
  /// Writes what is left, the end of a compressed file. Nothing if called again.
  void close();

 private:
  static constexpr std::size_t enough = 64 * 1024;

  any_sink to_;
  std::string held_;
  bool closed_ = false;
};

}  // namespace tagma::io

#ifndef TAGMA_COMPILED
#include "tagma/io/tf_record.ipp"
#endif
