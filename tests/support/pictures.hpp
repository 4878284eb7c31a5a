// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Pictures as bytes, for what decodes them.

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "tagma/base/file.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma::test {

namespace detail {
[[nodiscard]] inline std::string four_bytes(std::size_t n) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(n >> shift & 0xff);
  return bytes;
}
[[nodiscard]] inline std::string png_chunk(std::string_view kind, std::string_view data) {
  const std::string checked = std::string(kind).append(data);
  std::uint32_t sum = 0xffffffff;
  for (const char c : checked) {
    sum ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum % 2 == 0 ? 0 : 0xedb88320u);
  }
  return four_bytes(data.size()) + checked + four_bytes(sum ^ 0xffffffff);
}
}  // namespace detail

/// The beginning of a PNG, up to its pixels.
/// @param kind 0: grey, 2: RGB, 4: grey and alpha, 6: RGBA
[[nodiscard]] inline std::string png_header(std::size_t height, std::size_t width, int bits, int kind,
                                            int interlaced = 0) {
  const std::string end = {static_cast<char>(bits), static_cast<char>(kind), 0, 0, static_cast<char>(interlaced)};
  return "\x89PNG\r\n\x1a\n" + detail::png_chunk("IHDR", detail::four_bytes(width) + detail::four_bytes(height) + end);
}

/// A tensor [height, width, channels] as a PNG whose pixels are not compressed; 65,535 bytes of them at most.
[[nodiscard]] inline std::string png_of(const tensor<std::uint8_t>& image) {
  const auto height = static_cast<std::size_t>(image.dims()[0]), row = image.size() / height;
  std::string pixels;
  for (std::size_t y = 0; y < height; ++y)
    pixels.append(1, '\0').append(reinterpret_cast<const char*>(image.data()) + y * row, row);
  std::uint32_t a = 1, b = 0;
  for (const char c : pixels) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  const auto size = static_cast<std::uint16_t>(pixels.size()), rest = static_cast<std::uint16_t>(~size);
  std::string packed = "\x78\x01\x01";
  for (const std::uint16_t n : {size, rest}) packed.append({static_cast<char>(n & 0xff), static_cast<char>(n >> 8)});
  packed += pixels + detail::four_bytes(b << 16 | a);
  constexpr int kinds[] = {0, 4, 2, 6};
  return png_header(height, static_cast<std::size_t>(image.dims()[1]), 8, kinds[image.dims()[2] - 1]) +
         detail::png_chunk("IDAT", packed) + detail::png_chunk("IEND", "");
}

/// The bytes of tests/io/pictures/NAME.
[[nodiscard]] inline std::string stored_picture(std::string_view name) {
  return read_file((std::filesystem::path(__FILE__).parent_path().parent_path() / "io" / "pictures" / name).string());
}

}  // namespace tagma::test
