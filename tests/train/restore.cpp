// SPDX-License-Identifier: BSL-1.0
#include "tagma/train/restore.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/containers.hpp"
#include "tagma/io/safetensors_index.hpp"
#include "tagma/tagma.hpp"
#include "tagma/train.hpp"

using tagma::test::code_of, tagma::test::temporary_directory, tagma::test::text_of;

namespace {

namespace st = tagma::safetensors;
namespace tg = tagma;
using tg::dtype;
using tg::status_code;

bool fits(std::string_view pattern, std::string_view text, const std::vector<std::string_view>& expected = {}) {
  std::vector<std::string_view> stars;
  return tg::detail::fits_pattern(pattern, text, stars) && (expected.empty() || stars == expected);
}

TEST_CASE("stars stand for parts, pairs of them for anything") {
  CHECK(fits("a.b", "a.b"));
  CHECK(!fits("a.b", "a.c"));
  CHECK(!fits("a.b", "a.b."));
  CHECK(fits("", ""));
  CHECK(!fits("*", ""));
  CHECK(fits("**", "", {""}));
  CHECK(fits("*", "abc", {"abc"}));
  CHECK(!fits("*", "a.b"));
  CHECK(!fits("*", "a/b"));
  CHECK(fits("*.*", "a.b", {"a", "b"}));
  CHECK(fits("layers.*.*.weight", "layers.10.fc.weight", {"10", "fc"}));
  CHECK(!fits("layers.*.weight", "layers.10.fc.weight"));
  CHECK(fits("layers.**.weight", "layers.10.fc.weight", {"10.fc"}));
  CHECK(fits("**.weight", "a.weight.b.weight", {"a.weight.b"}));
  CHECK(fits("**weight", "weight", {""}));
  CHECK(fits("a*b*c", "aXbYbZc", {"X", "YbZ"}));
  CHECK(fits("**a*.b", "xaa.b", {"x", "a"}));
  CHECK(fits("**a*.b", "a.a1.b", {"a.", "1"}));
  CHECK(fits("***", "ab", {"", "ab"}));
  CHECK(fits("encoder/**", "encoder/a/b", {"a/b"}));
}

/// What the stars mean, by trying all.
bool fits_naively(std::string_view p, std::string_view t) {
  if (p.empty()) return t.empty();
  if (p.starts_with("**")) {
    for (std::size_t i = 0; i <= t.size(); ++i)
      if (fits_naively(p.substr(2), t.substr(i))) return true;
    return false;
  }
  if (p[0] == '*') {
    for (std::size_t i = 1; i <= t.size() && t[i - 1] != '.' && t[i - 1] != '/'; ++i)
      if (fits_naively(p.substr(1), t.substr(i))) return true;
    return false;
  }
  return !t.empty() && p[0] == t[0] && fits_naively(p.substr(1), t.substr(1));
}

TEST_CASE("patterns fit what a search through all possibilities finds") {
  std::mt19937 random(11);
  int fitting = 0;
  for (int i = 0; i < 60'000; ++i) {
    std::string pattern, text;
    for (auto n = random() % 9; n > 0; --n) pattern += "ab.**"[random() % 5];
    for (auto n = random() % 9; n > 0; --n) text += "ab./"[random() % 7 < 3 ? 0 : random() % 4];
    std::vector<std::string_view> stars;
    const bool found = tg::detail::fits_pattern(pattern, text, stars);
    INFO(pattern << " and " << text);
    REQUIRE(found == fits_naively(pattern, text));
    if (!found) continue;
    ++fitting;
    std::string again;
    std::size_t star = 0;
    for (std::size_t k = 0; k < pattern.size(); ++k) {
      if (pattern[k] != '*') {
        again += pattern[k];
        continue;
      }
      const bool pair = k + 1 < pattern.size() && pattern[k + 1] == '*';
      if (!pair) REQUIRE((!stars[star].empty() && stars[star].find_first_of("./") == std::string_view::npos));
      again += stars[star++];
      k += pair;
    }
    REQUIRE(star == stars.size());
    REQUIRE(again == text);
  }
  CHECK(fitting > 2000);
  const std::string endless(200'000, 'a');
  CHECK(!fits("**a**b**a*a*a*.c", endless));
}

// A tensor whose axes are put in another order, element by element.
template <class From, class To>
std::vector<To> permuted_naively(const std::vector<From>& from, const tg::shape& dims, const std::vector<int>& axes) {
  tg::shape turned;
  for (const int a : axes) turned.push_back(dims[a]);
  std::vector<To> to(from.size());
  for (std::size_t flat = 0; flat < to.size(); ++flat) {
    tg::extent rest = static_cast<tg::extent>(flat), index[tg::max_rank] = {}, at = 0;
    for (int i = turned.rank - 1; i >= 0; --i)
      index[axes[static_cast<std::size_t>(i)]] = rest % turned[i], rest /= turned[i];
    for (int i = 0; i < dims.rank; ++i) at = at * dims[i] + index[i];
    to[flat] = To(from[static_cast<std::size_t>(at)]);
  }
  return to;
}

template <class From, class To>
void check_permutations(std::mt19937& random) {
  for (int round = 0; round < 60; ++round) {
    tg::shape dims;
    for (auto rank = random() % 7; rank > 0; --rank) dims.push_back(static_cast<tg::extent>(random() % 5));
    if (round % 3 != 0)
      for (int i = 0; i < dims.rank; ++i) dims[i] += dims[i] == 0;
    std::vector<int> axes(static_cast<std::size_t>(dims.rank));
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), random);
    std::vector<From> from(static_cast<std::size_t>(dims.elements()));
    for (From& f : from) {
      if constexpr (std::is_integral_v<From>)
        f = static_cast<From>(static_cast<int>(random() % 200) - 100);
      else
        f = From(static_cast<float>(random()) / 4e5F - 3e3F);
    }
    // Others need not align what they write.
    std::vector<std::byte> bytes(from.size() * sizeof(From) + 1);
    if (!from.empty()) std::memcpy(bytes.data() + 1, from.data(), bytes.size() - 1);
    tg::shape turned;
    for (const int a : axes) turned.push_back(dims[a]);
    std::vector<To> made(from.size());
    const st::stored_tensor stored{"t", tg::dtype_of<From>, {}, dims, bytes.data() + 1, bytes.size() - 1};
    tg::detail::write_permuted(reinterpret_cast<std::byte*>(made.data()), tg::dtype_of<To>, turned, stored, axes);
    const std::vector<To> expected = permuted_naively<From, To>(from, dims, axes);
    REQUIRE((made.empty() || std::memcmp(made.data(), expected.data(), made.size() * sizeof(To)) == 0));
  }
}

