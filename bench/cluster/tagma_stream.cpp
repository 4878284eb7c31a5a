// SPDX-License-Identifier: BSL-1.0
// Fetches a variable of so many megabytes, as the batch is said to be, from a server.
#include "client.hpp"
#include "protocol.hpp"
#include "tagma/base/version.hpp"
#include "tagma/graph_builder.hpp"

namespace tg = tagma;

int main(int count, char** arguments) {
  const peers::options options(count, arguments);
  tg::graph_builder b;
  const auto v = b.variable("large", tg::dtype::float32, {tg::extent{options.batch} * 250'000}, tg::zeros);
  tg::remote_session session(b.build({{"large", v}}), peers::target(), peers::session_options());
  const auto fetch = [&](std::int64_t) {
    const tg::any_tensor fetched = session.run("large");
    return static_cast<double>(fetched.as<float>()[0]);
  };
  return peers::serve(TAGMA_VERSION, fetch, 1);
}
