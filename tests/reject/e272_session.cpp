// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E272
// mentions: several kinds of devices
#include "tagma/fake_gpu.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

/// One more kind of device, without streams that a session knows of.
template <class Graph>
  requires(true)
struct tagma::ir::accelerator_of<Graph, 2> : tagma::ir::accelerator_of<Graph, 1> {
  static constexpr std::string_view type = "NPU";
#ifdef REJECT
  [[nodiscard]] static owned<runtime::accelerator> start(const gpu_options& options) {
    return accelerator_of<Graph, 1>::start(options);
  }
#endif
};

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
  const auto y = tg::on<"/gpu:0">(tg::tanh(x));
  const auto z = tg::on<"/device:NPU:0">([](const auto& e) { return tg::exp(e); })(y);
  tg::session session(tg::compile([=] { return tg::outputs(z); }));
}
