// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// One node of an expression as the compiler sees it: a constexpr value that points at the records of its operands.

#include "tagma/base/config.hpp"
#include "tagma/ir/op.hpp"
#include "tagma/place/device_function.hpp"

namespace tagma::ir {

struct record;

/// How a scope answers where a node shall run, or what its variable is called.
enum class scope_kind : std::uint8_t {
  request,    ///< fills what the scopes inside leave open
  function,   ///< replaces what the scopes inside ask for
  clear,      ///< scopes outside are not asked
  colocate,   ///< the same, for this node alone
  names,      ///< puts a prefix before names
  all_names,  ///< the same, around a whole program, whose handles stay what they are
  repeated,   ///< around a block that a loop repeats: puts another prefix before names in each iteration
};

/// What a name is inside a scope.
struct renamed {
  std::string_view from, to;
};

/// What names become is found by the hashes of the names, in tables of which half is empty.
/// @{
[[nodiscard]] constexpr std::size_t room_for_names(std::size_t count) {
  std::size_t room = 2;
  while (room < 2 * count) room *= 2;
  return room;
}
/// Where a name is in such a table, or may be put.
[[nodiscard]] constexpr std::size_t place_of_name(array_view<const renamed> table, std::string_view name,
                                                  std::uint64_t hash) {
  std::size_t i = static_cast<std::size_t>(hash) & (table.size() - 1);
  while (!table[i].from.empty() && table[i].from != name) i = (i + 1) & (table.size() - 1);
  return i;
}
/// @}

/// One scope. The scope of a record is the outermost; `inner` leads inwards.
struct scope {
  scope_kind kind = scope_kind::request;
  device_spec spec;
  device_function function = nullptr;
  array_view<const record* const> outside;  ///< operands at which the scope ends
  const scope* inner = nullptr;
  std::uint64_t hash = 0;             ///< equal where all is equal that tells scopes apart
  std::string_view prefix{};          ///< of a scope of names
  array_view<const renamed> names{};  ///< what that makes of names inside: a table by hash, for each copy
  int copies = 1;                     ///< of a repeated block, which ends at what its loop carries: `outside[0]`
  bool alone = false;                 ///< no operand is inside

  [[nodiscard]] constexpr bool renames() const { return kind >= scope_kind::names; }
  /// What a name becomes; empty if the scope does not know it.
  [[nodiscard]] constexpr std::string_view renamed_to(std::string_view name, std::uint64_t hash_of_name,
                                                      int copy = 0) const {
    if (names.empty()) return {};
    const auto size = names.size() / static_cast<std::size_t>(copies);
    const array_view<const renamed> own = names.subspan(static_cast<std::size_t>(copy) * size, size);
    return own[place_of_name(own, name, hash_of_name)].to;
  }
};

/// What an expression type stands for. Records have static storage, so that a graph of them is walked by an ordinary
/// constexpr function instead of by recursive templates.
struct record {
  const op_rules* op = nullptr;
  std::uint64_t hash = 0;  ///< structural; equal in every process
  tensor_spec spec;
  array_view<const record* const> inputs;
  array_view<const record* const> controls;  ///< control dependencies: run before this node
  attribute_list attributes;
  std::string_view name;                        ///< of a placeholder or variable
  bool valued = false;                          ///< takes a run-time value that the program carries
  bool carries = false;                         ///< so does it, or a record behind it
  const scope* scopes = nullptr;                ///< scopes that begin at this node, the outermost
  const record* bare = nullptr;                 ///< the same node without them
  array_view<const record* const> colocated{};  ///< runs on the devices of these nodes
  const record* copied = nullptr;               ///< the record that this one repeats, with a scope or more to wait for

  /// True if scopes of names begin at this node.
  [[nodiscard]] constexpr bool is_renamed() const {
    for (const scope* s = scopes; s != nullptr; s = s->inner)
      if (s->renames()) return true;
    return false;
  }
  /// The name in the scopes that begin at this node.
  [[nodiscard]] TAGMA_COLD constexpr std::string_view full_name() const { return name_in(scopes, name); }
  /// The record whose value a valued record takes.
  [[nodiscard]] constexpr const record& value_owner() const {
    const record* r = this;
    while (r->copied != nullptr) r = r->copied;
    return *r;
  }

 private:
  [[nodiscard]] TAGMA_COLD static constexpr std::string_view name_in(const scope* s, std::string_view text) {
    if (s == nullptr) return text;
    text = name_in(s->inner, text);
    const std::string_view known = s->renamed_to(text, hash_text(text));
    return known.empty() ? text : known;
  }
};

namespace detail {

/// Compares records and what is behind them, each pair once however many ways lead to it.
class record_comparison {
 public:
  constexpr record_comparison() = default;
  record_comparison(const record_comparison&) = delete;
  record_comparison& operator=(const record_comparison&) = delete;
  constexpr ~record_comparison() { delete[] pairs_; }

  constexpr bool are_one(const record& a, const record& b) {
    if (&a == &b) return true;
    if (a.hash != b.hash || a.op != b.op || a.op->info->stateful || a.valued != b.valued || a.name != b.name ||
        !(a.spec == b.spec) || a.scopes != b.scopes || a.attributes.size() != b.attributes.size())
      return false;
    if (a.valued && &a.value_owner() != &b.value_owner()) return false;
    for (std::size_t i = 0; i < a.attributes.size(); ++i)
      if (a.attributes[i] != b.attributes[i]) return false;
    std::int32_t& head = heads_[a.hash % buckets];
    for (std::int32_t at = head; at != 0; at = pairs_[at].next)
      if (pairs_[at].a == &a && pairs_[at].b == &b) return true;
    if (!all_are_one(a.inputs, b.inputs) || !all_are_one(a.controls, b.controls) ||
        !all_are_one(a.colocated, b.colocated))
      return false;
    if (count_ >= room_) grow();
    pairs_[count_] = {&a, &b, head};
    head = count_++;
    return true;
  }

 private:
  /// Two that were found to be one; `next` leads to one with the same remainder of the hash.
  struct pair {
    const record* a = nullptr;
    const record* b = nullptr;
    std::int32_t next = 0;
  };
  static constexpr std::size_t buckets = 256;

  constexpr bool all_are_one(array_view<const record* const> x, array_view<const record* const> y) {
    bool one = x.size() == y.size();
    for (std::size_t i = 0; one && i < x.size(); ++i) one = are_one(*x[i], *y[i]);
    return one;
  }
  constexpr void grow() {
    room_ = 4 * room_ + 16;
    pair* const more = new pair[static_cast<std::size_t>(room_)]();
    for (std::int32_t i = 1; i < count_; ++i) more[i] = pairs_[i];
    delete[] pairs_;
    pairs_ = more;
  }

  std::int32_t heads_[buckets]{};
  pair* pairs_ = nullptr;
  std::int32_t room_ = 0;
  std::int32_t count_ = 1;  // 0 ends a list
};

}  // namespace detail

/// True if two records stand for one node: the same structure down to the same numbers written in place. What has an
/// effect or draws random numbers is one node with itself alone.
[[nodiscard]] constexpr bool is_one_node(const record& a, const record& b) {
  detail::record_comparison comparison;
  return comparison.are_one(a, b);
}

}  // namespace tagma::ir
