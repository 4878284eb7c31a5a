// SPDX-License-Identifier: BSL-1.0
#include "tagma/io/example.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "support/bytes_of_hex.hpp"
#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/base/file.hpp"
#include "tagma/io/crc32c.hpp"

namespace io = tagma::io;
using tagma::test::bytes_of_hex;
using tagma::test::text_of;
using floats = std::vector<float>;
using integers = std::vector<std::int64_t>;
using texts = std::vector<std::string_view>;

namespace {

const std::string known = bytes_of_hex(
    "0a 36 0a 11 0a 01 78 12 0c 12 0a 0a 08 00 00 80 3f 00 00 20 40 0a 14 0a 01 79 12 0f 1a 0d 0a 0b 03 "
    "ff ff ff ff ff ff ff ff ff 01 0a 0b 0a 01 7a 12 06 0a 04 0a 02 68 69");

template <class T>
std::vector<T> values(const io::example& e, std::string_view name) {
  std::vector<T> found{T{}};
  const std::size_t count = e.append(name, found);
  CHECK(count + 1 == found.size());
  found.erase(found.begin());
  return found;
}
template <class T>
std::vector<T> fixed(const io::example& e, const io::fixed_feature<T>& wanted) {
  std::vector<T> found(static_cast<std::size_t>(wanted.dims.elements()));
  e.read(wanted, std::span<T>(found));
  return found;
}
/// An example of one feature "x" whose Feature message is given.
std::string example_of(std::string_view feature_hex) {
  std::string entry, features, message;
  io::wire::put_bytes(entry, 1, "x");
  io::wire::put_bytes(entry, 2, bytes_of_hex(feature_hex));
  io::wire::put_bytes(features, 1, entry);
  io::wire::put_bytes(message, 1, features);
  return message;
}

}  // namespace

TEST_CASE("a known example is read and written") {
  const io::example e(known);
  CHECK(e.features().size() == 3);
  CHECK(values<float>(e, "x") == floats{1.0f, 2.5f});
  CHECK(values<std::int64_t>(e, "y") == integers{3, -1});
  CHECK(values<std::string_view>(e, "z") == texts{"hi"});
  CHECK(io::mask_crc(io::crc32c(known)) == 0xca045d3fu);
  io::example_writer to;
  to.add("z", texts{"hi"});
  to.add("x", floats{1.0f, 2.5f});
  to.add("y", integers{3, -1});
  CHECK(to.message() == known);
  CHECK(text_of([&] { to.add("x", floats{}); }) == "AlreadyExists: the example has a feature 'x' already");
  to.clear();
  CHECK(to.message() == bytes_of_hex("0a 00"));
}

TEST_CASE("numbers that are not packed, and lists in parts, are read") {
  const auto x = [](std::string_view hex) { return values<float>(io::example(example_of(hex)), "x"); };
  CHECK(x("12 0a 0d 00 00 80 3f 0d 00 00 20 40") == floats{1.0f, 2.5f});
  CHECK(x("12 0b 0a 04 00 00 80 3f 0d 00 00 20 40") == floats{1.0f, 2.5f});
  CHECK(x("12 05 0d 00 00 80 3f 12 05 0d 00 00 20 40") == floats{1.0f, 2.5f});
  CHECK(x("12 02 0a 00") == floats{});
  const auto n = [](std::string_view hex) { return values<std::int64_t>(io::example(example_of(hex)), "x"); };
  CHECK(n("1a 04 08 03 08 05") == integers{3, 5});
  CHECK(n("1a 07 08 03 0a 03 01 80 02") == integers{3, 1, 256});
  // The last list counts, and what is not known is passed by.
  CHECK(n("12 05 0d 00 00 80 3f 1a 02 08 07") == integers{7});
  CHECK(n("28 01 1a 06 08 07 12 02 68 69") == integers{7});
}

TEST_CASE("what is missing has a default or is refused") {
  for (const std::string& message : {std::string(), bytes_of_hex("0a 00"), example_of(""), example_of("28 01")}) {
    const io::example e(message, "f:24");
    CHECK(e.find("x") == nullptr);
    CHECK(values<float>(e, "x").empty());
    CHECK(fixed<float>(e, {"x", {2}, floats{5, 6}}) == floats{5, 6});
    CHECK(text_of([&] {
            (void)fixed<float>(e, {"x", {2}});
          }) == "InvalidArgument: f:24: feature 'x' is required, and missing");
  }
  // A list of no values is there.
  const std::string empty_list = example_of("12 00");
  const io::example e(empty_list);
  CHECK(fixed<float>(e, {"x", {0}, floats{}}) == floats{});
  CHECK(text_of([&] {
          (void)fixed<float>(e, {"x", {1}, floats{1}});
        }) == "InvalidArgument: example: feature 'x' has 0 values, expected those of shape [1]");
}

