// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The records behind some outputs as numbers: what a file hands over to the process that builds their graph. Numbers,
/// since a record is named for the linker by types that some compilers number file by file; and operations by their
/// keys, since rules would bring the gradients of all that a program uses into each of its files.
///
///     table   = roots, named, records, scopes; each of the first two a count and positions of records
///     record  = hash, (operation | type << 16 | rank << 24 | flags << 32 | attributes << 40),
///               (inputs | controls << 32), [name], [scope, bare, copied, colocated], extents, attributes,
///               inputs, controls, colocated nodes
///     scope   = hash, (kind | alone << 8 | copies << 16), (inner | function << 32), prefix, job, type,
///               (replica | task << 32), id, (outside | names << 32), positions of records, pairs of texts
///     text    = (its place among the characters << 32 | how many they are)
///
/// What may be absent, such as a scope, is 1 more than its position; 0: there is none.

#include "tagma/base/growing_array.hpp"
#include "tagma/ir/record.hpp"

namespace tagma::ir {

/// An operation of such a table.
struct table_operation {
  const char* key = nullptr;
  std::string_view name;
  const op_rules* rules = nullptr;  ///< of an operation that no registry has: `op_rules::in_registry`
};

/// Records as numbers.
struct record_table {
  array_view<const std::int64_t> words;
  array_view<const char> text;
  array_view<const table_operation> operations;
  array_view<const device_function> functions;
  std::int32_t records = 0;
  std::int32_t scopes = 0;
  std::int32_t lists = 0;  ///< places in lists of records
  std::int32_t names = 0;  ///< places in tables of names
};

/// What a record of the table has beside what each has.
namespace record_flags {
inline constexpr std::int64_t valued = 1, carries = 2, named = 4, placed = 8;
}

/// Two numbers in one word.
/// @{
[[nodiscard]] constexpr std::int64_t join_words(std::int64_t low, std::int64_t high) {
  return static_cast<std::int64_t>((static_cast<std::uint64_t>(high) << 32) |
                                   (static_cast<std::uint64_t>(low) & 0xffffffffu));
}
[[nodiscard]] constexpr std::int32_t low_word(std::int64_t both) { return static_cast<std::int32_t>(both); }
[[nodiscard]] constexpr std::int32_t high_word(std::int64_t both) { return static_cast<std::int32_t>(both >> 32); }
/// @}

/// How large a table is.
struct record_table_size {
  std::size_t words = 0, characters = 0, operations = 0, functions = 0;
  std::size_t records = 0;
  std::size_t behind = 0;  ///< the first so many are inputs of outputs, or waited for; others only lead to them
  std::size_t scopes = 0, lists = 0, names = 0;
};

namespace detail {

[[nodiscard]] constexpr std::uint64_t hash_to_number(const record& r) { return r.hash; }
[[nodiscard]] constexpr std::uint64_t hash_to_number(const scope& s) { return s.hash; }
[[nodiscard]] constexpr std::uint64_t hash_to_number(const op_rules& op) { return op.info->id; }

/// Numbers things by their addresses, in the order in which they are found.
template <class T>
class numbering {
 public:
  constexpr explicit numbering(std::size_t room) : list(room / 4), size_(room), slots_(new std::int32_t[room]()) {}
  numbering(const numbering&) = delete;
  numbering& operator=(const numbering&) = delete;
  constexpr ~numbering() { delete[] slots_; }

  /// The number of a thing, a new one where it is not known.
  constexpr std::int32_t of(const T& t) {
    const std::size_t i = place(t);
    if (slots_[i] != 0) return slots_[i] - 1;
    list.push(&t);
    const auto number = static_cast<std::int32_t>(list.size());
    slots_[i] = number;
    if (2 * list.size() >= size_) grow();
    return number - 1;
  }
  /// 1 more, and 0 for nothing.
  constexpr std::int32_t after(const T* t) { return t == nullptr ? 0 : of(*t) + 1; }

  growing_array<const T*> list;

 private:
  [[nodiscard]] constexpr std::size_t place(const T& t) const {
    std::size_t i = static_cast<std::size_t>(hash_to_number(t)) & (size_ - 1);
    while (slots_[i] != 0 && list[slots_[i] - 1] != &t) i = (i + 1) & (size_ - 1);
    return i;
  }
  constexpr void grow() {
    delete[] slots_;
    size_ *= 4;
    slots_ = new std::int32_t[size_]();
    for (std::size_t i = 0; i < list.size(); ++i) slots_[place(*list[i])] = static_cast<std::int32_t>(i) + 1;
  }

