// SPDX-License-Identifier: BSL-1.0
#include "tagma/io/png.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/pictures.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/io/decode_image.hpp"

#if defined(TAGMA_WITH_PNG) && TAGMA_WITH_PNG

namespace {

namespace io = tagma::io;
using tagma::extent;
using tagma::shape;
using tagma::status_code;
using tagma::tensor;
using tagma::test::code_of;
using tagma::test::png_header;
using tagma::test::png_of;
using tagma::test::temporary_directory;
using tagma::test::text_of;
using bytes = tensor<std::uint8_t>;

std::string refused(std::string_view png, const io::image_options& options = {}) {
  return text_of([&] { (void)io::decode_png(png, options, "f"); });
}

}  // namespace

TEST_CASE("every kind of PNG shows the pixels that another program wrote") {
  const temporary_directory dir;
  const auto script = std::filesystem::path(__FILE__).parent_path() / "png_writer.py";
  const std::string list = dir / "list";
  REQUIRE(std::system(("python3 '" + script.string() + "' '" + dir.path.string() + "' > '" + list + "'").c_str()) == 0);
  std::ifstream lines(list);
  int count = 0;
  std::string name;
  for (io::image_info info; lines >> name >> info.height >> info.width >> info.channels >> info.bits; ++count) {
    CAPTURE(name);
    const std::string png = tagma::read_file(dir / (name + ".png").c_str());
    const std::string eight = tagma::read_file(dir / (name + ".8").c_str());
    const std::string sixteen = tagma::read_file(dir / (name + ".16").c_str());
    CHECK(io::decode_image_info(png) == info);
    const shape dims{info.height, info.width, info.channels};
    const bytes found = io::decode_png(png);
    REQUIRE(found.dims() == dims);
    REQUIRE(found.size() == eight.size());
    CHECK(std::memcmp(found.data(), eight.data(), eight.size()) == 0);
    CHECK(io::decode_image(png) == found);
    CHECK(io::decode_png(png, {.accept_truncated = true}) == found);
    const auto wide = io::decode_png<std::int32_t>(png);
    REQUIRE(wide.dims() == dims);
    for (std::size_t i = 0; i < wide.size(); ++i)
      REQUIRE(wide[i] ==
              static_cast<unsigned char>(sixteen[2 * i]) + 256 * static_cast<unsigned char>(sixteen[2 * i + 1]));

    // Other channels are made of these.
    const auto own = static_cast<std::size_t>(info.channels), pixels = found.size() / own;
    const bytes grey = io::decode_png(png, {.channels = 1}), rgb = io::decode_png(png, {.channels = 3}),
                rgba = io::decode_png(png, {.channels = 4});
    for (std::size_t i = 0; i < pixels; ++i) {
      const std::uint8_t* const p = found.data() + i * own;
      const std::size_t g = own < 3 ? 0 : 1, b = own < 3 ? 0 : 2;
      const double luma = own < 3 ? p[0] : 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2];
      REQUIRE(grey[i] == Approx(luma).margin(0.5001));
      REQUIRE((rgb[3 * i] == p[0] && rgb[3 * i + 1] == p[g] && rgb[3 * i + 2] == p[b]));
      REQUIRE((rgba[4 * i] == p[0] && rgba[4 * i + 1] == p[g] && rgba[4 * i + 2] == p[b]));
      REQUIRE(rgba[4 * i + 3] == (own % 2 == 0 ? p[own - 1] : 255));
    }

    // Cut anywhere it is an error, or its first rows.
    for (std::size_t n = 0; n < png.size(); n += 1 + n / 40) {
      const std::string cut = refused(png.substr(0, n));
      REQUIRE(cut.starts_with(n < 8 ? "DataLoss: f: is no PNG" : "DataLoss: f: "));
      if (n < 8) continue;
      REQUIRE(cut.find(" ends after " + std::to_string(n) + " bytes") != std::string::npos);
      const std::string accepted = refused(png.substr(0, n), {.accept_truncated = true});
      REQUIRE((accepted.empty() || accepted.find(" in its header") != std::string::npos));
    }
    REQUIRE(io::decode_png(png.substr(0, png.size() - 12), {.accept_truncated = true}) == found);
  }
  CHECK(count == 52);
}

TEST_CASE("a truncated PNG gives the rows that it has where that is accepted") {
  bytes image({20, 10, 3});
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<std::uint8_t>(i * 7 + 1);
  const std::string png = png_of(image);
  CHECK(io::decode_png(png) == image);
  const std::string cut = png.substr(0, 41 + 7 + 31 * 12);                             // the end of row 12
  CHECK(refused(cut) == "DataLoss: f: the PNG ends after 420 bytes, in row 1 of 20");  // read in blocks
  const bytes found = io::decode_png(cut, {.accept_truncated = true});
  REQUIRE(found.dims() == image.dims());
  for (std::size_t i = 0; i < 11 * 30; ++i) REQUIRE(found[i] == image[i]);
  for (std::size_t i = 12 * 30; i < found.size(); ++i) REQUIRE(found[i] == 0);
}

