// SPDX-License-Identifier: BSL-1.0
// Reads the input as a CSV file of texts, which written in quotes is read as the same; and as one of numbers.
#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/fuzz.hpp"
#include "tagma/io/csv.hpp"
#include "tagma/io/csv_reader.hpp"

namespace {

namespace fuzz = tagma::fuzz;
namespace io = tagma::io;
using tagma::status_code;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

/// The fields of a record, as texts; how many there are is found by trying. None if there are none.
std::vector<std::string> fields_of(std::string_view record, const std::string& key) {
  const auto most = static_cast<std::size_t>(std::count(record.begin(), record.end(), ',')) + 1;
  for (std::size_t count = 1; count <= most && !record.empty(); ++count) {
    io::csv_decoder decoder(std::vector<io::csv_field>(count, io::csv_default(std::string())), {});
    std::vector<std::string_view> texts(count);
    std::vector<void*> to;
    for (std::string_view& t : texts) to.push_back(&t);
    try {
      decoder.decode(record, to, {key});
      return {texts.begin(), texts.end()};
    } catch (const tagma::error& e) {
      fuzz::expect_error(e, {status_code::invalid_argument}, key);
      if (std::string_view(e.what()).find(" fields, expected ") == std::string_view::npos) break;
    }
  }
  return {};
}

template <class T>
void check_numbers(std::string_view record, const std::string& key) {
  T first{}, second{};
  void* const to[] = {&first, &second};
  io::csv_decoder decoder({io::csv_default(T{7}), io::csv_required<T>()}, {.delimiter = ';', .na_value = "NA"});
  try {
    decoder.decode(record, to, {key});
  } catch (const tagma::error& e) {
    fuzz::expect_error(e, {status_code::invalid_argument}, key);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  io::csv_reader in(io::buffered_reader(io::memory_source(text, "f"), 1 + size % 7), {.max_record_bytes = 10'000});
  try {
    for (std::string_view record; in.next(record);) {
      const std::string key = in.key(), copy(record);
      fuzz::expect(text.find(record) != text.npos, "a record is a part of the file");
      check_numbers<float>(copy, key), check_numbers<double>(copy, key);
      check_numbers<std::int32_t>(copy, key), check_numbers<std::int64_t>(copy, key);
      const std::vector<std::string> fields = fields_of(copy, key);
      if (fields.empty()) continue;
      std::string again;
      for (const std::string& field : fields) (again += again.empty() ? "" : ",") += quoted(field);
      fuzz::expect(fields_of(again, key) == fields, "fields in quotes are the same");
      const std::string two = again + "\r\n" + again;
      io::csv_reader both(io::memory_source(two, "g"));
      std::string_view one;
      for (int i = 0; i < 2; ++i) fuzz::expect(both.next(one) && one == again, "records in quotes are the same");
      fuzz::expect(!both.next(one), "and no more");
    }
  } catch (const tagma::error& e) {
    fuzz::expect_error(e, {status_code::invalid_argument, status_code::resource_exhausted}, in.key());
  }
  return 0;
}
