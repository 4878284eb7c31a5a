// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of decode_csv.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/decode_csv.hpp"

namespace tagma::device::cpu::detail {

TAGMA_DECL void kept_characters::begin(std::uint64_t run) {
  if (run_ == run) return;
  run_ = run;
  block_ = used_ = 0;
}

TAGMA_DECL std::string_view kept_characters::keep(std::string_view text) {
  while (block_ < blocks_.size() && blocks_[block_].size - used_ < text.size()) ++block_, used_ = 0;
  if (block_ == blocks_.size()) {
    const std::size_t size = text.size() > least ? text.size() : least;
    blocks_.push_back({std::make_unique<char[]>(size), size});
  }
  char* const to = blocks_[block_].data.get() + used_;
  std::memcpy(to, text.data(), text.size());
  used_ += text.size();
  return {to, text.size()};
}

TAGMA_DECL void csv_state::run(const kernel_args& args, const run_context& context) {
  static_cast<csv_state&>(*args.state).decode(args, context);
}

TAGMA_DECL void csv_state::decode(const kernel_args& args, const run_context& context) {
  make_decoder(args);
  characters_.begin(context.step);
  const auto* const records = args.in[0].as<const string_element>();
  const std::int64_t count = args.in[0].elements();
  const names_of_records names(args, operands_);
  for (std::int64_t r = 0; r < count; ++r) {
    if (r % 1024 == 1023 && context.cancelled()) return;
    decoder_->decode(records[r], places_, {names.key(static_cast<std::size_t>(r)), r});
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      column& one = columns_[c];
      if (one.is_text) keep(*reinterpret_cast<string_element*>(places_[c]), records[r]);
      one.to += one.step;
      places_[c] = one.to;
    }
  }
}

TAGMA_DECL void csv_state::keep(string_element& text, string_element record) {
  const auto begin = reinterpret_cast<std::uintptr_t>(record.data()),
             at = reinterpret_cast<std::uintptr_t>(text.data());
  if (text.empty() || (at >= begin && at < begin + record.size())) return;
  text = characters_.keep(text);
}

TAGMA_DECL void csv_state::make_decoder(const kernel_args& args) {
  const ir::attribute_list a = args.attributes;
  const auto results = static_cast<std::size_t>(a[4]);
  bool same = decoder_ != nullptr;
  fields_.clear(), columns_.clear(), places_.clear();
  operands_ = 1;
  for (std::size_t i = 0; i < results; ++i) {
    const ir::csv_result result = ir::csv_result_of(a, i);
    io::csv_field field(result.type);
    if (result.given >= 0) {
      const auto given = static_cast<std::size_t>(result.given);
      operands_ = std::max(operands_, given + 1);
      give(field, args.in[given]);
    }
    const std::size_t width = result.width > 0 ? static_cast<std::size_t>(result.width) : 1,
                      bytes = size_of(result.type);
    std::byte* const to = args.outs[i].data;
    for (std::size_t c = 0; c < width; ++c) {
      same = same && is_one(field, decoder_->fields()[columns_.size()]);
      fields_.push_back(field);
      columns_.push_back({to == nullptr ? reinterpret_cast<std::byte*>(unread_) : to + c * bytes,
                          to == nullptr ? 0 : width * bytes, result.type == dtype::string && to != nullptr});
      places_.push_back(columns_.back().to);
    }
  }
  if (same) return;
  io::csv_options options;
  options.delimiter = static_cast<char>(a[0]);
  options.quotes = a[1] != 0;
  for (int i = 0; i < 16; ++i) {
    const char c = static_cast<char>(static_cast<std::uint64_t>(a[static_cast<std::size_t>(2 + i / 8)]) >> 8 * (i % 8));
    if (c == 0) break;
    options.na_value += c;
  }
  for (const ir::attribute c : ir::csv_selection_of(a)) options.columns.push_back(c);
  decoder_ = std::make_unique<io::csv_decoder>(fields_, std::move(options));
}

TAGMA_DECL void csv_state::give(io::csv_field& field, const operand& value) {
  field.required = false;
  switch (field.type) {
    case dtype::float32:
      field.number = static_cast<double>(*value.as<const float>());
      break;
    case dtype::float64:
      field.number = *value.as<const double>();
      break;
    case dtype::int32:
      field.whole = *value.as<const std::int32_t>();
      break;
    case dtype::int64:
      field.whole = *value.as<const std::int64_t>();
      break;
    default:
      field.text = *value.as<const string_element>();
  }
}

TAGMA_DECL bool csv_state::is_one(const io::csv_field& a, const io::csv_field& b) {
  return std::memcmp(&a.number, &b.number, sizeof a.number) == 0 && a.whole == b.whole && a.text == b.text;
}

}  // namespace tagma::device::cpu::detail
