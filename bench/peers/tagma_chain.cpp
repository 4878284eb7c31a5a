// SPDX-License-Identifier: BSL-1.0
// Eight element-wise operations on 16 million floats, which the library fuses into one loop. The result stays in the
// memory of the session, as between two operations of a larger graph; one element of it is fetched.
#include "protocol.hpp"
#include "tagma/base/version.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr tg::extent elements = 16 * 1024 * 1024;
constexpr auto x = tg::placeholder<"x", float, elements>();

int main(int count, char** arguments) {
  const peers::options options(count, arguments);
  const auto y = (tg::maximum(tg::abs(x * 1.5f + 0.25f) - x, 0.1f) * x + 0.75f) * 0.5f;
  const auto last = tg::slice<tg::range{elements - 1, elements}>(y);
  const auto program = tg::compile([=] { return tg::outputs(last); });
  tg::session session(program, {.seed = 42, .intra_op_threads = options.threads});
  tg::tensor<float> input(tg::shape{elements});
  for (tg::extent i = 0; i < elements; ++i)
    input.data()[i] = -2 + 4 * static_cast<float>(i) / static_cast<float>(elements - 1);
  return peers::serve(
      TAGMA_VERSION, [&](std::int64_t) { return static_cast<double>(session.run(last, x = input).data()[0]); }, 2);
}
