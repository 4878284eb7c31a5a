// SPDX-License-Identifier: BSL-1.0
// An index that is read is written in one way, which is read as the same index, and names files beside it alone.
#include "tagma/io/safetensors_index.hpp"
#include "fuzz/fuzz.hpp"

namespace fuzz = tagma::fuzz;
namespace safetensors = tagma::safetensors;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  try {
    const safetensors::index read = safetensors::index_from_json(text, "input");
    for (const auto& [tensor, file] : read.files)
      fuzz::expect(file.find('/') == std::string::npos && file != "..", "files are beside the index");
    const std::string written = safetensors::to_json(read);
    const safetensors::index again = safetensors::index_from_json(written, "again");
    fuzz::expect(again.files == read.files && again.texts == read.texts && again.total_size == read.total_size,
                 "what is written is read as the same");
  } catch (const tagma::error& e) {
    fuzz::expect_error(e, {tagma::status_code::data_loss}, "input");
  }
  return 0;
}
