// SPDX-License-Identifier: BSL-1.0
#include "tagma/io/sequence_example.hpp"

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

namespace io = tagma::io;
using tagma::test::bytes_of_hex;
using tagma::test::text_of;
using floats = std::vector<float>;
using integers = std::vector<std::int64_t>;
using texts = std::vector<std::string_view>;
using counts = std::vector<std::size_t>;

namespace {

// Context: n of {7}. Lists: w of {"a", "bc"} and {}, x of {1.0} and {2.5}.
const std::string known = bytes_of_hex(
    "0a 0c 0a 0a 0a 01 6e 12 05 1a 03 0a 01 07 12 31 0a 14 0a 01 77 12 0f 0a 09 0a 07 0a 01 61 0a 02 62 63 0a 02 0a 00 "
    "0a 19 0a 01 78 12 14 0a 08 12 06 0a 04 00 00 80 3f 0a 08 12 06 0a 04 00 00 20 40");

template <class T>
std::pair<std::vector<T>, counts> values(const io::sequence_example& e, std::string_view name) {
  std::pair<std::vector<T>, counts> found;
  const std::size_t steps = e.append(name, found.first, found.second);
  CHECK(steps == found.second.size());
  return found;
}
template <class T>
std::vector<T> fixed(const io::sequence_example& e, const io::fixed_feature_list<T>& wanted, std::size_t steps) {
  std::vector<T> found;
  const std::size_t read = e.read(wanted, found);
  CHECK(read == steps);
  return found;
}
io::sequence_example_writer sample() {
  io::sequence_example_writer to;
  to.add_step("x", floats{1.0f});
  to.add_step("x", floats{2.5f});
  to.context.add("n", integers{7});
  to.add_step("w", texts{"a", "bc"});
  to.add_step("w", texts{});
  return to;
}

}  // namespace

TEST_CASE("a sequence example is read and written") {
  CHECK(sample().message() == known);
  const io::sequence_example e(known);
  integers n;
  CHECK(e.context().append("n", n) == 1);
  CHECK(n == integers{7});
  REQUIRE(e.lists().size() == 2);
  CHECK(e.lists()[0].name == "w");
  CHECK(e.lists()[0].steps == 2);
  CHECK(values<std::string_view>(e, "w") == std::pair(texts{"a", "bc"}, counts{2, 0}));
  CHECK(values<float>(e, "x") == std::pair(floats{1.0f, 2.5f}, counts{1, 1}));
  CHECK(fixed<float>(e, {"x", {1}}, 2) == floats{1.0f, 2.5f});
  // An example is a sequence example without lists, and the other way round.
  CHECK(io::sequence_example(bytes_of_hex("0a 00")).lists().empty());
  CHECK(io::example(known).features().size() == 1);
  io::sequence_example_writer to = sample();
  to.clear();
  CHECK(to.message() == bytes_of_hex("0a 00 12 00"));
}

TEST_CASE("lists that are missing, and steps of another kind or length") {
  io::sequence_example_writer to = sample();
  to.add_list("none");
  to.add_step("mixed", floats{1});
  to.add_step("mixed", integers{1});
  const std::string message = to.message();
  const io::sequence_example e(message, "f:3");
  CHECK(fixed<float>(e, {"none", {2}}, 0).empty());
  CHECK(fixed<float>(e, {"missing", {2}, true}, 0).empty());
  CHECK(values<float>(e, "missing") == std::pair(floats{}, counts{}));
  const auto refused = [&](auto wanted) { return text_of([&] { (void)fixed(e, wanted, 0); }); };
  CHECK(refused(io::fixed_feature_list<float>{"missing", {2}}) ==
        "InvalidArgument: f:3: feature list 'missing' is required, and missing");
  CHECK(refused(io::fixed_feature_list<float>{"x", {2}}) ==
        "InvalidArgument: f:3: step 0 of feature list 'x' has 1 values, expected those of shape [2]");
  CHECK(refused(io::fixed_feature_list<float>{"mixed", {}}) ==
        "InvalidArgument: f:3: step 1 of feature list 'mixed' is a list of int64, expected a list of float");
  CHECK(refused(io::fixed_feature_list<std::string_view>{"w", {2}}) ==
        "InvalidArgument: f:3: step 1 of feature list 'w' has 0 values, expected those of shape [2]");
  CHECK(text_of([&] { (void)values<std::int64_t>(e, "x"); }) ==
        "InvalidArgument: f:3: step 0 of feature list 'x' is a list of float, expected a list of int64");
  // A step without a list of values.
  const std::string hollow = bytes_of_hex("12 0b 0a 09 0a 01 78 12 04 0a 00 0a 00");
  CHECK(values<float>(io::sequence_example(hollow), "x") == std::pair(floats{}, counts{0, 0}));
  CHECK(text_of([&] {
          (void)fixed<float>(io::sequence_example(hollow), {"x", {0}}, 2);
        }) ==
        "InvalidArgument: sequence example: step 0 of feature list 'x' is a list of nothing, expected a list of float");
}

