// SPDX-License-Identifier: BSL-1.0
// Records that are read are, written again, the bytes that they were read from. A fuzzer finds no checksums, so a
// second file is made of the input: the checksums of its records are put right.
#include "tagma/io/tf_record.hpp"

#include <string>
#include <vector>

#include "fuzz/fuzz.hpp"

namespace {

namespace fuzz = tagma::fuzz;
namespace io = tagma::io;
using tagma::status_code;

void read(const std::string& bytes) {
  std::string again;
  io::tf_record_writer to{io::string_sink(again)};
  io::tf_record_reader in(io::buffered_reader(io::memory_source(bytes, "f"), 1 + bytes.size() % 5));
  bool ended = true;
  try {
    for (std::string_view value; in.next(value);) {
      to.flush();
      fuzz::expect(in.key() == "f:" + std::to_string(again.size()), "a key is the offset");
      to.write(value);
    }
  } catch (const tagma::error& e) {
    ended = false;
    fuzz::expect_error(e, {status_code::data_loss}, "f: ");
  }
  to.close();
  fuzz::expect(bytes.starts_with(again) && (!ended || again.size() == bytes.size()),
               "what is written is what was read");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(fuzz::text_of(data, size));
  read(bytes);
  const auto put = [&](std::size_t at, std::size_t first, std::size_t count) {
    if (at + 4 > bytes.size()) return;
    const std::uint32_t crc = io::mask_crc(io::crc32c(std::string_view(bytes).substr(first, count)));
    io::detail::put_little_endian<4>(bytes.data() + at, crc);
  };
  for (std::size_t at = 0; at + 12 <= bytes.size();) {
    put(at + 8, at, 8);
    const std::uint64_t length = io::detail::little_endian<8>(bytes.data() + at);
    if (length > bytes.size() - at) break;
    put(at + 12 + length, at + 12, static_cast<std::size_t>(length));
    at += 16 + length;
  }
  read(bytes);
  return 0;
}
