// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a fuzzer is: the function below, called with one input after the other by libFuzzer, or by replay.cpp with
/// those of a folder. An input that shows a mistake ends the program.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

#include "tagma/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace tagma::fuzz {

[[nodiscard]] inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Ends the program unless `good`.
inline void expect(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

/// Ends the program unless an error has one of these codes and mentions `thing`.
inline void expect_error(const error& e, std::initializer_list<status_code> codes, std::string_view thing) {
  bool known = false;
  for (const status_code code : codes) known = known || e.code() == code;
  if (!known || std::string_view(e.what()).find(thing) == std::string_view::npos) {
    std::fprintf(stderr, "an error without name or with another code: %s\n", e.what());
    std::abort();
  }
}

}  // namespace tagma::fuzz
