// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernel that takes records of comma-separated values apart.

#include <memory>
#include <vector>

#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/expr/op/decode_csv.hpp"
#include "tagma/io/csv.hpp"

namespace tagma::device {
namespace cpu::detail {

/// Characters that a kernel made, which stay until it begins its next run.
class kept_characters {
 public:
  /// A call in the run of this number.
  void begin(std::uint64_t run) {
    if (run_ == run) return;
    run_ = run;
    block_ = used_ = 0;
  }
  [[nodiscard]] std::string_view keep(std::string_view text) {
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

 private:
  static constexpr std::size_t least = 16 * 1024;
  struct block {
    std::unique_ptr<char[]> data;
    std::size_t size = 0;
  };
  std::vector<block> blocks_;
  std::size_t block_ = 0, used_ = 0;
  std::uint64_t run_ = UINT64_MAX;
};

class csv_state final : public kernel_state {
 public:
  static void run(const kernel_args& args, const run_context& context) {
    static_cast<csv_state&>(*args.state).decode(args, context);
  }

 private:
  /// Where fields go.
  struct column {
    std::byte* to = nullptr;
    std::size_t step = 0;  ///< bytes from one record to the next; 0 where nobody reads the result
    bool is_text = false;
  };

  void decode(const kernel_args& args, const run_context& context) {
    make_decoder(args);
    characters_.begin(context.step);
    const auto* const records = args.in[0].as<const string_element>();
    const std::int64_t count = args.in[0].elements();
    for (std::int64_t r = 0; r < count; ++r) {
      if (r % 1024 == 1023 && context.cancelled()) return;
      decoder_->decode(records[r], places_, {{}, r});
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        column& one = columns_[c];
        if (one.is_text) keep(*reinterpret_cast<string_element*>(places_[c]), records[r]);
        one.to += one.step;
        places_[c] = one.to;
      }
    }
  }
  /// A text that is no part of its record is the decoder's, which writes there again.
  void keep(string_element& text, string_element record) {
    const auto begin = reinterpret_cast<std::uintptr_t>(record.data()),
               at = reinterpret_cast<std::uintptr_t>(text.data());
    if (text.empty() || (at >= begin && at < begin + record.size())) return;
    text = characters_.keep(text);
  }

  /// The decoder is made once, and again when the values of missing fields are others.
  void make_decoder(const kernel_args& args) {
    const ir::attribute_list a = args.attributes;
    const auto results = static_cast<std::size_t>(a[4]);
    bool same = decoder_ != nullptr;
    fields_.clear(), columns_.clear(), places_.clear();
    for (std::size_t i = 0; i < results; ++i) {
      const ir::csv_result result = ir::csv_result_of(a, i);
      io::csv_field field(result.type);
      if (result.given >= 0) give(field, args.in[static_cast<std::size_t>(result.given)]);
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
      const char c =
          static_cast<char>(static_cast<std::uint64_t>(a[static_cast<std::size_t>(2 + i / 8)]) >> 8 * (i % 8));
      if (c == 0) break;
      options.na_value += c;
    }
    for (const ir::attribute c : ir::csv_selection_of(a)) options.columns.push_back(c);
    decoder_ = std::make_unique<io::csv_decoder>(fields_, std::move(options));
  }
  static void give(io::csv_field& field, const operand& value) {
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
  [[nodiscard]] static bool is_one(const io::csv_field& a, const io::csv_field& b) {
    return std::memcmp(&a.number, &b.number, sizeof a.number) == 0 && a.whole == b.whole && a.text == b.text;
  }

  std::unique_ptr<io::csv_decoder> decoder_;
  std::vector<io::csv_field> fields_;
  std::vector<column> columns_;
  std::vector<void*> places_;
  kept_characters characters_;
  alignas(16) unsigned char unread_[sizeof(string_element)]{};
};

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::decode_csv>> {
  template <dtype...>
  static constexpr kernel_entry entry{&cpu::detail::csv_state::run,
                                      [](const kernel_args&, const run_context&) -> owned<kernel_state> {
                                        return make_owned<cpu::detail::csv_state>();
                                      }};
};

}  // namespace tagma::device
