// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E262
// mentions: libjpeg
#ifdef REJECT
#undef TAGMA_WITH_JPEG
#endif
#include "tagma/images.hpp"

int main() {
#if defined(REJECT) || (defined(TAGMA_WITH_JPEG) && TAGMA_WITH_JPEG)
  (void)tagma::io::decode_jpeg("");
#endif
}
