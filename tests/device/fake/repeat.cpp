// SPDX-License-Identifier: BSL-1.0
// Equal blocks as a loop on devices with streams.
#include "tagma/nn/repeat.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "tagma/device/fake/provide.hpp"
#include "tagma/fake_gpu.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
namespace fake = tg::device::fake;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 6>();

tg::tensor<float> numbers(const tg::shape& dims, std::uint64_t seed = 1) {
  tg::tensor<float> t(dims);
  for (std::size_t i = 0; i < t.size(); ++i)
    t.data()[i] = static_cast<float>(tg::random_block({seed, 1, 0}, i)[0] % 1024) / 512 - 1;
  return t;
}

tg::session_options options_of(int streams, bool graphs, const tg::container& state) {
  return {.seed = 3,
          .gpu = {.memory_fraction = 1, .allow_growth = true, .streams = streams, .graphs = graphs},
          .state = state};
}

template <class Program, class Loss, class Train>
std::vector<float> train(const Program& program, const tg::session_options& options, const Loss& loss,
                         const Train& step) {
  tg::session session(program, options);
  std::vector<float> losses;
  for (const tg::extent rows : {5, 5, 3, 5, 5})
    losses.push_back(std::get<0>(session.run(tg::fetch(loss, step), x = numbers({rows, 6}))));
  return losses;
}

TEST_CASE("a loop of blocks learns the same bytes on a device with streams, whatever the order of its work") {
  const auto block = [](const auto& h) { return h + 0.5f * tg::dense<"d", 6>(tg::dense<"c", 6>(h, tg::relu)); };
  const auto loss = tg::mean(tg::square(tg::repeat<"block", 4>(block)(x)));
  const auto step = tg::minimize(loss, tg::adam{.learning_rate = 0.05});
  const auto on_cpu = tg::compile([=] { return tg::on<tg::cpu<0>>(tg::outputs(loss, step)); });
  const auto anywhere = tg::compile([=] { return tg::outputs(loss, step); });
  const auto expected = train(on_cpu, options_of(1, false, tg::container()), loss, step);
  CHECK(expected[4] < expected[0]);
  for (const auto kind : {tg::isolation::runs, tg::isolation::variables})
    for (std::uint64_t seed = 0; seed < 6; ++seed)
      for (const bool graphs : {false, true}) {
        INFO("seed " << seed << (graphs ? ", with graphs" : ""));
        fake::machine machine({.seed = seed, .eager = seed % 2 == 0 ? 0 : 64});
        CHECK(train(anywhere, options_of(1 + static_cast<int>(seed % 4), graphs, tg::container(kind)), loss, step) ==
              expected);
      }
}

TEST_CASE("an update beside a loop waits for the blocks that read the variable, on several streams") {
  const auto block = [](const auto& h) { return tg::tanh(tg::dense<"d", 6>(h)); };
  const auto loop = tg::repeat<"block", 4>(block)(x);
  const auto bias = tg::variable<"block_3/d/bias", float, 6>(tg::zeros);
  const auto update = tg::assign_add(bias, tg::ones_like(bias));
  const auto on_cpu = tg::compile([=] { return tg::on<tg::cpu<0>>(tg::outputs(loop, update)); });
  const auto anywhere = tg::compile([=] { return tg::outputs(loop, update); });
  tg::session expected(on_cpu, {.seed = 3});
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    fake::machine machine({.seed = seed, .eager = 0});
    tg::session found(anywhere, options_of(4, seed % 2 == 0, tg::container()));
    tg::session again(on_cpu, {.seed = 3});
    for (int i = 0; i < 3; ++i)
      CHECK(found.run(tg::fetch(loop, update), x = numbers({5, 6})) ==
            again.run(tg::fetch(loop, update), x = numbers({5, 6})));
  }
}

TEST_CASE("blocks and their variables may be on different devices") {
  const auto block = [](const auto& h) { return tg::on<"/cpu:0">(tg::tanh(tg::on<"/gpu:0">(tg::dense<"d", 6>(h)))); };
  const auto loss = tg::mean(tg::square(tg::repeat<"block", 3>(block)(x)));
  const auto step = tg::minimize(loss, tg::sgd{.learning_rate = 0.05});
  const auto plain = tg::mean(tg::square(tg::repeat<"block", 3>(block, tg::unrolled)(x)));
  const auto plain_step = tg::minimize(plain, tg::sgd{.learning_rate = 0.05});
  const auto program = tg::compile([=] { return tg::outputs(loss, step); });
  const auto written = tg::compile([=] { return tg::outputs(plain, plain_step); });
  fake::machine machine({.seed = 1});
  CHECK(train(program, options_of(2, true, tg::container()), loss, step) ==
        train(written, options_of(2, true, tg::container()), plain, plain_step));
}

}  // namespace
