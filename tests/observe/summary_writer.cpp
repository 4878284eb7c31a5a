// SPDX-License-Identifier: BSL-1.0
#include "tagma/observe/summary_writer.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/io/buffered_reader.hpp"
#include "tagma/io/byte_source.hpp"
#include "tagma/io/decode_image.hpp"
#include "tagma/io/tf_record.hpp"
#include "tagma/io/wire.hpp"
#include "tagma/summaries.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
namespace wire = tagma::io::wire;

/// A message, field by field: bytes and numbers as they are encoded, of repeated ones all.
using message = std::multimap<std::uint32_t, std::string>;
message parsed(std::string_view bytes) {
  message fields;
  wire::reader in(bytes);
  for (wire::field f; in.next(f);) fields.emplace(f.number, f.raw);
  CHECK(in.good());
  return fields;
}
std::string at(const message& m, std::uint32_t number) {
  REQUIRE(m.count(number) == 1);
  return m.find(number)->second;
}
double number_of(std::string_view bytes) {
  REQUIRE(bytes.size() == 8);
  std::uint64_t word = 0;
  for (std::size_t i = 8; i-- > 0;) word = word << 8 | static_cast<unsigned char>(bytes[i]);
  return std::bit_cast<double>(word);
}
std::vector<double> numbers_of(std::string_view packed) {
  std::vector<double> all;
  for (std::size_t i = 0; i + 8 <= packed.size(); i += 8) all.push_back(number_of(packed.substr(i, 8)));
  return all;
}

std::vector<message> events_of(const std::string& path) {
  std::vector<message> events;
  tg::io::tf_record_reader in{tg::io::buffered_reader(tg::io::file_source(path))};
  for (std::string_view record; in.next(record);) events.push_back(parsed(record));
  return events;
}
/// The value of a summary event.
message value_of(const message& event) { return parsed(at(parsed(at(event, 5)), 1)); }

TEST_CASE("scalars are in the file as soon as they are written, in a directory that is made") {
  const tg::test::temporary_directory folder;
  tg::summary_writer writer((folder.path / "runs" / "first").string());
  CHECK(writer.path().find("/runs/first/events.out.tfevents.") != std::string::npos);
  CHECK(events_of(writer.path()).size() == 1);
  writer.scalar("loss/train", 0.5, 300);
  writer.scalar("loss/train", -1e300, -1);  // beyond float32
  const auto events = events_of(writer.path());
  REQUIRE(events.size() == 3);
  CHECK(at(events[0], 3) == "brain.Event:2");
  CHECK(number_of(at(events[0], 1)) > 1.7e9);
  CHECK(at(events[1], 2) == "\xac\x02");
  const message value = value_of(events[1]);
  CHECK(at(value, 1) == "loss/train");
  CHECK(at(value, 2) == std::string("\0\0\0\x3f", 4));
  CHECK(at(value_of(events[2]), 2) == std::string("\0\0\x80\xff", 4));  // negative infinity
  // Another one of the same second has another name.
  CHECK(tg::summary_writer((folder.path / "runs" / "first").string()).path() != writer.path());
  const std::string taken = (folder.path / "taken").string();
  tg::output_file file(taken);
  CHECK(tg::test::text_of([&] { tg::summary_writer w(taken + "/deep"); }).find(taken) != std::string::npos);
}

TEST_CASE("histograms count every finite value once, whatever its type") {
  const auto histogram = [](const message& event) { return parsed(at(value_of(event), 5)); };
  const tg::test::temporary_directory folder;
  tg::summary_writer writer(folder.path.string());
  const double inf = std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::max();
  writer.histogram("w", tg::tensor<double>({7}, {0, 1, 2, 3, 4, inf, std::nan("")}), 1, 4);
  writer.histogram("w", tg::tensor<double>({3}, {-most, 0, most}), 2, 2);
  writer.histogram("w", tg::tensor<std::int8_t>({2, 2}, {5, 5, 5, 5}), 3, 3);
  writer.histogram("w", tg::tensor<float>(tg::shape{0, 3}), 4, 0);
  const auto events = events_of(writer.path());
  REQUIRE(events.size() == 5);
  message h = histogram(events[1]);
  const double expected[] = {0, 4, 5, 10, 30};
  for (std::uint32_t f = 0; f < 5; ++f) CHECK(number_of(at(h, f + 1)) == expected[f]);
  CHECK(numbers_of(at(h, 6)) == std::vector<double>{1, 2, 3, 4});
  CHECK(numbers_of(at(h, 7)) == std::vector<double>{1, 1, 1, 2});
  h = histogram(events[2]);
  CHECK(numbers_of(at(h, 6)) == std::vector<double>{0, most});
  CHECK(numbers_of(at(h, 7)) == std::vector<double>{1, 2});
  CHECK(numbers_of(at(histogram(events[3]), 7)) == std::vector<double>{4, 0, 0});
  CHECK(numbers_of(at(histogram(events[4]), 7)) == std::vector<double>{0});
  const tg::tensor<tg::string_element> texts(tg::shape{1});
  CHECK(tg::test::code_of([&] { writer.histogram("w", tg::erase(texts), 1); }) == tg::status_code::invalid_argument);
}

