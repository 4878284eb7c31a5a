// SPDX-License-Identifier: BSL-1.0
// What tells the linker how the library was compiled: headers ask for it with TAGMA_NEEDS_LIBRARY.
#include "tagma/base/config.hpp"

#undef TAGMA_NEEDS_LIBRARY
#define TAGMA_NEEDS_LIBRARY(compiled_so) \
  namespace tagma::library {             \
  extern const char compiled_so;         \
  const char compiled_so = 1;            \
  }

#include "tagma/base/library.hpp"
#include "tagma/device/cpu/dispatch.hpp"
#include "tagma/device/cpu/gemm.hpp"
#include "tagma/io/compression.hpp"
#include "tagma/io/jpeg.hpp"
#include "tagma/io/png.hpp"
#include "tagma/transport/asio/network.hpp"
