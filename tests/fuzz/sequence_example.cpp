// SPDX-License-Identifier: BSL-1.0
// The lists of a sequence example that is read are, written and read again, the same.
#include "tagma/io/sequence_example.hpp"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/fuzz.hpp"

namespace {

namespace fuzz = tagma::fuzz;
namespace io = tagma::io;
using tagma::status_code;

template <class T>
std::vector<T> values(const io::sequence_example& e, const io::feature& f) {
  std::vector<T> found(f.count);
  e.copy(f, found.data());
  return found;
}
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  if constexpr (std::is_same_v<T, std::string_view>)
    return a == b;
  else
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}
template <class Visit>
void with_values(const io::sequence_example& e, const io::feature& f, const Visit& visit) {
  if (f.kind == io::feature_kind::floats) visit(values<float>(e, f));
  if (f.kind == io::feature_kind::integers) visit(values<std::int64_t>(e, f));
  if (f.kind == io::feature_kind::bytes) visit(values<std::string_view>(e, f));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(fuzz::text_of(data, size));
  try {
    const io::sequence_example first(bytes, "f:0");
    io::sequence_example_writer to;
    std::size_t lists = 0;
    for (const io::feature_list& list : first.lists()) {
      fuzz::expect(list.steps <= size, "a list has no more steps than its message has bytes");
      if (first.find(list.name) != &list) continue;
      ++lists;
      to.add_list(list.name);
      for (const io::feature& step : first.steps(list)) {
        fuzz::expect(step.name == list.name && step.count <= size, "a step is one of its list");
        if (step.kind == io::feature_kind::none) to.add_step(list.name, std::vector<float>{});
        with_values(first, step, [&](const auto& found) { to.add_step(list.name, found); });
      }
    }
    const std::string again = to.message();
    const io::sequence_example second(again, "g");
    fuzz::expect(second.lists().size() == lists, "lists are written and read");
    for (const io::feature_list& list : second.lists()) {
      const io::feature_list* const before = first.find(list.name);
      fuzz::expect(before != nullptr && before->steps == list.steps, "a list has the same steps");
      for (std::size_t i = 0; i < list.steps; ++i) {
        const io::feature &a = first.steps(*before)[i], &b = second.steps(list)[i];
        fuzz::expect(a.count == b.count, "a step has as many values");
        with_values(first, a, [&](const auto& found) {
          with_values(second, b, [&](const auto& other) {
            if constexpr (std::is_same_v<decltype(found), decltype(other)>)
              fuzz::expect(same(found, other), "the values of a step are the same");
            else
              fuzz::expect(false, "a step is of the same kind");
          });
        });
      }
    }
  } catch (const tagma::error& e) {
    fuzz::expect_error(e, {status_code::data_loss}, "f:0");
  }
  return 0;
}
