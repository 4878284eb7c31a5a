// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A first walk over the records behind the outputs of a program: how large its graph will be, whether it has scopes,
/// and in which shape its handles carry the numbers of the running program.

#include "tagma/base/growing_array.hpp"
#include "tagma/expr/carried.hpp"
#include "tagma/ir/graph.hpp"
#include "tagma/ir/record.hpp"

namespace tagma::ir {

/// What a walk found.
struct survey_result {
  std::size_t weight = 0;  ///< nodes before gradients and updates, roughly
  std::size_t places = 0;
  std::size_t parts = 0;
  std::size_t values = 0;
  std::size_t gradients = 0;
  bool scoped = false;
  bool trains = false;
  bool looped = false;
};

namespace detail {

/// The walk: each record once, behind what it needs.
class surveyor {
 public:
  static constexpr std::int32_t none = -1;

 private:
  struct slot {
    const record* what = nullptr;
    std::int32_t place = none;
    bool done = false;
  };
  std::size_t size_;
  slot* slots_;

 public:
  survey_result found;
  growing_array<value_place> places{16};
  growing_array<std::int32_t> parts{16};
  growing_array<const record*> owners{16};  ///< of each value
  growing_array<const record*> gradients{16};

  /// @param roots how many there will be, roughly. A size that is no constant keeps clang from running the
  /// initialisation of every surveyor to see what becomes of it.
  constexpr explicit surveyor(std::size_t roots) : size_(roots < 64 ? 256 : 1024), slots_(new slot[size_]()) {}
  surveyor(const surveyor&) = delete;
  surveyor& operator=(const surveyor&) = delete;
  constexpr ~surveyor() { delete[] slots_; }

  constexpr std::int32_t visit(const record& root) {
    stack_.push(&root);
    while (stack_.size() > 0) {
      const record& r = *stack_[stack_.size() - 1];
      const std::size_t at = find(r);
      if (slots_[at].what == nullptr) {
        slots_[at].what = &r;
        if (2 * ++count_ > size_) grow();
        push(r.inputs), push(r.controls), push(r.colocated);
        if (r.copied != nullptr && r.carries) push_one(*r.copied);
        continue;
      }
      stack_.pop();
      if (slots_[at].done) continue;
      slots_[at].done = true;
      slots_[at].place = note(r);
    }
    return place_of(root);
  }
  /// The place of what several records carry, in their order.
  constexpr std::int32_t join(array_view<const record* const> list) {
    taken_.clear();
    take(list);
    return join_taken();
  }

 private:
  constexpr std::size_t find(const record& r) const {
    std::size_t i = static_cast<std::size_t>(r.hash) & (size_ - 1);
    while (slots_[i].what != nullptr && slots_[i].what != &r) i = (i + 1) & (size_ - 1);
    return i;
  }
  constexpr void grow() {
    slot* const old = slots_;
    const std::size_t before = size_;
    size_ *= 4;
    slots_ = new slot[size_]();
    for (std::size_t i = 0; i < before; ++i)
      if (old[i].what != nullptr) slots_[find(*old[i].what)] = old[i];
    delete[] old;
  }
  constexpr void push_one(const record& r) {
    if (slots_[find(r)].what == nullptr) stack_.push(&r);
  }
  constexpr void push(array_view<const record* const> list) {
    for (std::size_t i = list.size(); i-- > 0;) push_one(*list[i]);
  }
  [[nodiscard]] constexpr std::int32_t place_of(const record& r) const { return slots_[find(r)].place; }

