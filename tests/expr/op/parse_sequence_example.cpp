// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/parse_sequence_example.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "tagma/io/sequence_example.hpp"
#include "tagma/sequence_examples.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using text = std::string_view;
using texts = tg::tensor<text>;
using floats = std::vector<float>;
using words = std::vector<text>;
using tg::test::text_of;

constexpr auto one = tg::placeholder<"one", text>();
constexpr auto messages = tg::placeholder<"messages", text, tg::dyn>();

}  // namespace

TEST_CASE("messages of sequences with keys are named by them") {
  const auto keys = tg::placeholder<"keys", text, tg::dyn>();
  const auto [label, pairs] = tg::parse_sequence_example(std::tuple(keys, messages), tg::feature<"label", std::int64_t>,
                                                         tg::feature_list<"pairs", float, 2>);
  tg::session s(tg::compile([=, a = label, b = pairs] { return tg::outputs(a, b); }));
  tg::io::sequence_example_writer w;
  w.add_step("pairs", floats{1, 2, 3});
  const std::string bad = w.message();
  const auto error = [&](const auto& what) {
    return text_of([&] { (void)s.run(what, keys = texts({1}, {"f:9"}), messages = texts({1}, {bad})); });
  };
  const auto of_context = label;
  const auto of_list = pairs;
  CHECK_THAT(error(of_context), Catch::Contains("f:9: feature 'label' is required, and missing"));
  CHECK_THAT(error(of_list), Catch::Contains("f:9: step 0 of feature list 'pairs' has 3 values"));
}

TEST_CASE("the context and the lists of one message") {
  const auto [pairs, label, names, length, tags] = tg::parse_sequence_example(
      one, tg::feature_list<"pairs", float, 2>, tg::feature<"label", std::int64_t>.otherwise(-1),
      tg::feature_list<"names", text>.may_be_missing(), tg::list_length<"pairs">, tg::feature<"tags", text, tg::dyn>);
  const auto total = tg::sum(pairs);
  const auto kind =
      tg::parse_sequence_example(one, tg::feature<"kind", text>.otherwise(tg::text_constant<"no kind at all">));
  tg::session s(tg::compile(
      [=, a = pairs, b = label, c = names, d = length, e = tags] { return tg::outputs(a, b, c, d, e, total, kind); }));
  tg::io::sequence_example_writer w;
  w.add_step("pairs", floats{1, 2});
  w.add_step("pairs", floats{3, 4});
  w.add_step("pairs", floats{5, 6});
  w.add_step("names", words{"a name that is longer than a string holds"});
  w.context.add("tags", words{"x", "y"});
  const std::string full = w.message();
  const auto [p, l, n, t, sum] = s.run(tg::fetch(pairs, label, names, tags, total), one = text(full));
  CHECK(p == tg::tensor<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
  CHECK(l == -1);
  CHECK(n == texts({1}, {"a name that is longer than a string holds"}));
  CHECK(t == texts({2}, {"x", "y"}));
  CHECK(sum == 21);
  CHECK(s.run(kind, one = text(full)) == "no kind at all");
  CHECK(s.run(length, one = text(full)) == 3);
  w.clear();
  w.add_list("pairs");
  w.context.add("label", std::vector<std::int64_t>{7});
  const std::string few = w.message();
  const auto [p0, l0, n0, d0, t0] = s.run(tg::fetch(pairs, label, names, length, tags), one = text(few));
  CHECK(p0.dims() == tg::shape{0, 2});
  CHECK(l0 == 7);
  CHECK(n0.dims() == tg::shape{0});
  CHECK(d0 == 0);
  CHECK(t0.dims() == tg::shape{0});
}

TEST_CASE("several messages are padded to the most steps and values, run after run") {
  const auto [fixed, open, counts] =
      tg::parse_sequence_example(messages, tg::feature_list<"fixed", std::int64_t>,
                                 tg::feature_list<"open", text, tg::dyn>.may_be_missing(), tg::list_length<"fixed">);
  tg::session s(tg::compile([=, a = fixed, b = open, c = counts] { return tg::outputs(a, b, c); }));
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    const std::size_t count = random() % 5;
    std::vector<std::string> all;
    std::vector<std::vector<std::int64_t>> numbers(count);
    std::vector<std::vector<std::vector<std::string>>> lists(count);
    std::size_t most = 0, most_steps = 0, most_values = 0;
    for (std::size_t i = 0; i < count; ++i) {
      tg::io::sequence_example_writer w;
      w.add_list("fixed");
      for (std::size_t k = random() % 6; k > 0; --k) {
        numbers[i].push_back(static_cast<std::int64_t>(random()) - 1000);
        w.add_step("fixed", std::span<const std::int64_t>(&numbers[i].back(), 1));
      }
      for (std::size_t k = random() % 4; k > 0; --k) {
        lists[i].emplace_back();
        for (std::size_t v = random() % 3; v > 0; --v) lists[i].back().push_back("word " + std::to_string(random()));
        w.add_step("open", words(lists[i].back().begin(), lists[i].back().end()));
        most_values = std::max(most_values, lists[i].back().size());
      }
      most = std::max(most, numbers[i].size());
      most_steps = std::max(most_steps, lists[i].size());
      all.push_back(w.message());
    }
    texts in(tg::shape{static_cast<tg::extent>(count)});
    for (std::size_t i = 0; i < count; ++i) in[i] = all[i];
    const auto [f, o, c] = s.run(tg::fetch(fixed, open, counts), messages = in);
    const auto rows = static_cast<tg::extent>(count), steps = static_cast<tg::extent>(most_steps);
    REQUIRE(f.dims() == tg::shape{rows, static_cast<tg::extent>(most)});
    REQUIRE(o.dims() == tg::shape{rows, steps, static_cast<tg::extent>(most_values)});
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(c[i] == static_cast<std::int64_t>(numbers[i].size()));
      for (std::size_t k = 0; k < most; ++k) CHECK(f[i * most + k] == (k < numbers[i].size() ? numbers[i][k] : 0));
      for (std::size_t k = 0; k < most_steps; ++k)
        for (std::size_t v = 0; v < most_values; ++v)
          CHECK(o[(i * most_steps + k) * most_values + v] ==
                (k < lists[i].size() && v < lists[i][k].size() ? text(lists[i][k][v]) : text()));
    }
  }
}

