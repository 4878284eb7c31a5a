// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of event_file.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/io/crc32c.hpp"
#include "tagma/io/event_file.hpp"
#include "tagma/io/wire.hpp"

namespace tagma::io {

namespace detail {

/// A `Summary` of one value.
/// @param rest the fields of the value besides its tag
TAGMA_DECL std::string summary_of(std::string_view tag, std::string_view rest) {
  std::string value, summary;
  wire::put_bytes(value, 1, tag);
  value += rest;
  wire::put_bytes(summary, 1, value);
  return summary;
}

/// The field `metadata` of a value, which names a plugin.
TAGMA_DECL std::string plugin_field(std::string_view plugin, std::string_view content) {
  std::string data, metadata, field;
  wire::put_bytes(data, 1, plugin);
  if (!content.empty()) wire::put_bytes(data, 2, content);
  wire::put_bytes(metadata, 1, data);
  wire::put_bytes(field, 9, metadata);
  return field;
}

}  // namespace detail

TAGMA_DECL event_file::event_file(std::string path, double seconds)
    : path_(std::move(path)), records_(file_sink(path_)) {
  std::string event;
  wire::put_bytes(event, 3, "brain.Event:2");
  add(std::move(event), seconds);
}

TAGMA_DECL void event_file::add_summary(std::string_view summary, std::int64_t step, double seconds) {
  std::string event;
  wire::put_integer(event, 2, step);
  wire::put_bytes(event, 5, summary);
  add(std::move(event), seconds);
}

TAGMA_DECL void event_file::add_graph(std::string_view graph, double seconds) {
  std::string event;
  wire::put_bytes(event, 4, graph);
  add(std::move(event), seconds);
}

TAGMA_DECL void event_file::add(std::string event, double seconds) {
  wire::put_double(event, 1, seconds);
  records_.write(event);
  records_.flush();
}

TAGMA_DECL std::string scalar_summary(std::string_view tag, double value) {
  std::string rest;
  wire::put_float(rest, 2, static_cast<float>(value));
  return detail::summary_of(tag, rest);
}

TAGMA_DECL std::string text_summary(std::string_view tag, std::string_view text) {
  constexpr std::int64_t type_string = 7;  // DT_STRING
  std::string dimension, dims, tensor, rest = detail::plugin_field("text", {});
  wire::put_integer(dimension, 1, 1);
  wire::put_bytes(dims, 2, dimension);
  wire::put_integer(tensor, 1, type_string);
  wire::put_bytes(tensor, 2, dims);
  wire::put_bytes(tensor, 8, text);
  wire::put_bytes(rest, 8, tensor);
  return detail::summary_of(tag, rest);
}

TAGMA_DECL std::string image_summary(std::string_view tag, std::int64_t height, std::int64_t width,
                                     std::int64_t channels, std::string_view png) {
  std::string image, rest;
  wire::put_integer(image, 1, height);
  wire::put_integer(image, 2, width);
  wire::put_integer(image, 3, channels);
  wire::put_bytes(image, 4, png);
  wire::put_bytes(rest, 4, image);
  return detail::summary_of(tag, rest);
}

TAGMA_DECL std::string histogram_summary(std::string_view tag, std::span<const double> values, int buckets) {
  const std::size_t count = static_cast<std::size_t>(std::max(buckets, 1));
  double least = std::numeric_limits<double>::infinity(), greatest = -least, number = 0, sum = 0, squares = 0;
  for (const double v : values) {
    if (!__builtin_isfinite(v)) continue;
    least = std::min(least, v), greatest = std::max(greatest, v);
    number += 1, sum += v, squares += v * v;
  }
  if (number == 0) least = greatest = 0;
  // Halves, since the difference of two doubles may not be one.
  const double width = (greatest / 2 - least / 2) / static_cast<double>(count) * 2;
  std::vector<double> found(count, 0.0);
  for (const double v : values) {
    if (!__builtin_isfinite(v)) continue;
    const double at = width > 0 ? (v / 2 - least / 2) / (width / 2) : 0;
    found[at < static_cast<double>(count) ? static_cast<std::size_t>(at) : count - 1] += 1;
  }
  std::string limits, counts, histogram, rest;
  for (std::size_t i = 0; i < count; ++i) {
    limits += wire::bytes_of_double(i + 1 == count ? greatest : least + width * static_cast<double>(i + 1));
    counts += wire::bytes_of_double(found[i]);
  }
  const double all[] = {least, greatest, number, sum, squares};
  for (std::uint32_t f = 0; f < 5; ++f) wire::put_double(histogram, f + 1, all[f]);
  wire::put_bytes(histogram, 6, limits);
  wire::put_bytes(histogram, 7, counts);
  wire::put_bytes(rest, 5, histogram);
  return detail::summary_of(tag, rest);
}

TAGMA_DECL std::string plugin_summary(std::string_view tag, std::string_view plugin, std::string_view content) {
  return detail::summary_of(tag, detail::plugin_field(plugin, content));
}

TAGMA_DECL std::string stored_png(std::int64_t height, std::int64_t width, std::int64_t channels,
                                  std::span<const std::uint8_t> elements) {
  const auto number = [](std::uint32_t value) {
    return std::string{static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
                       static_cast<char>(value)};
  };
  constexpr std::int64_t most = 1 << 15;  // pixels a side; a chunk has less than 2^31 bytes as well
  if (height < 1 || width < 1 || channels < 1 || channels > 4 || height > most || width > most ||
      elements.size() > INT32_MAX / 2 || elements.size() != static_cast<std::size_t>(height * width * channels))
    fail(status_code::invalid_argument, {"an image of ", height, " x ", width, " pixels and ", channels,
                                         " channels is not one of ", elements.size(), " bytes"});
  const std::int64_t row = width * channels;
  std::string png = "\x89PNG\r\n\x1a\n";
  const auto chunk = [&](std::string_view kind, std::string_view content) {
    png += number(static_cast<std::uint32_t>(content.size()));
    const std::size_t begin = png.size();
    png.append(kind).append(content);
    png += number(detail::extend_crc32(0, png.data() + begin, png.size() - begin));
  };
  constexpr char colours[] = {0, 4, 2, 6};
  chunk("IHDR", number(static_cast<std::uint32_t>(height)).insert(0, number(static_cast<std::uint32_t>(width))) +
                    std::string{8, colours[channels - 1], 0, 0, 0});
  std::string rows;
  for (std::int64_t y = 0; y < height; ++y) {
    rows += '\0';  // no filter
    rows.append(reinterpret_cast<const char*>(elements.data() + y * row), static_cast<std::size_t>(row));
  }
  // A zlib stream of blocks that are stored: https://www.rfc-editor.org/rfc/rfc1950, rfc1951.
  std::string data = "\x78\x01";
  std::uint32_t low = 1, high = 0;
  for (const char c : rows) {
    low = (low + static_cast<unsigned char>(c)) % 65521;
    high = (high + low) % 65521;
  }
  constexpr std::size_t largest = 65535;
  for (std::size_t at = 0; at < rows.size(); at += largest) {
    const std::size_t size = std::min(largest, rows.size() - at);
    data += at + size == rows.size() ? '\1' : '\0';
    for (const std::size_t n : {size, ~size}) {
      data += static_cast<char>(n & 0xff);
      data += static_cast<char>(n >> 8 & 0xff);
    }
    data.append(rows, at, size);
  }
  data += number(high << 16 | low);
  chunk("IDAT", data);
  chunk("IEND", {});
  return png;
}

}  // namespace tagma::io
