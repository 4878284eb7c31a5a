// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What this program was compiled with, for reports of errors and of measurements.

#include <string>

#include "tagma/base/config.hpp"
#include "tagma/base/version.hpp"
#include "tagma/device/cpu/gemm.hpp"
#include "tagma/device/cpu/topology.hpp"

namespace tagma {

/// One line: the version, the compiler, the library behind matrix products, the instruction set that loops use on this
/// machine, the threads that a session starts by default, and the optional parts that are compiled in.
[[nodiscard]] inline std::string build_info() {
  std::string text = "tagma " TAGMA_VERSION ", " TAGMA_COMPILER;
  text += ", matrix products by " + std::string(device::cpu::gemm_library());
#if defined(__AVX2__) && defined(__FMA__)
  constexpr bool everywhere = true;
#else
  constexpr bool everywhere = false;
#endif
  text += everywhere || device::cpu::best_level() == device::cpu::level::v3 ? ", loops for AVX2 and FMA"
                                                                            : ", loops for the baseline";
  const int threads = device::cpu::available_cpus();
  text += ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  std::string parts;
  const auto add_part = [&parts](const char* name) { parts += (parts.empty() ? "; with " : ", ") + std::string(name); };
#if defined(TAGMA_WITH_ZLIB) && TAGMA_WITH_ZLIB
  add_part("zlib");
#endif
#if defined(TAGMA_WITH_PNG) && TAGMA_WITH_PNG
  add_part("libpng");
#endif
#if defined(TAGMA_WITH_JPEG) && TAGMA_WITH_JPEG
  add_part("libjpeg");
#endif
  (void)add_part;
  return text + parts;
}

}  // namespace tagma