TEST_CASE("the last list of a name counts, and its parts are one") {
  const std::string three = bytes_of_hex("12 0e 0a 0c 0a 01 78 12 07 0a 05 1a 03 0a 01 03"),
                    parts = bytes_of_hex("12 17 0a 15 0a 01 78 12 07 0a 05 1a 03 0a 01 04 12 07 0a 05 1a 03 0a 01 05"),
                    both = three + parts, other = parts + three;
  CHECK(values<std::int64_t>(io::sequence_example(both), "x") == std::pair(integers{4, 5}, counts{1, 1}));
  CHECK(values<std::int64_t>(io::sequence_example(other), "x") == std::pair(integers{3}, counts{1}));
}

TEST_CASE("damaged sequence examples are refused") {
  for (std::size_t n = 1; n < known.size(); ++n) {
    if (n == 14) continue;  // what is cut off behind the context is another message
    CHECK(text_of([&] { (void)io::sequence_example(known.substr(0, n), "f:7"); }) ==
          "DataLoss: f:7: is no tf.train.SequenceExample, or a damaged one");
  }
  io::sequence_example_writer w;
  w.add_step("numbers", std::vector<float>{1});
  std::string odd = w.message();
  odd[odd.find(std::string("\x0a\x04\0\0\x80\x3f", 6)) + 1] = 3;  // the last byte is behind the floats then
  CHECK(text_of([&] { (void)io::sequence_example(odd, "f:7"); }) ==
        "DataLoss: f:7: feature 'numbers' of the tf.train.SequenceExample is damaged");
  std::mt19937 random(3);
  for (int i = 0; i < 20'000; ++i) {
    std::string message = known;
    for (int n = 0; n < 3; ++n) message[random() % message.size()] = static_cast<char>(random());
    try {
      const io::sequence_example e(message);
      for (const io::feature_list& list : e.lists()) {
        CHECK(list.steps <= message.size());
        (void)values<float>(e, list.name);
      }
    } catch (const tagma::error& e) {
      CHECK((e.code() == tagma::status_code::data_loss || e.code() == tagma::status_code::invalid_argument));
    }
  }
}

TEST_CASE("Python reads random sequence examples, and writes them unpacked and unsorted") {
  std::mt19937_64 random(12);
  const tagma::test::temporary_directory dir;
  const auto script = std::filesystem::path(__FILE__).parent_path() / "sequence_example_reader.py";
  io::sequence_example_writer to;
  std::vector<std::vector<floats>> all(12);
  std::vector<std::vector<std::string>> words(12);
  to.context.add("label", integers{-5, 1LL << 60});
  for (std::size_t i = 0; i < 12; ++i) {
    const std::string number = std::to_string(i);
    for (std::uint64_t n = random() % 6; n > 0; --n) {
      all[i].emplace_back(random() % 5, static_cast<float>(random() % 1000) / 7);
      words[i].emplace_back(random() % 200, static_cast<char>(random()));
      to.add_step("f" + number, all[i].back());
      to.add_step("t" + number, texts{words[i].back()});
    }
  }
  dir.put("a", to.message());
  REQUIRE(std::system(("python3 '" + script.string() + "' '" + (dir / "a") + "' '" + (dir / "b") + "'").c_str()) == 0);
  const std::string other = tagma::read_file(dir / "b");
  CHECK(other != to.message());
  io::sequence_example e;
  for (const std::string& message : {to.message(), other}) {
    e.parse(message);
    integers label;
    CHECK(e.context().append("label", label) == 2);
    CHECK(label == integers{-5, 1LL << 60});
    for (std::size_t i = 0; i < 12; ++i) {
      const std::string number = std::to_string(i);
      std::pair<floats, counts> wanted;
      for (const floats& step : all[i]) {
        wanted.first.insert(wanted.first.end(), step.begin(), step.end());
        wanted.second.push_back(step.size());
      }
      CHECK(values<float>(e, "f" + number) == wanted);
      CHECK(fixed<std::string_view>(e, {"t" + number, {}, true}, words[i].size()) ==
            texts(words[i].begin(), words[i].end()));
    }
  }
}
