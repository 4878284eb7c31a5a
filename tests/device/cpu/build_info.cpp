// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/build_info.hpp"

#include <catch2/catch.hpp>
#include <string>

TEST_CASE("one line says what the program was compiled with") {
  const std::string text = tagma::build_info();
  INFO(text);
  const auto contains = [&text](const std::string& part) { return text.find(part) != std::string::npos; };
  CHECK(text.starts_with("tagma " TAGMA_VERSION ", "));
  CHECK(!contains("\n"));
#if defined(__clang__)
  CHECK(contains(", clang " + std::to_string(__clang_major__) + "."));
#else
  CHECK(contains(", g++ " + std::to_string(__GNUC__) + "."));
#endif
#if defined(TAGMA_WITH_ONEDNN) && TAGMA_WITH_ONEDNN
  CHECK(contains(", matrix products by oneDNN " + std::to_string(DNNL_VERSION_MAJOR) + "." +
                 std::to_string(DNNL_VERSION_MINOR) + ", "));
#else
#if defined(__x86_64__)
  CHECK(contains(", matrix products by own loops, "));
#else
  CHECK(contains(", matrix products by Eigen, "));
#endif
#endif
#if defined(__aarch64__)
  CHECK(contains(", loops for NEON, "));
#else
  CHECK(contains(", loops for AVX2 and FMA, ") + contains(", loops for AVX-512, ") +
            contains(", loops for the baseline, ") ==
        1);
#endif
  CHECK(contains(", " + std::to_string(tagma::device::cpu::available_cpus()) + " thread"));
#if defined(TAGMA_WITH_ZLIB) && TAGMA_WITH_ZLIB
  CHECK(contains("zlib"));
#else
  CHECK(!contains("zlib"));
#endif
#if defined(TAGMA_WITH_PNG) && TAGMA_WITH_PNG
  CHECK(contains("libpng"));
#else
  CHECK(!contains("libpng"));
#endif
#if defined(TAGMA_WITH_JPEG) && TAGMA_WITH_JPEG
  CHECK(contains("libjpeg"));
#else
  CHECK(!contains("libjpeg"));
#endif
#if defined(TAGMA_WITH_ASIO) && TAGMA_WITH_ASIO
  CHECK(contains("Boost.Asio"));
#else
  CHECK(!contains("Boost.Asio"));
#endif
#if defined(TAGMA_WITH_TLS) && TAGMA_WITH_TLS
  CHECK(contains("OpenSSL"));
#else
  CHECK(!contains("OpenSSL"));
#endif
}
