// SPDX-License-Identifier: BSL-1.0
#include "tagma/io/jpeg.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "support/errors.hpp"
#include "support/pictures.hpp"
#include "tagma/io/decode_image.hpp"

#if defined(TAGMA_WITH_JPEG) && TAGMA_WITH_JPEG

namespace {

namespace io = tagma::io;
using tagma::extent;
using tagma::shape;
using tagma::status_code;
using tagma::tensor;
using tagma::test::code_of;
using tagma::test::stored_picture;
using tagma::test::text_of;
using bytes = tensor<std::uint8_t>;

/// A picture of one of the two simple formats that djpeg writes.
bytes read_pnm(std::string_view name) {
  std::istringstream in(stored_picture(name));
  std::string kind;
  extent width = 0, height = 0, top = 0;
  in >> kind >> width >> height >> top;
  in.get();
  bytes image({height, width, kind == "P6" ? 3 : 1});
  in.read(reinterpret_cast<char*>(image.data()), static_cast<std::streamsize>(image.size()));
  REQUIRE(in.gcount() == static_cast<std::streamsize>(image.size()));
  return image;
}
/// The most that two pictures of a size differ in a sample. Versions of the library round differently.
int difference(const bytes& a, const bytes& b) {
  REQUIRE(a.dims() == b.dims());
  int most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(int{a[i]} - int{b[i]}));
  return most;
}
std::string refused(std::string_view jpeg, const io::jpeg_options& options = {}) {
  return text_of([&] { (void)io::decode_jpeg(jpeg, options, "f"); });
}

/// The place of a marker's segment behind its length.
std::size_t segment(const std::string& jpeg, char marker) {
  for (std::size_t at = 2; at + 4 < jpeg.size();) {
    if (jpeg[at + 1] == marker) return at + 4;
    const auto byte = [&](std::size_t i) { return std::size_t{static_cast<unsigned char>(jpeg[i])}; };
    at += 2 + 256 * byte(at + 2) + byte(at + 3);
  }
  FAIL("no such marker");
  return 0;
}
constexpr char frame = '\xc0', progressive_frame = '\xc2', arithmetic_frame = '\xc9', scan = '\xda';

std::string with_size(std::string jpeg, char marker, int height, int width) {
  const std::size_t at = segment(jpeg, marker);
  jpeg[at + 1] = static_cast<char>(height >> 8), jpeg[at + 2] = static_cast<char>(height & 255);
  jpeg[at + 3] = static_cast<char>(width >> 8), jpeg[at + 4] = static_cast<char>(width & 255);
  return jpeg;
}

}  // namespace

TEST_CASE("pictures are those that djpeg shows") {
  struct picture {
    const char *jpeg, *pnm;
    io::jpeg_options options;
  };
  const picture pictures[] = {
      {"grey", "grey", {}},
      {"ycc_1x1", "ycc_1x1", {}},
      {"ycc_2x1", "ycc_2x1", {}},
      {"ycc_2x2", "ycc_2x2", {}},
      {"progressive", "ycc_2x2", {}},
      {"restart", "ycc_2x2", {}},
      {"arithmetic", "ycc_2x2", {}},
      {"scans", "ycc_2x2", {}},
      {"rgb", "rgb", {}},
      {"ycc_2x2", "ycc_2x2.nosmooth", {.fancy_upscaling = false}},
      {"ycc_2x2", "ycc_2x2.ratio2", {.ratio = 2}},
      {"ycc_2x2", "ycc_2x2.ratio4", {.ratio = 4}},
      {"ycc_2x2", "ycc_2x2.ratio8", {.ratio = 8}},
      {"ycc_2x2", "ycc_2x2.grey", {.channels = 1}},
      {"progressive", "ycc_2x2.ratio4", {.ratio = 4}},
  };
  for (const picture& p : pictures) {
    CAPTURE(p.jpeg, p.pnm);
    const std::string jpeg = stored_picture(p.jpeg + std::string(".jpg"));
    const bytes expected = read_pnm(p.pnm + std::string(".pnm"));
    const bytes found = io::decode_jpeg(jpeg, p.options);
    CHECK(difference(found, expected) <= 2);
    const int channels = p.jpeg == std::string("grey") ? 1 : 3;
    CHECK(io::decode_image_info(jpeg) == io::image_info{io::image_format::jpeg, 23, 37, channels, 8});
    io::jpeg_options truncated = p.options;
    truncated.accept_truncated = true;
    CHECK(io::decode_jpeg(jpeg, truncated) == found);
    // The bytes behind the end of a picture are somebody else's.
    CHECK(io::decode_jpeg(jpeg + "behind it", p.options) == found);
  }
  // The options tell these apart.
  CHECK(difference(read_pnm("ycc_2x2.nosmooth.pnm"), read_pnm("ycc_2x2.pnm")) > 8);
}

