// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/row_blocks.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "tagma/containers.hpp"
#include "tagma/observe/trace.hpp"
#include "tagma/passes.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

tg::tensor<float> numbers(const tg::shape& dims, unsigned seed) {
  tg::tensor<float> t(dims);
  std::mt19937 bits(seed);
  for (float& v : t.span()) v = static_cast<float>(bits() % 2001) / 1000 - 1;
  return t;
}

TEST_CASE("a program that the compiler planned has blocks of rows unless its steps are recorded") {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 768>();
  constexpr auto u = tg::placeholder<"u", float, tg::dyn, 768>();
  constexpr auto scale = tg::placeholder<"scale", float, 768>();
  constexpr auto shift = tg::placeholder<"shift", float, 768>();
  const auto loss = tg::sum(tg::layer_norm(x, scale, shift, 1e-5) * u);
  const auto by_x = tg::gradient(loss, x);
  const auto by_scale = tg::gradient(loss, scale);
  const auto by_shift = tg::gradient(loss, shift);
  const auto program = tg::compile([=] { return tg::outputs(by_x, by_scale, by_shift); });
  for (const int threads : {1, 2}) {
    tg::session session(program, {.intra_op_threads = threads});
    const auto run = [&](const auto&... limits) {
      return session.run(tg::fetch(by_x, by_scale, by_shift), x = numbers({500, 768}, 1), u = numbers({500, 768}, 2),
                         scale = numbers({768}, 3), shift = numbers({768}, 4), limits...);
    };
    tg::trace timeline;
    const auto whole = run(tg::trace_to(timeline)), blocks = run();
    CHECK((std::get<0>(whole) == std::get<0>(blocks)));
    CHECK((std::get<1>(whole) == std::get<1>(blocks)));
    CHECK((std::get<2>(whole) == std::get<2>(blocks)));
  }
}

TEST_CASE("images go through convolutions in blocks, whose filters may have been written") {
  constexpr tg::conv_options same{.padding = tg::same_padding};
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 24, 24, 16>();
  const auto w = tg::variable<"w", float, 3, 3, 16, 32>(tg::random_normal(0, 0.1));
  const auto first = tg::relu(tg::conv2d<same>(x, w));
  const auto second = tg::max_pool<2>(tg::conv2d<"second", 32, 3, same>(first, tg::relu));
  const auto y = tg::concat<3>(second, tg::conv2d<"third", 48, 1>(tg::tanh(second)));
  const auto fill = tg::assign(w, w * -0.5f);
  const auto program = tg::compile([=] { return tg::outputs(y, fill); });
  tg::tensor<float> of_one;
  for (const int threads : {1, 3}) {
    tg::session session(program, {.seed = 3, .intra_op_threads = threads});
    for (const tg::extent images : {40, 37}) {
      const auto in = numbers({images, 24, 24, 16}, 1);
      const auto blocks = session.run(y, x = in);
      tg::trace timeline;
      CHECK((session.run(y, x = in, tg::trace_to(timeline)) == blocks));
      session.run(fill);
      const auto written = session.run(y, x = in);
      CHECK((written != blocks));
      CHECK((session.run(y, x = in, tg::trace_to(timeline)) == written));
      if (threads == 1) of_one = written;
      if (images == 37) CHECK((written == of_one));
    }
  }
}

TEST_CASE("sequences go through products and attention in blocks") {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 32, 64>();
  const auto y = tg::transformer_block<"block", 4, 256>(x);
  const auto program = tg::compile([=] { return tg::outputs(y); });
  tg::tensor<float> of_one;
  for (const int threads : {1, 3}) {
    tg::session session(program, {.seed = 3, .intra_op_threads = threads});
    const auto in = numbers({64, 32, 64}, 1);
    const auto blocks = session.run(y, x = in);
    tg::trace timeline;
    CHECK((session.run(y, x = in, tg::trace_to(timeline)) == blocks));
    if (threads == 1) of_one = blocks;
    CHECK((blocks == of_one));
  }
}

TEST_CASE("steps that are kept from run to run are in no block") {
  constexpr auto x = tg::placeholder<"x", float, 800, 700>();
  const auto w = tg::variable<"w", float, 800, 700>(tg::random_normal(0, 1), tg::not_trainable);
  const auto y = x + tg::softmax(tg::tanh(w) * 2.f) / tg::sum<1>(tg::square(w), tg::keep_dims);
  const auto fill = tg::assign(w, x);
  const tg::container state;
  const tg::session_options options{.seed = 5, .intra_op_threads = 1, .state = state};
  tg::session folded(tg::compile([=] { return tg::outputs(y); }, tg::passes<tg::fold_frozen>), options);
  tg::session whole(tg::compile([=] { return tg::outputs(y); }), options);
  tg::session writer(tg::compile([=] { return tg::outputs(fill); }), options);
  for (unsigned run = 0; run < 4; ++run) {
    const auto in = numbers({800, 700}, run);
    CHECK((folded.run(y, x = in) == whole.run(y, x = in)));
    if (run == 1) writer.run(fill, x = in);
  }
}

}  // namespace
