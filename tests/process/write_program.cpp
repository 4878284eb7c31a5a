// SPDX-License-Identifier: BSL-1.0
// Writes the program that service_peer.py gives to a server: `write_program FILE`.
#include <cstdio>

#include "tagma/program_files.hpp"
#include "tagma/programs.hpp"
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

int main(int count, char** arguments) {
  namespace tg = tagma;
  if (count != 2) {
    std::fputs("write_program FILE\n", stderr);
    return 2;
  }
  const auto x = tg::placeholder<"x", float, 3>();
  const auto total = tg::variable<"total", float, 3>(tg::zeros);
  const auto add = tg::assign_add(total, x);
  const auto twice = total * 2.0f;
  constexpr tg::queue_of<"work", tg::queue_options{.capacity = 4}, tg::spec<float>> queue;
  const auto take = tg::dequeue(queue);
  const auto put = tg::enqueue_many(queue, tg::placeholder<"rows", float, tg::dyn>());
  const auto pair = tg::dequeue_many<2>(queue);
  const auto texts = tg::reshape<-1>(tg::placeholder<"texts", std::string_view, tg::dyn>());
  const auto program = tg::compile([=] { return tg::outputs(add, twice, take, put, pair, texts); });
  tg::write_program(tg::any_program(program, {"add", "twice", "take", "put", "pair", "texts"}), arguments[1]);
}
