// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of elements.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/io/elements.hpp"

namespace tagma::io {

TAGMA_DECL void reverse_bytes(void* elements, std::size_t count, std::size_t size) {
  auto* const at = static_cast<unsigned char*>(elements);
  const auto each = [&]<class Word>(Word, auto swap) {
    for (std::size_t i = 0; i < count; ++i) {
      Word word = 0;
      std::memcpy(&word, at + i * sizeof(Word), sizeof(Word));
      word = swap(word);
      std::memcpy(at + i * sizeof(Word), &word, sizeof(Word));
    }
  };
  if (size == 2) each(std::uint16_t{}, [](std::uint16_t w) { return __builtin_bswap16(w); });
  if (size == 4) each(std::uint32_t{}, [](std::uint32_t w) { return __builtin_bswap32(w); });
  if (size == 8) each(std::uint64_t{}, [](std::uint64_t w) { return __builtin_bswap64(w); });
}

}  // namespace tagma::io

namespace tagma::io::detail {

TAGMA_COLD TAGMA_DECL void fail_elements(std::string_view name, std::uint64_t missing) {
  fail(status_code::data_loss, {name, ": is truncated: ", missing, " bytes are missing"});
}

TAGMA_COLD TAGMA_DECL void check_elements(const buffered_reader& in, const tensor_spec& s) {
  const extent bytes = count_elements(s.dims, size_of(s.type));
  if (bytes < 0 || static_cast<std::uint64_t>(bytes) * size_of(s.type) > in.at_most())
    fail(status_code::data_loss,
         {in.name(), ": is truncated: its header says ", to_string(s.dims), ", which is more than the file can hold"});
  check_size(s, sentence({in.name(), ": "}));
}

}  // namespace tagma::io::detail
