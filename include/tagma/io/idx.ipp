// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of idx.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/io/idx.hpp"

namespace tagma::io::detail {

TAGMA_DECL std::string idx_type_text(std::uint8_t code) {
  for (const idx_type& known : idx_types)
    if (known.code == code) return sentence({code, ", ", to_string(known.type)});
  return sentence({code});
}

TAGMA_DECL shape read_idx_header(buffered_reader& in, std::uint8_t code) {
  unsigned char start[4];
  if (const std::size_t n = in.read(start, sizeof start); n < sizeof start)
    fail(status_code::data_loss, {in.name(), ": is truncated: it has ", n, " bytes"});
  if (start[0] != 0 || start[1] != 0)
    fail(status_code::data_loss, {in.name(), ": is not an IDX file: it does not begin with two zero bytes"});
  if (start[2] != code)
    fail(status_code::invalid_argument,
         {in.name(), ": has elements of IDX type ", idx_type_text(start[2]), ", expected ", idx_type_text(code)});
  if (start[3] < 1 || start[3] > max_rank)
    fail(status_code::invalid_argument, {in.name(), ": has ", start[3], " axes, expected 1 to ", max_rank});
  shape dims;
  for (int axis = 0; axis < start[3]; ++axis) {
    unsigned char e[4];
    if (const std::size_t n = in.read(e, sizeof e); n < sizeof e) fail_elements(in.name(), sizeof e - n);
    dims.push_back(extent{e[0]} << 24 | extent{e[1]} << 16 | extent{e[2]} << 8 | extent{e[3]});
  }
  return dims;
}

}  // namespace tagma::io::detail
