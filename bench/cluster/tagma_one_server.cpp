// SPDX-License-Identifier: BSL-1.0
// The same steps all at one server, which gets the graph and has nothing compiled in.
#include "client.hpp"
#include "network.hpp"
#include "tagma/base/version.hpp"

namespace tg = tagma;

int main(int count, char** arguments) {
  const peers::options options(count, arguments);
  const auto train = tg::minimize(peers::loss, peers::optimizer);
  const auto program = tg::compile([=] { return tg::outputs(peers::loss, train); });
  tg::remote_session session(program, peers::target(), peers::session_options());
  return peers::serve_steps(TAGMA_VERSION, session, train, options.batch);
}
