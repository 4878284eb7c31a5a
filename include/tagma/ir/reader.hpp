// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Readers of records as attributes of nodes: what tells them apart.

#include "tagma/base/config.hpp"
#include "tagma/ir/op.hpp"

namespace tagma {

/// What a record of a file is: a line, so many bytes, a record of TFRecord, all of it, or its name, with which
/// `identity` opens nothing.
enum class reader_kind : unsigned char { text_lines, fixed_length, tf_record, whole_file, identity };

/// What messages call a reader of this kind.
[[nodiscard]] constexpr std::string_view to_string(reader_kind kind) {
  constexpr std::string_view names[] = {"text line reader", "fixed length record reader", "TFRecord reader",
                                        "whole file reader", "identity reader"};
  return names[static_cast<std::size_t>(kind)];
}

/// How the bytes of files are compressed; `detect`: as a file begins.
enum class file_compression : unsigned char { none, gzip, zlib, detect };

/// What the records of a reader are, and how its files are compressed.
struct reader_options {
  reader_kind kind = reader_kind::text_lines;
  file_compression compression = file_compression::none;
  extent skip_header_lines = 0;  ///< of text lines
  extent record_bytes = 0;       ///< of records of fixed length: of a record, at least 1
  extent header_bytes = 0;       ///< before the first record of a file
  extent footer_bytes = 0;       ///< behind the last
  extent hop_bytes = 0;          ///< from one record to the next; 0: record_bytes
};

namespace ir {

template <reader_options O>
inline constexpr auto reader_attributes = pack_attributes(static_cast<attribute>(O.kind),
                                                          static_cast<attribute>(O.compression), O.skip_header_lines,
                                                          O.record_bytes, O.header_bytes, O.footer_bytes, O.hop_bytes);

/// The options behind such attributes.
[[nodiscard]] constexpr reader_options reader_options_of(attribute_list a) {
  return {static_cast<reader_kind>(a[0]), static_cast<file_compression>(a[1]), a[2], a[3], a[4], a[5], a[6]};
}

}  // namespace ir
}  // namespace tagma
