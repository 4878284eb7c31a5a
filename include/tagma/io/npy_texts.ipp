// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of npy_texts.hpp: in the compiled half, or else in each file that includes it.

#include <charconv>
#include <cstring>
#include <system_error>

#include "tagma/base/config.hpp"
#include "tagma/io/npy_texts.hpp"

namespace tagma::io::detail {

TAGMA_DECL bool parse_npy_text_type(std::string_view code, npy_text_type& to) {
  if (code.size() < 2 || (code[0] != 'S' && code[0] != 'U') || code[1] == '-') return false;
  to.unicode = code[0] == 'U';
  const auto [last, problem] = std::from_chars(code.data() + 1, code.data() + code.size(), to.length);
  return problem == std::errc{} && last == code.data() + code.size() && to.length <= std::size_t{max_bytes} / 4;
}

TAGMA_DECL bool put_utf8(char*& to, std::uint32_t c) {
  if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return false;
  if (c < 0x80) {
    *to++ = static_cast<char>(c);
    return true;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  constexpr unsigned first[] = {0, 0xc0, 0xe0, 0xf0};
  *to++ = static_cast<char>(first[more] | c >> 6 * more);
  for (int i = more; i-- > 0;) *to++ = static_cast<char>(0x80 | (c >> 6 * i & 0x3f));
  return true;
}

TAGMA_DECL tensor<string_element> read_npy_texts(buffered_reader& in, const npy_text_type& type, const shape& dims,
                                                 std::endian order) {
  check_size({dtype::string, dims}, sentence({in.name(), ": "}));
  const extent count = count_elements(dims);
  if (type.length == 0 && count > 0)
    fail(status_code::invalid_argument, {in.name(), ": has texts without characters, which take no bytes"});
  const extent fitting = count == 0 ? 0 : count_elements(dims, type.bytes());
  if (fitting < 0 || static_cast<std::uint64_t>(fitting) * type.bytes() > in.at_most())
    fail(status_code::data_loss, {in.name(), ": is truncated: its header says ", to_string(dims), " texts of ",
                                  type.bytes(), " bytes, which is more than the file can hold"});
  const std::uint64_t bytes = static_cast<std::uint64_t>(count) * type.bytes();
  std::string arrived;
  const std::uint64_t there = in.append(arrived, bytes);
  if (there < bytes) fail_elements(in.name(), bytes - there);
  if (type.unicode && order != std::endian::native) reverse_bytes(arrived.data(), arrived.size() / 4, 4);
  tensor<string_element> result(dims);
  for (extent i = 0; i < count; ++i) {
    char* const begin = arrived.data() + static_cast<std::size_t>(i) * type.bytes();
    char* end = begin;
    if (!type.unicode) {
      end += type.length;
    } else {
      for (std::size_t k = 0; k < type.length; ++k) {  // in place: UTF-8 has four bytes a character at most
        std::uint32_t c = 0;
        std::memcpy(&c, begin + 4 * k, sizeof c);
        if (!put_utf8(end, c))
          fail(status_code::data_loss, {in.name(), ": text ", i, " has ", c, ", which is no character"});
      }
    }
    while (end != begin && end[-1] == '\0') --end;
    result[i] = {begin, static_cast<std::size_t>(end - begin)};
  }
  result.own_characters();
  return result;
}

}  // namespace tagma::io::detail
