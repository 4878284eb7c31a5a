// SPDX-License-Identifier: BSL-1.0
// Reads the input as a compressed file of any soundness; and compressed, it is what it is uncompressed.
#include <zlib.h>

#include <optional>
#include <string>

#include "fuzz/fuzz.hpp"
#include "support/memory_file.hpp"
#include "tagma/io/idx.hpp"

namespace {

using tagma::status_code;

/// What a file holds, nothing if it is refused.
std::optional<tagma::tensor<std::uint8_t>> read(std::string_view content) {
  const tagma::test::memory_file file(content);
  try {
    return tagma::read_idx(file.path());
  } catch (const tagma::error& e) {
    tagma::fuzz::expect_error(
        e, {status_code::data_loss, status_code::invalid_argument, status_code::resource_exhausted}, file.path());
    return std::nullopt;
  }
}

std::string packed(std::string_view content) {
  z_stream stream{};
  constexpr int gzip_format = 16 + MAX_WBITS;
  tagma::fuzz::expect(deflateInit2(&stream, 1, Z_DEFLATED, gzip_format, 8, Z_DEFAULT_STRATEGY) == Z_OK,
                      "deflate begins");
  std::string out(deflateBound(&stream, static_cast<uLong>(content.size())) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  tagma::fuzz::expect(deflate(&stream, Z_FINISH) == Z_STREAM_END, "deflate ends");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view content = tagma::fuzz::text_of(data, size);
  const auto plain = read(content);
  if (content.starts_with("\x1f\x8b")) return 0;
  const auto unpacked = read(packed(content));
  tagma::fuzz::expect(plain.has_value() == unpacked.has_value(), "compressed and plain files are refused alike");
  tagma::fuzz::expect(!plain || *plain == *unpacked, "compressed and plain files hold the same");
  return 0;
}