  /// Counts a record and finds the place of what it carries.
  constexpr std::int32_t note(const record& r) {
    const op_info& info = *r.op->info;
    found.weight += r.op->weight == nullptr ? 1 : static_cast<std::size_t>(r.op->weight(r.attributes));
    found.scoped = found.scoped || r.scopes != nullptr || !r.colocated.empty();
    found.trains = found.trains || info.is(op_kind::gradient) || info.is(op_kind::optimizer);
    found.looped = found.looped || info.is(op_kind::loop);
    for (const scope* s = r.scopes; s != nullptr; s = s->inner)
      if (s->copies > 1)
        for (const renamed& n : s->names) found.weight += !n.from.empty();
    if (info.is(op_kind::gradient)) gradients.push(&r), ++found.gradients;
    if (!r.carries) return none;
    taken_.clear();
    if (r.copied != nullptr) {  // the handle was made of the one before, and of what was added
      take_one(*r.copied);
      take(r.controls.subspan(r.copied->controls.size()));
      take(r.colocated.subspan(r.copied->colocated.size()));
    } else if (r.valued) {
      places.push({0, 0, static_cast<std::int32_t>(found.values++), r.name});
      owners.push(&r);
      return static_cast<std::int32_t>(found.places++);
    } else {
      take(r.inputs), take(r.controls);
      for (const std::int32_t at : taken_.view())
        if (value_place& p = places[at]; p.count == 0 && p.reader.empty()) p.reader = info.name, p.result = r.spec;
    }
    return join_taken();
  }
  constexpr void take_one(const record& r) {
    if (r.carries) taken_.push(place_of(r));
  }
  constexpr void take(array_view<const record* const> list) {
    for (const record* r : list) take_one(*r);
  }
  constexpr std::int32_t join_taken() {
    const std::size_t count = taken_.size();
    if (count == 0) return none;
    if (count == 1) return taken_[0];
    places.push({static_cast<std::int32_t>(found.parts), static_cast<std::int32_t>(count), 0, {}});
    for (std::size_t i = 0; i < count; ++i) parts.push(taken_[i]);
    found.parts += count;
    return static_cast<std::int32_t>(found.places++);
  }

  std::size_t count_ = 0;
  growing_array<const record*> stack_{64};
  growing_array<std::int32_t> taken_{64};
};

}  // namespace detail

/// Counts what is behind the outputs of a program.
/// @param roots as they are placed; @param named the same as their handles name them
[[nodiscard]] constexpr survey_result survey(array_view<const record* const> roots,
                                             array_view<const record* const> named) {
  detail::surveyor s(roots.size());
  for (const record* r : roots) s.visit(*r);
  for (const record* r : named) s.visit(*r);
  s.join(named);
  return s.found;
}

/// Room for the graph: a power of two. Gradients and updates multiply the nodes by three to five.
[[nodiscard]] constexpr std::size_t expected_nodes(const survey_result& s, std::size_t most) {
  std::size_t room = 64;
  while (room < (s.trains ? 4 * s.weight + 64 : s.weight + 16)) room *= 2;
  return room < most ? room : most;
}

/// How a program finds its numbers, whose they are, and which gradients it asks for.
template <std::size_t Places, std::size_t Parts, std::size_t Values, std::size_t Gradients>
struct survey_tables {
  fixed_array<value_place, Places> places{};
  fixed_array<std::int32_t, Parts> parts{};
  fixed_array<const record*, Values> owners{};
  fixed_array<const record*, Gradients> gradients{};
  std::int32_t root = -1;
};

/// The same as tables of exact size.
template <std::size_t Places, std::size_t Parts, std::size_t Values, std::size_t Gradients>
[[nodiscard]] constexpr auto write_survey(array_view<const record* const> roots,
                                          array_view<const record* const> named) {
  survey_tables<Places, Parts, Values, Gradients> tables;
  detail::surveyor s(roots.size());
  for (const record* r : roots) s.visit(*r);
  for (const record* r : named) s.visit(*r);
  tables.root = s.join(named);
  for (std::size_t i = 0; i != Places; ++i) tables.places[i] = s.places[i];
  for (std::size_t i = 0; i != Parts; ++i) tables.parts[i] = s.parts[i];
  for (std::size_t i = 0; i != Values; ++i) tables.owners[i] = s.owners[i];
  for (std::size_t i = 0; i != Gradients; ++i) tables.gradients[i] = s.gradients[i];
  return tables;
}

}  // namespace tagma::ir
