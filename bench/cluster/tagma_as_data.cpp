// SPDX-License-Identifier: BSL-1.0
// The same steps by a session of this process that has the graph as data, with the kernels of the registry.
#include "network.hpp"
#include "tagma/base/version.hpp"
#include "tagma/programs.hpp"

namespace tg = tagma;

int main(int count, char** arguments) {
  const peers::options options(count, arguments);
  const auto train = tg::minimize(peers::loss, peers::optimizer);
  const tg::any_program program(tg::compile([=] { return tg::outputs(peers::loss, train); }), {"loss", "train"});
  tg::session session(program, {.seed = 42, .intra_op_threads = options.threads});
  const std::vector<peers::batch> all = peers::make_batches(options.batch);
  const std::vector<tg::output_name> wanted{"loss", "train"};
  return peers::serve(TAGMA_VERSION, [&](std::int64_t i) {
    const peers::batch& b = all[static_cast<std::size_t>(i % peers::batches)];
    return static_cast<double>(
        session.run(wanted, {tg::feed_to("x", b.images), tg::feed_to("y", b.labels)}).front().value<float>());
  });
}
