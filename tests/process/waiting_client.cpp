// SPDX-License-Identifier: BSL-1.0
// A client whose run waits: `waiting_client TARGET`. Task 1 takes an element from a queue that nobody fills, task 0
// waits for what becomes of it. Prints how the run ends.
#include <cstdio>

#include "tagma/queues.hpp"
#include "tagma/servers.hpp"
#include "tagma/tagma.hpp"

int main(int count, char** arguments) {
  namespace tg = tagma;
  if (count != 2) {
    std::fputs("waiting_client TARGET\n", stderr);
    return 2;
  }
  constexpr tg::queue_of<"work", tg::queue_options{.capacity = 4}, tg::spec<float>> queue;
  const auto item = tg::on<"/job:local/task:1">(tg::dequeue(queue));
  const auto twice = tg::on<"/job:local/task:0">(item * 2.0f);
  const auto program = tg::compile([=] { return tg::outputs(twice); });
  try {
    tg::remote_session session(tg::any_program(program, {"twice"}), arguments[1]);
    session.run("twice");
    std::puts("it has ended well");
  } catch (const tg::error& e) {
    std::puts(e.what());
  }
}
