// SPDX-License-Identifier: BSL-1.0
// The same steps by a session of this process, with the model compiled into it.
#include "network.hpp"
#include "tagma/base/version.hpp"

namespace tg = tagma;

int main(int count, char** arguments) {
  const peers::options options(count, arguments);
  const auto train = tg::minimize(peers::loss, peers::optimizer);
  const auto program = tg::compile([=] { return tg::outputs(peers::loss, train); });
  tg::session session(program, {.seed = 42, .intra_op_threads = options.threads});
  return peers::serve_steps(TAGMA_VERSION, session, train, options.batch);
}
