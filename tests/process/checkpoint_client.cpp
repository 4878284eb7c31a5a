// SPDX-License-Identifier: BSL-1.0
// A client for checkpoints.py: adds to two variables, has them saved or restored, and prints them.
//
//     checkpoint_client TARGET TASKS [add | save NAME | restore NAME | print] ...
//
// With TASKS 2 the variables are on two servers, with 1 on the first one; with "2m" and "1m" the server is the master.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tagma/servers.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

template <tg::fixed_string First, tg::fixed_string Second>
tg::any_program program() {
  return tg::any_program(tg::compile([] {
                           const auto a = tg::on<First>(tg::variable<"a", float, 100000>(tg::glorot_uniform));
                           const auto b = tg::on<Second>(tg::variable<"b", int, 3>(tg::zeros));
                           const auto more_a = tg::on<First>(tg::assign_add(a, 0.1f * a));
                           const auto more_b = tg::on<Second>(tg::assign_add(b, tg::ones_like(b)));
                           return tg::outputs(more_a, more_b, tg::on<First>(a * 1.0f), tg::on<Second>(b * 1));
                         }),
                         {"more_a", "more_b", "a", "b"});
}

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const std::string tasks = arguments[2];
  const bool two = tasks[0] == '2';
  tg::cluster_session_options how;
  if (tasks.ends_with("m")) how.master = tg::session_master::server;
  try {
    tg::remote_session session(
        two ? program<"/job:local/task:0", "/job:local/task:1">() : program<"/job:local/task:0", "/job:local/task:0">(),
        arguments[1], how);
    for (int i = 3; i < count; ++i) {
      const std::string what = arguments[i];
      if (what == "add") {
        session.run({"more_a", "more_b"});
      } else if (what == "save") {
        const tg::saved_checkpoint made = session.save(arguments[++i]);
        std::printf("saved %zu variables, %s\n", made.variables, made.cut == tg::isolation::runs ? "whole" : "each");
      } else if (what == "restore") {
        const tg::restored_checkpoint back = session.restore(arguments[++i]);
        std::printf("restored '%s'\n", back.name.c_str());
      } else {
        const auto got = session.run({"a", "b"});
        std::uint64_t sum = 1469598103934665603u;
        for (const tg::any_tensor& t : got)
          for (std::size_t k = 0; k < t.view().bytes(); ++k)
            sum = (sum ^ static_cast<const unsigned char*>(t.view().data)[k]) * 1099511628211u;
        std::printf("b %d, all %016llx\n", static_cast<const int*>(got[1].view().data)[0],
                    static_cast<unsigned long long>(sum));
      }
    }
  } catch (const tg::error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
