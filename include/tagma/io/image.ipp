// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of image.hpp: in the compiled half, or else in each file that includes it.

#include <new>

#include "tagma/base/config.hpp"
#include "tagma/io/image.hpp"

namespace tagma::io::detail {

TAGMA_DECL void jump_target::leave(const char* why) {
  std::strncpy(message_, why, sizeof message_ - 1);
  std::longjmp(here_, 1);
}

TAGMA_COLD TAGMA_DECL int image_channels(int wanted, int own, std::string_view name) {
  if (wanted == 0) return own;
  if (wanted != 1 && wanted != 3 && wanted != 4)
    fail(status_code::invalid_argument,
         {name, ": a picture is not decoded to ", wanted, " channels, expected 0, 1, 3 or 4"});
  return wanted;
}

TAGMA_COLD TAGMA_DECL void check_image_bytes(const shape& dims, std::size_t element_size, std::uint64_t most,
                                             std::string_view name) {
  const extent bytes = count_elements(dims, element_size) * static_cast<extent>(element_size);
  if (bytes < 0 || bytes > tagma::max_bytes || static_cast<std::uint64_t>(bytes) > most)
    fail(status_code::resource_exhausted, {name, ": a picture of ", to_string(dims), ", height, width and channels, ",
                                           "takes more than max_bytes, which is ", most});
}

TAGMA_COLD TAGMA_DECL void fail_dense_image(const image_info& image, std::size_t bytes, std::string_view name) {
  fail(status_code::data_loss, {name, ": its header says ", image.height, " x ", image.width,
                                " pixels, which is more than its ", bytes, " bytes can hold"});
}

TAGMA_COLD TAGMA_DECL std::string row_text(extent row, extent height) {
  if (row <= 0) return " in its header";
  return row > height ? " behind its last row" : sentence({" in row ", row, " of ", height});
}

TAGMA_COLD TAGMA_DECL std::unique_ptr<std::byte[]> image_memory(std::size_t bytes) {
  std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[bytes]());
  if (memory == nullptr) fail_no_memory(1, bytes, "a picture");
  return memory;
}

}  // namespace tagma::io::detail
