// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of found_kernels.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/found_kernels.hpp"

namespace tagma::device {

TAGMA_DECL kernel_registry::row kernel_registry::find(const char* key) const {
  for (const array_view<const row>& family : families_)
    for (const row& one : family)
      if (one[0].key == key) return one;
  if (!device_.lists_own) return {};
  if (const auto* const own = operations::own_operation_list::of_process().find_key(key)) return own->kernels;
  return {};
}

}  // namespace tagma::device

namespace tagma::device::detail {

TAGMA_COLD TAGMA_DECL void refuse(const kernel_registry& from, const ir::op_info& op, dtype out,
                                  const std::string& types) {
  // By its name: `find_operation` would link all operations into every program.
  const bool known =
      operations::is_operation_name(op.name) || operations::own_operation_list::of_process().find(op.name) != nullptr;
  fail(status_code::unimplemented,
       {"the registry has no kernel of ", from.device().name, " for ", op.name, types, out == dtype::none ? "" : " to ",
        out == dtype::none ? "" : to_string(out), known || !from.device().lists_own ? "" : operations::how_to_list});
}

TAGMA_DECL loop_recipe recipe_maker::make() {
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

TAGMA_DECL void recipe_maker::add_input(std::size_t l) {
  const dtype type = loads_[l].type;
  loop_input& in = recipe_.inputs[l];
  in.size = static_cast<std::int64_t>(size_of(type));
  in.repeated = !loads_[l].contiguous;
  if (is_half(type)) in.convert = conversion(type, dtype::float32);
  if (in.repeated || in.convert != nullptr) in.row = static_cast<std::int16_t>(rows_++);
  values_[l] = {static_cast<std::int16_t>(l), computed_as(type), 0};
}

TAGMA_DECL void recipe_maker::find_last_uses() {
  for (std::size_t o = 0; o < operations_.size(); ++o)
    for (int k = 0; k < operands(operations_[o]); ++k) values_[operations_[o].operand[k]].last_use = o;
}

TAGMA_DECL int recipe_maker::operands(const plan::loop_operation& o) const {
  const kernel_registry::row row = from_.find(o.op->key);
  if (row.empty()) refuse(from_, *o.op, o.type, {});
  return row[0].types.inputs;
}

TAGMA_DECL void recipe_maker::add_operation(std::size_t o) {
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
      convert(in.type, op.type, in.place, half);
      if (last) return;
      convert(op.type, dtype::float32, place_of(half), row);
      give_back(half);
    } else {
      convert(in.type, result.type, in.place, row);
    }
  } else {
    loop_call& c = recipe_.calls[calls_++];
    c.operands = static_cast<std::int16_t>(operands(op));
    c.result = row;
    for (int k = 0; k < c.operands; ++k) c.operand[k] = values_[op.operand[k]].place;
    c.body = body(op);
    c.type = result.type;
    c.operation = op.op->key;
  }
  if (last && row >= 0) convert(dtype::float32, op.type, place_of(row), -1);
  result.place = place_of(row);
  for (int k = 0; k < operands(op); ++k) {
    value& in = values_[op.operand[k]];
    if (in.last_use != o || static_cast<std::size_t>(op.operand[k]) < loads_.size() || in.place < 0) continue;
    give_back(static_cast<std::int16_t>(in.place - static_cast<std::int16_t>(loads_.size())));
    in.place = -1;
  }
}

TAGMA_DECL std::int16_t recipe_maker::place_of(std::int16_t row) const {
  return static_cast<std::int16_t>(static_cast<std::int16_t>(loads_.size()) + row);
}

TAGMA_DECL void recipe_maker::convert(dtype from, dtype to, std::int16_t place, std::int16_t row) {
  loop_call& c = recipe_.calls[calls_++];
  c.body = conversion(from, to);
  c.operand[0] = place;
  c.operands = 1;
  c.result = row;
  c.type = to;
  c.operation = &ir::key<op::cast>;
}

TAGMA_DECL bool recipe_maker::is_wider_than_float(dtype type) {
  return type == dtype::float64 || type == dtype::int64 || type == dtype::int32;
}