TEST_CASE("what is no sound PNG is refused with its name") {
  const std::string png = png_of(bytes({2, 2, 1}, {1, 2, 3, 4}));
  CHECK(io::decode_png(png + "behind it") == bytes({2, 2, 1}, {1, 2, 3, 4}));
  CHECK(refused("GIF89a..") == "InvalidArgument: f: is no PNG: it does not begin with \\x89PNG\\r\\n\\x1a\\n");
  CHECK(refused("") == "DataLoss: f: is no PNG: it does not begin with \\x89PNG\\r\\n\\x1a\\n");
  std::string damaged = png;
  damaged[50] ^= 1;  // a pixel, behind whose chunk stands a sum
  CHECK(refused(damaged).starts_with("DataLoss: f: corrupted PNG in row "));
  damaged = png;
  damaged[25] = 3;  // kind
  CHECK(refused(damaged).starts_with("DataLoss: f: corrupted PNG in its header: "));
  CHECK(refused(png_header(0, 4, 8, 0)).starts_with("DataLoss: f: corrupted PNG in its header: "));
  CHECK(refused(png, {.channels = 2}) ==
        "InvalidArgument: f: a picture is not decoded to 2 channels, expected 0, 1, 3 or 4");
  CHECK(code_of([&] { (void)io::decode_png(png, {.channels = -1}); }) == status_code::invalid_argument);
  for (std::size_t i = 8; i < png.size(); ++i)
    for (const int flip : {1, 128, 255}) {
      std::string other = png;
      other[i] = static_cast<char>(other[i] ^ flip);
      REQUIRE((refused(other).starts_with("DataLoss: f: ") || refused(other).starts_with("ResourceExhausted: f: ")));
    }
}

TEST_CASE("a declared size of a PNG takes no memory that its bytes cannot fill") {
  constexpr std::size_t huge = 0x7fffffff;
  const auto with_pixels = [](const std::string& header) {
    return header + tagma::test::detail::png_chunk("IDAT", "\x78\x01") + tagma::test::detail::png_chunk("IEND", "");
  };
  for (const int interlaced : {0, 1}) {
    CHECK(refused(with_pixels(png_header(huge, huge, 16, 6, interlaced))) ==
          "ResourceExhausted: f: a picture of [2147483647, 2147483647, 4], height, width and channels, takes more than "
          "max_bytes, which is 268435456");
    CHECK(refused(with_pixels(png_header(huge, huge, 16, 6, interlaced)), {.max_bytes = UINT64_MAX})
              .starts_with("ResourceExhausted: "));
    CHECK(refused(with_pixels(png_header(10000, 10000, 8, 0, interlaced)))
              .find("its header says 10000 x 10000 pixels, which is more than its 59 bytes can hold") !=
          std::string::npos);
    CHECK(refused(with_pixels(png_header(huge, 1, 1, 0, interlaced)), {.max_bytes = UINT64_MAX})
              .starts_with("DataLoss: f: its header says 2147483647 x 1 pixels"));
  }
  const std::string small = png_of(bytes({2, 3, 1}));
  CHECK(io::decode_png(small, {.max_bytes = 6}).size() == 6);
  CHECK(refused(small, {.max_bytes = 5}).starts_with("ResourceExhausted: f: a picture of [2, 3, 1]"));
  CHECK(code_of([&] { (void)io::decode_png<std::int32_t>(small, {.max_bytes = 23}); }) ==
        status_code::resource_exhausted);
}

TEST_CASE("a PNG that is large beside its bytes") {
  // 2000 x 1000 black pixels of one bit as RGBA: 8,000,000 bytes of about 300.
  const temporary_directory dir;
  const std::string path = dir / "a.png";
  const std::string script =
      "import sys, zlib, struct\n"
      "def c(k, d): return struct.pack('>I', len(d)) + k + d + struct.pack('>I', zlib.crc32(k + d))\n"
      "open(sys.argv[1], 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + c(b'IHDR', struct.pack('>IIBBBBB', 2000, 1000, 1, 0, "
      "0, 0, 0)) "
      "+ c(b'IDAT', zlib.compress(bytes(251 * 1000), 9)) + c(b'IEND', b''))\n";
  dir.put("a.py", script);
  REQUIRE(std::system(("python3 '" + (dir / "a.py") + "' '" + path + "'").c_str()) == 0);
  CHECK(tagma::read_file(path).size() < 500);
  const bytes image = io::read_image(path, {.channels = 4});
  REQUIRE(image.dims() == shape{1000, 2000, 4});
  for (std::size_t i = 0; i < image.size(); i += 4) REQUIRE((image[i] == 0 && image[i + 3] == 255));
}

#else

TEST_CASE("without libpng a PNG says what to compile with") {
  const std::string png = tagma::test::png_of(tagma::tensor<std::uint8_t>({1, 1, 1}));
  CHECK(tagma::test::text_of([&] { (void)tagma::io::decode_image(png, {}, "f"); }) ==
        "Unimplemented: f: is a PNG: compile with TAGMA_WITH_PNG=1 and link libpng (with CMake, link tagma::png)");
}

#endif
