// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Pictures of any format that the program was compiled for, told apart by their first bytes.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/file.hpp"
#include "tagma/io/image.hpp"
#include "tagma/io/jpeg.hpp"
#include "tagma/io/png.hpp"
#include "tagma/tensor/shape.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma::io {

namespace detail {

[[noreturn]] void fail_no_image(std::string_view bytes, std::string_view name);

/// Calls `f` with a decoder of 8 bits that has read the header.
template <class F>
void with_decoder(std::string_view bytes, const image_options& options, std::string_view name, const F& f) {
  if (bytes.starts_with(png_magic)) {
#if defined(TAGMA_WITH_PNG) && TAGMA_WITH_PNG
    png_decoder image(bytes, options, 8, name);
    return f(image);
#else
    (void)options, (void)f;
    fail_without_png(name);
#endif
  }
  if (bytes.starts_with(jpeg_magic)) {
#if defined(TAGMA_WITH_JPEG) && TAGMA_WITH_JPEG
    jpeg_decoder image(
        bytes,
        {.channels = options.channels, .accept_truncated = options.accept_truncated, .max_bytes = options.max_bytes},
        name);
    return f(image);
#else
    (void)options, (void)f;
    fail_without_jpeg(name);
#endif
  }
  fail_no_image(bytes, name);
}

}  // namespace detail

/// A PNG or JPEG as a tensor [height, width, channels]. Throws as `decode_png` and `decode_jpeg` do, InvalidArgument
/// for anything else, and Unimplemented for a format whose library the program was not compiled for.
/// @param name what errors call the picture: its file or record
[[nodiscard]] tensor<std::uint8_t> decode_image(std::string_view bytes, const image_options& options = {},
                                                std::string_view name = "image");

/// The PNG or JPEG of a file, as `decode_image`, whose name is in errors. Throws `not_found` and so on if it cannot be
/// read.
[[nodiscard]] tensor<std::uint8_t> read_image(const std::string& path, const image_options& options = {});

/// Format, size and channels of a PNG or JPEG, whose pixels are not looked at. Throws as `decode_image` does.
[[nodiscard]] image_info decode_image_info(std::string_view bytes, std::string_view name = "image");

/// Decodes a picture of exactly this height, width and number of channels to memory of `dims.elements()` bytes.
/// Throws as `decode_image` does, and InvalidArgument for another size.
void decode_image_to(std::uint8_t* to, const shape& dims, std::string_view bytes, std::string_view name);

}  // namespace tagma::io

#ifndef TAGMA_COMPILED
#include "tagma/io/decode_image.ipp"
#endif
