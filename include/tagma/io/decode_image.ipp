// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of decode_image.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/io/decode_image.hpp"

namespace tagma::io::detail {

TAGMA_COLD TAGMA_DECL void fail_no_image(std::string_view bytes, std::string_view name) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string begin;
  for (const char c : bytes.substr(0, 8))
    begin.append(1, ' ').append(1, digits[static_cast<unsigned char>(c) >> 4]).append(1, digits[c & 15]);
  fail(status_code::invalid_argument,
       {name, ": is no PNG and no JPEG: ", bytes.empty() ? "it is empty" : "it begins with", begin});
}

}  // namespace tagma::io::detail

namespace tagma::io {

TAGMA_DECL tensor<std::uint8_t> decode_image(std::string_view bytes, const image_options& options,
                                             std::string_view name) {
  tensor<std::uint8_t> result;
  detail::with_decoder(bytes, options, name,
                       [&](auto& image) { result = detail::decode_rows<std::uint8_t>(image, bytes.size()); });
  return result;
}

TAGMA_DECL tensor<std::uint8_t> read_image(const std::string& path, const image_options& options) {
  return decode_image(read_file(path), options, path);
}

TAGMA_DECL image_info decode_image_info(std::string_view bytes, std::string_view name) {
  image_info result;
  detail::with_decoder(bytes, {}, name, [&](auto& image) { result = image.info(); });
  return result;
}

TAGMA_DECL void decode_image_to(std::uint8_t* to, const shape& dims, std::string_view bytes, std::string_view name) {
  const image_options options{.channels = static_cast<int>(dims[2])};
  detail::with_decoder(bytes, options, name, [&](auto& image) {
    if (image.dims() != dims)
      fail(status_code::invalid_argument, {name, ": a picture of ", image.dims()[0], " x ", image.dims()[1],
                                           " pixels, expected ", dims[0], " x ", dims[1]});
    detail::decode_rows_to(image, to);
  });
}

}  // namespace tagma::io
