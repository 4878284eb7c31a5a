// SPDX-License-Identifier: BSL-1.0
// Bytes that are an element of a dataset are, written again, the same bytes; others are refused, and no memory is asked
// for that they do not fill.
#include "tagma/data/element_bytes.hpp"

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fuzz/fuzz.hpp"

namespace {

namespace fuzz = tagma::fuzz;
namespace ds = tagma::datasets;
using row = std::tuple<bool, std::string, tagma::tensor<float>, std::vector<std::pair<std::int64_t, std::string>>,
                       std::vector<tagma::tensor<std::uint8_t>>>;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::text_of(data, size);
  ds::detail::bytes_reader from(bytes);
  row element;
  try {
    ds::detail::element_bytes<row>::take(from, element);
  } catch (const tagma::error& e) {
    fuzz::expect_error(e, {tagma::status_code::data_loss}, "");
    return 0;
  }
  std::string again;
  ds::detail::element_bytes<row>::put(again, element);
  fuzz::expect(bytes.substr(0, size - from.left()) == again, "what is written is what was read");
  return 0;
}
