// SPDX-License-Identifier: BSL-1.0
// Calls a fuzzer with every file of a folder: `fuzz_json tests/fuzz/corpus/json`, without libFuzzer.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "fuzz/fuzz.hpp"
#include "tagma/base/file.hpp"

int main(int argc, char** argv) {
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i)
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    std::fprintf(stderr, "%s\n", file.c_str());  // the last one is at fault if the program ends
    const std::string content = tagma::read_file(file);
    // A copy without a byte behind it, so that a sanitizer sees who reads further.
    const std::vector<std::uint8_t> input(content.begin(), content.end());
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%zu inputs\n", files.size());
  return files.empty() ? 1 : 0;
}
