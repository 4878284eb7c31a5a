// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// NumPy's texts of one length, 'S' and 'U', as strings.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/io/buffered_reader.hpp"
#include "tagma/io/elements.hpp"
#include "tagma/tensor/shape.hpp"
#include "tagma/tensor/size.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma::io::detail {

/// Texts as NumPy keeps them: all of one length, with zeros behind their last character.
struct npy_text_type {
  bool unicode = false;    ///< four bytes a character, otherwise one
  std::size_t length = 0;  ///< characters of each
  [[nodiscard]] std::size_t bytes() const { return unicode ? 4 * length : length; }
};

/// Of "S5" or "U5", without what says the order of bytes; false for anything else.
[[nodiscard]] bool parse_npy_text_type(std::string_view code, npy_text_type& to);

/// Appends a character in UTF-8; false for a number that is none.
[[nodiscard]] bool put_utf8(char*& to, std::uint32_t c);

/// Reads texts, in memory that grows with the bytes that arrive. Throws `data_loss` if there are fewer bytes, and for a
/// number that is no character, `invalid_argument` for texts without room for a character, `resource_exhausted` if no
/// process can address so many.
[[nodiscard]] tensor<string_element> read_npy_texts(buffered_reader& in, const npy_text_type& type, const shape& dims,
                                                    std::endian order);

}  // namespace tagma::io::detail

#ifndef TAGMA_COMPILED
#include "tagma/io/npy_texts.ipp"
#endif
