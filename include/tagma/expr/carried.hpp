// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Run-time values that travel with expressions: scalars written in place, initial values of variables, schedules.
///
/// A handle carries them in the shape of its expression: a value, or a list of what several operands carry; what one
/// operand alone carries is handed on as it is. The compiler knows the same shape of the types (graph/survey.hpp), so
/// values need no names: a program finds each by walking both side by side, whichever file of a program made them.

#include <cstdint>
#include <cstdio>
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
  TAGMA_COLD explicit carried(const carried_value& value) : node_(new node{{1}, value, {}, nullptr}) {}
  /// A literal.
  TAGMA_COLD carried(double number, std::int64_t integer) : node_(new node{{1}, {number, integer}, {}, nullptr}) {}
  carried(const carried& other) noexcept : node_(keep(other.node_)) {}
  carried(carried&& other) noexcept : node_(other.node_) { other.node_ = nullptr; }
  carried& operator=(carried other) noexcept {
    node* const mine = node_;
    node_ = other.node_;
    other.node_ = mine;
    return *this;
  }
  ~carried() {  // no call where the compiler sees that nothing is owned, and no branch elsewhere
    if (!(__builtin_constant_p(node_ == nullptr) && node_ == nullptr)) drop(node_);
  }

  /// What several operands carry, in their order.
  [[nodiscard]] TAGMA_COLD static carried join(array_view<const carried* const> parts) {
    carried all;
    all.node_ = new node{{1}, {}, heap_array<carried>(parts.size()), nullptr};
    for (std::size_t i = 0; i < parts.size(); ++i) all.node_->parts[i] = *parts[i];
    return all;
  }

  /// True if nothing is carried.
  [[nodiscard]] bool empty() const { return node_ == nullptr; }
  [[nodiscard]] const carried_value& value() const { return node_->value; }
  [[nodiscard]] array_view<const carried> parts() const {
    return node_ == nullptr ? array_view<const carried>() : array_view<const carried>(node_->parts);
  }
  /// The value of part `i`; nullptr if there is none.
  [[nodiscard]] const carried_value* find(std::int32_t i) const {
    const auto all = parts();
    return i < 0 || static_cast<std::size_t>(i) >= all.size() || all[i].empty() ? nullptr : &all[i].value();
  }
  /// Names what is carried; equal for copies.
  [[nodiscard]] const void* identity() const { return node_; }

 private:
  struct node {
    atomic<std::size_t> owners;
    carried_value value;
    heap_array<carried> parts;
    node* next;  ///< in the list of those that nobody owns any more
  };

  static node* keep(node* n) {
    if (n != nullptr) n->owners.fetch_add(1, memory_order::relaxed);
    return n;
  }
  /// True if the last owner went.
  static bool leave(node* n) { return n != nullptr && n->owners.fetch_sub(1, memory_order::acq_rel) == 1; }
  /// Without recursion: expressions may be thousands of operations deep.
  TAGMA_COLD static void drop(node* n) {
    if (!leave(n)) return;
    node* unowned = n;
    while (unowned != nullptr) {
      node* const gone = unowned;
      unowned = gone->next;
      for (carried& part : gone->parts) {
        if (leave(part.node_)) part.node_->next = unowned, unowned = part.node_;
        part.node_ = nullptr;
      }
      delete gone;
    }
  }

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
  TAGMA_COLD explicit number_text(double number) { std::snprintf(text, sizeof text, "%f", number); }
  char text[320];
};
}  // namespace detail

/// Throws the error of a place with two values.
[[noreturn]] TAGMA_COLD inline void refuse_two_values(const value_place& place, const carried_value& one,
                                                      const carried_value& other) {
  const bool named = !place.name.empty(), read = !place.reader.empty(), tensors = !(one.bytes == other.bytes);
  fail(status_code::invalid_argument,
       {"one place of an expression", named ? ", '" : "", place.name, named ? "'" : "", read ? ", an operand of " : "",
        place.reader, read ? ", " : "", read ? to_string(place.result) : sentence({}), named || read ? "," : "",
        tensors ? " has two initial tensors" : " has two values, ", tensors ? "" : detail::number_text(one.number).text,
        tensors ? "" : " and ", tensors ? "" : detail::number_text(other.number).text,
        ": the same line built both expressions, or the same name stands for both, so their types are equal; give each "
        "value a name with tagma::constant<\"name\">(value), each variable its own, or write the two expressions on "
        "two lines"});
}

/// The values of a program by number: part i is value i.
/// @param all what the outputs carry
/// Throws InvalidArgument if one place has two values: the same line built both expressions, so that their types are
/// equal and the compiler cannot tell them apart.
[[nodiscard]] TAGMA_COLD inline carried gather_values(const value_places& shape_of, const carried& all) {
  struct step {
    std::int32_t place = 0;
    const carried* what = nullptr;
  };
  // What several operands share is walked once.
  struct seen_set {
    heap_array<const void*> slots{64};
    std::size_t count = 0;
    TAGMA_COLD bool add(const void* p) {
      if (2 * count >= slots.size()) {
        heap_array<const void*> old(4 * slots.size());
        slots = std::move(old);  // they change places
        count = 0;
        for (const void* const q : old)
          if (q != nullptr) add(q);
      }
      auto i = (reinterpret_cast<std::uintptr_t>(p) * 0x9e3779b97f4a7c15ull >> 20) & (slots.size() - 1);
      while (slots[i] != nullptr && slots[i] != p) i = (i + 1) & (slots.size() - 1);
      if (slots[i] == p) return false;
      slots[i] = p;
      ++count;
      return true;
    }
  } seen;

  const carried nothing;
  heap_array<const carried*> found(shape_of.values);
  for (const carried*& f : found) f = &nothing;
  if (shape_of.root >= 0) {
    heap_array<step> stack(64);
    std::size_t depth = 0;
    stack[depth++] = {shape_of.root, &all};
    while (depth > 0) {
      const step now = stack[--depth];
      const value_place& place = shape_of.places[now.place];
      const auto parts = now.what->parts();
      if (now.what->empty() || parts.size() != static_cast<std::size_t>(place.count))
        fail(status_code::internal, "an expression lacks its numbers: was a handle moved out of its closure?");
      if (!seen.add(now.what->identity())) continue;
      if (place.count == 0) {
        const carried*& known = found[place.value];
        if (!known->empty() && !(known->value() == now.what->value()))
          refuse_two_values(place, known->value(), now.what->value());
        known = now.what;
        continue;
      }
      if (depth + parts.size() > stack.size()) {
        heap_array<step> larger(2 * (depth + parts.size()));
        for (std::size_t i = 0; i < depth; ++i) larger[i] = stack[i];
        stack = std::move(larger);
      }
      for (std::size_t i = parts.size(); i-- > 0;)
        stack[depth++] = {shape_of.parts[static_cast<std::size_t>(place.first) + i], &parts[i]};
    }
  }
  return carried::join({found.data(), found.size()});
}

}  // namespace tagma