TEST_CASE("axes are put in any order, and floats converted") {
  std::mt19937 random(5);
  check_permutations<double, double>(random);
  check_permutations<float, float>(random);
  check_permutations<tg::float16, tg::float16>(random);
  check_permutations<std::int8_t, std::int8_t>(random);
  check_permutations<std::int64_t, std::int64_t>(random);
  check_permutations<double, float>(random);
  check_permutations<double, tg::float16>(random);
  check_permutations<double, tg::bfloat16>(random);
  check_permutations<float, double>(random);
  check_permutations<float, tg::float16>(random);
  check_permutations<tg::float16, float>(random);
  check_permutations<tg::bfloat16, float>(random);
  check_permutations<tg::float16, tg::bfloat16>(random);
  check_permutations<tg::bfloat16, double>(random);
}

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 3>();
constexpr auto y = tg::placeholder<"y", float, tg::dyn, 2>();

auto make_network() {
  const auto guess = tg::dense<"net/1", 2>(tg::dense<"net/0", 4>(x, tg::relu));
  const auto train = tg::minimize(tg::mean(tg::square(guess - y)), tg::momentum{.learning_rate = 0.1});
  return tg::compile([=] { return tg::outputs(guess, train); });
}
auto make_inference() {
  return tg::compile([] { return tg::outputs(tg::dense<"net/1", 2>(tg::dense<"net/0", 4>(x, tg::relu))); });
}