TEST_CASE("what is wrong is named with its message, list and step") {
  const auto fixed = tg::parse_sequence_example(messages, tg::feature_list<"x", float, 2>);
  const auto open = tg::parse_sequence_example(messages, tg::feature_list<"x", float, tg::dyn>);
  tg::session s(tg::compile([=] { return tg::outputs(fixed, open); }));
  tg::io::sequence_example_writer w;
  w.add_step("x", floats{1, 2});
  const std::string sound = w.message();
  const auto error = [&](auto what, text second) {
    return text_of([&] { (void)s.run(what, messages = texts({2}, {sound, second})); });
  };
  CHECK(error(open, sound).empty());
  w.add_step("x", floats{1});
  CHECK_THAT(error(fixed, w.message()),
             Catch::StartsWith("InvalidArgument: parse_feature_lists #") &&
                 Catch::Contains("message 1: step 1 of feature list 'x' has 1 values, expected those of shape [2]"));
  CHECK(error(open, w.message()).empty());
  w.add_step("x", std::vector<std::int64_t>{1, 2});
  CHECK_THAT(error(open, w.message()),
             Catch::Contains("message 1: step 2 of feature list 'x' is a list of int64, expected a list of float"));
  for (const auto& refused : {error(fixed, ""), error(open, "")})
    CHECK_THAT(refused, Catch::Contains("message 1: feature list 'x' is required, and missing"));
  CHECK_THAT(error(fixed, "\x12\x05"),
             Catch::StartsWith("DataLoss: ") && Catch::Contains("message 1: is no tf.train.SequenceExample"));
}
