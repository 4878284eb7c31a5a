// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E261
// mentions: libpng
#ifdef REJECT
#undef TAGMA_WITH_PNG
#endif
#include "tagma/images.hpp"

int main() {
#if defined(REJECT) || (defined(TAGMA_WITH_PNG) && TAGMA_WITH_PNG)
  (void)tagma::io::decode_png("");
#endif
}