  std::size_t size_;
  std::int32_t* slots_;
};

/// Finds the records and scopes of a table.
class record_finder {
 public:
  /// @param roots as they are placed; @param named the same as their handles name them
  constexpr record_finder(array_view<const record* const> roots, array_view<const record* const> named)
      : records(roots.size() < 64 ? 256 : 1024) {
    find(roots);
    for (std::size_t i = 0; i < records.list.size(); ++i) find_operands(*records.list[i]);
    behind = records.list.size();
    find(named);
    for (std::size_t i = 0; i < records.list.size(); ++i) {
      const record& r = *records.list[i];
      if (i >= behind) find_operands(r);
      if (is_placed(r)) find_places(r);
    }
  }

  /// True for a record that has more than most.
  [[nodiscard]] static constexpr bool is_placed(const record& r) {
    return r.scopes != nullptr || r.bare != nullptr || r.copied != nullptr || r.colocated.size() != 0;
  }

  numbering<record> records;
  numbering<scope> scopes{64};
  std::size_t behind = 0;

 private:
  constexpr void find(array_view<const record* const> list) {
    for (const record* r : list) records.of(*r);
  }
  constexpr void find_operands(const record& r) {
    for (const record* in : r.inputs) records.of(*in);
    if (r.controls.size() != 0) find(r.controls);
    if (r.colocated.size() != 0) find(r.colocated);
  }
  constexpr void find_places(const record& r) {
    if (r.bare != nullptr) records.of(*r.bare);
    if (r.copied != nullptr) records.of(*r.copied);
    for (const scope* s = r.scopes; s != nullptr; s = s->inner) {
      scopes.of(*s);
      find(s->outside);
    }
  }
};

/// Counts what the table has. As `record_writer`, which is far slower in a compiler.
[[nodiscard]] constexpr record_table_size count_table(const record_finder& found, array_view<const record* const> roots,
                                                      array_view<const record* const> named) {
  record_table_size size{.words = 2 + roots.size() + named.size(),
                         .records = found.records.list.size(),
                         .behind = found.behind,
                         .scopes = found.scopes.list.size(),
                         .lists = roots.size() + named.size()};
  numbering<op_rules> operations{64};
  for (const record* const r : found.records.list.view()) {
    operations.of(*r->op);
    const std::size_t lists = r->inputs.size() + r->controls.size() + r->colocated.size();
    size.words += 3 + static_cast<std::size_t>(r->spec.dims.rank) + r->attributes.size() + lists;
    size.lists += lists;
    if (r->name.size() != 0) ++size.words, size.characters += r->name.size();
    if (record_finder::is_placed(*r)) size.words += 4;
  }
  size.operations = operations.list.size();
  for (const scope* const s : found.scopes.list.view()) {
    if (s->function != nullptr) ++size.functions;
    size.words += 9 + s->outside.size() + 2 * s->names.size();
    size.lists += s->outside.size();
    size.names += s->names.size();
    size.characters += s->prefix.size() + s->spec.job.view().size() + s->spec.type.view().size();
    for (const renamed& n : s->names) size.characters += n.from.size() + n.to.size();
  }
  return size;
}

/// A table of exact size.
template <std::size_t Words, std::size_t Characters, std::size_t Operations, std::size_t Functions>
struct record_table_arrays {
  fixed_array<std::int64_t, Words> words{};
  fixed_array<char, Characters> text{};
  fixed_array<table_operation, Operations> operations{};
  fixed_array<device_function, Functions> functions{};
};

/// Writes it.
class record_writer {
 public:
  /// @param records,scopes as they are numbered
  template <class Arrays>
  constexpr record_writer(array_view<const record* const> records, array_view<const scope* const> scopes,
                          array_view<const record* const> roots, array_view<const record* const> named, Arrays& to)
      : records_(4 * records.size() > 1024 ? 8192 : 1024),
        word_(to.words.data()),
        text_(to.text.data()),
        function_(to.functions.data()) {
    for (const record* r : records) records_.of(*r);
    for (const scope* s : scopes) scopes_.of(*s);
    put_list(roots), put_list(named);
    for (const record* r : records) put(*r);
    for (const scope* s : scopes) put(*s);
    for (std::size_t i = 0; i < operations_.list.size(); ++i) {
      const op_rules& op = *operations_.list[i];
      to.operations[i] = {op.info->key, op.info->name, op.in_registry ? nullptr : &op};
    }
  }

