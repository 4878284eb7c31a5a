// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Sources and sinks of compressed bytes, where `TAGMA_WITH_ZLIB` is 1 and zlib is linked.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#if defined(TAGMA_WITH_ZLIB) && TAGMA_WITH_ZLIB
#include <zlib.h>
#endif

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/no_memory.hpp"
#include "tagma/io/byte_sink.hpp"
#include "tagma/io/byte_source.hpp"

#if defined(TAGMA_WITH_ZLIB) && TAGMA_WITH_ZLIB
TAGMA_NEEDS_LIBRARY(compiled_with_zlib)
#else
TAGMA_NEEDS_LIBRARY(compiled_without_zlib)
#endif

namespace tagma::io {

/// How a whole file is compressed. `detect` takes a file that begins as gzip does for one, and any other as it is; a
/// format whose files may begin like that needs to be told. `deflate` is a stream without a frame around it, as in ZIP
/// archives.
enum class compression : std::uint8_t { none, gzip, zlib, detect, deflate };

/// "" or "NONE", "GZIP", "ZLIB", as TensorFlow names them. Throws `invalid_argument` for any other name.
[[nodiscard]] compression compression_from(std::string_view name);

namespace detail {

/// What messages call a format.
[[nodiscard]] constexpr std::string_view name_of(compression format) {
  return format == compression::zlib ? "zlib" : format == compression::deflate ? "deflate" : "gzip";
}

#if defined(TAGMA_WITH_ZLIB) && TAGMA_WITH_ZLIB

/// The number by which zlib knows a format.
[[nodiscard]] constexpr int window_bits(compression format) {
  return format == compression::zlib ? MAX_WBITS : format == compression::deflate ? -MAX_WBITS : 16 + MAX_WBITS;
}

/// zlib's state, which must not move.
class inflation {
 public:
  explicit inflation(compression format) : format_(format) {
    if (inflateInit2(&stream_, window_bits(format)) != Z_OK)
      fail(status_code::resource_exhausted, "zlib has no memory to unpack with");
  }
  inflation(const inflation&) = delete;
  inflation& operator=(const inflation&) = delete;
  ~inflation() { (void)inflateEnd(&stream_); }

  /// Unpacks from the beginning of `in`, and shortens both by what was read and written.
  /// @returns whether the stream has ended
  [[nodiscard]] bool step(std::span<const std::byte>& in, std::span<std::byte>& out, std::string_view name) {
    const auto bounded = [](std::size_t n) { return static_cast<uInt>(std::min<std::size_t>(n, 1u << 30)); };
    const uInt in_size = bounded(in.size()), out_size = bounded(out.size());
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data()));
    stream_.avail_in = in_size;
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = out_size;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    in = in.subspan(in_size - stream_.avail_in);
    out = out.subspan(out_size - stream_.avail_out);
    if (status == Z_MEM_ERROR) fail(status_code::resource_exhausted, {name, ": zlib has no memory to unpack it"});
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
      fail(status_code::data_loss, {name, ": corrupted ", name_of(format_),
                                    " data: ", stream_.msg == nullptr ? "it needs a dictionary" : stream_.msg});
    return status == Z_STREAM_END;
  }
  void restart() { (void)inflateReset(&stream_); }

 private:
  compression format_;
  z_stream stream_{};
};

/// The same for the other direction.
class deflation {
 public:
  deflation(compression format, int level) {
    if (deflateInit2(&stream_, level, Z_DEFLATED, window_bits(format), 8, Z_DEFAULT_STRATEGY) != Z_OK)
      fail(status_code::invalid_argument, {"zlib cannot compress at level ", level, ", expected -1 to 9"});
  }
  deflation(const deflation&) = delete;
  deflation& operator=(const deflation&) = delete;
  ~deflation() { (void)deflateEnd(&stream_); }

