// SPDX-License-Identifier: BSL-1.0
// Decodes the input as a JPEG in every way.
#include "tagma/io/jpeg.hpp"

#include <optional>
#include <string>

#include "fuzz/fuzz.hpp"
#include "tagma/io/decode_image.hpp"

namespace {

namespace io = tagma::io;
using tagma::extent;
using tagma::status_code;
using tagma::fuzz::expect;

template <class F>
auto attempt(const F& f) -> std::optional<decltype(f())> {
  try {
    return f();
  } catch (const tagma::error& e) {
    tagma::fuzz::expect_error(e,
                              {status_code::data_loss, status_code::invalid_argument, status_code::resource_exhausted,
                               status_code::unimplemented},
                              "f: ");
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view jpeg = tagma::fuzz::text_of(data, size);
  io::jpeg_options options{.max_bytes = 1 << 18};
  const auto image = attempt([&] { return io::decode_jpeg(jpeg, options, "f"); });
  const auto info = attempt([&] { return io::decode_image_info(jpeg, "f"); });
  options.accept_truncated = true;
  const auto part = attempt([&] { return io::decode_jpeg(jpeg, options, "f"); });
  expect(!part || info, "what is decoded has a header");
  options.accept_truncated = false;
  for (const int ratio : {2, 8}) {
    options.ratio = ratio;
    options.channels = ratio == 2 ? 4 : 1;
    options.fancy_upscaling = false;
    const auto small = attempt([&] { return io::decode_jpeg(jpeg, options, "f"); });
    const auto smaller = [&](extent n) { return (n + ratio - 1) / ratio; };
    expect(!small || small->dims() == tagma::shape{smaller(info->height), smaller(info->width), options.channels},
           "a smaller picture has the size that it should have");
  }
  if (!image) return 0;
  expect(info->height == image->dims()[0] && info->width == image->dims()[1] && info->channels == image->dims()[2],
         "a picture is what its header says");
  expect(part && *part == *image, "a whole picture is not truncated");
  return 0;
}
