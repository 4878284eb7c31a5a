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
