// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of npz_writer.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/io/npz_writer.hpp"

namespace tagma::io::detail {

TAGMA_DECL void zip_builder::add(zip_member m, std::string_view first, std::string_view second) {
  m.offset = offset_;
  m.size = first.size() + second.size();
  if (!m.deflated) m.packed = m.size;
  const bool is_large = m.size >= large_ || m.packed >= large_;
  std::string extra;
  if (is_large) put<2>(extra, 1), put<2>(extra, 16), put<8>(extra, m.size), put<8>(extra, m.packed);
  std::string header = "PK\x03\x04";
  put_common(header, m, is_large, is_large);
  put<2>(header, extra.size());
  add_piece(std::move(header.append(m.name).append(extra)));
  members_.push_back(std::move(m));
}

TAGMA_DECL void zip_builder::add_piece(std::string own) {
  offset_ += own.size();
  own_.push_back(std::move(own));
  pieces_.push_back({own_.size() - 1, {}});
}

TAGMA_DECL void zip_builder::add_piece_of_others(std::string_view bytes) {
  offset_ += bytes.size();
  pieces_.push_back({SIZE_MAX, bytes});
}

TAGMA_DECL std::vector<std::string_view> zip_builder::finish() {
  const std::uint64_t begin = offset_, count = members_.size();
  std::string directory;
  for (const zip_member& m : members_) put_entry(directory, m);
  const std::uint64_t size = directory.size();
  const bool is_large = begin >= large_ || size >= large_ || count >= std::min<std::uint64_t>(large_, 0xffff);
  if (is_large) {
    const std::uint64_t end = begin + size;
    directory += "PK\x06\x06";
    put<8>(directory, 44), put<2>(directory, with_64_bits), put<2>(directory, with_64_bits), put<8>(directory, 0);
    put<8>(directory, count), put<8>(directory, count), put<8>(directory, size), put<8>(directory, begin);
    directory += "PK\x06\x07";
    put<4>(directory, 0), put<8>(directory, end), put<4>(directory, 1);
  }
  directory += "PK\x05\x06";
  put<4>(directory, 0);
  const std::uint64_t short_count = is_large ? 0xffff : count;
  put<2>(directory, short_count), put<2>(directory, short_count);
  put<4>(directory, is_large ? UINT32_MAX : size), put<4>(directory, is_large ? UINT32_MAX : begin);
  put<2>(directory, 0);
  add_piece(std::move(directory));
  std::vector<std::string_view> all;
  for (const piece& p : pieces_) all.push_back(p.own == SIZE_MAX ? p.of_others : own_[p.own]);
  return all;
}

TAGMA_DECL void zip_builder::put_common(std::string& to, const zip_member& m, bool large_size, bool large_packed) {
  constexpr std::uint64_t utf8 = 0x800, first_of_january_1980 = 0x21;
  const bool ascii = std::all_of(m.name.begin(), m.name.end(), [](char c) { return (c & 0x80) == 0; });
  put<2>(to, large_size || large_packed ? with_64_bits : 20);
  put<2>(to, ascii ? 0 : utf8);
  put<2>(to, m.deflated ? 8 : 0);
  put<2>(to, 0), put<2>(to, first_of_january_1980);
  put<4>(to, m.crc);
  put<4>(to, large_packed ? UINT32_MAX : m.packed), put<4>(to, large_size ? UINT32_MAX : m.size);
  put<2>(to, m.name.size());
}

TAGMA_DECL void zip_builder::put_entry(std::string& to, const zip_member& m) const {
  const bool size = m.size >= large_, packed = m.packed >= large_, offset = m.offset >= large_;
  std::string large;
  if (size) put<8>(large, m.size);
  if (packed) put<8>(large, m.packed);
  if (offset) put<8>(large, m.offset);
  std::string extra;
  if (!large.empty()) put<2>(extra, 1), put<2>(extra, large.size());
  to += "PK\x01\x02";
  put<2>(to, large.empty() ? 20 : with_64_bits);
  put_common(to, m, size, packed);
  put<2>(to, extra.size() + large.size());
  put<2>(to, 0), put<2>(to, 0), put<2>(to, 0), put<4>(to, 0);  // comment, disk, attributes
  put<4>(to, offset ? UINT32_MAX : m.offset);
  to.append(m.name).append(extra).append(large);
}

TAGMA_DECL void write_npz(const std::string& path, std::span<const npz_array> arrays, const npz_options& options,
                          zip_builder to) {
  std::vector<std::string_view> names;
  for (const npz_array& a : arrays) names.push_back(a.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) fail(status_code::invalid_argument, {path, ": two arrays are called '", *twice, "'"});
  for (const npz_array& a : arrays) {
    constexpr std::size_t longest = 0xffff - 4;
    if (a.name.empty() || a.name.size() > longest)
      fail(status_code::invalid_argument,
           {path, ": a name of ", a.name.size(), " bytes, expected 1 to ", longest, " bytes"});
    std::string header = npy_header_of(a.elements.type, a.elements.dims);
    const std::string_view bytes(static_cast<const char*>(a.elements.data), a.elements.bytes());
    zip_member m;
    m.name = a.name + ".npy";
    m.crc = extend_crc32(extend_crc32(0, header.data(), header.size()), bytes.data(), bytes.size());
    if (options.deflate) {
      std::string packed;
      deflated_sink sink(string_sink(packed), compression::deflate, options.level);
      sink.write(std::as_bytes(std::span(header)));
      sink.write(std::as_bytes(std::span(bytes)));
      sink.finish();
      m.deflated = true;
      m.packed = packed.size();
      to.add(std::move(m), header, bytes);
      to.add_piece(std::move(packed));
    } else {
      to.add(std::move(m), header, bytes);
      to.add_piece(std::move(header));
      to.add_piece_of_others(bytes);
    }
  }
  replace_file(path, to.finish());
}

}  // namespace tagma::io::detail

namespace tagma {

TAGMA_DECL void write_npz(const std::string& path, std::span<const npz_array> arrays, const npz_options& options) {
  io::detail::write_npz(path, arrays, options, io::detail::zip_builder());
}

TAGMA_DECL void write_npz(const std::string& path, std::initializer_list<npz_array> arrays,
                          const npz_options& options) {
  write_npz(path, std::span<const npz_array>(arrays.begin(), arrays.size()), options);
}

}  // namespace tagma
