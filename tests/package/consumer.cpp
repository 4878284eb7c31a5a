// SPDX-License-Identifier: BSL-1.0
// What a consumer's build must make possible, whichever way it found the library.
#include <tagma/tagma.hpp>

#include <cstdio>
#include <cstring>

#if !defined(TAGMA_WITH_ONEDNN) && !defined(TAGMA_WITH_EIGEN)
#error "no math library reached the consumer"
#endif

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::printf("tagma %s, expected %s\n", TAGMA_VERSION, argv[1]);
  return std::strcmp(TAGMA_VERSION, argv[1]) == 0 ? 0 : 1;
}
