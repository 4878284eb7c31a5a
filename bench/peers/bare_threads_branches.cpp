// SPDX-License-Identifier: BSL-1.0
// The two branches of tagma_branches.cpp as two programs, each in the loop of a std::thread of its own, which meet
// only when a burst ends: what two threads can gain on this machine. With one thread, one after the other.
#include <thread>

#include "branches.hpp"

using namespace branches;

int main(int count, char** arguments) {
  const peers::options options(count, arguments);
  const auto left = tg::sum(chain<length>(a, b));
  const auto right = tg::sum(chain<length>(b, a));
  const auto left_program = tg::compile([=] { return tg::outputs(left); });
  const auto right_program = tg::compile([=] { return tg::outputs(right); });
  tg::session left_session(left_program, {.intra_op_threads = 1});
  tg::session right_session(right_program, {.intra_op_threads = 1});
  const auto first = matrix(0.5f), second = matrix(-0.5f);
  float sums[2]{};
  const auto run_left = [&](std::int64_t steps) {
    for (; steps > 0; --steps) sums[0] = left_session.run(left, a = first, b = second);
  };
  const auto run_right = [&](std::int64_t steps) {
    for (; steps > 0; --steps) sums[1] = right_session.run(right, a = first, b = second);
  };
  return peers::serve_bursts(TAGMA_VERSION, [&](std::int64_t, std::int64_t steps) {
    std::thread other;
    if (options.threads > 1)
      other = std::thread(run_right, steps);
    else
      run_right(steps);
    run_left(steps);
    if (other.joinable()) other.join();
    return static_cast<double>(sums[0] + sums[1]);
  });
}
