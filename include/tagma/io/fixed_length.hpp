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

/// Where records of one length lie in a file.
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
  fixed_length_record_reader(buffered_reader in, const fixed_length_options& options);

  /// Gets the next record; false at the end.
  [[nodiscard]] bool next(std::string_view& value);
  /// The key of the record that `next` gave.
  [[nodiscard]] std::string key() const { return sentence({in_.name(), ":", record_}); }

 private:
  bool end();

  buffered_reader in_;
  fixed_length_options options_;
  std::int64_t record_ = -1;
  bool ended_ = false;
};

}  // namespace tagma::io

#ifndef TAGMA_COMPILED
#include "tagma/io/fixed_length.ipp"
#endif