/// Tensors by names, as other programs write them.
struct tensors_of_others {
  std::map<std::string, std::pair<tg::shape, std::vector<float>>> all;

  void add(const std::string& name, const tg::shape& dims) {
    std::vector<float> elements(static_cast<std::size_t>(dims.elements()));
    for (float& e : elements) e = static_cast<float>(all.size() * 100) + static_cast<float>(&e - elements.data());
    all[name] = {dims, elements};
  }
  [[nodiscard]] std::vector<st::named_tensor> list() const {
    std::vector<st::named_tensor> made;
    for (const auto& [name, t] : all) made.push_back({name, dtype::float32, t.first, t.second.data()});
    return made;
  }
};

tensors_of_others linear_layers() {
  tensors_of_others made;
  made.add("model.0.weight", {4, 3});
  made.add("model.0.bias", {4});
  made.add("model.1.weight", {2, 4});
  made.add("model.1.bias", {2});
  made.add("model.2.running", {5});
  return made;
}
const std::vector<tg::restore_rule> linear_rules{{"model.*.weight", "net/*/kernel", {1, 0}},
                                                 {"model.*.bias", "net/*/bias"}};

auto values_of(auto& session) {
  std::vector<std::vector<std::byte>> all;
  for (const tg::variable_info& v : tg::list_variables(session)) {
    const tg::any_tensor value = tg::get_variable(session, v.name);
    const auto* first = static_cast<const std::byte*>(value.view().data);
    all.emplace_back(first, first + v.bytes);
  }
  return all;
}

TEST_CASE("a file of another program is restored by rules, and reported") {
  const temporary_directory dir;
  const std::string path = dir / "others.safetensors";
  const tensors_of_others given = linear_layers();
  st::write(path, given.list(), {{"step", "no number"}, {"author", "another"}});
  tg::session session(make_inference(), {.seed = 1});
  CHECK(code_of([&] { tg::restore(session, path, {.rules = linear_rules}); }) == status_code::data_loss);
  const auto report = tg::restore(session, path, {.rules = linear_rules, .variables = {"net/**"}});
  CHECK(report.texts.at("author") == "another");
  CHECK(report.missing.empty());
  CHECK(report.unused == std::vector<std::string>{"model.2.running"});
  REQUIRE(report.restored.size() == 4);
  std::map<std::string, std::string> pairs;
  for (const auto& [variable, key] : report.restored) pairs[variable] = key;
  CHECK(pairs.at("net/1/kernel") == "model.1.weight");
  CHECK(to_string(report) == "restored 4 of 4 variables\nnot used: model.2.running");
  const auto kernel = tg::get_variable<float>(session, "net/1/kernel");
  for (tg::extent i = 0; i < 4; ++i)
    for (tg::extent o = 0; o < 2; ++o)
      CHECK(kernel(i, o) == given.all.at("model.1.weight").second[static_cast<std::size_t>(o * 4 + i)]);
  CHECK(tg::get_variable<float>(session, "net/0/bias")[3] == given.all.at("model.0.bias").second[3]);
}

