// SPDX-License-Identifier: BSL-1.0
// A client of a cluster of two servers: what is computed on the one is read on the other. As an example it starts both
// servers itself; with `--target tagma://host:port` it uses those that are there.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tagma/servers.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();

int main(int count, char** arguments) {
  // A variable of the second task, an update beside it, and a product on the first one.
  const auto total = tg::on<"/job:local/task:1">(tg::variable<"total", float, 3>(tg::zeros));
  const auto add = tg::on<"/job:local/task:1">(tg::assign_add(total, x));
  const auto twice = tg::on<"/job:local/task:0">(total * 2.0f);
  const auto program = tg::compile([=] { return tg::outputs(add, twice); });
  const tg::any_program graph(program, {"add", "twice"});

  std::string target = count == 3 && std::string(arguments[1]) == "--target" ? arguments[2] : "";
  std::vector<std::unique_ptr<tg::server>> servers;
  if (target.empty()) {
    const tg::cluster members({{"local", {"localhost:27182", "localhost:27183"}}});
    for (const int task : {0, 1})
      servers.push_back(std::make_unique<tg::server>(tg::role(members, {.job = "local", .task = task})));
    target = servers[0]->target();
  }
  try {
    tg::remote_session session(graph, target);
    const tg::tensor<float> numbers({3}, {1.0f, 2.0f, 3.0f});
    for (int i = 0; i < 2; ++i) session.run("add", tg::feed_to("x", numbers));
    const tg::any_tensor result = session.run("twice");
    const auto values = result.as<float>();
    std::printf("twice the total: %g %g %g\n", static_cast<double>(values[0]), static_cast<double>(values[1]),
                static_cast<double>(values[2]));
  } catch (const tg::error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
