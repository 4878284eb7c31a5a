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
  const op_rules* rules = nullptr;  ///< of an operation that no registry has: `op_rules::is_listed`
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

/// Finds what a table has, and writes it.
class record_writer {
 public:
  /// @param roots as they are placed; @param named the same as their handles name them
  constexpr record_writer(array_view<const record* const> roots, array_view<const record* const> named)
      : roots_(roots), named_(named), records_(roots.size() < 64 ? 256 : 1024) {
    find(roots);
    for (std::size_t i = 0; i < records_.list.size(); ++i) find_operands(*records_.list[i]);
    size_.behind = records_.list.size();
    find(named);
    for (std::size_t i = 0; i < records_.list.size(); ++i) {
      const record& r = *records_.list[i];
      if (i >= size_.behind) find_operands(r);
      if (r.bare != nullptr) records_.of(*r.bare);
      if (r.copied != nullptr) records_.of(*r.copied);
      for (const scope* s = r.scopes; s != nullptr; s = s->inner) {
        scopes_.of(*s);
        find(s->outside);
      }
    }
  }

  /// Writes it into arrays; nullptr: only counts.
  constexpr record_table_size write(std::int64_t* words, char* text, table_operation* operations,
                                    device_function* functions) {
    words_ = words, text_ = text;
    size_.words = size_.characters = size_.functions = size_.lists = size_.names = 0;
    size_.records = records_.list.size();
    size_.scopes = scopes_.list.size();
    put_list(roots_), put_list(named_);
    for (std::size_t i = 0; i < size_.records; ++i) put(*records_.list[i]);
    for (std::size_t i = 0; i < size_.scopes; ++i) put(*scopes_.list[i], functions);
    size_.operations = operations_.list.size();
    for (std::size_t i = 0; operations != nullptr && i < size_.operations; ++i) {
      const op_rules& op = *operations_.list[i];
      operations[i] = {op.info->key, op.info->name, op.is_listed ? nullptr : &op};
    }
    return size_;
  }
  /// All records, in their order.
  [[nodiscard]] constexpr array_view<const record* const> records() const { return records_.list.view(); }

 private:
  constexpr void find(array_view<const record* const> list) {
    for (const record* r : list) records_.of(*r);
  }
  constexpr void find_operands(const record& r) { find(r.inputs), find(r.controls), find(r.colocated); }

  constexpr void put(std::int64_t word) {
    if (words_ != nullptr) words_[size_.words] = word;
    ++size_.words;
  }
  constexpr void put(std::string_view t) {
    put(join_words(static_cast<std::int64_t>(t.size()), static_cast<std::int64_t>(size_.characters)));
    if (text_ != nullptr)
      for (std::size_t i = 0; i < t.size(); ++i) text_[size_.characters + i] = t[i];
    size_.characters += t.size();
  }
  constexpr void put_all(array_view<const record* const> list) {
    for (const record* r : list) put(records_.of(*r));
    size_.lists += list.size();
  }
  constexpr void put_list(array_view<const record* const> list) {
    put(static_cast<std::int64_t>(list.size()));
    put_all(list);
  }
  constexpr void put(const record& r) {
    const bool placed = r.scopes != nullptr || r.bare != nullptr || r.copied != nullptr || !r.colocated.empty();
    const std::int64_t flags = (r.valued ? record_flags::valued : 0) | (r.carries ? record_flags::carries : 0) |
                               (r.name.empty() ? 0 : record_flags::named) | (placed ? record_flags::placed : 0);
    put(static_cast<std::int64_t>(r.hash));
    put(operations_.of(*r.op) | (static_cast<std::int64_t>(r.spec.type) << 16) |
        (static_cast<std::int64_t>(r.spec.dims.rank) << 24) | (flags << 32) |
        (static_cast<std::int64_t>(r.attributes.size()) << 40));
    put(join_words(static_cast<std::int64_t>(r.inputs.size()), static_cast<std::int64_t>(r.controls.size())));
    if (!r.name.empty()) put(r.name);
    if (placed) {
      put(scopes_.after(r.scopes)), put(records_.after(r.bare)), put(records_.after(r.copied));
      put(static_cast<std::int64_t>(r.colocated.size()));
    }
    for (int axis = 0; axis < r.spec.dims.rank; ++axis) put(r.spec.dims[axis]);
    for (const attribute a : r.attributes) put(a);
    put_all(r.inputs), put_all(r.controls), put_all(r.colocated);
  }
  constexpr void put(const scope& s, device_function* functions) {
    put(static_cast<std::int64_t>(s.hash));
    put(static_cast<std::int64_t>(s.kind) | (s.alone ? 256 : 0) | (static_cast<std::int64_t>(s.copies) << 16));
    if (s.function != nullptr) {
      if (functions != nullptr) functions[size_.functions] = s.function;
      ++size_.functions;
    }
    put(join_words(scopes_.after(s.inner), s.function == nullptr ? 0 : static_cast<std::int64_t>(size_.functions)));
    put(s.prefix), put(s.spec.job.view()), put(s.spec.type.view());
    put(join_words(s.spec.replica, s.spec.task)), put(s.spec.id);
    put(join_words(static_cast<std::int64_t>(s.outside.size()), static_cast<std::int64_t>(s.names.size())));
    put_all(s.outside);
    for (const renamed& n : s.names) put(n.from), put(n.to);
    size_.names += s.names.size();
  }

  array_view<const record* const> roots_, named_;
  numbering<record> records_;
  numbering<scope> scopes_{64};
  numbering<op_rules> operations_{64};
  record_table_size size_;
  std::int64_t* words_ = nullptr;
  char* text_ = nullptr;
};

/// A table of exact size.
template <std::size_t Words, std::size_t Characters, std::size_t Operations, std::size_t Functions>
struct record_table_arrays {
  fixed_array<std::int64_t, Words> words{};
  fixed_array<char, Characters> text{};
  fixed_array<table_operation, Operations> operations{};
  fixed_array<device_function, Functions> functions{};
};

}  // namespace detail

/// Counts what a table of some outputs has.
/// @param roots as they are placed; @param named the same as their handles name them
[[nodiscard]] constexpr record_table_size count_records(array_view<const record* const> roots,
                                                        array_view<const record* const> named) {
  return detail::record_writer(roots, named).write(nullptr, nullptr, nullptr, nullptr);
}
/// The records themselves, in the order of the table.
template <std::size_t Count>
[[nodiscard]] constexpr auto list_records(array_view<const record* const> roots,
                                          array_view<const record* const> named) {
  fixed_array<const record*, Count> all{};
  const detail::record_writer writer(roots, named);
  for (std::size_t i = 0; i != Count; ++i) all[i] = writer.records()[i];
  return all;
}
template <std::size_t Words, std::size_t Characters, std::size_t Operations, std::size_t Functions>
[[nodiscard]] constexpr auto write_records(array_view<const record* const> roots,
                                           array_view<const record* const> named) {
  detail::record_table_arrays<Words, Characters, Operations, Functions> to;
  detail::record_writer(roots, named).write(to.words.data(), to.text.data(), to.operations.data(), to.functions.data());
  return to;
}

}  // namespace tagma::ir
