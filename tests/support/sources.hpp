// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Sources of bytes that are awkward for who reads them.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tagma/io/record.hpp"

namespace tagma::test {

/// Gives at most `piece` bytes at a time, and does not say how many there are.
class trickle {
 public:
  explicit trickle(std::string bytes, std::size_t piece = 1, std::string name = "trickle")
      : bytes_(std::move(bytes)), name_(std::move(name)), piece_(piece) {}

  std::size_t read(std::span<std::byte> to) {
    const std::size_t n = std::min({piece_, to.size(), bytes_.size() - at_});
    std::memcpy(to.data(), bytes_.data() + at_, n);
    at_ += n;
    return n;
  }
  [[nodiscard]] std::string_view name() const { return name_; }

 private:
  std::string bytes_, name_;
  std::size_t piece_, at_ = 0;
};

/// The records that are left.
template <io::record_reader R>
[[nodiscard]] std::vector<io::record> all_of(R&& reader) {
  std::vector<io::record> records;
  io::record one;
  while (read(reader, one)) records.push_back(one);
  return records;
}

}  // namespace tagma::test
