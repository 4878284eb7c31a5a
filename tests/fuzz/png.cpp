// SPDX-License-Identifier: BSL-1.0
// Decodes the input as a PNG, as it is and with sums that are right, in every way.
#include "tagma/io/png.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "fuzz/fuzz.hpp"
#include "support/pictures.hpp"
#include "tagma/io/decode_image.hpp"

namespace {

namespace io = tagma::io;
using tagma::status_code;
using tagma::fuzz::expect;

template <class F>
auto attempt(const F& f) -> std::optional<decltype(f())> {
  try {
    return f();
  } catch (const tagma::error& e) {
    // The last for what begins as a JPEG does, which libjpeg is asked about.
    tagma::fuzz::expect_error(e,
                              {status_code::data_loss, status_code::invalid_argument, status_code::resource_exhausted,
                               status_code::unimplemented},
                              "f: ");
    return std::nullopt;
  }
}

/// The chunks with the sums that they should have.
std::string summed(std::string_view png) {
  std::string out(png.substr(0, 8));
  for (std::size_t at = 8; at + 12 <= png.size();) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4; ++i) size = size << 8 | static_cast<unsigned char>(png[at + i]);
    size = std::min(size, png.size() - at - 12);
    out += tagma::test::detail::png_chunk(png.substr(at + 4, 4), png.substr(at + 8, size));
    at += size + 12;
  }
  return out;
}

void check(std::string_view png) {
  io::image_options options{.max_bytes = 1 << 18};
  const auto image = attempt([&] { return io::decode_png(png, options, "f"); });
  const auto wide = attempt([&] {
    auto four = options;
    four.max_bytes *= 4;
    return io::decode_png<std::int32_t>(png, four, "f");
  });
  const auto info = attempt([&] { return io::decode_image_info(png, "f"); });
  options.accept_truncated = true;
  const auto part = attempt([&] { return io::decode_png(png, options, "f"); });
  for (const int channels : {1, 3, 4}) {
    options.channels = channels;
    options.max_bytes = 1 << 20;
    const auto other = attempt([&] { return io::decode_png(png, options, "f"); });
    expect(!image || (other && other->dims() == tagma::shape{image->dims()[0], image->dims()[1], channels}),
           "a picture is decoded to any channels");
  }
  expect(!part || info, "what is decoded has a header");
  if (!image) return;
  expect(info->height == image->dims()[0] && info->width == image->dims()[1] && info->channels == image->dims()[2],
         "a picture is what its header says");
  expect(part && *part == *image, "a whole picture is not truncated");
  expect(wide && wide->dims() == image->dims(), "16 bits of any picture");
  for (std::size_t i = 0; i < image->size(); ++i) expect((*wide)[i] >> 8 == (*image)[i], "8 bits are the upper ones");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view png = tagma::fuzz::text_of(data, size);
  check(png);
  if (png.size() > 8) check(summed(png));
  return 0;
}
