// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Records in a process, made of the numbers that the compiler wrote.

#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/graph/record_table.hpp"

namespace tagma::ir {

/// The records of a table. Names and attributes are the table's own, which outlives them.
class heap_records {
 public:
  /// Throws `no_memory`, and what `rules_of` throws.
  /// @param rules_of finds those of an operation that the table has by its key alone
  TAGMA_COLD heap_records(const record_table& table, const op_rules& (*rules_of)(const table_operation&))
      : table_(table),
        records_(table.records),
        scopes_(table.scopes),
        lists_(table.lists),
        names_(table.names),
        operations_(table.operations.size()) {
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      const table_operation& op = table.operations[i];
      operations_[i] = op.rules != nullptr ? op.rules : &rules_of(op);
    }
    roots_ = take_list(static_cast<std::size_t>(take()));
    named_ = take_list(static_cast<std::size_t>(take()));
    for (record& r : records_) read(r);
    for (scope& s : scopes_) read(s);
  }

  [[nodiscard]] array_view<const record* const> roots() const { return roots_; }
  [[nodiscard]] array_view<const record* const> named() const { return named_; }
  template <class Index>
  [[nodiscard]] const record& operator[](Index i) const {
    return records_[i];
  }

 private:
  [[nodiscard]] std::int64_t take() { return table_.words[at_++]; }
  [[nodiscard]] std::string_view take_text() {
    const std::int64_t place = take();
    return {table_.text.data() + high_word(place), static_cast<std::size_t>(low_word(place))};
  }
  [[nodiscard]] array_view<const record* const> take_list(std::size_t count) {
    const record** const begin = lists_.data() + listed_;
    for (std::size_t i = 0; i < count; ++i) begin[i] = &records_[take()];
    listed_ += count;
    return {begin, count};
  }
  /// What may be absent.
  template <class T>
  [[nodiscard]] static const T* find(const heap_array<T>& all, std::int64_t after) {
    return after == 0 ? nullptr : &all[after - 1];
  }

  TAGMA_COLD void read(record& r) {
    r.hash = static_cast<std::uint64_t>(take());
    const std::int64_t what = take(), counts = take(), flags = (what >> 32) & 0xff;
    r.op = operations_[what & 0xffff];
    r.spec.type = static_cast<dtype>((what >> 16) & 0xff);
    r.valued = (flags & record_flags::valued) != 0;
    r.carries = (flags & record_flags::carries) != 0;
    if ((flags & record_flags::named) != 0) r.name = take_text();
    std::size_t colocated = 0;
    if ((flags & record_flags::placed) != 0) {
      r.scopes = find(scopes_, take());
      r.bare = find(records_, take());
      r.copied = find(records_, take());
      colocated = static_cast<std::size_t>(take());
    }
    for (int axis = static_cast<int>((what >> 24) & 0xff); axis > 0; --axis) r.spec.dims.push_back(take());
    const auto attributes = static_cast<std::size_t>(what >> 40);
    r.attributes = table_.words.subspan(at_, attributes);
    at_ += attributes;
    r.inputs = take_list(static_cast<std::size_t>(low_word(counts)));
    r.controls = take_list(static_cast<std::size_t>(high_word(counts)));
    r.colocated = take_list(colocated);
  }
  TAGMA_COLD void read(scope& s) {
    s.hash = static_cast<std::uint64_t>(take());
    const std::int64_t what = take(), around = take();
    s.kind = static_cast<scope_kind>(what & 0xff);
    s.alone = (what & 256) != 0;
    s.copies = static_cast<int>(what >> 16);
    s.inner = find(scopes_, low_word(around));
    if (const std::int32_t function = high_word(around); function != 0) s.function = table_.functions[function - 1];
    s.prefix = take_text();
    s.spec.job = device_text(take_text());
    s.spec.type = device_text(take_text());
    const std::int64_t numbers = take();
    s.spec.replica = low_word(numbers);
    s.spec.task = high_word(numbers);
    s.spec.id = static_cast<std::int32_t>(take());
    const std::int64_t counts = take();
    const auto names = static_cast<std::size_t>(high_word(counts));
    s.outside = take_list(static_cast<std::size_t>(low_word(counts)));
    renamed* const begin = names_.data() + named_count_;
    for (std::size_t i = 0; i < names; ++i) {
      begin[i].from = take_text();
      begin[i].to = take_text();
    }
    s.names = {begin, names};
    named_count_ += names;
  }

  record_table table_;
  heap_array<record> records_;
  heap_array<scope> scopes_;
  heap_array<const record*> lists_;
  heap_array<renamed> names_;
  heap_array<const op_rules*> operations_;
  array_view<const record*const> roots_, named_;
  std::size_t at_ = 0, listed_ = 0, named_count_ = 0;
};

}  // namespace tagma::ir