TEST_CASE("channels of a JPEG") {
  const bytes grey = read_pnm("grey.pnm"), rgb = read_pnm("ycc_1x1.pnm");
  const bytes grey_as_rgb = io::decode_jpeg(stored_picture("grey.jpg"), {.channels = 3});
  const bytes rgba = io::decode_jpeg(stored_picture("ycc_1x1.jpg"), {.channels = 4});
  REQUIRE(grey_as_rgb.dims() == shape{23, 37, 3});
  REQUIRE(rgba.dims() == shape{23, 37, 4});
  for (std::size_t i = 0; i < grey.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c) {
      REQUIRE(std::abs(grey[i] - grey_as_rgb[3 * i + c]) <= 2);
      REQUIRE(std::abs(rgb[3 * i + c] - rgba[4 * i + c]) <= 2);
      REQUIRE(rgba[4 * i + 3] == 255);
    }
  const bytes from_rgb = io::decode_jpeg(stored_picture("rgb.jpg"), {.channels = 1});
  const bytes true_rgb = read_pnm("rgb.pnm");
  for (std::size_t i = 0; i < grey.size(); ++i)
    REQUIRE(from_rgb[i] ==
            Approx(0.299 * true_rgb[3 * i] + 0.587 * true_rgb[3 * i + 1] + 0.114 * true_rgb[3 * i + 2]).margin(2.6));
  CHECK(refused(stored_picture("grey.jpg"), {.channels = 2}) ==
        "InvalidArgument: f: a picture is not decoded to 2 channels, expected 0, 1, 3 or 4");
  CHECK(refused(stored_picture("grey.jpg"), {.ratio = 3}) ==
        "InvalidArgument: f: a JPEG is not made 3 times smaller, expected 1, 2, 4 or 8");
}

TEST_CASE("CMYK is shown as RGB") {
  // The two halves as they are stored; Adobe's values say how much light is left, others how much ink there is.
  const int left[] = {250, 100, 30, 200}, right[] = {10, 220, 128, 90};
  for (const char* name : {"cmyk_adobe.jpg", "ycck_adobe.jpg", "cmyk.jpg"}) {
    CAPTURE(name);
    const bool adobe = std::string_view(name).find("adobe") != std::string_view::npos;
    const bytes image = io::decode_jpeg(stored_picture(name));
    REQUIRE(image.dims() == shape{8, 16, 3});
    CHECK(io::decode_image_info(stored_picture(name)).channels == 3);
    for (extent y = 0; y < 8; ++y)
      for (extent x = 0; x < 16; ++x)
        for (extent c = 0; c < 3; ++c) {
          const int* const ink = x < 8 ? left : right;
          const double light = adobe ? ink[c] * ink[3] / 255.0 : (255 - ink[c]) * (255 - ink[3]) / 255.0;
          REQUIRE(image(y, x, c) == Approx(light).margin(3));
        }
    CHECK(io::decode_jpeg(stored_picture(name), {.channels = 1}).dims() == shape{8, 16, 1});
  }
  CHECK(refused(stored_picture("two_components.jpg")) ==
        "Unimplemented: f: a JPEG of 2 components, expected grey, YCbCr, RGB, CMYK or YCCK");
}

TEST_CASE("a truncated JPEG is an error, or what it has") {
  for (const char* name : {"grey.jpg", "ycc_2x2.jpg", "progressive.jpg", "restart.jpg", "arithmetic.jpg"}) {
    CAPTURE(name);
    const std::string jpeg = stored_picture(name);
    const bytes whole = io::decode_jpeg(jpeg);
    // Behind the tables, which an optimised file has before its one scan.
    for (std::size_t n = 0; n < jpeg.size(); ++n) {
      CAPTURE(n);
      const std::string cut = refused(jpeg.substr(0, n));
      REQUIRE(cut.starts_with("DataLoss: f: "));
      if (n >= 3) REQUIRE(cut.find(": the JPEG ends after " + std::to_string(n) + " bytes, ") != std::string::npos);
    }
    for (std::size_t n = segment(jpeg, scan) + 20; n < jpeg.size(); ++n)
      REQUIRE(io::decode_jpeg(jpeg.substr(0, n), {.accept_truncated = true}).dims() == whole.dims());
    CHECK(io::decode_jpeg(jpeg.substr(0, jpeg.size() - 2), {.accept_truncated = true}) == whole);
  }
  const std::string jpeg = stored_picture("grey.jpg");
  CHECK(refused(jpeg.substr(0, 20), {.accept_truncated = true}) ==
        "DataLoss: f: the JPEG ends after 20 bytes, in its header");
  const bytes whole = io::decode_jpeg(jpeg),
              part = io::decode_jpeg(jpeg.substr(0, jpeg.size() - 30), {.accept_truncated = true});
  for (std::size_t i = 0; i < 8 * 37; ++i) REQUIRE(part[i] == whole[i]);
  CHECK(part != whole);
}

