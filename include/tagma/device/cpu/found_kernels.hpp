// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Picks the kernel of each step of a plan that was made when the program ran, and turns its loops into recipes.

#include <string>

#include "tagma/base/config.hpp"

#include "tagma/device/cpu/registry.hpp"
#include "tagma/device/own_operations.hpp"
#include "tagma/runtime/step_kernels.hpp"

namespace tagma::device::cpu {

/// All that is registered: the operations of some families, and those that the program lists.
class kernel_registry {
 public:
  using row = array_view<const registered_kernel>;

  /// @param families outlives it
  explicit kernel_registry(array_view<const array_view<const row>> families) : families_(families) {}

  /// The kernels of an operation; empty if there are none.
  [[nodiscard]] row find(const char* key) const {
    for (const array_view<const row>& family : families_)
      for (const row& one : family)
        if (one[0].key == key) return one;
    if (const auto* const own = operations::own_operation_list::of_process().find_key(key)) return own->kernels;
    return {};
  }

 private:
  array_view<const array_view<const row>> families_;
};

namespace detail {

[[nodiscard]] constexpr dtype computed_as(dtype type) { return is_half(type) ? dtype::float32 : type; }

/// The types of a call, for an error: "(float32, int64)".
template <class Type>
[[nodiscard]] std::string types_text(std::size_t count, const Type& type) {
  std::string text = "(";
  for (std::size_t i = 0; i < count; ++i) append_parts(text, {i == 0 ? "" : ", ", to_string(type(i))});
  return text + ")";
}
[[noreturn]] TAGMA_COLD inline void refuse(const ir::op_info& op, dtype out, const std::string& types) {
  fail(status_code::unimplemented, {"the registry has no kernel of the CPU for ", op.name, types,
                                    out == dtype::none ? "" : " to ", out == dtype::none ? "" : to_string(out),
                                    operations::find_operation(op.name) == nullptr ? operations::how_to_list : ""});
}

/// Makes the recipe of one loop.
class recipe_maker {
 public:
  recipe_maker(const kernel_registry& from, array_view<const plan::loop_load> loads,
               array_view<const plan::loop_operation> operations)
      : from_(from), loads_(loads), operations_(operations), values_(loads.size() + operations.size()) {}

  [[nodiscard]] loop_recipe make() {
    recipe_.inputs.allocate(loads_.size());
    recipe_.calls.allocate(3 * operations_.size());
    for (std::size_t l = 0; l < loads_.size(); ++l) add_input(l);
    find_last_uses();
    for (std::size_t o = 0; o < operations_.size(); ++o) add_operation(o);
    heap_array<loop_call> calls(calls_);
    for (std::size_t i = 0; i < calls_; ++i) calls[i] = recipe_.calls[i];
    recipe_.calls = static_cast<heap_array<loop_call>&&>(calls);
    recipe_.rows = rows_;
    return static_cast<loop_recipe&&>(recipe_);
  }

 private:
  /// A load or a result: where it is, and the type that is computed with.
  struct value {
    std::int16_t place = 0;
    dtype type = dtype::none;
    std::size_t last_use = 0;
  };

  void add_input(std::size_t l) {
    const dtype type = loads_[l].type;
    loop_input& in = recipe_.inputs[l];
    in.size = static_cast<std::int64_t>(size_of(type));
    in.repeated = !loads_[l].contiguous;
    if (is_half(type)) in.convert = conversion(type, dtype::float32);
    if (in.repeated || in.convert != nullptr) in.row = static_cast<std::int16_t>(rows_++);
    values_[l] = {static_cast<std::int16_t>(l), computed_as(type), 0};
  }
  void find_last_uses() {
    for (std::size_t o = 0; o < operations_.size(); ++o)
      for (int k = 0; k < operands(operations_[o]); ++k) values_[operations_[o].operand[k]].last_use = o;
  }
  [[nodiscard]] int operands(const plan::loop_operation& o) const {
    const kernel_registry::row row = from_.find(o.op->key);
    if (row.empty()) refuse(*o.op, o.type, {});
    return row[0].types.inputs;
  }

