// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Writes NumPy's files of several arrays: ZIP archives of NumPy files.
/// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/replace_file.hpp"
#include "tagma/io/byte_sink.hpp"
#include "tagma/io/compression.hpp"
#include "tagma/io/crc32c.hpp"
#include "tagma/io/npy.hpp"
#include "tagma/io/npz.hpp"
#include "tagma/io/tf_record.hpp"
#include "tagma/tensor/tensor.hpp"
#include "tagma/tensor/view.hpp"

namespace tagma {

/// An array of a file of several: its name, without ".npy", and its elements, which outlive this.
struct npz_array {
  template <class T>
  npz_array(std::string_view its_name, const view<T>& its_elements) : name(its_name), elements(erase(its_elements)) {
    static_assert(!io::detail::npy_code(dtype_of<std::remove_const_t<T>>).empty(),
                  "NumPy files are written of numbers and booleans");
  }
  template <class T>
  npz_array(std::string_view its_name, const tensor<T>& its_elements)
      : npz_array(its_name, view<const T>(its_elements)) {}

  std::string name;
  raw_view elements;
};

/// How an archive of arrays is written.
struct npz_options {
  bool deflate = false;  ///< packed, which needs zlib, as `numpy.savez_compressed` does
  int level = -1;        ///< from 1, fast, to 9, small; -1 is zlib's choice
};

namespace io::detail {

/// The pieces of an archive, one behind the other.
class zip_builder {
 public:
  /// @param large from which size and offset on, and from how many members, numbers take 64 bits
  explicit zip_builder(std::uint64_t large = UINT32_MAX) : large_(large) {}

  /// Adds a file. Its content stays where it is, and is not copied.
  void add(zip_member m, std::string_view first, std::string_view second);
  void add_piece(std::string own);
  void add_piece_of_others(std::string_view bytes);
  /// All pieces, with the list of members behind them.
  [[nodiscard]] std::vector<std::string_view> finish();

 private:
  static constexpr std::uint64_t with_64_bits = 45;  // the version of the format that has them

  struct piece {
    std::size_t own;  // SIZE_MAX: of others
    std::string_view of_others;
  };

  template <std::size_t Bytes>
  static void put(std::string& to, std::uint64_t value) {
    char bytes[Bytes];
    put_little_endian<Bytes>(bytes, value);
    to.append(bytes, Bytes);
  }
  /// What both headers of a member have: from the version to the length of its name.
  static void put_common(std::string& to, const zip_member& m, bool large_size, bool large_packed);
  void put_entry(std::string& to, const zip_member& m) const;

  std::uint64_t large_;
  std::uint64_t offset_ = 0;
  std::vector<zip_member> members_;
  std::vector<std::string> own_;
  std::vector<piece> pieces_;
};

void write_npz(const std::string& path, std::span<const npz_array> arrays, const npz_options& options, zip_builder to);

}  // namespace io::detail

/// Replaces a file by a NumPy file of several arrays, as `replace_file` does:
///
///     tg::write_npz("weights.npz", {{"kernel", kernel}, {"bias", bias}}, {.deflate = true});
///
/// Arrays are written from where they are; packed ones are in memory until the file is written. Equal arrays give equal
/// files. Throws `invalid_argument` for names that are empty, too long or twice there, `unimplemented` for packed ones
/// without zlib.
void write_npz(const std::string& path, std::span<const npz_array> arrays, const npz_options& options = {});
void write_npz(const std::string& path, std::initializer_list<npz_array> arrays, const npz_options& options = {});

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/io/npz_writer.ipp"
#endif
