// SPDX-License-Identifier: BSL-1.0
// Two branches of a graph that need nothing of each other, in one run of a session.
#include "branches.hpp"

using namespace branches;

int main(int count, char** arguments) {
  const peers::options options(count, arguments);
  const auto left = tg::sum(chain<length>(a, b));
  const auto right = tg::sum(chain<length>(b, a));
  const auto both = left + right;
  const auto program = tg::compile([=] { return tg::outputs(both); });
  tg::session session(program, {.intra_op_threads = 1, .inter_op_threads = options.threads});
  const auto first = matrix(0.5f), second = matrix(-0.5f);
  return peers::serve(TAGMA_VERSION,
                      [&](std::int64_t) { return static_cast<double>(session.run(both, a = first, b = second)); });
}