TEST_CASE("what is missing is an error, or is reported and keeps its value") {
  const temporary_directory dir;
  const std::string path = dir / "others.safetensors";
  st::write(path, linear_layers().list(), {{"step", "77"}});
  tg::session session(make_network(), {.seed = 1});
  const auto before = values_of(session);
  const std::string text = text_of([&] { tg::restore(session, path, {.rules = linear_rules}); });
  CHECK(text.find("NotFound: " + path + ": there is no tensor for variable '") == 0);
  CHECK(text.find("momentum") != text.npos);
  CHECK(values_of(session) == before);
  const auto report = tg::restore(session, path, {.rules = linear_rules, .strict = false});
  CHECK(report.restored.size() == 4);
  CHECK(report.missing.size() == before.size() - 4);
  CHECK(session.core().step() == 0);
  const auto after = values_of(session);
  std::size_t changed = 0;
  for (std::size_t i = 0; i < after.size(); ++i) changed += after[i] != before[i];
  CHECK(changed == 4);
}

TEST_CASE("a function says where tensors go that no rule fits") {
  const temporary_directory dir;
  const std::string path = dir / "others.safetensors";
  st::write(path, linear_layers().list());
  tg::session session(make_inference(), {.seed = 1}), other(make_inference(), {.seed = 2});
  tg::restore(other, path, {.rules = linear_rules});
  const auto map = [](const st::stored_tensor& t) -> tg::restore_target {
    const bool weight = t.name.ends_with("weight");
    if (t.name.ends_with("running")) return {};
    return {"net/" + t.name.substr(6, 1) + (weight ? "/kernel" : "/bias"),
            t.dims.rank == 2 ? std::vector<int>{1, 0} : std::vector<int>{}};
  };
  CHECK(tg::restore(session, path, {}, map).unused.size() == 1);
  CHECK(values_of(session) == values_of(other));
  // A rule before it keeps a tensor out.
  const auto report = tg::restore(session, path, {.rules = {{"model.1.*", ""}}, .strict = false}, map);
  CHECK(report.missing == std::vector<std::string>{"net/1/kernel", "net/1/bias"});
  CHECK(text_of([&] {
          tg::restore(session, path, {}, [](const auto&) { return tg::restore_target{"net/0/bias", {}}; });
        }).find("are both for variable 'net/0/bias'") != std::string::npos);
  CHECK(text_of([&] {
          tg::restore(session, path, {}, [](const auto&) { return tg::restore_target{"net/0/bias", {-1}}; });
        }).find("the axes {-1} are not the numbers from 0 on") != std::string::npos);
  CHECK(values_of(session) == values_of(other));
}

TEST_CASE("names are exchanged, and a rule comes before a tensor that has the name already") {
  const temporary_directory dir;
  const std::string path = dir / "pair.safetensors";
  const auto a = tg::variable<"a", float>(tg::zeros);
  const auto b = tg::variable<"b", float>(tg::zeros);
  tg::session session(tg::compile([=] { return tg::outputs(a, b); }));
  const float one = 1, two = 2, three = 3;
  const st::named_tensor pair[] = {{"a", dtype::float32, {}, &one}, {"b", dtype::float32, {}, &two}};
  st::write(path, pair);
  CHECK(tg::restore(session, path, {.rules = {{"a", "b"}, {"b", "a"}}}).unused.empty());
  CHECK(session.run(a) == 2);
  CHECK(session.run(b) == 1);
  for (const char* name : {"A", "z"}) {
    const st::named_tensor more[] = {pair[0], pair[1], {name, dtype::float32, {}, &three}};
    st::write(path, more);
    const auto report = tg::restore(session, path, {.rules = {{name, "a"}}});
    CHECK(session.run(a) == 3);
    CHECK(report.unused == std::vector<std::string>{"a"});
  }
}

