// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E213
// mentions: two kinds of devices
#include "tagma/fake_gpu.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

/// One more kind of device, which has no kernels of its own yet.
template <class Graph>
  requires(true)
struct tagma::ir::accelerator_of<Graph, 2> : tagma::ir::accelerator_of<Graph, 1> {
  static constexpr std::string_view type = "NPU";
};

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
  const auto y = tg::on<"/gpu:0">(tg::tanh(x));
#ifdef REJECT
  const auto z = tg::on<"/device:NPU:0">([](const auto& e) { return tg::exp(e); })(y);
#else
  const auto z = tg::on<"/cpu:0">([](const auto& e) { return tg::exp(e); })(y);
#endif
  tg::session session(tg::compile([=] { return tg::outputs(z); }));
}
