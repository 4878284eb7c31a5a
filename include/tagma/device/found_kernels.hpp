// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Picks the kernel of each step of a plan that was made when the program ran, and turns its loops into recipes.

#include <deque>
#include <string>

#include "tagma/base/config.hpp"

#include "tagma/device/kernel_then_loop.hpp"
#include "tagma/device/own_operations.hpp"
#include "tagma/device/registry.hpp"
#include "tagma/runtime/step_kernels.hpp"

namespace tagma::device {

namespace detail {

/// The types of a call, for an error: "(float32, int64)".
template <class Type>
[[nodiscard]] std::string types_text(std::size_t count, const Type& type) {
  std::string text = "(";
  for (std::size_t i = 0; i < count; ++i) append_parts(text, {i == 0 ? "" : ", ", to_string(type(i))});
  return text + ")";
}
[[noreturn]] void refuse(const kernel_registry& from, const ir::op_info& op, dtype out, const std::string& types);

/// Makes the recipe of one loop.
class recipe_maker {
 public:
  recipe_maker(const kernel_registry& from, array_view<const plan::loop_load> loads,
               array_view<const plan::loop_operation> operations)
      : from_(from), loads_(loads), operations_(operations), values_(loads.size() + operations.size()) {}

  [[nodiscard]] loop_recipe make();

 private:
  /// A load or a result: where it is, and the type that is computed with.
  struct value {
    std::int16_t place = 0;
    dtype type = dtype::none;
    std::size_t last_use = 0;
  };

  void add_input(std::size_t l);
  void find_last_uses();
  [[nodiscard]] int operands(const plan::loop_operation& o) const;

  void add_operation(std::size_t o);
  [[nodiscard]] std::int16_t place_of(std::int16_t row) const;
  void convert(dtype from, dtype to, std::int16_t place, std::int16_t row);
  [[nodiscard]] std::int16_t take_row() { return free_ > 0 ? free_rows_[--free_] : static_cast<std::int16_t>(rows_++); }
  void give_back(std::int16_t row) { free_rows_[free_++] = row; }

  [[nodiscard]] static bool is_wider_than_float(dtype type);
  [[nodiscard]] loop_body conversion(dtype from, dtype to) const;
  [[nodiscard]] loop_body body(const plan::loop_operation& o) const;

  const kernel_registry& from_;
  array_view<const plan::loop_load> loads_;
  array_view<const plan::loop_operation> operations_;
  heap_array<value> values_;
  loop_recipe recipe_;
  std::size_t calls_ = 0, rows_ = 0;
  std::int16_t free_rows_[most_rows]{};
  std::size_t free_ = 0;
};

}  // namespace detail

/// Which steps of a plan a registry has kernels for: all, or those that are not on the host and do not copy, which
/// devices do by themselves.
enum class steps_of : std::uint8_t { all_devices, other_devices };

/// The kernels of the steps of a plan; those that are not looked for are empty.
class found_kernels final : public runtime::step_kernels {
 public:
  /// Throws Unimplemented for a step without kernel.
  found_kernels(const kernel_registry& from, const plan::heap_plan& plan, steps_of where = steps_of::all_devices);
  [[nodiscard]] array_view<const kernel_entry> entries() const override { return entries_; }

 private:
  /// What a step with a kernel before its loop does.
  struct two_kernels {
    kernel_entry kernel, loop;
    kernel_and_loop both;
  };

  /// @param node,inputs of the kernel
  [[nodiscard]] static kernel_entry find(const kernel_registry& from, const plan::heap_plan& plan,
                                         const plan::plan_step& step, ir::node_id node, std::size_t inputs);
  [[nodiscard]] kernel_entry find_then_loop(const kernel_registry& from, const plan::heap_plan& plan, std::int32_t s);

  heap_array<kernel_entry> entries_;
  heap_array<loop_recipe> recipes_;
  heap_array<owned<two_kernels>> pairs_;
  std::deque<kernel_entry> kept_;  // what is found stays where it is
};

}  // namespace tagma::device

#ifndef TAGMA_COMPILED
#include "tagma/device/found_kernels.ipp"
#endif
