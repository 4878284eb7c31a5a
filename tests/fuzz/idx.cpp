// SPDX-License-Identifier: BSL-1.0
// A file that is read as IDX has a header of its shape and then its elements, and nothing else.
#include "tagma/io/idx.hpp"

#include "fuzz/fuzz.hpp"
#include "support/memory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tagma::test::memory_file file(tagma::fuzz::text_of(data, size));
  try {
    const tagma::tensor<std::uint8_t> read = tagma::read_idx(file.path());
    if (size >= 2 && data[0] == 0x1f && data[1] == 0x8b) return 0;  // compressed; see gzip.cpp
    const std::size_t header = 4 + 4 * static_cast<std::size_t>(read.dims().rank);
    tagma::fuzz::expect(header + read.size() == size, "header and elements are all of a file");
    for (std::size_t i = 0; i < read.size(); ++i)
      tagma::fuzz::expect(read.data()[i] == data[header + i], "elements are those of the file");
  } catch (const tagma::error& e) {
    tagma::fuzz::expect_error(
        e,
        {tagma::status_code::data_loss, tagma::status_code::invalid_argument, tagma::status_code::resource_exhausted,
         tagma::status_code::unimplemented},  // compressed, without zlib
        file.path());
  }
  return 0;
}