TAGMA_DECL loop_body recipe_maker::conversion(dtype from, dtype to) const {
  for (const registered_kernel& k : from_.find(&ir::key<op::cast>))
    if (k.types.in[0] == from && k.types.out == to) return k.body();
  refuse(from_, ir::info<op::cast>, to, types_text(1, [&](std::size_t) { return from; }));
}

TAGMA_DECL loop_body recipe_maker::body(const plan::loop_operation& o) const {
  const auto type = [&](std::size_t k) { return values_[o.operand[k]].type; };
  const kernel_registry::row row = from_.find(o.op->key);
  for (const registered_kernel& k : row) {
    bool fits = k.body != nullptr && k.types.out == computed_as(o.type);
    for (int i = 0; fits && i < k.types.inputs; ++i) fits = k.types.in[i] == type(static_cast<std::size_t>(i));
    if (fits) return k.body();
  }
  refuse(from_, *o.op, o.type, types_text(static_cast<std::size_t>(row[0].types.inputs), type));
}

}  // namespace tagma::device::detail

namespace tagma::device {

TAGMA_DECL found_kernels::found_kernels(const kernel_registry& from, const plan::heap_plan& plan, steps_of where)
    : entries_(plan.view().steps.size()), recipes_(plan.view().steps.size()), pairs_(plan.view().steps.size()) {
  const plan::plan_view view = plan.view();
  for (std::size_t s = 0; s < entries_.size(); ++s) {
    const auto number = static_cast<std::int32_t>(s);
    const plan::plan_step& step = view.steps[s];
    const plan::plan_node& node = view.nodes[step.node];
    if (where == steps_of::other_devices &&
        (view.devices[node.device].memory == memory_kind::host || node.op->key == &ir::key<plan::transfer>))
      continue;
    if (!step.fused) {
      entries_[s] = find(from, plan, step, step.node, static_cast<std::size_t>(step.operands));
    } else if (step.before != ir::no_node) {
      entries_[s] = find_then_loop(from, plan, number);
    } else {
      recipes_[s] = detail::recipe_maker(from, plan.loads(number), plan.operations(number)).make();
      entries_[s] = from.device().loop(recipes_[s]);
    }
    if (from.device().kept != nullptr && plan.keeps(number) && entries_[s].run != nullptr) {
      kept_.push_back(entries_[s]);
      entries_[s] = from.device().kept(kept_.back());
    }
  }
}

TAGMA_DECL kernel_entry found_kernels::find_then_loop(const kernel_registry& from, const plan::heap_plan& plan,
                                                      std::int32_t s) {
  const plan::plan_step& step = plan.view().steps[static_cast<std::size_t>(s)];
  const auto inputs = static_cast<std::size_t>(plan.view().nodes[step.before].inputs);
  // The result of the kernel stands among the loads where its last input stands among the operands.
  const array_view<const plan::loop_load> loads = plan.loads(s).subspan(inputs - 1);
  recipes_[s] = detail::recipe_maker(from, loads, plan.operations(s)).make();
  pairs_[s] = make_owned<two_kernels>();
  two_kernels& pair = *pairs_[s];
  pair.kernel = find(from, plan, step, step.before, inputs);
  pair.loop = from.device().loop(recipes_[s]);
  pair.both = {&pair.kernel, &pair.loop, inputs};
  kernel_entry joined;
  if (from.device().join != nullptr)
    joined = from.device().join(pair.both, *plan.view().nodes[step.before].op, loads, plan.operations(s));
  return joined.run != nullptr ? joined : pair.both.entry();
}

TAGMA_DECL kernel_entry found_kernels::find(const kernel_registry& from, const plan::heap_plan& plan,
                                            const plan::plan_step& step, ir::node_id node, std::size_t inputs) {
  const plan::plan_node& of = plan.view().nodes[node];
  const ir::op_info& op = *of.op;
  const auto type = [&](std::size_t k) { return plan.operand_type(step, k); };
  const auto outputs = static_cast<std::size_t>(step.outputs);
  const dtype out = of.spec.type;
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
  detail::refuse(from, op, out, detail::types_text(inputs, type));
}

}  // namespace tagma::device