TEST_CASE("errors of rules and of what does not fit leave the session as it was") {
  const temporary_directory dir;
  const std::string path = dir / "others.safetensors";
  st::write(path, linear_layers().list());
  tg::session session(make_inference(), {.seed = 1});
  const auto before = values_of(session);
  const auto refused = [&](const tg::restore_options& options) {
    const std::string text = text_of([&] { tg::restore(session, path, options); });
    CHECK(values_of(session) == before);
    const std::size_t at = text.find(path + ": ");
    REQUIRE(at != text.npos);
    return text.substr(0, at) + text.substr(at + path.size() + 2);
  };
  CHECK(
      refused({.rules = {{"model.0.weight", "net/0/kernel"}}, .strict = false}) ==
      "InvalidArgument: tensor 'model.0.weight' is float32 [4, 3], variable 'net/0/kernel' is float32 [3, 4]; the axes "
      "{1, 0} fit");
  CHECK(refused({.rules = {{"model.1.weight", "net/0/kernel", {1, 0}}}, .strict = false}) ==
        "InvalidArgument: tensor 'model.1.weight' is float32 [2, 4], with the axes {1, 0} [4, 2], variable "
        "'net/0/kernel' is float32 [3, 4]");
  CHECK(refused({.rules = {{"model.0.bias", "net/0/bias", {1, 0}}}, .strict = false}) ==
        "InvalidArgument: tensor 'model.0.bias' is float32 [4], which has not the axes {1, 0}");
  CHECK(
      refused({.rules = {{"model.0.bias", "net/0/bias", {0, 0}}}}) ==
      "InvalidArgument: the rule for 'model.0.bias': the axes {0, 0} are not the numbers from 0 on, each once, in some "
      "order");
  CHECK(refused({.rules = {{"model.*.*", "net/*"}}}) ==
        "InvalidArgument: the rule for 'model.*.*' has 2 stars, and 1 in 'net/*'");
  CHECK(refused({.rules = {{"model.0.wieght", "net/0/kernel"}}}) ==
        "NotFound: there is no tensor 'model.0.wieght', which a rule names; the nearest are 'model.0.weight', "
        "'model.1.weight' and 'model.0.bias'");
  CHECK(refused({.rules = {{"model.0.bias", "net/0/bais"}}}) ==
        "NotFound: tensor 'model.0.bias' is for variable 'net/0/bais', which the program has not; the nearest are "
        "'net/0/bias', 'net/1/bias' and 'net/0/kernel'");
  CHECK(refused({.rules = linear_rules, .variables = {"net/0/*", "nat/*"}})
            .find("NotFound: the program has no variable 'nat/*' to restore; the nearest are 'net/") == 0);
  CHECK(refused({.rules = {{"model.0.bias", "net/0/bias"}, {"model.2.running", "net/0/bias"}}}) ==
        "InvalidArgument: tensors 'model.0.bias' and 'model.2.running' are both for variable 'net/0/bias'");
  // The last of many: what comes before is left, too.
  CHECK(refused({.rules = {{"model.1.bias", "net/1/kernel"}, linear_rules[0], linear_rules[1]}, .strict = false})
            .find("InvalidArgument: tensor") == 0);
  CHECK(tg::restore(session, path, {.rules = {{"model.0.wieght", "a"}, {"model.0.bias", "nothing"}}, .strict = false})
            .restored.empty());
  session.close();
  CHECK(code_of([&] { tg::restore(session, path, {.rules = linear_rules}); }) == status_code::cancelled);
}

TEST_CASE("a rule for a preloaded variable is told that no file has it") {
  const temporary_directory dir;
  const std::string path = dir / "data.safetensors";
  const auto w = tg::variable<"w", float>(tg::zeros);
  const auto images = tg::preloaded<"images", float, 2>();
  tg::session session(tg::compile([=] { return tg::outputs(w + tg::sum(images)); }));
  const float one = 1, two[] = {1, 2};
  const st::named_tensor both[] = {{"w", dtype::float32, {}, &one}, {"pictures", dtype::float32, {2}, two}};
  st::write(path, both);
  CHECK(text_of([&] {
          tg::restore(session, path, {.rules = {{"pictures", "images"}}});
        }).ends_with("tensor 'pictures' is for variable 'images', which is preloaded, and not restored"));
  CHECK(text_of([&] {
          tg::restore(session, path, {.variables = {"w", "ima*"}});
        }).ends_with("variable 'ima*' is preloaded, and not restored"));
  CHECK(tg::restore(session, path, {.rules = {{"pictures", "images"}}, .strict = false}).restored.size() == 1);
}

