// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of build_info.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/build_info.hpp"

namespace tagma {

TAGMA_DECL std::string build_info() {
  std::string text = "tagma " TAGMA_VERSION ", " TAGMA_COMPILER;
  text += ", matrix products by " + std::string(device::cpu::gemm_library());
#if defined(__aarch64__)
  text += ", loops for NEON";
#else
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
  text += ", loops for AVX-512";
#else
#if defined(__AVX2__) && defined(__FMA__)
  constexpr bool everywhere = true;
#else
  constexpr bool everywhere = false;
#endif
  const device::cpu::level best = device::cpu::best_level();
  text += everywhere || best != device::cpu::level::baseline ? ", loops for AVX2 and FMA" : ", loops for the baseline";
  if (best == device::cpu::level::v4) text += ", long ones for AVX-512";
#endif
#endif
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
#if defined(TAGMA_WITH_ASIO) && TAGMA_WITH_ASIO
  add_part("Boost.Asio");
#endif
#if defined(TAGMA_WITH_TLS) && TAGMA_WITH_TLS
  add_part("OpenSSL");
#endif
  (void)add_part;
  return text + parts;
}

}  // namespace tagma
