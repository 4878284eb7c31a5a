// SPDX-License-Identifier: BSL-1.0
// A worker of asynchronous training with a graph of its own: variables are on the parameter server, gradients are
// computed here. Its task is in TAGMA_CLUSTER, TAGMA_JOB and TAGMA_TASK.
#include "client.hpp"
#include "network.hpp"
#include "tagma/base/version.hpp"

namespace tg = tagma;

int main(int count, char** arguments) {
  const peers::options options(count, arguments);
  const tg::role role = tg::role_from(1, arguments);
  tg::server_options serving;
  serving.intra_op_threads = options.threads;
  serving.shared_memory = peers::shares_memory();
  const tg::server server(role, serving);
  const auto train = tg::minimize(peers::loss, peers::optimizer);
  const auto program =
      tg::compile([=] { return tg::on<tg::replica_device_setter{.ps_tasks = 1}>(tg::outputs(peers::loss, train)); });
  tg::remote_session session(program, server.target(), peers::session_options());
  return peers::serve_steps(TAGMA_VERSION, session, train, options.batch);
}