  void add_operation(std::size_t o) {
    const plan::loop_operation& op = operations_[o];
    const bool last = o + 1 == operations_.size();
    value& result = values_[loads_.size() + o];
    result.type = computed_as(op.type);
    const std::int16_t row = last && !is_half(op.type) ? std::int16_t{-1} : take_row();
    if (op.op->key == &ir::key<op::cast>) {
      const value& in = values_[op.operand[0]];
      if (is_half(op.type) && is_wider_than_float(in.type)) {
        // Rounded once.
        const std::int16_t half = last ? std::int16_t{-1} : take_row();
        call(conversion(in.type, op.type), in.place, half);
        if (last) return;
        call(conversion(op.type, dtype::float32), place_of(half), row);
        give_back(half);
      } else {
        call(conversion(in.type, result.type), in.place, row);
      }
    } else {
      loop_call& c = recipe_.calls[calls_++];
      c.operands = static_cast<std::int16_t>(operands(op));
      c.result = row;
      for (int k = 0; k < c.operands; ++k) c.operand[k] = values_[op.operand[k]].place;
      c.span = body(op);
    }
    if (last && row >= 0) call(conversion(dtype::float32, op.type), place_of(row), -1);
    result.place = place_of(row);
    for (int k = 0; k < operands(op); ++k) {
      value& in = values_[op.operand[k]];
      if (in.last_use != o || static_cast<std::size_t>(op.operand[k]) < loads_.size() || in.place < 0) continue;
      give_back(static_cast<std::int16_t>(in.place - static_cast<std::int16_t>(loads_.size())));
      in.place = -1;
    }
  }
  [[nodiscard]] std::int16_t place_of(std::int16_t row) const {
    return static_cast<std::int16_t>(static_cast<std::int16_t>(loads_.size()) + row);
  }
  void call(span_function span, std::int16_t from, std::int16_t to) {
    loop_call& c = recipe_.calls[calls_++];
    c.span = span;
    c.operand[0] = from;
    c.operands = 1;
    c.result = to;
  }
  [[nodiscard]] std::int16_t take_row() { return free_ > 0 ? free_rows_[--free_] : static_cast<std::int16_t>(rows_++); }
  void give_back(std::int16_t row) { free_rows_[free_++] = row; }

  [[nodiscard]] static bool is_wider_than_float(dtype type) {
    return type == dtype::float64 || type == dtype::int64 || type == dtype::int32;
  }
  [[nodiscard]] span_function conversion(dtype from, dtype to) const {
    for (const registered_kernel& k : from_.find(&ir::key<op::cast>))
      if (k.types.in[0] == from && k.types.out == to) return k.span();
    refuse(ir::info<op::cast>, to, types_text(1, [&](std::size_t) { return from; }));
  }
  [[nodiscard]] span_function body(const plan::loop_operation& o) const {
    const auto type = [&](std::size_t k) { return values_[o.operand[k]].type; };
    const kernel_registry::row row = from_.find(o.op->key);
    for (const registered_kernel& k : row) {
      bool fits = k.span != nullptr && k.types.out == computed_as(o.type);
      for (int i = 0; fits && i < k.types.inputs; ++i) fits = k.types.in[i] == type(static_cast<std::size_t>(i));
      if (fits) return k.span();
    }
    refuse(*o.op, o.type, types_text(static_cast<std::size_t>(row[0].types.inputs), type));
  }

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

/// The kernels of the steps of a plan.
class found_kernels final : public runtime::step_kernels {
 public:
  /// Throws Unimplemented for a step without kernel.
  found_kernels(const kernel_registry& from, const plan::heap_plan& plan)
      : entries_(plan.view().steps.size()), recipes_(plan.view().steps.size()) {
    for (std::size_t s = 0; s < entries_.size(); ++s) {
      const auto step = static_cast<std::int32_t>(s);
      if (plan.view().steps[s].fused) {
        recipes_[s] = detail::recipe_maker(from, plan.loads(step), plan.operations(step)).make();
        entries_[s] = interpreted(recipes_[s]);
      } else {
        entries_[s] = find(from, plan, plan.view().steps[s]);
      }
    }
  }
  [[nodiscard]] array_view<const kernel_entry> entries() const override { return entries_; }

 private:
  [[nodiscard]] static kernel_entry find(const kernel_registry& from, const plan::heap_plan& plan,
                                         const plan::plan_step& step) {
    const plan::plan_view tables = plan.view();
    const ir::op_info& op = *tables.nodes[step.node].op;
    const auto type = [&](std::size_t k) { return plan.operand_type(step, k); };
    const auto inputs = static_cast<std::size_t>(step.operands), outputs = static_cast<std::size_t>(step.outputs);
    const dtype out = tables.nodes[step.node].spec.type;
    for (const registered_kernel& k : from.find(op.key)) {
      const bool any = k.types.out == dtype::none;
      bool fits = any || outputs > 0 || k.types.out == out;
      // Of the inputs behind those, `infer` knows the types.
      for (std::size_t i = 0; fits && i < inputs && i < static_cast<std::size_t>(k.types.inputs); ++i)
        fits = op.ignores_elements(static_cast<int>(i)) || k.types.input(i) == type(i);
      for (std::size_t i = 0; fits && i < outputs; ++i)
        fits = any || type(inputs + i) == dtype::none || k.types.output(i) == type(inputs + i);
      if (fits) return k.entry;
    }
    detail::refuse(op, out, detail::types_text(inputs, type));
  }

  heap_array<kernel_entry> entries_;
  heap_array<loop_recipe> recipes_;
};

}  // namespace tagma::device::cpu
