// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/parse_example.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "tagma/io/example.hpp"
#include "tagma/readers.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using text = std::string_view;
using texts = tg::tensor<text>;
using tg::test::text_of;

constexpr auto messages = tg::placeholder<"messages", text, tg::dyn>();

std::string message(const std::vector<float>& image, const std::vector<std::int64_t>& label,
                    const std::vector<text>& tags) {
  tg::io::example_writer w;
  if (!image.empty()) w.add("image", std::span<const float>(image));
  if (!label.empty()) w.add("a label with a long name", std::span<const std::int64_t>(label));
  if (!tags.empty()) w.add("tags", std::span<const text>(tags));
  return w.message();
}

}  // namespace

TEST_CASE("features of a fixed shape, required or not") {
  const auto fallback = tg::placeholder<"fallback", std::int64_t>();
  const auto [image, label] =
      tg::parse_example(messages, tg::feature<"image", float, 2, 2>,
                        tg::feature<"a label with a long name", std::int64_t>.otherwise(fallback * std::int64_t{2}));
  const auto weight = tg::parse_example(messages, tg::feature<"weight", float>.otherwise(0.5f));
  tg::session s(tg::compile([=, i = image, l = label] { return tg::outputs(i, l, weight); }));
  const std::string a = message({1, 2, 3, 4}, {7}, {}), b = message({5, 6, 7, 8}, {}, {"unused"});
  const auto got = s.run(tg::fetch(image, label), messages = texts({2}, {a, b}), fallback = std::int64_t{-4});
  CHECK(std::get<0>(got) == tg::tensor<float>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  CHECK(std::get<1>(got) == tg::tensor<std::int64_t>({2}, {7, -8}));
  CHECK(s.run(weight, messages = texts({2}, {a, b})) == tg::tensor<float>({2}, {0.5f, 0.5f}));
  CHECK(s.run(image, messages = texts({0}, {}), fallback = std::int64_t{0}).dims() == tg::shape{0, 2, 2});

  const auto error = [&](text second) {
    return text_of([&] { (void)s.run(weight, messages = texts({2}, {a, second})); });
  };
  CHECK_THAT(error("no message"),
             Catch::StartsWith("DataLoss: parse_example #") && Catch::Contains("message 1: is no "));
  const auto images = image;
  const auto of_image = [&](text second) {
    return text_of([&] { (void)s.run(images, messages = texts({2}, {a, second}), fallback = std::int64_t{0}); });
  };
  CHECK_THAT(
      of_image(message({}, {1}, {})),
      Catch::StartsWith("InvalidArgument: ") && Catch::Contains("message 1: feature 'image' is required, and missing"));
  CHECK_THAT(of_image(message({1, 2}, {}, {})),
             Catch::Contains("message 1: feature 'image' has 2 values, expected those of shape [2, 2]"));
  tg::io::example_writer wrong;
  const std::int64_t four[] = {1, 2, 3, 4};
  wrong.add("image", std::span<const std::int64_t>(four));
  CHECK_THAT(of_image(wrong.message()),
             Catch::Contains("feature 'image' is a list of int64, expected a list of float"));
}

TEST_CASE("messages with keys are named by them") {
  const auto keys = tg::placeholder<"keys", text, tg::dyn>();
  const auto image = tg::parse_example(std::tuple(keys, messages), tg::feature<"image", float, 2>.otherwise(0.5f));
  const auto tags = tg::parse_example(std::tuple(keys, messages), tg::feature<"tags", text, tg::dyn>);
  tg::session s(tg::compile([=] { return tg::outputs(image, tags); }));
  const std::string good = message({1, 2}, {}, {"x"}), bad = message({1}, {}, {"x"});
  const texts named({2}, {"a.tfrecord:0", "a.tfrecord:44"});
  CHECK(s.run(image, keys = named, messages = texts({2}, {good, message({}, {}, {})})) ==
        tg::tensor<float>({2, 2}, {1, 2, 0.5f, 0.5f}));
  CHECK_THAT(text_of([&] {
               (void)s.run(image, keys = named, messages = texts({2}, {good, bad}));
             }),
             Catch::Contains("a.tfrecord:44: feature 'image' has 1 values"));
  CHECK_THAT(text_of([&] {
               (void)s.run(tags, keys = named, messages = texts({2}, {"none", bad}));
             }),
             Catch::StartsWith("DataLoss: ") && Catch::Contains("a.tfrecord:0: is no tf.train.Example"));
  CHECK_THAT(text_of([&] { (void)s.run(tags, keys = named, messages = texts({1}, {good})); }),
             Catch::Contains("keys [2] are not of the shape of the texts, [1]"));
}

TEST_CASE("features of any number of values are padded to the most, run after run") {
  const auto [tags, label, image] =
      tg::parse_example(messages, tg::feature<"tags", text, tg::dyn>,
                        tg::feature<"a label with a long name", std::int64_t, tg::dyn>, tg::feature<"image", float, 1>);
  const auto summed = tg::sum<1>(tg::cast<float>(label));
  tg::session s(tg::compile([=, t = tags, l = label, i = image] { return tg::outputs(t, l, i, summed); }));
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    const std::size_t count = random() % 5;
    std::vector<std::string> all;
    std::vector<std::vector<std::string>> words(count);
    std::vector<std::vector<std::int64_t>> numbers(count);
    std::size_t most_words = 0, most_numbers = 0;
    texts in(tg::shape{static_cast<tg::extent>(count)});
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = random() % 4; k > 0; --k) words[i].push_back("word " + std::to_string(random()));
      for (std::size_t k = random() % 6; k > 0; --k) numbers[i].push_back(static_cast<std::int64_t>(random()) - 1000);
      most_words = std::max(most_words, words[i].size());
      most_numbers = std::max(most_numbers, numbers[i].size());
      all.push_back(message({static_cast<float>(i)}, numbers[i], {words[i].begin(), words[i].end()}));
    }
    for (std::size_t i = 0; i < count; ++i) in[i] = all[i];
    const auto [t, l, v, sums] = s.run(tg::fetch(tags, label, image, summed), messages = in);
    REQUIRE(t.dims() == tg::shape{static_cast<tg::extent>(count), static_cast<tg::extent>(most_words)});
    REQUIRE(l.dims() == tg::shape{static_cast<tg::extent>(count), static_cast<tg::extent>(most_numbers)});
    for (std::size_t i = 0; i < count; ++i) {
      float sum = 0;
      for (std::size_t k = 0; k < most_words; ++k)
        CHECK(t[i * most_words + k] == (k < words[i].size() ? text(words[i][k]) : text()));
      for (std::size_t k = 0; k < most_numbers; ++k) {
        CHECK(l[i * most_numbers + k] == (k < numbers[i].size() ? numbers[i][k] : 0));
        sum += static_cast<float>(l[i * most_numbers + k]);
      }
      CHECK(sums[i] == Approx(sum));
      CHECK(v[i] == static_cast<float>(i));
    }
  }
}
