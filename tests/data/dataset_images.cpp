// SPDX-License-Identifier: BSL-1.0
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/pictures.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/datasets.hpp"
#include "tagma/images.hpp"

namespace {

namespace tg = tagma;
namespace ds = tagma::datasets;
using bytes = tg::tensor<std::uint8_t>;
using tg::test::png_of;
using tg::test::text_of;

}  // namespace

#if defined(TAGMA_WITH_PNG) && TAGMA_WITH_PNG

TEST_CASE("files of pictures become batches, and a wrong one names itself") {
  const tg::test::temporary_directory dir;
  std::vector<std::string> files;
  for (const char* name : {"a.png", "b.png", "c.png", "d.png"}) {
    files.push_back(dir / name);
    const auto n = static_cast<std::uint8_t>(name[0]);
    dir.put(name, png_of(bytes({1, 2, 1}, {n, static_cast<std::uint8_t>(n + 1)})));
  }
  const auto images =
      ds::from_slices(files)
          .map([](const std::string& file) { return tg::io::read_image(file, {.channels = 1}); }, {.threads = 2})
          .batch(3);
  auto pass = images.iterator();
  CHECK(pass.next() == bytes({3, 1, 2, 1}, {'a', 'b', 'b', 'c', 'c', 'd'}));
  CHECK(pass.next() == bytes({1, 1, 2, 1}, {'d', 'e'}));

  dir.put("b.png", png_of(bytes({1, 2, 1})).substr(0, 50));
  CHECK(text_of([&] { (void)images.iterator().next(); }) ==
        "DataLoss: " + files[1] + ": the PNG ends after 50 bytes, in row 1 of 1");
  dir.put("b.png", "no picture");
  CHECK(text_of([&] { (void)images.iterator().next(); }) ==
        "InvalidArgument: " + files[1] + ": is no PNG and no JPEG: it begins with 6e 6f 20 70 69 63 74 75");
  const auto sound = ds::from_slices(files)
                         .map([](const std::string& file) { return tg::io::read_image(file); })
                         .ignore_errors()
                         .batch(3);
  CHECK(sound.iterator().next() == bytes({3, 1, 2, 1}, {'a', 'b', 'c', 'd', 'd', 'e'}));
}

#else

TEST_CASE("without libpng a file of a PNG names itself") {
  const tg::test::temporary_directory dir;
  dir.put("a.png", png_of(bytes({1, 2, 1})));
  const auto images = ds::from_slices(std::vector<std::string>{dir / "a.png"}).map([](const std::string& file) {
    return tg::io::read_image(file);
  });
  CHECK_THAT(text_of([&] { (void)images.iterator().next(); }),
             Catch::StartsWith("Unimplemented: " + (dir / "a.png") + ": is a PNG: compile with TAGMA_WITH_PNG=1"));
}

#endif