TEST_CASE("damaged data are an error, of which libjpeg only warns") {
  CHECK(refused("GIF89a") == "InvalidArgument: f: is no JPEG: it does not begin with \\xff\\xd8\\xff");
  CHECK(refused("\xff\xd8") == "DataLoss: f: is no JPEG: it does not begin with \\xff\\xd8\\xff");
  const std::string restart = stored_picture("restart.jpg");
  std::string damaged = restart;
  const std::size_t marker = restart.find("\xff\xd0");
  REQUIRE(marker != std::string::npos);
  damaged.insert(marker, 5, '\0');  // more bits than blocks
  CHECK(refused(damaged).starts_with("DataLoss: f: corrupted JPEG in row "));
  CHECK(refused(damaged).find("Corrupt JPEG data: ") != std::string::npos);
  CHECK(refused(damaged, {.accept_truncated = true}).starts_with("DataLoss: f: corrupted JPEG in row "));
  CHECK(refused(restart.substr(0, marker + 2), {.accept_truncated = true}).empty());
  // Another version of the header is nothing to end by.
  std::string newer = restart;
  REQUIRE(newer.substr(6, 4) == "JFIF");
  newer[11] = 7;
  CHECK(io::decode_jpeg(newer) == io::decode_jpeg(restart));
  std::string deep = restart;
  deep[segment(deep, frame)] = 12;
  CHECK(refused(deep).starts_with("Unimplemented: f: a JPEG that libjpeg does not read: "));
}

TEST_CASE("a declared size of a JPEG takes no memory that its bytes cannot fill") {
  const std::string grey = stored_picture("grey.jpg"), progressive = stored_picture("progressive.jpg"),
                    arithmetic = stored_picture("arithmetic.jpg");
  CHECK(refused(with_size(grey, frame, 65500, 65500)) ==
        "ResourceExhausted: f: a picture of [65500, 65500, 1], height, width and channels, takes more than max_bytes, "
        "which is 268435456");
  CHECK(refused(with_size(grey, frame, 65501, 65501)).starts_with("DataLoss: f: corrupted JPEG in its header: "));
  for (const io::jpeg_options& options : {io::jpeg_options{}, io::jpeg_options{.ratio = 8}}) {
    CHECK(refused(with_size(grey, frame, 10000, 10000), options) ==
          "DataLoss: f: its header says 10000 x 10000 pixels, which is more than its " + std::to_string(grey.size()) +
              " bytes can hold");
    CHECK(refused(with_size(progressive, progressive_frame, 5000, 5000), options)
              .find("its header says 5000 x 5000 pixels") != std::string::npos);
  }
  // Where there is no such bound, since arithmetic decoders go on for ever behind the last byte: max_bytes alone.
  CHECK(io::decode_jpeg(with_size(arithmetic, arithmetic_frame, 500, 500)).dims() == shape{500, 500, 3});
  CHECK(refused(with_size(arithmetic, arithmetic_frame, 500, 500), {.max_bytes = 749'999})
            .starts_with("ResourceExhausted: f: a picture of [500, 500, 3], "));
  CHECK(refused(with_size(progressive, progressive_frame, 4000, 4000),
                {.ratio = 8, .accept_truncated = true, .max_bytes = 4 << 20}) ==
        "ResourceExhausted: f: the coefficients of the JPEG take more than twice max_bytes, which is 4194304, or than "
        "there is memory");
  CHECK(io::decode_jpeg(grey, {.max_bytes = 23 * 37}).size() == 23 * 37);
  CHECK(code_of([&] { (void)io::decode_jpeg(grey, {.max_bytes = 23 * 37 - 1}); }) == status_code::resource_exhausted);
  const std::string open = grey.substr(0, grey.size() - 2);
  CHECK(io::decode_jpeg(with_size(open, frame, 9000, 37), {.accept_truncated = true}).dims() == shape{9000, 37, 1});
}

TEST_CASE("a JPEG of more scans than any picture has is refused") {
  const std::string jpeg = stored_picture("scans.jpg");
  const std::size_t first = jpeg.find("\xff\xda"), second = jpeg.find("\xff\xda", first + 2);
  REQUIRE(second != std::string::npos);
  const auto with_scans = [&](int more) {
    std::string many = jpeg.substr(0, second);
    for (int i = 0; i < more; ++i) many += jpeg.substr(first, second - first);
    return many + jpeg.substr(second);
  };
  CHECK(io::decode_jpeg(with_scans(400)) == io::decode_jpeg(jpeg));
  CHECK(refused(with_scans(600)) == "DataLoss: f: corrupted JPEG in its header: more than 500 scans");
}

#else

TEST_CASE("without libjpeg a JPEG says what to compile with") {
  const std::string jpeg = tagma::test::stored_picture("grey.jpg");
  CHECK(tagma::test::text_of([&] { (void)tagma::io::decode_image_info(jpeg, "f"); }) ==
        "Unimplemented: f: is a JPEG: compile with TAGMA_WITH_JPEG=1 and link libjpeg (with CMake, link tagma::jpeg)");
}

#endif
