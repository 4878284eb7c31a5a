// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Records that are equally long.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "tagma/base/error.hpp"
#include "tagma/io/buffered_reader.hpp"
#include "tagma/tensor/size.hpp"

namespace tagma::io {

struct fixed_length_options {
  std::int64_t record_bytes = 0;  ///< of a record, at least 1
  std::int64_t header_bytes = 0;  ///< before the first record
  std::int64_t footer_bytes = 0;  ///< at the end of the file, no record among them
  std::int64_t hop_bytes = 0;     ///< from the beginning of a record to that of the next one; 0: record_bytes
};

/// Record r begins at byte header + r * hop. Records overlap where the hop is shorter than a record, and have gaps
/// where it is longer. What is left before the footer and is no whole record is none. The key is `name:r`, from 0.
class fixed_length_record_reader {
 public:
  /// Throws `invalid_argument` for negative sizes, for records of no bytes, and for sizes that no process can address.
  fixed_length_record_reader(buffered_reader in, const fixed_length_options& options)
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

  [[nodiscard]] bool next(std::string_view& value) {
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
  [[nodiscard]] std::string key() const { return sentence({in_.name(), ":", record_}); }

 private:
  bool end() {
    ended_ = true;
    return false;
  }

  buffered_reader in_;
  fixed_length_options options_;
  std::int64_t record_ = -1;
  bool ended_ = false;
};

}  // namespace tagma::io
