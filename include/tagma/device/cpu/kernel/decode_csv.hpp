// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernel that takes records of comma-separated values apart.

#include <memory>
#include <vector>

#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/cpu/kernel/records.hpp"
#include "tagma/expr/op/decode_csv.hpp"
#include "tagma/io/csv.hpp"

namespace tagma::device {
namespace cpu::detail {

/// Characters that a kernel made, which stay until it begins its next run.
class kept_characters {
 public:
  /// A call in the run of this number.
  void begin(std::uint64_t run);
  [[nodiscard]] std::string_view keep(std::string_view text);

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
  static void run(const kernel_args& args, const run_context& context);

 private:
  /// Where fields go.
  struct column {
    std::byte* to = nullptr;
    std::size_t step = 0;  ///< bytes from one record to the next; 0 where nobody reads the result
    bool is_text = false;
  };

  void decode(const kernel_args& args, const run_context& context);
  /// A text that is no part of its record is the decoder's, which writes there again.
  void keep(string_element& text, string_element record);

  /// The decoder is made once, and again when the values of missing fields are others.
  void make_decoder(const kernel_args& args);
  static void give(io::csv_field& field, const operand& value);
  [[nodiscard]] static bool is_one(const io::csv_field& a, const io::csv_field& b);

  std::unique_ptr<io::csv_decoder> decoder_;
  std::vector<io::csv_field> fields_;
  std::vector<column> columns_;
  std::vector<void*> places_;
  std::size_t operands_ = 1;  ///< up to the last that is the value of a missing field
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

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/kernel/decode_csv.ipp"
#endif
