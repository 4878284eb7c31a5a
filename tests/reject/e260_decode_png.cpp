// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E260
// mentions: float
#include "tagma/images.hpp"

int main() {
#if defined(REJECT)
  (void)tagma::io::decode_png<float>("");
#elif defined(TAGMA_WITH_PNG) && TAGMA_WITH_PNG
  (void)tagma::io::decode_png<std::int32_t>("");
#endif
}
