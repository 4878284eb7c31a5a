// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/files.md: pictures, and what graphs make of texts.
#include <catch2/catch.hpp>

#include <tagma/images.hpp>
#include <tagma/io.hpp>
#include <tagma/readers.hpp>
#include <tagma/sequence_examples.hpp>
#include <tagma/summaries.hpp>
#include <tagma/tagma.hpp>

#include "support/bytes_of_hex.hpp"
#include "support/temporary_directory.hpp"
#include "support/texts.hpp"

namespace tg = tagma;
using tagma::test::text;

TEST_CASE("reference: texts in graphs") {
  std::string message, sentence;
  {
    tg::io::example_writer of;
    of.add("pixels", std::vector<float>{1, 2});
    message = of.message();
    tg::io::sequence_example_writer steps;
    steps.context.add("class", std::vector<std::int64_t>{1});
    steps.add_step("words", std::vector<std::int64_t>{12});
    steps.add_step("words", std::vector<std::int64_t>{48});
    sentence = steps.message();
  }
  constexpr auto lines = tg::placeholder<"lines", std::string_view, tg::dyn>();
  // example: decode_csv, required, required_row, required_column, required_columns, csv_format, short_text
  auto [ages, weights] = tg::decode_csv<tg::csv_format{.delimiter = ';'}>(lines, -1.0f, tg::required_row<float, 2>);
  // of "36;1;2" and ";3;4" ages are [36, -1] and weights [[1, 2], [3, 4]]
  // end
  constexpr auto bytes = tg::placeholder<"bytes", std::string_view, tg::dyn>();
  // example: decode_raw
  auto words = tg::decode_raw<std::int16_t, 2, /*little endian*/ false>(bytes);  // [?, 2]; of "\0\1\0\2": [[1, 2]]
  // end
  constexpr auto messages = tg::placeholder<"messages", std::string_view, tg::dyn>();
  // example: parse_example, feature, required_feature, optional_feature
  auto [pixels, classes] = tg::parse_example(messages, tg::feature<"pixels", float, 2>,
                                             tg::feature<"class", std::int64_t>.otherwise(-1));  // [?, 2] and [?]
  // end
  constexpr auto sentences = tg::placeholder<"sentences", std::string_view, tg::dyn>();
  // example: parse_sequence_example, feature_list, list_length, named_list
  auto [label, ids, length] = tg::parse_sequence_example(
      sentences, tg::feature<"class", std::int64_t>, tg::feature_list<"words", std::int64_t>.may_be_missing(),
      tg::list_length<"words">);  // [?], [?, ?] and [?]: one sentence a row
  // end
  const auto all_outputs = tg::outputs(ages, weights, words, pixels, classes, label, ids, length);
  tg::session session(tg::compile([=] { return all_outputs; }));
  const std::vector<std::string_view> records{"36;1;2", ";3;4"};
  CHECK(text(session.run(ages, lines = records)) == "[36, -1]");
  CHECK(text(session.run(weights, lines = records)) == "[[1, 2], [3, 4]]");
  CHECK(text(words) == "[?, 2]");
  CHECK(text(session.run(words, bytes = std::vector<std::string_view>{std::string_view("\0\1\0\2", 4)})) == "[[1, 2]]");
  CHECK(text(pixels) == "[?, 2]");
  CHECK(text(classes) == "[?]");
  const std::vector<std::string_view> one{message}, another{sentence};
  CHECK(text(session.run(pixels, messages = one)) == "[[1, 2]]");
  CHECK(text(session.run(classes, messages = one)) == "[-1]");
  CHECK(text(ids) == "[?, ?]");
  CHECK(text(session.run(ids, sentences = another)) == "[[12, 48]]");
  CHECK(text(session.run(length, sentences = another)) == "[2]");
}

TEST_CASE("reference: summaries as bytes") {
  const tagma::test::working_directory folder;
  // example: io::event_file, io::scalar_summary, io::text_summary, io::histogram_summary, io::image_summary,
  // io::stored_png, io::plugin_summary
  tg::io::event_file events("events.out.tfevents.1.host", /*seconds since 1970*/ 1.7e9);
  events.add_summary(tg::io::scalar_summary("loss", 0.25), /*step*/ 3, 1.7e9);
  events.add_summary(tg::io::text_summary("note", "**two** layers"), 3, 1.7e9);
  events.add_summary(tg::io::histogram_summary("weights", std::vector<double>{-1, 0, 1}, /*buckets*/ 2), 3, 1.7e9);
  const std::uint8_t grey[] = {0, 255};
  events.add_summary(tg::io::image_summary("pixels", 1, 2, 1, tg::io::stored_png(1, 2, 1, grey)), 3,
                     1.7e9);  // height 1, width 2
  events.add_summary(tg::io::plugin_summary("all", "hparams", ""), 3, 1.7e9);
  // end
  tg::io::tf_record_reader records(tg::io::open("events.out.tfevents.1.host"));
  int found = 0;
  for (std::string_view record; records.next(record);) ++found;
  CHECK(found == 6);  // the version of the file comes first
}

