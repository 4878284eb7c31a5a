// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of fixed_length.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/io/fixed_length.hpp"

namespace tagma::io {

TAGMA_DECL fixed_length_record_reader::fixed_length_record_reader(buffered_reader in,
                                                                  const fixed_length_options& options)
    : in_(std::move(in)), options_(options) {
  const auto check = [](std::int64_t bytes, std::int64_t least, std::string_view name) {
    if (bytes < least || bytes > max_bytes / 4)
      fail(status_code::invalid_argument, {name, " is ", bytes, ", expected ", least, " or more, below 2^54"});
  };
  check(options.record_bytes, 1, "record_bytes");
  check(options.header_bytes, 0, "header_bytes");
  check(options.footer_bytes, 0, "footer_bytes");
  check(options.hop_bytes, 0, "hop_bytes");
  if (options_.hop_bytes == 0) options_.hop_bytes = options_.record_bytes;
}

TAGMA_DECL bool fixed_length_record_reader::next(std::string_view& value) {
  const auto unsign = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  const std::uint64_t to_pass = unsign(record_ < 0 ? options_.header_bytes : options_.hop_bytes);
  if (ended_ || in_.skip(to_pass) < to_pass) return end();
  const auto record = static_cast<std::size_t>(options_.record_bytes);
  const std::size_t needed = record + static_cast<std::size_t>(options_.footer_bytes);
  const std::string_view bytes = in_.peek(needed);
  if (bytes.size() < needed) return end();
  value = bytes.substr(0, record);
  ++record_;
  return true;
}

TAGMA_DECL bool fixed_length_record_reader::end() {
  ended_ = true;
  return false;
}

}  // namespace tagma::io
