// SPDX-License-Identifier: BSL-1.0
#include "tagma/train/position.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/datasets.hpp"
#include "tagma/tagma.hpp"
#include "tagma/train.hpp"

namespace {

namespace tg = tagma;
using tg::test::text_of;
using position = tg::datasets::position;

constexpr auto x = tg::placeholder<"x", float, 4, 3>();

}  // namespace

TEST_CASE("a training that goes on from a checkpoint sees the batches that follow") {
  const tg::test::temporary_directory dir;
  const std::string path = dir / "run.safetensors";
  tg::tensor<float> rows({18, 3});
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i) / 50;
  const auto examples = tg::datasets::from_slices(rows).shuffle(7, 3).repeat().batch(4).prefetch(2);
  const auto loss = tg::mean(tg::square(tg::dense<"layer", 2>(x) - 1.0f));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 0.1f});
  const auto program = tg::compile([=] { return tg::outputs(loss, train); });
  const auto steps = [&](auto& session, auto& pass) {
    std::vector<float> losses;
    for (int step = 0; step < 9; ++step)
      losses.push_back(std::get<0>(session.run(tg::fetch(loss, train), x = pass.next())));
    return losses;
  };

  tg::session first(program, {.seed = 5});
  auto pass = examples.iterator();
  (void)steps(first, pass);
  tg::save(first, path, {{"examples", tg::position_text(pass.state())}});
  const std::vector<float> expected = steps(first, pass);

  tg::session second(program, {.seed = 5});
  const auto texts = tg::restore(second, path);
  auto rest = examples.resume(tg::position_of_text(texts.at("examples")));
  CHECK(steps(second, rest) == expected);
}

TEST_CASE("positions are texts and come back") {
  const position numbers{std::numeric_limits<std::int64_t>::min(), -1, 0, 12, std::numeric_limits<std::int64_t>::max()};
  CHECK(tg::position_text(numbers) == "-9223372036854775808 -1 0 12 9223372036854775807");
  CHECK(tg::position_of_text(tg::position_text(numbers)) == numbers);
  CHECK(tg::position_of_text("").empty());
  for (const char* wrong : {" ", "1 ", " 1", "1  2", "+1", "01", "-0", "1,2", "x", "1 x", "9223372036854775808", "1.5"})
    CHECK(text_of([&] { (void)tg::position_of_text(wrong); }) ==
          "InvalidArgument: '" + std::string(wrong) +
              "' is no position of a dataset: that is whole numbers with a space between them");
}
