// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/decode_image.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "support/errors.hpp"
#include "support/pictures.hpp"
#include "tagma/images.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using text = std::string_view;
using texts = tg::tensor<text>;
using bytes = tg::tensor<std::uint8_t>;
using tg::test::png_of;
using tg::test::text_of;

constexpr auto files = tg::placeholder<"files", text, tg::dyn>();
constexpr auto one = tg::placeholder<"one", text>();

}  // namespace

TEST_CASE("a node without its library says what to compile with") {
  const auto image = tg::decode_image<1, 1, 1>(one);
  tg::session s(tg::compile([=] { return tg::outputs(image); }));
  const auto refused = [&](text file) { return text_of([&] { (void)s.run(image, one = file); }); };
#if !(defined(TAGMA_WITH_PNG) && TAGMA_WITH_PNG)
  CHECK_THAT(refused(png_of(bytes({1, 1, 1}))),
             Catch::StartsWith("Unimplemented: decode_image #") &&
                 Catch::Contains("text 0: is a PNG: compile with TAGMA_WITH_PNG=1 and link libpng"));
#endif
#if !(defined(TAGMA_WITH_JPEG) && TAGMA_WITH_JPEG)
  CHECK_THAT(refused("\xff\xd8\xff\xd9"),
             Catch::StartsWith("Unimplemented: decode_image #") &&
                 Catch::Contains("text 0: is a JPEG: compile with TAGMA_WITH_JPEG=1 and link libjpeg"));
#endif
  CHECK_THAT(refused("GIF89a, and more"),
             Catch::StartsWith("InvalidArgument: decode_image #") &&
                 Catch::Contains("text 0: is no PNG and no JPEG: it begins with 47 49 46 38 39 61 2c 20"));
  CHECK_THAT(refused(""), Catch::Contains("text 0: is no PNG and no JPEG: it is empty"));
}

TEST_CASE("pictures with keys are named by them") {
  const auto name = tg::placeholder<"name", text>();
  const auto image = tg::decode_image<1, 1, 1>(std::tuple(name, one));
  tg::session s(tg::compile([=] { return tg::outputs(image); }));
  CHECK_THAT(text_of([&] { (void)s.run(image, name = "dog.png", one = "GIF89a, and more"); }),
             Catch::StartsWith("InvalidArgument: decode_image #") &&
                 Catch::Contains("dog.png: is no PNG and no JPEG: it begins with 47"));
}

#if defined(TAGMA_WITH_PNG) && TAGMA_WITH_PNG

TEST_CASE("texts that are pictures") {
  const auto grey = tg::decode_image<2, 3, 1>(files);
  const auto rgb = tg::decode_image<2, 3, 3>(files);
  const auto alone = tg::decode_image<2, 3, 4>(one);
  static_assert(std::is_same_v<decltype(grey)::spec_type, tg::spec<std::uint8_t, tg::dyn, 2, 3, 1>>);
  const auto total = tg::sum(tg::cast<float>(grey));
  tg::session s(tg::compile([=] { return tg::outputs(grey, rgb, alone, total); }));
  const bytes a({2, 3, 1}, {1, 2, 3, 4, 5, 6}), b({2, 3, 1}, {7, 8, 9, 10, 11, 255});
  const std::string first = png_of(a), second = png_of(b);
  CHECK(s.run(grey, files = texts({2}, {first, second})) ==
        bytes({2, 2, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255}));
  CHECK(s.run(total, files = texts({2}, {first, second})) == 321.0f);
  CHECK(s.run(rgb, files = texts({1}, {second})) ==
        bytes({1, 2, 3, 3}, {7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10, 10, 11, 11, 11, 255, 255, 255}));
  CHECK(s.run(grey, files = texts({0}, {})).dims() == tg::shape{0, 2, 3, 1});
  const bytes rgba = s.run(alone, one = first);
  CHECK(rgba.dims() == tg::shape{2, 3, 4});
  CHECK(rgba(1, 2, 0) == 6);
  CHECK(rgba(1, 2, 3) == 255);

  const auto refused = [&](text other) {
    return text_of([&] { (void)s.run(grey, files = texts({3}, {first, other, second})); });
  };
  CHECK_THAT(refused(png_of(bytes({3, 2, 1}))),
             Catch::StartsWith("InvalidArgument: decode_image #") &&
                 Catch::Contains("text 1: a picture of 3 x 2 pixels, expected 2 x 3"));
  CHECK_THAT(refused(first.substr(0, 50)), Catch::StartsWith("DataLoss: decode_image #") &&
                                               Catch::Contains("text 1: the PNG ends after 50 bytes, in row 1 of 2"));
  CHECK(s.run(grey, files = texts({1}, {first})).size() == 6);
}

#endif
#if defined(TAGMA_WITH_JPEG) && TAGMA_WITH_JPEG

TEST_CASE("a batch of JPEGs is decoded by the threads of a kernel") {
  const auto images = tg::decode_image<23, 37, 3>(files);
  tg::session s(tg::compile([=] { return tg::outputs(images); }), {.intra_op_threads = 2});
  const std::string grey = tg::test::stored_picture("grey.jpg"), ycc = tg::test::stored_picture("ycc_2x2.jpg");
  const bytes expected[] = {tg::io::decode_image(grey, {.channels = 3}), tg::io::decode_image(ycc)};
  const bytes found = s.run(images, files = texts({4}, {grey, ycc, ycc, grey}));
  REQUIRE(found.dims() == tg::shape{4, 23, 37, 3});
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t size = expected[0].size(), image = i / size;
    REQUIRE(found[i] == expected[image == 1 || image == 2 ? 1 : 0][i % size]);
  }
}

#endif
