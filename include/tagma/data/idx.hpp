// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The IDX format of the MNIST family: two zero bytes, the element type, the rank, big-endian extents, the elements.
/// Files compressed with gzip are read where `TAGMA_WITH_ZLIB` is 1 and zlib is linked.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#if defined(TAGMA_WITH_ZLIB) && TAGMA_WITH_ZLIB
#include <zlib.h>
#endif

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/file.hpp"
#include "tagma/tensor/shape.hpp"
#include "tagma/tensor/size.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma {

namespace detail {

/// The bytes of a file, unpacked if they are compressed.
class idx_source {
 public:
  explicit idx_source(const std::string& path) : file_(path), left_(file_.size()) {
    if (left_ < sizeof(start_))
      fail(status_code::data_loss, path + ": is truncated: it has " + std::to_string(left_) + " bytes");
    file_.read(start_, sizeof(start_));
    compressed_ = start_[0] == 0x1f && start_[1] == 0x8b;
    if (compressed_) unpack();
    left_ -= sizeof(start_);
  }
  idx_source(const idx_source&) = delete;
  idx_source& operator=(const idx_source&) = delete;

  /// The first four bytes.
  [[nodiscard]] const unsigned char* start() const { return start_; }

  /// No more bytes than this can follow: deflate shrinks data to a 1032th at best.
  [[nodiscard]] std::uint64_t at_most() const { return compressed_ ? file_.size() * 1032 : left_; }

  void read(unsigned char* target, std::size_t bytes) {
    if (!compressed_) {
      if (bytes > left_) truncated(bytes - left_);
      file_.read(target, bytes);
      left_ -= bytes;
    } else if (const std::size_t n = read_unpacked(target, bytes); n < bytes) {
      truncated(bytes - n);
    }
  }

  /// Throws if anything follows.
  void expect_end() {
    unsigned char extra = 0;
    if (compressed_ ? read_unpacked(&extra, 1) > 0 : left_ > 0)
      fail(status_code::data_loss, file_.path() + ": has more bytes after the last element");
  }

 private:
  [[noreturn]] TAGMA_COLD void truncated(std::uint64_t missing) const {
    fail(status_code::data_loss, file_.path() + ": is truncated: " + std::to_string(missing) + " bytes are missing");
  }

#if defined(TAGMA_WITH_ZLIB) && TAGMA_WITH_ZLIB
  void unpack() {
    unpacked_.reset(gzopen(file_.path().c_str(), "rb"));
    if (unpacked_ == nullptr) fail(status_code::resource_exhausted, file_.path() + ": zlib cannot open it");
    read(start_, sizeof(start_));
  }
  std::size_t read_unpacked(unsigned char* target, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes) {
      const std::size_t left = bytes - done;
      const int n = gzread(unpacked_.get(), target + done, static_cast<unsigned>(left < (1u << 30) ? left : 1u << 30));
      if (n <= 0) break;
      done += static_cast<std::size_t>(n);
    }
    int code = Z_OK;
    std::string_view text = gzerror(unpacked_.get(), &code);
    if (code != Z_OK && code != Z_STREAM_END) {
      if (text.starts_with(file_.path() + ": ")) text.remove_prefix(file_.path().size() + 2);
      fail(status_code::data_loss, file_.path() + ": corrupted gzip data: " + std::string(text));
    }
    return done;
  }

  struct closer {
    void operator()(gzFile file) const { (void)gzclose(file); }
  };
  std::unique_ptr<gzFile_s, closer> unpacked_;
#else
  void unpack() {
    fail(status_code::unimplemented,
         file_.path() +
             ": is compressed with gzip: compile with TAGMA_WITH_ZLIB=1 and link zlib (with CMake, link "
             "tagma::zlib), or unpack the file with gunzip");
  }
  std::size_t read_unpacked(unsigned char*, std::size_t) { return 0; }
#endif

  input_file file_;
  std::uint64_t left_;
  unsigned char start_[4] = {};
  bool compressed_ = false;
};

}  // namespace detail

/// Reads a tensor of unsigned bytes. Throws `not_found` if there is no such file, `data_loss` if it is no IDX file,
/// truncated, longer than it says or corrupted, `invalid_argument` for other element types and more than six axes,
/// `resource_exhausted` for an empty tensor whose other extents are beyond all bounds, and `unimplemented` for a
/// compressed file without zlib.
[[nodiscard]] inline tensor<std::uint8_t> read_idx(const std::string& path) {
  detail::idx_source in(path);
  const unsigned char* start = in.start();
  if (start[0] != 0 || start[1] != 0)
    fail(status_code::data_loss, path + ": is not an IDX file: it does not begin with two zero bytes");
  if (start[2] != 0x08)
    fail(status_code::invalid_argument,
         path + ": has elements of IDX type " + std::to_string(start[2]) + ", expected 8, unsigned bytes");
  if (start[3] < 1 || start[3] > max_rank)
    fail(status_code::invalid_argument,
         path + ": has " + std::to_string(start[3]) + " axes, expected 1 to " + std::to_string(max_rank));
  shape dims;
  for (int axis = 0; axis < start[3]; ++axis) {
    unsigned char e[4];
    in.read(e, sizeof(e));
    dims.push_back(extent{e[0]} << 24 | extent{e[1]} << 16 | extent{e[2]} << 8 | extent{e[3]});
  }
  const extent elements = count_elements(dims);
  if (elements < 0 || static_cast<std::uint64_t>(elements) > in.at_most())
    fail(status_code::data_loss,
         path + ": is truncated: its header says " + to_string(dims) + ", which is more than the file can hold");
  check_size({dtype::uint8, dims}, path + ": ");
  tensor<std::uint8_t> result(dims);
  in.read(result.data(), result.size());
  in.expect_end();
  return result;
}

}  // namespace tagma
