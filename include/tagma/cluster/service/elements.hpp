// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Elements of tensors in the bulk of a message: numbers as they lie in memory; of texts the offsets of their ends, of
/// eight bytes each, and then their characters.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/array_view.hpp"
#include "tagma/base/config.hpp"
#include "tagma/tensor/view.hpp"

namespace tagma::service {

/// Elements of several tensors stand one behind the other, each at a multiple of so many bytes.
inline constexpr std::uint64_t bulk_alignment = 64;
/// Where the elements of the next tensor begin.
[[nodiscard]] constexpr std::uint64_t aligned(std::uint64_t at) {
  return (at + bulk_alignment - 1) / bulk_alignment * bulk_alignment;
}

/// Texts as they are written: where each ends, and their characters.
struct text_elements {
  const char* ends = nullptr;
  const char* characters = nullptr;
  std::uint64_t count = 0;
  /// Their views.
  void write(std::string_view* to) const;
};

/// Adds the elements of a tensor behind those of others.
void add_elements(std::string& to, const raw_view& tensor);

/// Takes the elements of one tensor after the other.
class elements_reader {
 public:
  /// @param bulk lives as long as what is taken
  explicit elements_reader(array_view<const std::byte> bulk) : bulk_(bulk) {}
  elements_reader(const elements_reader&) = delete;
  elements_reader& operator=(const elements_reader&) = delete;

  /// The next ones, which live as long as this does. Throws InvalidArgument if the bulk has too few bytes, or none that
  /// are texts.
  /// @param spec without open extents; type `none` has no elements
  [[nodiscard]] raw_view take(const tensor_spec& spec);
  /// The same of texts, without views of them.
  [[nodiscard]] text_elements take_texts(const tensor_spec& spec);
  /// Throws InvalidArgument if bytes are left.
  void end() const;

 private:
  array_view<const std::byte> bulk_;
  std::uint64_t at_ = 0;
  std::deque<std::vector<std::string_view>> texts_;
};

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/elements.ipp"
#endif
