// SPDX-License-Identifier: BSL-1.0
// A file that is read has tensors that fill it, one after the other, each found by its name; written again, it is read
// as the same.
#include "tagma/io/safetensors.hpp"

#include <cstring>

#include "fuzz/fuzz.hpp"
#include "support/memory_file.hpp"

namespace {

namespace fuzz = tagma::fuzz;
namespace st = tagma::safetensors;
using tagma::status_code;

template <class T>
void load(const st::file& file, const st::stored_tensor& entry) {
  if (entry.type != tagma::dtype_of<T>) return;
  const tagma::tensor<T> loaded = file.load<T>(entry.name);
  fuzz::expect(loaded.dims() == entry.dims && loaded.size() * sizeof(T) == entry.bytes, "a copy has shape and bytes");
  fuzz::expect(entry.bytes == 0 || std::memcmp(loaded.data(), entry.data, entry.bytes) == 0, "and the same elements");
}

/// The file that `write` would make of a sound one, if tagma knows all its element types.
void write_again(const st::file& file) {
  std::vector<st::named_tensor> tensors;
  for (const st::stored_tensor& entry : file.entries()) {
    if (entry.type == tagma::dtype::none) return;
    tensors.push_back({entry.name, entry.type, entry.dims, entry.data});
  }
  st::metadata texts = file.metadata();
  if (!texts.contains("format") && texts.size() == st::max_texts) return;
  const st::detail::encoded again = st::detail::encode(file.path(), tensors, texts);
  std::string bytes = again.begin;
  for (const std::string_view piece : again.tensors) bytes += piece;
  const tagma::test::memory_file copy(bytes);
  const st::file second(copy.path());
  texts.try_emplace("format", "pt");
  fuzz::expect(second.metadata() == texts, "texts are written and read");
  fuzz::expect(second.entries().size() == file.entries().size(), "tensors are written and read");
  for (const st::stored_tensor& entry : file.entries()) {
    const st::stored_tensor* const found = second.find(entry.name);
    fuzz::expect(found != nullptr && found->type == entry.type && found->dims == entry.dims &&
                     found->bytes == entry.bytes &&
                     (entry.bytes == 0 || std::memcmp(found->data, entry.data, entry.bytes) == 0),
                 "a tensor is written and read");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tagma::test::memory_file input(fuzz::text_of(data, size));
  try {
    const st::file file(input.path());
    std::size_t bytes = 0;
    const auto* at = static_cast<const std::uint8_t*>(file.entries().empty() ? nullptr : file.entries()[0].data);
    for (const st::stored_tensor& entry : file.entries()) {
      fuzz::expect(file.find(entry.name) == &entry, "a tensor is found by its name");
      fuzz::expect(entry.data == at + bytes, "a tensor begins where the one before it ends");
      bytes += entry.bytes;
      load<double>(file, entry), load<float>(file, entry), load<tagma::float16>(file, entry);
      load<tagma::bfloat16>(file, entry), load<std::int64_t>(file, entry), load<std::int32_t>(file, entry);
      load<std::int16_t>(file, entry), load<std::int8_t>(file, entry), load<std::uint8_t>(file, entry);
      load<bool>(file, entry);
    }
    std::uint64_t header = 0;
    std::memcpy(&header, data, 8);
    fuzz::expect(8 + header + bytes == size, "header and tensors are all of a file");
    fuzz::expect(bytes == 0 || std::memcmp(at, data + 8 + header, bytes) == 0, "the bytes are those of the file");
    write_again(file);
  } catch (const tagma::error& e) {
    fuzz::expect_error(e, {status_code::data_loss, status_code::invalid_argument, status_code::resource_exhausted},
                       input.path());
  }
  return 0;
}
