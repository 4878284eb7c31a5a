// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of words.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/words.hpp"
#include "tagma/tensor/size.hpp"

namespace tagma::service {

TAGMA_DECL void word_writer::text(std::string_view t) {
  number(static_cast<std::uint32_t>(t.size()));
  bytes_ += t;
}

TAGMA_DECL void word_writer::spec(const tensor_spec& s) {
  number(static_cast<std::uint8_t>(s.type));
  number(static_cast<std::uint8_t>(s.dims.rank));
  for (const extent e : s.dims.span()) number(e);
}

TAGMA_COLD TAGMA_DECL void word_reader::refuse(std::string_view why) const {
  fail(status_code::invalid_argument, {"message '", what_, "': at byte ", at_, ": ", why});
}

TAGMA_DECL std::string_view word_reader::take(std::size_t size) {
  if (size > bytes_.size() - at_) refuse("it ends too early");
  const std::string_view part = bytes_.substr(at_, size);
  at_ += size;
  return part;
}

TAGMA_DECL bool word_reader::flag() {
  const auto value = number<std::uint8_t>();
  if (value > 1) refuse("a flag that is neither 0 nor 1");
  return value == 1;
}

TAGMA_DECL std::string word_reader::text() { return std::string(take(number<std::uint32_t>())); }

TAGMA_DECL std::size_t word_reader::count(std::size_t least) {
  const std::size_t n = number<std::uint32_t>();
  if (n > (bytes_.size() - at_) / least) refuse("it lists more than it has");
  return n;
}

TAGMA_DECL tensor_spec word_reader::spec() {
  tensor_spec s;
  s.type = static_cast<dtype>(number<std::uint8_t>());
  const auto rank = number<std::uint8_t>();
  if (rank > max_rank) refuse("a shape of more axes than tensors have");
  for (int i = 0; i < rank; ++i) s.dims.push_back(number<extent>());
  if (s.type == dtype::none && rank == 0) return s;
  if (s.type > dtype::string || s.type == dtype::none) refuse("an element type that is not known");
  check_size(s, what_);
  return s;
}

TAGMA_DECL void word_reader::end() const {
  if (at_ != bytes_.size()) refuse("bytes are left");
}

}  // namespace tagma::service
