// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Names inside of names: `scope<"trial_1">(model)(x)`.

#include "tagma/base/config.hpp"
#include "tagma/base/growing_array.hpp"
#include "tagma/expr/name.hpp"
#include "tagma/expr/on.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {

/// What stands in the parentheses can be put into a scope.
#define TAGMA_NEEDS_NAMED(E)                       \
  static_assert(::tagma::diagnose::takes_scope<E>, \
                "TAGMA-E245 scope: it is put around an expression, a function of expressions, or outputs")

namespace detail {

/// The names that a scope puts its prefix before: those of the variables and resources inside, and what scopes inside
/// make of them.
class name_collector {
 public:
  constexpr name_collector(const ir::record& root, array_view<const ir::record* const> outside) {
    for (const ir::record* r : outside) first_time(r);
    stack_.push(&root);
    while (stack_.size() > 0) {
      const ir::record* const r = stack_.pop();
      if (!first_time(r)) continue;
      if (r->op->info->is(ir::op_kind::variable) || r->op->info->is(ir::op_kind::resource)) add(r->name);
      for (const ir::scope* s = r->scopes; s != nullptr; s = s->inner)
        for (const ir::renamed& n : s->names) add(n.to);
      for (const ir::record* in : r->inputs) stack_.push(in);
      for (const ir::record* in : r->controls) stack_.push(in);
      for (const ir::record* beside : r->colocated) stack_.push(beside);
    }
  }
  name_collector(const name_collector&) = delete;
  name_collector& operator=(const name_collector&) = delete;
  constexpr ~name_collector() { delete[] slots_; }

  [[nodiscard]] constexpr std::size_t size() const { return names_.size(); }
  [[nodiscard]] constexpr std::string_view operator[](std::size_t i) const { return names_[i]; }

 private:
  constexpr void add(std::string_view name) {
    if (name.empty()) return;
    if (2 * names_.size() >= places_.size()) grow_places();
    const std::size_t i = place(name);
    if (places_[i] != 0) return;
    names_.push(name);
    places_[i] = static_cast<std::int32_t>(names_.size());
  }
  [[nodiscard]] constexpr std::size_t place(std::string_view name) const {
    std::size_t i = static_cast<std::size_t>(hash_text(name)) & (places_.size() - 1);
    while (places_[i] != 0 && names_[places_[i] - 1] != name) i = (i + 1) & (places_.size() - 1);
    return i;
  }
  constexpr void grow_places() {
    const std::size_t size = places_.size() == 0 ? 64 : 4 * places_.size();
    places_.clear();
    for (std::size_t i = 0; i < size; ++i) places_.push(0);
    for (std::size_t i = 0; i < names_.size(); ++i) places_[place(names_[i])] = static_cast<std::int32_t>(i) + 1;
  }
  constexpr bool first_time(const ir::record* r) {
    if (2 * count_ >= room_) grow();
    const std::size_t i = slot(*r);
    if (slots_[i] != nullptr) return false;
    slots_[i] = r, ++count_;
    return true;
  }
  [[nodiscard]] constexpr std::size_t slot(const ir::record& r) const {
    std::size_t i = static_cast<std::size_t>(r.hash) & (room_ - 1);
    while (slots_[i] != nullptr && slots_[i] != &r) i = (i + 1) & (room_ - 1);
    return i;
  }
  constexpr void grow() {
    const ir::record** const old = slots_;
    const std::size_t before = room_;
    room_ *= 4;
    slots_ = new const ir::record*[room_]();
    for (std::size_t i = 0; i < before; ++i)
      if (old[i] != nullptr) slots_[slot(*old[i])] = old[i];
    delete[] old;
  }