TEST_CASE("floats are converted where that is asked for, and nothing else") {
  const temporary_directory dir;
  const std::string path = dir / "mixed.safetensors";
  const auto single = tg::variable<"single", float, 3>(tg::zeros);
  const auto half = tg::variable<"half", tg::float16, 3>(tg::zeros);
  const auto brain = tg::variable<"brain", tg::bfloat16, 3>(tg::zeros);
  const auto count = tg::variable<"count", std::int64_t>(tg::zeros);
  tg::session session(tg::compile([=] { return tg::outputs(single, half, brain, count); }));
  const double numbers[] = {1 + 0x1p-30, 70000, -0.1};
  const tg::float16 halves[] = {tg::float16(1.5F), tg::float16(-0.0F), tg::float16(65504.0F)};
  const float floats[] = {1.00390625F, 3.1415926F, std::numeric_limits<float>::quiet_NaN()};
  const std::int64_t whole = 5;
  const std::int32_t narrow = 5;
  const st::named_tensor sound[] = {{"single", dtype::float16, {3}, halves},
                                    {"half", dtype::float64, {3}, numbers},
                                    {"brain", dtype::float32, {3}, floats},
                                    {"count", dtype::int64, {}, &whole}};
  st::write(path, sound);
  CHECK(text_of([&] { tg::restore(session, path); }).find("; the option cast converts it") != std::string::npos);
  tg::restore(session, path, {.cast = true});
  CHECK(session.run(single)[2] == 65504);
  CHECK(std::signbit(session.run(single)[1]));
  const auto h = tg::get_variable<tg::float16>(session, "half");
  CHECK(float(h[0]) == 1);
  CHECK(std::isinf(float(h[1])));
  CHECK(h[2].bits == tg::float16(-0.1).bits);
  const auto b = tg::get_variable<tg::bfloat16>(session, "brain");
  CHECK(float(b[0]) == 1);  // between two, and the even one
  CHECK(b[1].bits == tg::bfloat16(3.1415926F).bits);
  CHECK(std::isnan(float(b[2])));
  CHECK(tg::get_variable(session, "count").value<std::int64_t>() == 5);
  const st::named_tensor integer[] = {sound[0], sound[1], sound[2], {"count", dtype::int32, {}, &narrow}};
  st::write(path, integer);
  CHECK(text_of([&] { tg::restore(session, path, {.cast = true}); }) ==
        "InvalidArgument: " + path + ": tensor 'count' is int32 [], the variable of that name is int64 []");
  const st::named_tensor float_for_integer[] = {{"count", dtype::float32, {}, floats}};
  st::write(path, float_for_integer);
  CHECK(code_of([&] { tg::restore(session, path, {.cast = true, .strict = false}); }) == status_code::invalid_argument);
}

