// SPDX-License-Identifier: BSL-1.0
// Values that are kept on devices, in every order of their streams and in recorded graphs.
#include <catch2/catch.hpp>
#include <vector>

#include "tagma/device/fake/provide.hpp"
#include "tagma/passes.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
namespace fake = tg::device::fake;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

TEST_CASE("kept values on devices are those of the last write") {
  const auto w = tg::variable<"w", float, 4, 4>(tg::random_normal(0, 0.5));
  const auto a = tg::matmul(x, tg::matmul(w, w));
  const auto out =
      tg::on<tg::gpu<1>>([](const auto& l, const auto& r) { return tg::matmul(l, tg::exp(r)); })(tg::tanh(a), w);
  const auto moved = tg::assign_sub(w, tg::tanh(w));
  const auto plain = tg::compile([=] { return tg::outputs(out); });
  const auto kept = tg::compile([=] { return tg::outputs(out); }, tg::passes<tg::fold_frozen>);
  const auto writes = tg::compile([=] { return tg::outputs(moved); });
  const std::vector<float> some{1, -2, 3, 0.5F, -0.25F, 6, -7, 8};
  for (std::uint64_t seed = 0; seed < 6; ++seed)
    for (const bool graphs : {false, true}) {
      INFO(seed << graphs);
      fake::machine machine({.devices = 2, .seed = seed});
      const tg::container state;
      const tg::session_options options{
          .seed = 3, .gpu = {.memory_fraction = 0.5, .allow_growth = true, .graphs = graphs}, .state = state};
      tg::session expected(plain, options);
      tg::session found(kept, options);
      tg::session writer(writes, options);
      for (int run = 0; run < 9; ++run) {
        const auto e = expected.run(out, x = some), f = found.run(out, x = some);
        for (tg::extent i = 0; i < e.dims().elements(); ++i) REQUIRE(f[i] == e[i]);
        if (run % 3 == 2) writer.run(moved);
      }
    }
}

}  // namespace
