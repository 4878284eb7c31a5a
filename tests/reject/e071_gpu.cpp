// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E071
// mentions: identity
// mentions: /device:GPU:0
// mentions: there_are<
// mentions: /device:CPU:0
#include "tagma/fake_gpu.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto word = tg::placeholder<"word", tg::string_element>();

int main() {
#ifdef REJECT
  const auto y = tg::on<tg::gpu<0>>(tg::identity(word));
#else
  const auto y = tg::on<tg::cpu<0>>(tg::identity(word));
#endif
  tg::session session(tg::compile([=] { return tg::outputs(y); }), {.gpu = {.memory_fraction = 0.1}});
  session.run(y, word = std::string("text"));
}