 private:
  constexpr void put(std::string_view t) {
    *word_++ = join_words(static_cast<std::int64_t>(t.size()), characters_);
    for (const char c : t) text_[characters_++] = c;
  }
  constexpr void put_all(array_view<const record* const> list) {
    for (const record* r : list) *word_++ = records_.of(*r);
  }
  constexpr void put_list(array_view<const record* const> list) {
    *word_++ = static_cast<std::int64_t>(list.size());
    put_all(list);
  }
  constexpr void put(const record& r) {
    const bool placed = record_finder::is_placed(r);
    const std::int64_t flags = (r.valued ? record_flags::valued : 0) | (r.carries ? record_flags::carries : 0) |
                               (r.name.size() == 0 ? 0 : record_flags::named) | (placed ? record_flags::placed : 0);
    std::int64_t* to = word_;
    *to++ = static_cast<std::int64_t>(r.hash);
    *to++ = operations_.of(*r.op) | (static_cast<std::int64_t>(r.spec.type) << 16) |
            (static_cast<std::int64_t>(r.spec.dims.rank) << 24) | (flags << 32) |
            (static_cast<std::int64_t>(r.attributes.size()) << 40);
    *to++ = static_cast<std::int64_t>(r.inputs.size()) | (static_cast<std::int64_t>(r.controls.size()) << 32);
    word_ = to;
    if (r.name.size() != 0) put(r.name);
    to = word_;
    if (placed) {
      *to++ = scopes_.after(r.scopes), *to++ = records_.after(r.bare), *to++ = records_.after(r.copied);
      *to++ = static_cast<std::int64_t>(r.colocated.size());
    }
    for (int axis = 0; axis < r.spec.dims.rank; ++axis) *to++ = r.spec.dims.extents[axis];
    for (const attribute a : r.attributes) *to++ = a;
    for (const record* in : r.inputs) *to++ = records_.of(*in);
    word_ = to;
    if (r.controls.size() != 0) put_all(r.controls);
    if (r.colocated.size() != 0) put_all(r.colocated);
  }
  constexpr void put(const scope& s) {
    *word_++ = static_cast<std::int64_t>(s.hash);
    *word_++ = static_cast<std::int64_t>(s.kind) | (s.alone ? 256 : 0) | (static_cast<std::int64_t>(s.copies) << 16);
    if (s.function != nullptr) function_[functions_++] = s.function;
    *word_++ = join_words(scopes_.after(s.inner), s.function == nullptr ? 0 : functions_);
    put(s.prefix), put(s.spec.job.view()), put(s.spec.type.view());
    *word_++ = join_words(s.spec.replica, s.spec.task), *word_++ = s.spec.id;
    *word_++ = join_words(static_cast<std::int64_t>(s.outside.size()), static_cast<std::int64_t>(s.names.size()));
    put_all(s.outside);
    for (const renamed& n : s.names) put(n.from), put(n.to);
  }

  numbering<record> records_;
  numbering<scope> scopes_{64};
  numbering<op_rules> operations_{64};
  std::int64_t* word_;
  char* text_;
  device_function* function_;
  std::int64_t characters_ = 0, functions_ = 0;
};

}  // namespace detail

/// The records and scopes of a table, for the compiler alone.
template <std::size_t Room>
struct record_list {
  record_table_size size;
  fixed_array<const record*, Room> all_records{};
  fixed_array<const scope*, Room / 4> all_scopes{};

  /// False if there is not enough room, and nothing is listed.
  [[nodiscard]] constexpr bool is_whole() const { return size.records <= Room && size.scopes <= Room / 4; }
  [[nodiscard]] constexpr array_view<const record* const> records() const { return {all_records.data(), size.records}; }
  [[nodiscard]] constexpr array_view<const scope* const> scopes() const { return {all_scopes.data(), size.scopes}; }
};
/// @param roots as they are placed; @param named the same as their handles name them
template <std::size_t Room>
[[nodiscard]] constexpr record_list<Room> list_records(array_view<const record* const> roots,
                                                       array_view<const record* const> named) {
  const detail::record_finder found(roots, named);
  record_list<Room> list{detail::count_table(found, roots, named)};
  if (!list.is_whole()) return list;
  for (std::size_t i = 0; i < list.size.records; ++i) list.all_records[i] = found.records.list[i];
  for (std::size_t i = 0; i < list.size.scopes; ++i) list.all_scopes[i] = found.scopes.list[i];
  return list;
}

/// The table, of exact size.
template <std::size_t Words, std::size_t Characters, std::size_t Operations, std::size_t Functions, std::size_t Room>
[[nodiscard]] constexpr auto write_records(const record_list<Room>& list, array_view<const record* const> roots,
                                           array_view<const record* const> named) {
  detail::record_table_arrays<Words, Characters, Operations, Functions> to;
  detail::record_writer(list.records(), list.scopes(), roots, named, to);
  return to;
}

}  // namespace tagma::ir
