// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Which number of the running program a record takes.

#include "tagma/ir/record.hpp"

namespace tagma::ir::detail {

/// The numbers of the records that take a value of the running program.
class value_numbers {
 public:
  constexpr explicit value_numbers(array_view<const record* const> owners) : owners_(owners) {
    while (size_ < 2 * owners.size()) size_ *= 2;
    slots_ = new std::int32_t[size_]();
    for (std::size_t i = 0; i < owners.size(); ++i) slots_[slot(*owners[i])] = static_cast<std::int32_t>(i) + 1;
  }
  value_numbers(const value_numbers&) = delete;
  value_numbers& operator=(const value_numbers&) = delete;
  constexpr ~value_numbers() { delete[] slots_; }

  [[nodiscard]] constexpr std::int32_t number(const record& owner) const { return slots_[slot(owner)] - 1; }

 private:
  [[nodiscard]] constexpr std::size_t slot(const record& r) const {
    std::size_t i = static_cast<std::size_t>(r.hash) & (size_ - 1);
    while (slots_[i] != 0 && owners_[slots_[i] - 1] != &r) i = (i + 1) & (size_ - 1);
    return i;
  }

  array_view<const record* const> owners_;
  std::size_t size_ = 1;
  std::int32_t* slots_ = nullptr;
};

}  // namespace tagma::ir::detail
