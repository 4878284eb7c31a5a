// SPDX-License-Identifier: BSL-1.0
// A loop of 1,000 iterations over four numbers: what an iteration costs.
#include "protocol.hpp"
#include "tagma/base/version.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 1000, 4>();
constexpr auto begin = tg::placeholder<"begin", float, 4>();

int main(int count, char** arguments) {
  const peers::options options(count, arguments);
  const auto [last] = tg::scan(tg::carry(begin), tg::over(x), [](auto h, auto e) { return tg::next(tg::tanh(h + e)); });
  const auto program = tg::compile([last = last] { return tg::outputs(last); });
  tg::session session(program, {.seed = 42, .intra_op_threads = options.threads});
  const tg::tensor<float> sequence({1000, 4}), zeros({4});
  return peers::serve(
      TAGMA_VERSION,
      [&](std::int64_t) { return static_cast<double>(session.run(last, x = sequence, begin = zeros)[0]); }, 20);
}
