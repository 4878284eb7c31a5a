// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// NumPy's files of several arrays: ZIP archives of NumPy files.
/// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/file.hpp"
#include "tagma/io/buffered_reader.hpp"
#include "tagma/io/byte_source.hpp"
#include "tagma/io/compression.hpp"
#include "tagma/io/crc32c.hpp"
#include "tagma/io/npy.hpp"
#include "tagma/io/tf_record.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma {

namespace io {

/// A file in a ZIP archive.
struct zip_member {
  std::string name;
  bool deflated = false;
  std::uint32_t crc = 0;
  std::uint64_t packed = 0, size = 0;  ///< bytes in the archive, and of the file
  std::uint64_t offset = 0;            ///< of its header in the archive
};

namespace detail {

/// Some consecutive bytes of a file.
class section_source {
 public:
  section_source(input_file file, std::uint64_t size, std::string name)
      : file_(std::move(file)), left_(size), name_(std::move(name)) {}
  std::size_t read(std::span<std::byte> to);
  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] std::uint64_t at_most() const { return left_; }

 private:
  input_file file_;
  std::uint64_t left_;
  std::string name_;
};

/// Passes bytes on, and throws at their end unless they are as many and have the checksum that the archive says.
class checked_source {
 public:
  checked_source(any_source from, std::uint64_t size, std::uint32_t crc)
      : from_(std::move(from)), left_(size), crc_(crc) {}
  std::size_t read(std::span<std::byte> to);
  [[nodiscard]] std::string_view name() const { return from_.name(); }
  [[nodiscard]] std::uint64_t at_most() const { return std::min(left_, from_.at_most()); }

 private:
  any_source from_;
  std::uint64_t left_;
  std::uint32_t crc_, found_ = 0;
};

/// A number of a record of a ZIP archive.
template <std::size_t Bytes>
[[nodiscard]] constexpr std::uint64_t zip_number(std::string_view record, std::size_t at) {
  return little_endian<Bytes>(record.data() + at);
}

/// Reads the list of members at the end of an archive.
class zip_directory {
 public:
  explicit zip_directory(const std::string& path) : path_(path), file_(path) {}

  [[nodiscard]] std::vector<zip_member> members();

 private:
  [[noreturn]] void damaged(std::string_view why) const;
  [[nodiscard]] std::string at(std::uint64_t offset, std::uint64_t size);
  [[nodiscard]] zip_member take(std::string_view& left) const;

  const std::string& path_;
  input_file file_;
};

/// The unpacked bytes of a member.
[[nodiscard]] any_source open_member(const std::string& path, const zip_member& m);

}  // namespace detail

}  // namespace io

/// The arrays of a file of several. The file is opened again for each.
class npz_file {
 public:
  /// Reads the names. Throws `not_found` if there is no such file, `data_loss` if it is no ZIP archive, `unimplemented`
  /// if it is encrypted or packed by something else than deflate.
  explicit npz_file(std::string path);

  /// Names as they were given to NumPy, in the order of the file.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  /// Reads an array. Throws `not_found` if there is none of that name, as `read_npy` does, `data_loss` if its checksum
  /// differs, `unimplemented` for a packed one without zlib.
  template <class T>
  [[nodiscard]] tensor<T> read(std::string_view name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) fail(status_code::not_found, {path_, ": has no array '", name, "'"});
    const io::zip_member& member = members_[static_cast<std::size_t>(found - names_.begin())];
    return io::read_npy<T>(io::buffered_reader(io::detail::open_member(path_, member)));
  }

 private:
  std::string path_;
  std::vector<io::zip_member> members_;
  std::vector<std::string> names_;
};

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/io/npz.ipp"
#endif
