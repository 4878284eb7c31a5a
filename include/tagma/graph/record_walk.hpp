// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A walk over the records behind some outputs, in the compiler and in a process.

#include "tagma/base/growing_array.hpp"
#include "tagma/ir/record.hpp"

namespace tagma::ir {

/// Calls `visit` for each record behind `roots`, once, in an order that their structure alone decides.
template <class Visit>
constexpr void walk_records(array_view<const record* const> roots, const Visit& visit) {
  growing_array<const record*> seen(1024), waiting(64);
  std::size_t room = 1024, count = 0;
  for (std::size_t i = 0; i < room; ++i) seen.push(nullptr);
  const auto place = [&](const record& r) {
    std::size_t i = static_cast<std::size_t>(r.hash) & (room - 1);
    while (seen[i] != nullptr && seen[i] != &r) i = (i + 1) & (room - 1);
    return i;
  };
  const auto find = [&](const record* r) {
    const std::size_t i = place(*r);
    if (seen[i] == r) return;
    seen[i] = r;
    waiting.push(r);
    if (2 * ++count < room) return;
    growing_array<const record*> before(room);
    for (std::size_t k = 0; k < room; ++k) before.push(seen[k]);
    const std::size_t size = room;
    room *= 4;
    seen.clear();
    for (std::size_t k = 0; k < room; ++k) seen.push(nullptr);
    for (std::size_t k = 0; k < size; ++k)
      if (before[k] != nullptr) seen[place(*before[k])] = before[k];
  };
  for (const record* r : roots) find(r);
  while (waiting.size() > 0) {
    const record& r = *waiting.pop();
    visit(r);
    for (const array_view<const record* const> list : {r.inputs, r.controls, r.colocated})
      for (const record* other : list) find(other);
  }
}

/// Tells the records behind some outputs from those of other programs.
[[nodiscard]] constexpr std::uint64_t digest_of(array_view<const record* const> roots) {
  std::uint64_t h = hash_text("records");
  for (const record* r : roots) h = hash_combine(h, r->hash);
  walk_records(roots, [&h](const record& r) {
    h = hash_combine(hash_combine(h, r.op->info->id),
                     hash_combine(hash_text(r.name), static_cast<std::uint64_t>(r.spec.type)));
    for (const extent e : r.spec.dims.span()) h = hash_combine(h, static_cast<std::uint64_t>(e));
    for (const attribute a : r.attributes) h = hash_combine(h, static_cast<std::uint64_t>(a));
    for (const array_view<const record* const> list : {r.inputs, r.controls, r.colocated}) {
      h = hash_combine(h, list.size());
      for (const record* other : list) h = hash_combine(h, other->hash);
    }
  });
  return h;
}

}  // namespace tagma::ir
