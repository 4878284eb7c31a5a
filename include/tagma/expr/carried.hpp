// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Run-time values that travel with expressions: scalars written in place, initial values of variables, schedules.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/error.hpp"
#include "tagma/tensor/shape.hpp"

namespace tagma {

/// One run-time value: a number, or a few numbers and bytes whose meaning the owner of the key knows.
struct carried_value {
  double number = 0;                                      ///< a literal, or the first parameter
  std::int64_t integer = 0;                               ///< the same literal as an integer, or a kind
  double second = 0;                                      ///< a second parameter
  std::shared_ptr<const std::vector<double>> list{};      ///< further parameters
  std::shared_ptr<const std::vector<std::byte>> bytes{};  ///< elements of an initial value
  shape dims{};                                           ///< of `bytes`

  friend bool operator==(const carried_value& a, const carried_value& b) {
    const auto same = [](const auto& p, const auto& q) { return p == q || (p && q && *p == *q); };
    return a.number == b.number && a.integer == b.integer && a.second == b.second && same(a.list, b.list) &&
           same(a.bytes, b.bytes) && a.dims == b.dims;
  }
};

/// The values that an expression carries, each under the address that names its place. Immutable and shared, so that a
/// handle is one pointer whatever it carries.
class carried {
 public:
  struct entry {
    const void* key = nullptr;
    carried_value value;
  };

  carried() = default;
  TAGMA_COLD carried(const void* key, carried_value value)
      : entries_(std::make_shared<const std::vector<entry>>(1, entry{key, std::move(value)})) {}

  /// All values of both. The same key with two values is an error: the types of the two expressions are equal, so the
  /// compiler cannot tell them apart.
  [[nodiscard]] TAGMA_COLD static carried merge(const carried& a, const carried& b) {
    if (!b.entries_ || a.entries_ == b.entries_) return a;
    if (!a.entries_) return b;
    std::vector<entry> missing;
    for (const entry& e : *b.entries_) {
      const carried_value* known = a.find(e.key);
      if (known == nullptr)
        missing.push_back(e);
      else if (!(*known == e.value))
        conflict(*known, e.value);
    }
    if (missing.empty()) return a;
    auto merged = std::make_shared<std::vector<entry>>(*a.entries_);
    merged->insert(merged->end(), missing.begin(), missing.end());
    carried result;
    result.entries_ = std::move(merged);
    return result;
  }

  /// The value under a key, or nullptr.
  [[nodiscard]] TAGMA_COLD const carried_value* find(const void* key) const {
    if (entries_)
      for (const entry& e : *entries_)
        if (e.key == key) return &e.value;
    return nullptr;
  }

 private:
  [[noreturn]] TAGMA_COLD static void conflict(const carried_value& a, const carried_value& b) {
    fail(status_code::invalid_argument,
         {"one place of an expression has two values, ", std::to_string(a.number), " and ", std::to_string(b.number),
          ": the same line built both expressions, so their types are equal; name the value with "
          "tagma::constant<\"name\">(value), or write the two expressions on two lines"});
  }

  std::shared_ptr<const std::vector<entry>> entries_;
};

}  // namespace tagma
