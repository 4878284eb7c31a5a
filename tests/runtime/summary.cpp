// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/summary.hpp"

#include <catch2/catch.hpp>
#include <sstream>

#include "tagma/containers.hpp"
#include "tagma/programs.hpp"
#include "tagma/tagma.hpp"
#include "tagma/train.hpp"

namespace {

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 20>();
constexpr auto y = tg::placeholder<"y", float, tg::dyn, 2>();

TEST_CASE("a summary has the variables of a model by layers") {
  const auto hidden = tg::dense<"net/first", 60>(x, tg::tanh);
  const auto scale = tg::variable<"scale", float>(1.0F, tg::not_trainable);
  const auto offset = tg::variable<"net/second/offset", double, 2>(tg::zeros, tg::not_trainable);
  const auto guess = tg::dense<"net/second", 2>(hidden) * scale + tg::cast<float>(offset);
  const auto loss = tg::mean(tg::square(guess - y));
  const auto data = tg::preloaded<"net/data", float, 1000>();
  const auto train = tg::minimize(loss + tg::sum(data), tg::momentum{.learning_rate = 0.1});
  const auto program = tg::compile([=] { return tg::outputs(loss, train); });
  const tg::model_summary made = tg::summary(program);
  const auto find = [&](std::string_view name) {
    for (const tg::layer_summary& l : made.layers)
      if (l.name == name) return l;
    FAIL("there is no " << name);
    return tg::layer_summary{};
  };
  const tg::layer_summary first = find("net/first");
  CHECK(first.variables.size() == 2);
  CHECK(first.variables[0].name == "net/first/kernel");
  CHECK(first.totals.parameters == 1260);
  CHECK(first.totals.trainable == 1260);
  CHECK(first.totals.bytes == 5040);
  CHECK(first.totals.slot_bytes == 5040);
  const tg::layer_summary second = find("net/second");
  CHECK(second.totals.parameters == 124);
  CHECK(second.totals.trainable == 122);
  CHECK(second.totals.bytes == 122 * 4 + 2 * 8);
  CHECK(find("").variables.size() == 1);
  CHECK(find("").variables[0].name == "scale");
  const bool has_step = made.totals.parameters == 1260 + 124 + 1 + 1;
  CHECK(made.totals.parameters - (has_step ? 1 : 0) == 1385);
  CHECK(made.totals.trainable == 1382);
  CHECK(made.totals.slot_bytes == 1382 * 4);
  const std::string text = to_string(made);
  CHECK(text.find("\nnet/first                           1,260  5,040  yes\n") != text.npos);
  CHECK(text.find("\n  kernel    float32  [20, 60]       1,200  4,800  yes\n") != text.npos);
  CHECK(text.find("in part\n") != text.npos);
  CHECK(text.find("\n  offset    float64  [2]                2     16  no\n") != text.npos);
  CHECK(text.find("\n(no layer)") != text.npos);
  CHECK(text.find("net/data") == text.npos);
  CHECK(text.find("\ntrainable: 1,382\n") != text.npos);
  CHECK(text.find("\nbytes of optimizers: 5,528\n") != text.npos);
  for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos; ++at) CHECK((at == 0 || text[at - 1] != ' '));

  std::ostringstream stream;
  stream << made;
  CHECK(stream.str() == text);
  tg::session session(program, {.seed = 1});
  CHECK(to_string(tg::summary(session)) == text);
  CHECK(tg::summary(session).layers[0].variables[0].device == "/device:CPU:0");
  CHECK(to_string(tg::summary(tg::any_program(program))) == text);

  tg::session copy(program, {.seed = 1, .variable_prefix = "copy"});
  CHECK(tg::summary(copy).layers[0].name.starts_with("copy"));
  CHECK(tg::summary(copy).totals.slot_bytes == made.totals.slot_bytes);
}

TEST_CASE("a program without variables has an empty summary") {
  const auto program = tg::compile([] { return tg::outputs(tg::sum(x)); });
  const tg::model_summary made = tg::summary(program);
  CHECK(made.layers.empty());
  CHECK(to_string(made).find("parameters: 0\n") != std::string::npos);
}

}  // namespace
