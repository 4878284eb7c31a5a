// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of npz.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/io/npz.hpp"

namespace tagma::io::detail {

TAGMA_DECL std::size_t section_source::read(std::span<std::byte> to) {
  const auto n = file_.read_some(to.data(), static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), left_)));
  left_ -= n;
  return n;
}

TAGMA_DECL std::size_t checked_source::read(std::span<std::byte> to) {
  const std::size_t n = from_.read(to);
  if (n > left_ || (n == 0 && (left_ > 0 || found_ != crc_)))
    fail(status_code::data_loss, {from_.name(), ": is corrupted: size or checksum are not those of the archive"});
  found_ = extend_crc32(found_, to.data(), n);
  left_ -= n;
  return n;
}

TAGMA_DECL std::vector<zip_member> zip_directory::members() {
  constexpr std::uint64_t end_bytes = 22, longest_comment = 65535;
  const std::uint64_t tail_bytes = std::min(file_.size(), end_bytes + longest_comment);
  const std::string tail = at(file_.size() - tail_bytes, tail_bytes);
  std::size_t end = tail.rfind("PK\x05\x06");
  while (end != tail.npos &&
         (tail.size() - end < end_bytes || tail.size() - end - end_bytes != zip_number<2>(tail, end + 20)))
    end = end == 0 ? tail.npos : tail.rfind("PK\x05\x06", end - 1);
  if (end == tail.npos) damaged("it does not end as one does");
  std::uint64_t size = zip_number<4>(tail, end + 12), offset = zip_number<4>(tail, end + 16);
  std::uint64_t directory_end = file_.size() - tail_bytes + end;
  if (size == UINT32_MAX || offset == UINT32_MAX || zip_number<2>(tail, end + 10) == 0xffff) {
    if (directory_end < 20) damaged("its end is cut");
    const std::string locator = at(directory_end - 20, 20);
    if (!locator.starts_with("PK\x06\x07")) damaged("its end is cut");
    directory_end = zip_number<8>(locator, 8);
    const std::string large = at(directory_end, 56);
    if (!large.starts_with("PK\x06\x06")) damaged("its end is cut");
    size = zip_number<8>(large, 40);
    offset = zip_number<8>(large, 48);
  }
  if (offset > directory_end || size > directory_end - offset) damaged("its directory is outside");
  const std::string directory = at(offset, size);
  std::vector<zip_member> found;
  for (std::string_view left = directory; !left.empty();) found.push_back(take(left));
  return found;
}

TAGMA_COLD TAGMA_DECL void zip_directory::damaged(std::string_view why) const {
  fail(status_code::data_loss, {path_, ": is no ZIP archive, or a damaged one: ", why});
}

TAGMA_DECL std::string zip_directory::at(std::uint64_t offset, std::uint64_t size) {
  if (offset > file_.size() || size > file_.size() - offset) damaged("a part of it is outside");
  std::string bytes(static_cast<std::size_t>(size), '\0');
  file_.seek(offset);
  file_.read(bytes.data(), bytes.size());
  return bytes;
}

TAGMA_DECL zip_member zip_directory::take(std::string_view& left) const {
  constexpr std::size_t head = 46;
  if (left.size() < head || !left.starts_with("PK\x01\x02")) damaged("its directory is cut");
  const auto name_bytes = static_cast<std::size_t>(zip_number<2>(left, 28)),
             extra_bytes = static_cast<std::size_t>(zip_number<2>(left, 30)),
             all = head + name_bytes + extra_bytes + static_cast<std::size_t>(zip_number<2>(left, 32));
  if (left.size() < all) damaged("its directory is cut");
  zip_member m;
  m.name = left.substr(head, name_bytes);
  const std::uint64_t flags = zip_number<2>(left, 8), method = zip_number<2>(left, 10);
  if ((flags & 1) != 0 || (method != 0 && method != 8))
    fail(status_code::unimplemented, {path_, ": '", m.name, "' is encrypted, or packed by method ", method,
                                      ", expected 0, not at all, or 8, deflate"});
  m.deflated = method == 8;
  m.crc = static_cast<std::uint32_t>(zip_number<4>(left, 16));
  m.packed = zip_number<4>(left, 20);
  m.size = zip_number<4>(left, 24);
  m.offset = zip_number<4>(left, 42);
  std::string_view extra = left.substr(head + name_bytes, extra_bytes);
  while (extra.size() >= 4) {
    const std::uint64_t id = zip_number<2>(extra, 0);
    const auto length = static_cast<std::size_t>(zip_number<2>(extra, 2));
    if (extra.size() - 4 < length) damaged("its directory is cut");
    std::string_view large = extra.substr(4, length);
    extra.remove_prefix(4 + length);
    if (id != 1) continue;
    for (std::uint64_t* const number : {&m.size, &m.packed, &m.offset}) {
      if (*number != UINT32_MAX) continue;
      if (large.size() < 8) damaged("its directory is cut");
      *number = zip_number<8>(large, 0);
      large.remove_prefix(8);
    }
  }
  left.remove_prefix(all);
  return m;
}

TAGMA_DECL any_source open_member(const std::string& path, const zip_member& m) {
  input_file file(path);
  std::string name = path + ": " + m.name;
  const auto outside = [&] {
    fail(status_code::data_loss, {name, ": is corrupted: it is not where the archive says"});
  };
  constexpr std::uint64_t head = 30;
  if (m.offset > file.size() || file.size() - m.offset < head) outside();
  char bytes[head];
  file.seek(m.offset);
  file.read(bytes, sizeof bytes);
  const std::string_view header(bytes, sizeof bytes);
  const std::uint64_t begin = m.offset + head + zip_number<2>(header, 26) + zip_number<2>(header, 28);
  if (!header.starts_with("PK\x03\x04") || begin > file.size() || m.packed > file.size() - begin) outside();
  file.seek(begin);
  any_source packed = section_source(std::move(file), m.packed, std::move(name));
  return checked_source(unpacked(std::move(packed), m.deflated ? compression::deflate : compression::none), m.size,
                        m.crc);
}

}  // namespace tagma::io::detail

namespace tagma {

TAGMA_DECL npz_file::npz_file(std::string path)
    : path_(std::move(path)), members_(io::detail::zip_directory(path_).members()) {
  for (io::zip_member& m : members_)
    names_.push_back(m.name.substr(0, m.name.size() - (m.name.ends_with(".npy") ? 4 : 0)));
}

}  // namespace tagma
