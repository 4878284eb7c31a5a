// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of npy.hpp: in the compiled half, or else in each file that includes it.

#include <charconv>
#include <system_error>

#include "tagma/base/config.hpp"
#include "tagma/io/npy.hpp"

namespace tagma::io::detail {

TAGMA_DECL bool npy_literal::text(std::string_view& to) {
  blanks();
  if (left_.empty() || (left_[0] != '\'' && left_[0] != '"')) return false;
  const std::size_t end = left_.find(left_[0], 1);
  if (end == left_.npos) return false;
  to = left_.substr(1, end - 1);
  left_.remove_prefix(end + 1);
  return to.find('\\') == to.npos;
}

TAGMA_DECL bool npy_literal::boolean(bool& to) {
  to = word("True");
  return to || word("False");
}

TAGMA_DECL bool npy_literal::tuple(shape& to, int& axes) {
  if (!word("(")) return false;
  axes = 0;
  while (!word(")")) {
    extent e = 0;
    blanks();
    const auto [last, problem] = std::from_chars(left_.data(), left_.data() + left_.size(), e);
    if (problem != std::errc{} || e < 0) return false;
    left_.remove_prefix(static_cast<std::size_t>(last - left_.data()));
    (void)word("L");  // as Python 2 wrote it
    if (axes++ < max_rank) to.push_back(e);
    const bool more = word(",");
    if (!more && (axes == 1 || !word(")"))) return false;
    if (!more) break;
  }
  return true;
}

TAGMA_DECL bool npy_literal::word(std::string_view w) {
  blanks();
  if (!left_.starts_with(w)) return false;
  left_.remove_prefix(w.size());
  return true;
}

TAGMA_DECL bool npy_literal::at_end() {
  blanks();
  return left_.empty();
}

TAGMA_DECL void npy_literal::blanks() {
  while (!left_.empty() && (left_[0] == ' ' || left_[0] == '\n' || left_[0] == '\t')) left_.remove_prefix(1);
}

TAGMA_DECL bool parse_npy_header(std::string_view text, npy_header& to, int& axes) {
  npy_literal in(text);
  bool has_type = false, has_order = false, has_shape = false;
  if (!in.word("{")) return false;
  while (!in.word("}")) {
    std::string_view name, descr;
    if (!in.text(name) || !in.word(":")) return false;
    bool good = false;
    if (name == "descr" && !has_type) {
      good = has_type = in.text(descr);
      to.descr = descr;
    } else if (name == "fortran_order" && !has_order) {
      good = has_order = in.boolean(to.fortran_order);
    } else if (name == "shape" && !has_shape) {
      good = has_shape = in.tuple(to.dims, axes);
    }
    if (!good) return false;
    if (!in.word(",")) {
      if (!in.word("}")) return false;
      break;
    }
  }
  return has_type && has_order && has_shape && in.at_end();
}

}  // namespace tagma::io::detail

namespace tagma::io {

TAGMA_DECL npy_header read_npy_header(buffered_reader& in) {
  const auto truncated = [&] {
    fail(status_code::data_loss, {in.name(), ": is truncated: its header is not complete"});
  };
  const std::string_view start = in.peek(8);
  if (start.size() < 8 && detail::npy_magic.starts_with(start.substr(0, 6))) truncated();
  if (!start.starts_with(detail::npy_magic))
    fail(status_code::data_loss, {in.name(), ": is not a NumPy file: it does not begin with \\x93NUMPY"});
  const int major = static_cast<unsigned char>(start[6]);
  if (major < 1 || major > 3)
    fail(status_code::invalid_argument, {in.name(), ": has version ", major, " of the format, expected 1, 2 or 3"});
  (void)in.take(8);
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::string_view bytes = in.take(length_bytes);
  if (bytes.size() < length_bytes) truncated();
  std::size_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  if (length > detail::npy_longest_header)
    fail(status_code::resource_exhausted, {in.name(), ": has a header of ", length, " bytes, ",
                                           detail::npy_longest_header, " is the most that is read"});
  const std::string_view text = in.take(length);
  if (text.size() < length) truncated();
  npy_header header;
  int axes = 0;
  if (!detail::parse_npy_header(text, header, axes))
    fail(status_code::invalid_argument,
         {in.name(), ": has a header that is not understood: ", text.substr(0, text.find_last_not_of(" \n") + 1)});
  if (axes > max_rank)
    fail(status_code::invalid_argument, {in.name(), ": has ", axes, " axes, expected ", max_rank, " at most"});
  return header;
}

TAGMA_DECL std::string npy_header_of(dtype type, const shape& dims) {
  std::string text = "{'descr': '";
  text += size_of(type) == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
  text.append(detail::npy_code(type)) += "', 'fortran_order': False, 'shape': (";
  for (int axis = 0; axis < dims.rank; ++axis) {
    text += std::to_string(dims[axis]);
    if (axis + 1 < dims.rank)
      text += ", ";
    else if (dims.rank == 1)
      text += ',';
  }
  text += "), }";
  constexpr std::size_t before = 10, line = 64;
  text.append(line - 1 - (before + text.size()) % line, ' ');
  text += '\n';
  std::string header(detail::npy_magic);
  header += {1, 0, static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace tagma::io
