// SPDX-License-Identifier: BSL-1.0
// An array that is read is, written and read again, the same; an input that is an archive is read as one.
#include "tagma/io/npy.hpp"

#include <cstring>

#include "fuzz/fuzz.hpp"
#include "support/memory_file.hpp"
#include "tagma/io/npz.hpp"

namespace {

namespace fuzz = tagma::fuzz;
namespace io = tagma::io;
using tagma::status_code;

template <class Read>
void attempt(const Read& read, std::string_view name) {
  try {
    read();
  } catch (const tagma::error& e) {
    fuzz::expect_error(e,
                       {status_code::data_loss, status_code::invalid_argument, status_code::resource_exhausted,
                        status_code::unimplemented},
                       name);
  }
}

template <class T>
void check(std::string_view bytes) {
  attempt(
      [&] {
        const tagma::tensor<T> read = io::read_npy<T>(io::memory_source(bytes, "f"));
        std::string again = io::npy_header_of(tagma::dtype_of<T>, read.dims());
        again.append(reinterpret_cast<const char*>(read.data()), read.size() * sizeof(T));
        const tagma::tensor<T> second = io::read_npy<T>(io::memory_source(again, "g"));
        fuzz::expect(second.dims() == read.dims() &&
                         again.ends_with(
                             std::string_view(reinterpret_cast<const char*>(second.data()), second.size() * sizeof(T))),
                     "an array is written and read");
      },
      "f");
}

void check_texts(std::string_view bytes) {
  attempt(
      [&] {
        const auto texts = io::read_npy<std::string_view>(io::memory_source(bytes, "f"));
        for (const std::string_view t : texts) {
          fuzz::expect(t.size() <= bytes.size(), "a text is no longer than its file");
          fuzz::expect(t.empty() || t.back() != '\0', "no zeros are behind a text");
        }
      },
      "f");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::text_of(data, size);
  if (bytes.starts_with("PK")) {
    const tagma::test::memory_file file(bytes);
    const std::string path = file.path();
    attempt(
        [&] {
          const tagma::npz_file archive(path);
          for (const std::string& name : archive.names()) attempt([&] { (void)archive.read<float>(name); }, path);
        },
        path);
    return 0;
  }
  check<double>(bytes), check<float>(bytes), check<tagma::float16>(bytes), check<tagma::bfloat16>(bytes);
  check<std::int64_t>(bytes), check<std::int32_t>(bytes), check<std::int16_t>(bytes), check<std::int8_t>(bytes);
  check<std::uint8_t>(bytes), check<bool>(bytes);
  check_texts(bytes);
  return 0;
}
