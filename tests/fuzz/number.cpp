// SPDX-License-Identifier: BSL-1.0
// A number that is read is what the C library reads, where both take the same characters.
#include "tagma/io/number.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

#include "fuzz/fuzz.hpp"

namespace {

template <class F>
void compare(const std::string& text, F (*read)(const char*, char**)) {
  F value{};
  const char* const end = tagma::io::read_number(text.data(), text.data() + text.size(), value);
  if (end == nullptr) return;
  tagma::fuzz::expect(end > text.data() && end <= text.data() + text.size(), "a number has characters");
  char* other_end = nullptr;
  const std::string own(text.data(), end);
  const F other = read(own.c_str(), &other_end);
  tagma::fuzz::expect(other_end == own.c_str() + own.size(), "the C library takes as much");
  if (std::isnan(value) && std::isnan(other)) return;
  tagma::fuzz::expect(std::memcmp(&value, &other, sizeof value) == 0, "and finds the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(tagma::fuzz::text_of(data, size));
  compare<double>(text, std::strtod);
  compare<float>(text, std::strtof);
  return 0;
}
