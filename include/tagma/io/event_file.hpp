// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Files of TensorBoard events: records of TFRecord, each an `Event` message of tensorflow/core/util/event.proto.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/io/byte_sink.hpp"
#include "tagma/io/tf_record.hpp"

namespace tagma::io {

/// Appends events to a new file. Each is in the file when its call returns, so that readers follow a run that goes on.
class event_file {
 public:
  /// Makes the file. Throws what the system says: PermissionDenied, NotFound, ...
  /// @param seconds since 1970, as of all events
  event_file(std::string path, double seconds);

  /// Where the file is.
  [[nodiscard]] const std::string& path() const { return path_; }

  /// @param summary an encoded `Summary`
  void add_summary(std::string_view summary, std::int64_t step, double seconds);
  /// @param graph an encoded `GraphDef`
  void add_graph(std::string_view graph, double seconds);

 private:
  void add(std::string event, double seconds);

  std::string path_;
  tf_record_writer records_;
};

/// The values of a `Summary` message, encoded.
/// @{
[[nodiscard]] std::string scalar_summary(std::string_view tag, double value);
[[nodiscard]] std::string text_summary(std::string_view tag, std::string_view text);
/// @param png the whole content of a file
[[nodiscard]] std::string image_summary(std::string_view tag, std::int64_t height, std::int64_t width,
                                        std::int64_t channels, std::string_view png);
/// Finite values in `buckets` ranges of equal width between the least and the greatest of them; those that are not
/// finite are left out. At least one bucket.
[[nodiscard]] std::string histogram_summary(std::string_view tag, std::span<const double> values, int buckets);
/// What a plugin of TensorBoard reads, without a value.
[[nodiscard]] std::string plugin_summary(std::string_view tag, std::string_view plugin, std::string_view content);
/// @}

/// A PNG file that is not compressed: 8 bits for each of 1 (grey), 2 (with alpha), 3 (RGB) or 4 channels, rows from the
/// top. https://www.w3.org/TR/png
[[nodiscard]] std::string stored_png(std::int64_t height, std::int64_t width, std::int64_t channels,
                                     std::span<const std::uint8_t> elements);

}  // namespace tagma::io

#ifndef TAGMA_COMPILED
#include "tagma/io/event_file.ipp"
#endif
