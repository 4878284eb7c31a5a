// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Run-time values that travel with expressions: scalars written in place, initial values of variables, schedules.
///
/// A handle carries them in the shape of its expression: a value, or a list of what several operands carry; what one
/// operand alone carries is handed on as it is. The compiler knows the same shape of the types (graph/survey.hpp), so
/// values need no names: a program finds each by walking both side by side, whichever file of a program made them.

#include <cstdint>
#include <string>
#include <utility>

#include "tagma/base/array_view.hpp"
#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/base/shared_bytes.hpp"
#include "tagma/tensor/spec.hpp"

namespace tagma {

/// One run-time value: a number, or a few numbers and bytes whose meaning the node that takes it knows.
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

/// What an expression carries: nothing, a value, or parts. Immutable and shared, so that a handle is one pointer
/// whatever it carries.
class carried {
 public:
  carried() = default;
  explicit carried(const carried_value& value);
  /// A literal.
  carried(double number, std::int64_t integer);
  carried(const carried& other) noexcept : node_(keep(other.node_)) {}
  carried(carried&& other) noexcept : node_(other.node_) { other.node_ = nullptr; }
  carried& operator=(carried other) noexcept;
  ~carried();

  /// What several operands carry, in their order.
  [[nodiscard]] static carried join(array_view<const carried* const> parts);

  /// True if nothing is carried.
  [[nodiscard]] bool empty() const { return node_ == nullptr; }
  [[nodiscard]] const carried_value& value() const { return node_->value; }
  [[nodiscard]] array_view<const carried> parts() const;
  /// The value of part `i`; nullptr if there is none.
  [[nodiscard]] const carried_value* find(std::int32_t i) const;
  /// Names what is carried; equal for copies.
  [[nodiscard]] const void* identity() const { return node_; }

 private:
  struct node {
    atomic<std::size_t> owners;
    carried_value value;
    heap_array<carried> parts;
    node* next;  ///< in the list of those that nobody owns any more
  };

  static node* keep(node* n);
  /// True if the last owner went.
  static bool leave(node* n) { return n != nullptr && n->owners.fetch_sub(1, memory_order::acq_rel) == 1; }
  /// Without recursion: expressions may be thousands of operations deep.
  static void drop(node* n);

  node* node_ = nullptr;
};

/// A place in the expressions of a program where values meet: a value of its own, or parts that have some.
struct value_place {
  std::int32_t first = 0;  ///< of its parts, in a list of places
  std::int32_t count = 0;  ///< 0: it is a value
  std::int32_t value = 0;  ///< the number of the value
  std::string_view name{};
  std::string_view reader{};  ///< the operation that takes a value, of those that were found the first one
  tensor_spec result{};       ///< of that operation; by value, since an address would bring all that is known of it
};

/// How the values of a program are found: the shape of what its outputs carry.
struct value_places {
  array_view<const value_place> places;
  array_view<const std::int32_t> parts;
  std::int32_t root = -1;  ///< -1: nothing is carried
  std::size_t values = 0;
};

namespace detail {
/// A number as an error tells it: "0.500000".
struct number_text {
  explicit number_text(double number);
  char text[320];
};
}  // namespace detail

/// Throws the error of a place with two values.
[[noreturn]] void refuse_two_values(const value_place& place, const carried_value& one, const carried_value& other);

/// The values of a program by number: part i is value i.
/// @param all what the outputs carry
/// Throws InvalidArgument if one place has two values: the same line built both expressions, so that their types are
/// equal and the compiler cannot tell them apart.
[[nodiscard]] carried gather_values(const value_places& shape_of, const carried& all);

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/expr/carried.ipp"
#endif
