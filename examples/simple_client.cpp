// SPDX-License-Identifier: BSL-1.0
// Two clients of two servers count in one variable, which outlives both of them:
//
//     tagma-server --cluster '{"worker": ["localhost:2222", "localhost:2223"]}' --job worker --task 0 &
//     tagma-server --cluster '{"worker": ["localhost:2222", "localhost:2223"]}' --job worker --task 1 &
//     simple_client tagma://localhost:2222 init      # 1
//     simple_client tagma://localhost:2223           # 2
//
// Without arguments it starts the servers itself, and is both clients.
#include <cstdio>
#include <string>

#include "tagma/servers.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

void count(const std::string& target, bool from_0) {
  const auto x = tg::variable<"x", float>(0.0f);
  const auto init = tg::assign(x, 0.0f);
  const auto increment = tg::assign_add(x, 1.0f);
  const auto program = tg::compile([=] { return tg::on<"/job:worker/task:0">(tg::outputs(x, init, increment)); });
  tg::remote_session session(program, target);
  if (from_0) session.run(init);
  session.run(increment);
  const float value = session.run(x);
  std::printf("%g\n", static_cast<double>(value));
}

int main(int argc, char** argv) try {
  if (argc > 1) {
    count(argv[1], argc > 2 && std::string(argv[2]) == "init");
    return 0;
  }
  const tg::cluster cluster({{"worker", {"localhost:27184", "localhost:27185"}}});
  const tg::server first(tg::role(cluster, {.job = "worker", .task = 0}));
  const tg::server second(tg::role(cluster, {.job = "worker", .task = 1}));
  count(first.target(), true);
  count(second.target(), false);
} catch (const tg::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