TEST_CASE("random names and orders of axes come out as those of a naive reader") {
  const temporary_directory dir;
  const std::string path = dir / "random.safetensors";
  const auto program = tg::compile([] {
    return tg::outputs(tg::variable<"s/v0", float, 2, 3>(tg::zeros), tg::variable<"s/v1", float, 4>(tg::zeros),
                       tg::variable<"s/v2", float, 3, 3, 2, 5>(tg::zeros), tg::variable<"t/v3", float>(tg::zeros),
                       tg::variable<"t/v4", double, 3, 1, 2>(tg::zeros),
                       tg::variable<"v5", tg::float16, 5, 0>(tg::zeros));
  });
  std::mt19937 random(2024);
  for (int round = 0; round < 120; ++round) {
    INFO("round " << round);
    tg::session session(program, {.seed = 1});
    const auto before = values_of(session);
    std::vector<std::vector<float>> elements;
    std::vector<st::named_tensor> tensors;
    std::vector<tg::restore_rule> rules;
    std::map<std::string, std::vector<double>> expected;
    std::vector<std::string> missing;
    for (const tg::variable_info& v : tg::list_variables(session)) {
      const std::string name = v.name;
      std::vector<int> axes(static_cast<std::size_t>(v.dims.rank));
      std::iota(axes.begin(), axes.end(), 0);
      std::shuffle(axes.begin(), axes.end(), random);
      tg::shape dims = v.dims;
      for (int i = 0; i < dims.rank; ++i) dims[axes[static_cast<std::size_t>(i)]] = v.dims[i];
      auto& e = elements.emplace_back(static_cast<std::size_t>(dims.elements()));
      for (float& f : e) f = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 8;
      if (random() % 5 == 0) {
        missing.push_back(name);
        continue;
      }
      const auto slash = name.find('/');
      const std::string scope = slash == name.npos ? "" : name.substr(0, slash), last = name.substr(name.rfind('v'));
      std::string key = "old." + scope + ".of." + last;
      switch (random() % 3) {
        case 0:
          rules.push_back({key, name, axes});
          break;
        case 1:
          rules.push_back({"old.**.of." + last, (scope.empty() ? "**" : "**/") + last, axes});
          break;
        default:
          rules.push_back({"**" + last, scope.empty() ? name + "**" : "**" + name.substr(1), axes});
          key = (scope.empty() ? "" : scope.substr(0, 1)) + last;
          if (!scope.empty())
            key = scope + last, rules.back() = {"*" + last, "*/" + last, axes};
          else
            key = last, rules.back() = {last, name, axes};
      }
      std::shuffle(rules.begin(), rules.end(), random);
      tensors.push_back({key, dtype::float32, dims, e.data()});
      expected[name] = permuted_naively<float, double>(e, dims, axes);
    }
    const float more = 0;
    tensors.push_back({"more", dtype::float32, {}, &more});
    st::write(path, tensors);
    if (!missing.empty())
      CHECK(code_of([&] { tg::restore(session, path, {.rules = rules, .cast = true}); }) == status_code::not_found);
    CHECK(values_of(session) == before);
    const auto report = tg::restore(session, path, {.rules = rules, .cast = true, .strict = false});
    CHECK(report.missing == missing);
    CHECK(report.unused == std::vector<std::string>{"more"});
    for (const auto& [name, wanted] : expected) {
      const tg::any_tensor value = tg::get_variable(session, name);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const double found = value.type() == dtype::float32   ? double{value.as<float>()[i]}
                             : value.type() == dtype::float64 ? value.as<double>()[i]
                                                              : double{float(value.as<tg::float16>()[i])};
        REQUIRE(found == wanted[i]);
      }
    }
  }
}