  /// Packs `in`, and what is held back if `last`.
  void step(std::span<const std::byte> in, bool last, any_sink& to) {
    std::byte out[16 * 1024];
    do {
      const auto size = static_cast<uInt>(std::min<std::size_t>(in.size(), 1u << 30));
      stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data()));
      stream_.avail_in = size;
      const bool finish = last && size == in.size();
      do {
        stream_.next_out = reinterpret_cast<Bytef*>(out);
        stream_.avail_out = sizeof out;
        (void)deflate(&stream_, finish ? Z_FINISH : Z_NO_FLUSH);
        to.write({out, sizeof out - stream_.avail_out});
      } while (stream_.avail_out == 0);
      in = in.subspan(size);
    } while (!in.empty());
  }

 private:
  z_stream stream_{};
};

#else

[[noreturn]] TAGMA_COLD inline void fail_without_zlib(std::string_view name) {
  fail(status_code::unimplemented,
       {name,
        ": is compressed with gzip: compile with TAGMA_WITH_ZLIB=1 and link zlib (with CMake, link tagma::zlib), or "
        "unpack the file with gunzip"});
}

struct inflation {
  explicit inflation(compression) {}
  [[nodiscard]] bool step(std::span<const std::byte>&, std::span<std::byte>&, std::string_view name) {
    fail_without_zlib(name);
  }
  void restart() {}
};

struct deflation {
  deflation(compression, int) {
    fail(status_code::unimplemented,
         "compressed files are written where TAGMA_WITH_ZLIB=1 is defined and zlib is linked (with CMake, link "
         "tagma::zlib)");
  }
  void step(std::span<const std::byte>, bool, any_sink&) {}
};

#endif

}  // namespace detail

/// What another source gives, unpacked. A gzip file may have several members, which are joined, and zeros behind the
/// last one. Reading throws `data_loss` for what is corrupted, ends too early or has anything else behind it, and
/// `unimplemented` without zlib.
class inflated_source {
 public:
  inflated_source(any_source packed, compression format)
      : packed_(std::move(packed)), format_(format), buffer_(new std::byte[block]) {}

  /// Reads at most as many bytes as there is room for; 0 at the end.
  std::size_t read(std::span<std::byte> to);
  /// What messages call it.
  [[nodiscard]] std::string_view name() const { return packed_.name(); }
  /// Deflate shrinks data to a 1032th at best.
  [[nodiscard]] std::uint64_t at_most() const;

 private:
  static constexpr std::size_t block = 64 * 1024;
  static constexpr std::size_t slack = 64 * 1024;  // what zlib has read and not given yet

  bool refill();
  void detect();
  std::size_t pass(std::span<std::byte> to);
  /// Behind the end of a stream: whether another one begins.
  bool next_member();

  any_source packed_;
  compression format_;
  std::unique_ptr<std::byte[]> buffer_;
  std::span<const std::byte> in_;
  std::unique_ptr<detail::inflation> state_;
  bool ended_ = false, pending_ = false;
};

/// Packs what it is given for another sink. The last bytes come with `finish()`.
class deflated_sink {
 public:
  /// @param format `gzip` or `zlib`
  /// @param level from 0, not at all, and 1, fast, to 9, small; -1 is zlib's choice
  deflated_sink(any_sink to, compression format, int level = -1)
      : to_(std::move(to)), state_(std::make_unique<detail::deflation>(format, level)) {}

  /// Writes all of these bytes. Throws what the file reports.
  void write(std::span<const std::byte> from) { state_->step(from, false, to_); }
  /// Writes what is held, and the end of the format; without it the file is cut off.
  void finish();
  /// What messages call it.
  [[nodiscard]] std::string_view name() const { return to_.name(); }

 private:
  any_sink to_;
  std::unique_ptr<detail::deflation> state_;
};

/// A source, unpacked as it is told.
[[nodiscard]] any_source unpacked(any_source source, compression format);

/// The bytes of a file. Throws `not_found` if there is none, and as `input_file` does.
[[nodiscard]] any_source open(std::string path, compression format = compression::none);

/// A file to be written from its beginning. Throws as `output_file` does, `unimplemented` for a compressed one without
/// zlib.
[[nodiscard]] any_sink create(std::string path, compression format = compression::none);

}  // namespace tagma::io

#ifndef TAGMA_COMPILED
#include "tagma/io/compression.ipp"
#endif
