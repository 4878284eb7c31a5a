// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Run-time values that travel with expressions: scalars written in place, initial values of variables, schedules.

#include <cstdint>
#include <string>
#include <utility>

#include "tagma/base/atomic.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/shared_bytes.hpp"
#include "tagma/tensor/shape.hpp"

namespace tagma {

/// One run-time value: a number, or a few numbers and bytes whose meaning the owner of the key knows.
struct carried_value {
  double number = 0;         ///< a literal, or the first parameter
  std::int64_t integer = 0;  ///< the same literal as an integer, or a kind
  double second = 0;         ///< a second parameter
  shared_bytes bytes{};      ///< elements of an initial value, or further parameters
  shape dims{};              ///< of an initial value

  friend bool operator==(const carried_value& a, const carried_value& b) {
    return a.number == b.number && a.integer == b.integer && a.second == b.second && a.bytes == b.bytes &&
           a.dims == b.dims;
  }
};

/// The values that an expression carries, each under the address that names its place. Immutable and shared, so that a
/// handle is one pointer whatever it carries.
class carried {
 public:
  carried() = default;
  TAGMA_COLD carried(const void* key, carried_value value) : first_(new entry{{1}, key, std::move(value), nullptr}) {}
  carried(const carried& other) noexcept : first_(keep(other.first_)) {}
  carried(carried&& other) noexcept : first_(other.first_) { other.first_ = nullptr; }
  carried& operator=(carried other) noexcept {
    entry* const mine = first_;
    first_ = other.first_;
    other.first_ = mine;
    return *this;
  }
  ~carried() { drop(first_); }

  /// All values of both. The same key with two values is an error: the types of the two expressions are equal, so the
  /// compiler cannot tell them apart.
  [[nodiscard]] TAGMA_COLD static carried merge(const carried& a, const carried& b) {
    carried all = a;
    if (a.first_ == b.first_) return all;
    for (const entry* e = b.first_; e != nullptr; e = e->next) {
      const carried_value* known = a.find(e->key);
      if (known == nullptr)
        all.first_ = new entry{{1}, e->key, e->value, all.first_};
      else if (!(*known == e->value))
        conflict(*known, e->value);
    }
    return all;
  }

  /// The value under a key, or nullptr.
  [[nodiscard]] TAGMA_COLD const carried_value* find(const void* key) const {
    for (const entry* e = first_; e != nullptr; e = e->next)
      if (e->key == key) return &e->value;
    return nullptr;
  }

 private:
  /// A value in a list whose ends are shared by many lists.
  struct entry {
    atomic<std::size_t> owners;
    const void* key;
    carried_value value;
    entry* next;
  };

  static entry* keep(entry* e) {
    if (e != nullptr) e->owners.fetch_add(1, memory_order::relaxed);
    return e;
  }
  TAGMA_COLD static void drop(entry* e) {
    while (e != nullptr && e->owners.fetch_sub(1, memory_order::acq_rel) == 1) {
      entry* const next = e->next;
      delete e;
      e = next;
    }
  }
  [[noreturn]] TAGMA_COLD static void conflict(const carried_value& a, const carried_value& b) {
    fail(status_code::invalid_argument,
         {"one place of an expression has two values, ", std::to_string(a.number), " and ", std::to_string(b.number),
          ": the same line built both expressions, so their types are equal; name the value with "
          "tagma::constant<\"name\">(value), or write the two expressions on two lines"});
  }

  entry* first_ = nullptr;
};

}  // namespace tagma