TEST_CASE("several files are restored through their index") {
  const temporary_directory dir;
  const tensors_of_others given = linear_layers();
  std::vector<st::named_tensor> first, second;
  st::index index;
  for (const st::named_tensor& t : given.list()) {
    (first.size() <= second.size() ? first : second).push_back(t);
    index.files[t.name] = first.size() > second.size() ? "model-1.safetensors" : "model-2.safetensors";
  }
  index.texts["author"] = "another";
  st::write(dir / "model-1.safetensors", first);
  st::write(dir / "model-2.safetensors", second);
  const std::string path = dir / "model.safetensors.index.json";
  dir.put("model.safetensors.index.json", st::to_json(index));
  st::write(dir / "one.safetensors", given.list());
  tg::session session(make_inference(), {.seed = 1}), other(make_inference(), {.seed = 2});
  const auto report = tg::restore(session, path, {.rules = linear_rules});
  CHECK(report.texts.at("author") == "another");
  CHECK(report.unused == std::vector<std::string>{"model.2.running"});
  tg::restore(other, dir / "one.safetensors", {.rules = linear_rules});
  CHECK(values_of(session) == values_of(other));

  tg::save(session, dir / "whole.safetensors");
  st::index whole;
  for (const tg::variable_info& v : tg::list_variables(session)) whole.files[v.name] = "whole.safetensors";
  dir.put("whole.json", st::to_json(whole));
  tg::session third(make_inference(), {.seed = 3});
  tg::restore(third, dir / "whole.json");
  CHECK(values_of(third) == values_of(other));

  const auto before = values_of(session);
  index.files["model.0.bias"] =
      index.files["model.0.bias"] == "model-1.safetensors" ? "model-2.safetensors" : "model-1.safetensors";
  dir.put("model.safetensors.index.json", st::to_json(index));
  CHECK(text_of([&] {
          tg::restore(session, path, {.rules = linear_rules});
        }).find("DataLoss: " + path + ": tensor 'model.0.bias' is not in ") == 0);
  index.files["model.0.bias"] = "model-3.safetensors";
  dir.put("model.safetensors.index.json", st::to_json(index));
  CHECK(code_of([&] { tg::restore(session, path, {.rules = linear_rules}); }) == status_code::not_found);
  dir.put("model.safetensors.index.json", "{}");
  CHECK(code_of([&] { tg::restore(session, path, {.rules = linear_rules}); }) == status_code::data_loss);
  CHECK(values_of(session) == before);
}

TEST_CASE("a model with a prefix and in a shared container is restored under its whole names") {
  const temporary_directory dir;
  const std::string path = dir / "others.safetensors";
  st::write(path, linear_layers().list());
  for (const tg::isolation kind : {tg::isolation::runs, tg::isolation::variables}) {
    const tg::container state(kind);
    tg::session one(make_inference(), {.seed = 1, .state = state, .variable_prefix = "a"});
    tg::session same(make_inference(), {.seed = 1, .state = state, .variable_prefix = "a"});
    tg::session other(make_inference(), {.seed = 1, .state = state, .variable_prefix = "b"});
    const auto before = values_of(other);
    tg::restore(one, path, {.rules = {{"model.*.weight", "a/net/*/kernel", {1, 0}}, {"model.*.bias", "a/net/*/bias"}}});
    CHECK(values_of(same) == values_of(one));
    CHECK(values_of(one) != before);
    CHECK(values_of(other) == before);
  }
}

TEST_CASE("several threads restore, train and read at once") {
  const temporary_directory dir;
  const std::string path = dir / "others.safetensors";
  const auto a = tg::variable<"a", float, 64>(tg::zeros);
  const auto b = tg::variable<"b", float, 64>(tg::zeros);
  const auto step = tg::group(tg::assign_add(a, tg::ones_like(a)), tg::assign_add(b, tg::ones_like(b)));
  const auto program = tg::compile([=] { return tg::outputs(step, a, b); });
  const std::vector<float> numbers(64, 1000);
  const st::named_tensor tensors[] = {{"x.a", dtype::float32, {64}, numbers.data()},
                                      {"x.b", dtype::float32, {64}, numbers.data()}};
  st::write(path, tensors);
  for (const tg::isolation kind : {tg::isolation::runs, tg::isolation::variables}) {
    const tg::container state(kind);
    tg::session session(program, {.intra_op_threads = 1, .inter_op_threads = 1, .state = state});
    std::atomic<int> torn{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 60; ++i) tg::restore(session, path, {.rules = {{"x.*", "*"}}});
      });
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) session.run(step);
    });
    for (int i = 0; i < 200; ++i) {
      const auto [left, right] = session.run(tg::fetch(a, b));
      for (std::size_t k = 1; k < 64; ++k)
        torn += left.data()[k] != left.data()[0] || right.data()[k] != right.data()[0];
      if (kind == tg::isolation::runs) torn += left.data()[0] != right.data()[0];
    }
    for (auto& t : threads) t.join();
    CHECK(torn == 0);
  }
}

}  // namespace