TEST_CASE("features of a fixed shape") {
  const io::example e(known, "f:0");
  CHECK(fixed<float>(e, {"x", {2, 1}}) == floats{1.0f, 2.5f});
  CHECK(fixed<std::int64_t>(e, {"y", {2}}) == integers{3, -1});
  CHECK(fixed<std::string_view>(e, {"z", {}}) == texts{"hi"});
  CHECK(text_of([&] {
          (void)fixed<float>(e, {"x", {3}});
        }) == "InvalidArgument: f:0: feature 'x' has 2 values, expected those of shape [3]");
  CHECK(text_of([&] {
          (void)fixed<float>(e, {"n", {3}, floats{1}});
        }) == "InvalidArgument: f:0: feature 'n' has 1 default values, expected those of shape [3]");
  CHECK(text_of([&] {
          (void)fixed<std::int64_t>(e, {"x", {2}});
        }) == "InvalidArgument: f:0: feature 'x' is a list of float, expected a list of int64");
  CHECK(text_of([&] { (void)values<std::string_view>(e, "y"); }) ==
        "InvalidArgument: f:0: feature 'y' is a list of int64, expected a list of bytes");
  CHECK(text_of([&] {
          (void)fixed<float>(e, {"z", {1}});
        }) == "InvalidArgument: f:0: feature 'z' is a list of bytes, expected a list of float");
}

TEST_CASE("the last feature of a name counts") {
  const std::string message = example_of("1a 02 08 01") + example_of("1a 02 08 02");
  const io::example e(message);
  CHECK(values<std::int64_t>(e, "x") == integers{2});
}

TEST_CASE("damaged examples are refused") {
  const std::string damaged = "DataLoss: f:7: is no tf.train.Example, or a damaged one";
  for (std::size_t n = 1; n < known.size(); ++n)
    CHECK(text_of([&] { (void)io::example(known.substr(0, n), "f:7"); }) == damaged);
  for (const char* hex :
       {"12 05 0a 03 00 00 00", "12 02 08 01", "1a 03 0a 01 80", "1a 06 0d 00 00 00 00", "0a 02 08 01"})
    CHECK(text_of([&] { (void)io::example(example_of(hex), "f:7"); }) ==
          "DataLoss: f:7: feature 'x' of the tf.train.Example is damaged");
  const std::string message_of_long = example_of("1a 0d 0a 0b ff ff ff ff ff ff ff ff ff ff 01");
  const io::example long_integer(message_of_long, "f:7");
  CHECK(text_of([&] { (void)values<std::int64_t>(long_integer, "x"); }) ==
        "DataLoss: f:7: feature 'x' has an integer of more than 64 bits");
  std::mt19937 random(3);
  for (int i = 0; i < 20'000; ++i) {
    std::string message = known;
    for (int n = 0; n < 3; ++n) message[random() % message.size()] = static_cast<char>(random());
    try {
      io::example e(message);
      for (const io::feature& f : e.features()) {
        CHECK(f.count <= message.size());
        if (f.kind == io::feature_kind::integers) (void)values<std::int64_t>(e, f.name);
      }
    } catch (const tagma::error& e) {
      CHECK((e.code() == tagma::status_code::data_loss || e.code() == tagma::status_code::invalid_argument));
    }
  }
}

TEST_CASE("Python reads random examples, and writes them unpacked and unsorted") {
  std::mt19937_64 random(12);
  const tagma::test::temporary_directory dir;
  const auto script = std::filesystem::path(__FILE__).parent_path() / "example_reader.py";
  io::example_writer to;
  std::vector<floats> all_floats(20);
  std::vector<integers> all_integers(20);
  std::vector<std::vector<std::string>> all_texts(20);
  for (std::size_t i = 0; i < 20; ++i) {
    const std::string number = std::to_string(i);
    for (std::uint64_t n = random() % 10; n > 0; --n) {
      all_floats[i].push_back(static_cast<float>(random() % 1000) / 7);
      all_integers[i].push_back(static_cast<std::int64_t>(random() >> random() % 64));
      all_texts[i].emplace_back(random() % 200, static_cast<char>(random()));
    }
    to.add("f" + number, all_floats[i]);
    to.add("i" + number, all_integers[i]);
    to.add("t" + number, texts(all_texts[i].begin(), all_texts[i].end()));
  }
  dir.put("a", to.message());
  REQUIRE(std::system(("python3 '" + script.string() + "' '" + (dir / "a") + "' '" + (dir / "b") + "'").c_str()) == 0);
  const std::string other = tagma::read_file(dir / "b");
  CHECK(other != to.message());
  io::example e;
  for (const std::string& message : {to.message(), other}) {
    e.parse(message);
    CHECK(e.features().size() == 60);
    for (std::size_t i = 0; i < 20; ++i) {
      const std::string number = std::to_string(i);
      CHECK(values<float>(e, "f" + number) == all_floats[i]);
      CHECK(values<std::int64_t>(e, "i" + number) == all_integers[i]);
      CHECK(values<std::string_view>(e, "t" + number) == texts(all_texts[i].begin(), all_texts[i].end()));
    }
  }
}
