// SPDX-License-Identifier: BSL-1.0
// An example that is read is, written and read again, the same.
#include "tagma/io/example.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "fuzz/fuzz.hpp"

namespace {

namespace fuzz = tagma::fuzz;
namespace io = tagma::io;
using tagma::status_code;

template <class T>
std::vector<T> values(const io::example& e, const io::feature& f) {
  std::vector<T> found;
  fuzz::expect(e.append(f.name, found) == f.count && found.size() == f.count,
               "a feature has as many values as it says");
  return found;
}
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(fuzz::text_of(data, size));
  try {
    const io::example first(bytes, "f:0");
    io::example_writer to;
    std::size_t count = 0;
    const auto with_each = [](const io::example& e, const auto& visit) {
      for (const io::feature& f : e.features())
        if (e.find(f.name) == &f) visit(f);
    };
    with_each(first, [&](const io::feature& f) {
      ++count;
      if (f.kind == io::feature_kind::floats) to.add(f.name, values<float>(first, f));
      if (f.kind == io::feature_kind::integers) to.add(f.name, values<std::int64_t>(first, f));
      if (f.kind == io::feature_kind::bytes) to.add(f.name, values<std::string_view>(first, f));
    });
    const std::string again = to.message();
    const io::example second(again, "g");
    fuzz::expect(second.features().size() == count, "features are written and read");
    with_each(second, [&](const io::feature& f) {
      const io::feature* const before = first.find(f.name);
      fuzz::expect(before != nullptr && before->kind == f.kind && before->count == f.count, "a feature is the same");
      if (f.kind == io::feature_kind::floats)
        fuzz::expect(same(values<float>(first, *before), values<float>(second, f)), "its floats are the same");
      if (f.kind == io::feature_kind::integers)
        fuzz::expect(same(values<std::int64_t>(first, *before), values<std::int64_t>(second, f)), "its integers, too");
      if (f.kind == io::feature_kind::bytes)
        fuzz::expect(values<std::string_view>(first, *before) == values<std::string_view>(second, f), "and its bytes");
    });
  } catch (const tagma::error& e) {
    fuzz::expect_error(e, {status_code::data_loss}, "f:0");
  }
  return 0;
}
