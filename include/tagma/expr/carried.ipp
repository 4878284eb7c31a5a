// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of carried.hpp: in the compiled half, or else in each file that includes it.

#include <cstdio>

#include "tagma/base/config.hpp"
#include "tagma/expr/carried.hpp"

namespace tagma {

TAGMA_COLD TAGMA_DECL carried::carried(const carried_value& value) : node_(new node{{1}, value, {}, nullptr}) {}

TAGMA_COLD TAGMA_DECL carried::carried(double number, std::int64_t integer)
    : node_(new node{{1}, {number, integer}, {}, nullptr}) {}

TAGMA_DECL carried& carried::operator=(carried other) noexcept {
  node* const mine = node_;
  node_ = other.node_;
  other.node_ = mine;
  return *this;
}

TAGMA_DECL carried::~carried() {  // no call where the compiler sees that nothing is owned, and no branch elsewhere
  if (!TAGMA_IS_KNOWN_NULL(node_)) drop(node_);
}

TAGMA_COLD TAGMA_DECL carried carried::join(array_view<const carried* const> parts) {
  carried all;
  all.node_ = new node{{1}, {}, heap_array<carried>(parts.size()), nullptr};
  for (std::size_t i = 0; i < parts.size(); ++i) all.node_->parts[i] = *parts[i];
  return all;
}

TAGMA_DECL array_view<const carried> carried::parts() const {
  return node_ == nullptr ? array_view<const carried>() : array_view<const carried>(node_->parts);
}

TAGMA_DECL const carried_value* carried::find(std::int32_t i) const {
  const auto all = parts();
  return i < 0 || static_cast<std::size_t>(i) >= all.size() || all[i].empty() ? nullptr : &all[i].value();
}

TAGMA_DECL carried::node* carried::keep(node* n) {
  if (n != nullptr) n->owners.fetch_add(1, memory_order::relaxed);
  return n;
}

TAGMA_COLD TAGMA_DECL void carried::drop(node* n) {
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

}  // namespace tagma

namespace tagma::detail {

TAGMA_COLD TAGMA_DECL number_text::number_text(double number) { std::snprintf(text, sizeof text, "%f", number); }

}  // namespace tagma::detail

namespace tagma {

TAGMA_COLD TAGMA_DECL void refuse_two_values(const value_place& place, const carried_value& one,
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

TAGMA_COLD TAGMA_DECL carried gather_values(const value_places& shape_of, const carried& all) {
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