#if defined(TAGMA_WITH_PNG) && TAGMA_WITH_PNG && defined(TAGMA_WITH_JPEG) && TAGMA_WITH_JPEG
namespace {

// tests/io/pictures/grey.jpg
constexpr std::string_view grey_jpeg =
    "ffd8ffe000104a46494600010100000100010000ffdb0043000503040404030504040405050506070c08070707070f0b0b09"
    "0c110f1212110f111113161c1713141a1511111821181a1d1d1f1f1f13172224221e241c1e1f1effc0000b08001700250101"
    "1100ffc4001800000301010000000000000000000000000405060107ffc4001e100003000202030100000000000000000001"
    "02030005061104129171ffda0008010100003f00e09e3eaa305015077f984cfc1a50f48871beb78c5aec0b21ebf32b755c4e"
    "7200ba0f98f65ab8493d420f9925ade316b90590e56eab89ce401741f31ec35918280a83e6132d7d6a7a4438d7c5e317acfd"
    "8a1cc86b6305e9506113f09a87a500638d671a6bb02dd7dcaed571684802caa71e4f5b092fa8419fffd9";

}  // namespace

TEST_CASE("reference: pictures") {
  const std::uint8_t pixels[] = {255, 0, 0, 0, 0, 255};
  const std::string png = tg::io::stored_png(1, 2, 3, pixels), jpeg = tagma::test::bytes_of_hex(grey_jpeg);
  const tagma::test::working_directory folder;
  tg::output_file("a.png").write(png.data(), png.size());
  // example: io::read_image, io::image_options
  tg::tensor<std::uint8_t> photo = tg::io::read_image("a.png", {.channels = 3});  // height, width, channels: [1, 2, 3]
  tg::tensor<std::uint8_t> grey =
      tg::io::read_image("a.png", {.channels = 1});  // [1, 2, 1], whatever channels the file has
  // end
  CHECK(tg::to_string(photo.dims()) == "[1, 2, 3]");
  CHECK(text(photo) == "[[[255, 0, 0], [0, 0, 255]]]");
  CHECK(tg::to_string(grey.dims()) == "[1, 2, 1]");

  // example: io::decode_image, io::decode_png, io::decode_image_info, io::decode_image_to, io::image_info,
  // io::image_format
  tg::io::image_info info = tg::io::decode_image_info(png);  // format png, height 1, width 2, channels 3, bits 8
  auto any = tg::io::decode_image(png, {}, "a.png");         // PNG or JPEG; errors name "a.png"
  auto wide = tg::io::decode_png<std::int32_t>(png);         // samples from 0 to 65535
  std::vector<std::uint8_t> room(6);
  tg::io::decode_image_to(room.data(), {1, 2, 3}, png, "a.png");  // of this size, to memory that is there
  // end
  CHECK(info.format == tg::io::image_format::png);
  CHECK(info.height == 1);
  CHECK(info.width == 2);
  CHECK(info.channels == 3);
  CHECK(info.bits == 8);
  CHECK(text(any) == text(photo));
  CHECK(wide.data()[0] == 65535);
  CHECK(text(room) == "[255, 0, 0, 0, 0, 255]");

  // example: io::decode_jpeg, io::jpeg_options
  auto whole = tg::io::decode_jpeg(jpeg);
  auto half = tg::io::decode_jpeg(jpeg, {.ratio = 2});  // half of height and width, rounded up, for less work
  // end
  CHECK(half.dims()[0] == (whole.dims()[0] + 1) / 2);
  CHECK(half.dims()[1] == (whole.dims()[1] + 1) / 2);

  constexpr auto texts = tg::placeholder<"texts", std::string_view, tg::dyn>();
  // example: decode_image
  auto images = tg::cast<float>(tg::decode_image<1, 2, 3>(texts)) / 255.0f;  // [?, 1, 2, 3]: a picture for each text
  // end
  tg::session session(tg::compile([=] { return tg::outputs(images); }));
  CHECK(text(images) == "[?, 1, 2, 3]");
  CHECK(text(session.run(images, texts = std::vector<std::string_view>{png})) == "[[[[1, 0, 0], [0, 0, 1]]]]");
}
#endif