  growing_array<const ir::record*> stack_{64};
  growing_array<std::string_view> names_{16};
  growing_array<std::int32_t> places_{64};  // of each name, by its hash: its position, and 1
  std::size_t room_ = 64;
  std::size_t count_ = 0;
  const ir::record** slots_ = new const ir::record*[room_]();
};

/// "_7": what tells copy 7 from others.
[[nodiscard]] constexpr std::size_t digits_of(std::size_t copy) {
  std::size_t count = 1;
  for (; copy > 9; copy /= 10) ++count;
  return count;
}
constexpr char* write_number(char* to, std::size_t copy) {
  *to++ = '_';
  char* const end = to + digits_of(copy);
  for (char* at = end; at != to; copy /= 10) *--at = static_cast<char>('0' + copy % 10);
  return end;
}

/// The names inside `Id` up to the records of `Outside`, with `Prefix` and a stroke before them.
/// @tparam Copies with a number behind the prefix, a table for each from 0 on; none if there are no copies
template <fixed_string Prefix, std::size_t Copies, class Id, class... Outside>
struct prefixed_names {
  static constexpr fixed_array<const ir::record*, sizeof...(Outside)> outside{{find_record<Outside>()...}};
  static constexpr std::size_t tables = Copies > 0 ? Copies : 1;
  /// Characters before a name.
  [[nodiscard]] static constexpr std::size_t before(std::size_t copy) {
    return Prefix.view().size() + 1 + (Copies > 0 ? 1 + digits_of(copy) : 0);
  }
  struct extents {
    std::size_t names = 0, characters = 0;
  };
  static constexpr extents needed = [] {
    const name_collector found(*find_record<Id>(), outside);
    extents e{found.size(), 0};
    for (std::size_t copy = 0; copy != tables; ++copy)
      for (std::size_t i = 0; i < found.size(); ++i) e.characters += before(copy) + found[i].size();
    return e;
  }();
  static constexpr auto characters = [] {
    const name_collector found(*find_record<Id>(), outside);
    fixed_array<char, needed.characters> all{};
    char* to = all.data();
    for (std::size_t copy = 0; copy != tables; ++copy)
      for (std::size_t i = 0; i < found.size(); ++i) {
        for (const char c : Prefix.view()) *to++ = c;
        if constexpr (Copies > 0) to = write_number(to, copy);
        *to++ = '/';
        for (const char c : found[i]) *to++ = c;
      }
    return all;
  }();
  static constexpr auto list = [] {
    const name_collector found(*find_record<Id>(), outside);
    constexpr std::size_t room = ir::room_for_names(needed.names);
    fixed_array<ir::renamed, tables * room> all{};
    const char* at = characters.begin();
    for (std::size_t copy = 0; copy != tables; ++copy) {
      const array_view<ir::renamed> table(all.data() + copy * room, room);
      for (std::size_t i = 0; i < found.size(); ++i) {
        const std::size_t size = before(copy) + found[i].size();
        table[ir::place_of_name(table, found[i], hash_text(found[i]))] = {found[i], {at, size}};
        at += size;
      }
    }
    return all;
  }();
};

/// A scope that puts `Prefix` before names.
template <fixed_string Prefix, bool AroundAll = false>
struct name_layer {
  static constexpr ir::scope_kind kind = AroundAll ? ir::scope_kind::all_names : ir::scope_kind::names;
  static constexpr device_spec spec{};
  static constexpr device_function function = nullptr;
  static constexpr bool structural = true;
  using around_all = name_layer<Prefix, true>;
  static constexpr std::uint64_t hash =
      hash_combine(hash_text(AroundAll ? "scope around all" : "scope"), hash_text(Prefix.view()));
  static constexpr std::string_view prefix = Prefix.view();
  static constexpr int copies = 1;
  template <class Id, class... Outside>
  static constexpr array_view<const ir::renamed> names = prefixed_names<Prefix, 0, Id, Outside...>::list;
};

}  // namespace detail

/// The expression `e` with "Prefix/" before the names of all variables, queues and other resources that it is made of;
/// or, for a function `f`, `scope<"trial_1">(f)(x, y)`: the expression `f(x, y)`, or each of a tuple of them, with the
/// prefix before the names of what `f` adds to `x` and `y`. Scopes nest, the outermost first: "a/b/kernel". As without,
/// equal names are the same variable, also in other expressions: `scope<"a">(v)` is the variable "a/" and the name of
/// v. What draws random numbers or has an effect is one node for each prefix; placeholders keep their names. The slots
/// and the step of an optimizer follow its variables, and the scopes around it. Around `outputs(...)` it is a scope
/// around the whole program, whose handles stay what they are.
/// @tparam Prefix by TensorFlow's grammar of names (TAGMA-E160)
/// Raises TAGMA-E245 if `e` is neither expression nor function nor outputs.
template <fixed_string Prefix, class E>
[[nodiscard]] constexpr auto scope(const E& e) {
  TAGMA_NEEDS_NAME("scope", Prefix);
  TAGMA_NEEDS_NAMED(E);
  if constexpr (is_name(Prefix.view()) && diagnose::takes_scope<E>)
    return detail::apply_scope<detail::name_layer<Prefix>>(e);
}

}  // namespace tagma

#undef TAGMA_NEEDS_NAMED
