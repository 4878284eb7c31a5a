// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What errors call the texts that kernels take apart.

#include <string>
#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"

namespace tagma::device::cpu::detail {

/// Keys of the texts in input 0 of an operation, or without keys their numbers.
class names_of_records {
 public:
  /// Throws InvalidArgument where there are keys, and not as many as texts.
  /// @param operands before the keys, which are the last input, if they are there
  names_of_records(const kernel_args& args, std::size_t operands);

  /// The key of a text; empty where there is none.
  [[nodiscard]] std::string_view key(std::size_t i) const;
  /// @param what the word before a number: "message"
  [[nodiscard]] std::string name(std::string_view what, std::size_t i) const;

 private:
  const string_element* keys_ = nullptr;
};

}  // namespace tagma::device::cpu::detail

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/kernel/records.ipp"
#endif