TEST_CASE("pictures are PNG files of any number of channels, and texts are texts") {
  const tg::test::temporary_directory folder;
  tg::summary_writer writer(folder.path.string());
  tg::tensor<std::uint8_t> pixels(tg::shape{200, 150, 3});  // more than one block of 65,535 bytes
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 7);
  writer.image("picture", pixels, 1);
  writer.image("grey", tg::tensor<float>({1, 5, 1}, {-1, 0.5f, 1, 7, std::nanf("")}), 2);
  writer.text("note", "*well*", 3);
  const auto events = events_of(writer.path());
  REQUIRE(events.size() == 4);
  const message picture = parsed(at(value_of(events[1]), 4));
  CHECK(at(picture, 1) == "\xc8\x01");
  CHECK(at(picture, 3) == "\x03");
  const std::string grey = at(parsed(at(value_of(events[2]), 4)), 4);
#if TAGMA_WITH_PNG
  CHECK(tg::io::decode_image(at(picture, 4)) == pixels);
  CHECK(tg::io::decode_image(grey) == tg::tensor<std::uint8_t>({1, 5, 1}, {0, 128, 255, 255, 0}));
#endif
  CHECK(grey.size() > 60);
  const message text = value_of(events[3]);
  CHECK(at(parsed(at(text, 8)), 8) == "*well*");
  CHECK(at(parsed(at(parsed(at(text, 9)), 1)), 1) == "text");
  CHECK(tg::test::text_of([&] {
          writer.image("flat", tg::tensor<float>(tg::shape{4, 4}), 1);
        }) == "InvalidArgument: image flat: a picture has the shape [height, width, channels], and this has [4, 4]");
  CHECK(tg::test::code_of([&] {
          writer.image("five", tg::tensor<float>(tg::shape{4, 4, 5}), 1);
        }) == tg::status_code::invalid_argument);
}

TEST_CASE("graphs have a name for each node, and hyperparameters their types") {
  const tg::test::temporary_directory folder;
  tg::summary_writer writer(folder.path.string());
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();
  const auto program = tg::compile([=] {
    const auto loss = tg::mean(tg::square(tg::dense<"layer", 3>(x)));
    return tg::outputs(loss, tg::minimize(loss, tg::adam{}));
  });
  writer.graph(program);
  writer.hyperparameters({{"rate", 0.25}, {"layers", 3}, {"nesterov", true}, {"optimizer", "adam"}});
  const auto events = events_of(writer.path());
  REQUIRE(events.size() == 3);
  const std::string definition = at(events[1], 4);
  std::map<std::string, message> nodes;
  for (const auto& [number, bytes] : parsed(definition)) {
    CHECK(number == 1);
    const message node = parsed(bytes);
    CHECK(nodes.emplace(at(node, 1), node).second);
  }
  CHECK(nodes.size() > 10);
  for (const char* name : {"x", "layer/kernel", "layer/bias", "layer/kernel/adam_m"}) CHECK(nodes.count(name) == 1);
  // A name that looks like one that is made is nobody else's.
  constexpr auto two = tg::placeholder<"add_2", float, 4>();
  constexpr auto three = tg::placeholder<"z", float, 4>();
  writer.graph(tg::compile([=] { return tg::outputs(two + three, three + two * 2.0f); }));
  std::set<std::string> taken;
  for (const auto& [number, bytes] : parsed(at(events_of(writer.path()).back(), 4)))
    CHECK(taken.insert(at(parsed(bytes), 1)).second);
  for (const auto& [name, node] : nodes) {
    const auto [first, last] = node.equal_range(3);
    for (auto in = first; in != last; ++in) CHECK(nodes.count(in->second.substr(in->second[0] == '^')) == 1);
  }
  CHECK(at(nodes["x"], 2) == "placeholder");
  const message content = parsed(at(parsed(at(parsed(at(value_of(events[2]), 9)), 1)), 2));
  std::map<std::string, message> given;
  for (const auto& [number, bytes] : parsed(at(content, 3)))
    given.emplace(at(parsed(bytes), 1), parsed(at(parsed(bytes), 2)));
  CHECK(number_of(at(given["rate"], 2)) == 0.25);
  CHECK(number_of(at(given["layers"], 2)) == 3);
  CHECK(at(given["nesterov"], 4) == "\x01");
  CHECK(at(given["optimizer"], 3) == "adam");
}

}  // namespace
