// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Picks the kernel of each step of a plan from those that a device has. Kernels are keyed by operation and element
/// types, loops by their recipe, so a hundred equal layers cost the compiler as much as one, and no plan is ever an
/// argument of a kernel. A device has specialisations of `kernel` and `scalar_kernel`, and of `fused_loop`.

#include <type_traits>
#include <utility>

#include "tagma/device/loop.hpp"

namespace tagma::device {

/// A kernel that goes on with a loop over its result; in kernel_then_loop.hpp.
template <const kernel_entry* Kernel, const kernel_entry* Loop, std::size_t Inputs>
class kernel_then_loop;

/// The same of an operation, with `entry`. A device that does both at once has a specialisation.
template <class Device, const char& Operation, class Loop, dtype Out, dtype... In>
struct kernel_with_loop
    : kernel_then_loop<&kernel<Device, Operation>::template entry<Out, In...>, &Loop::entry, sizeof...(In)> {};

namespace detail {

// For each expression that reads a constant out of a table, nvcc's front end copies the whole table. So a few steps are
// cut out of the tables of a plan at once, with all that they need, and each step is read from such a part.

/// What the kernel of a step is picked by.
struct step_facts {
  plan::plan_step step;
  const ir::op_info* op = nullptr;  ///< of its kernel, or of the result of its loop
  dtype type = dtype::none;         ///< of the result of that operation
  int rank = 0;                     ///< of the same
  std::int32_t before = 0;          ///< inputs of the kernel before its loop
  std::int32_t operation = 0;       ///< its first, of its part
  std::int32_t operations = 0;
  bool few = false;  ///< its first operand has short rows, which are few or vary
};
/// Which steps, operations and operands of a plan are one part.
struct part_range {
  std::int32_t first = 0, steps = 0, first_operation = 0, operations = 0, first_operand = 0, operands = 0;
};

template <class Raw>
constexpr part_range range_of(const Raw& raw, std::int32_t first, std::int32_t most) {
  part_range part{first, raw.sizes.steps - first, raw.sizes.operations, 0, 0, 0};
  if (part.steps > most) part.steps = most;
  std::int32_t end = 0;
  for (std::int32_t s = first; s < first + part.steps; ++s) {
    if (raw.operation_count[s] == 0) continue;  // a step without a loop may have any first operation
    const std::int32_t from = raw.first_operation[s], to = from + raw.operation_count[s];
    if (from < part.first_operation) part.first_operation = from;
    if (to > end) end = to;
  }
  part.operations = end > part.first_operation ? end - part.first_operation : 0;
  const plan::plan_step& last = raw.steps[first + part.steps - 1];
  part.first_operand = raw.steps[first].first_operand;
  part.operands = last.first_operand + last.operands + last.outputs - part.first_operand;
  return part;
}
/// True of a tensor with short rows, which are few or vary.
constexpr bool has_few(const shape& s) {
  extent row = 1;
  for (int axis = 1; axis < s.rank && row <= 64; ++axis) row = s[axis] == dyn ? 65 : bounded_product(row, s[axis]);
  return s.rank > 1 && row <= 64 && s[0] <= 4096;
}
template <std::size_t Count, class Raw>
constexpr fixed_array<step_facts, Count> facts_of(const Raw& raw, const part_range& part) {
  fixed_array<step_facts, Count> facts{};
  for (std::int32_t i = 0; i < part.steps; ++i) {
    step_facts& f = facts[i];
    f.step = raw.steps[part.first + i];
    const plan::plan_node& main = raw.nodes[f.step.main_node()];
    f.op = main.op;
    f.type = main.spec.type;
    f.rank = main.spec.dims.rank;
    if (const ir::node_id of = raw.operands[f.step.first_operand]; f.step.operands > 0 && of != ir::no_node)
      f.few = has_few(raw.nodes[of].spec.dims);
    f.before = f.step.before == ir::no_node ? 0 : main.inputs;
    f.operations = raw.operation_count[part.first + i];
    if (f.operations > 0) f.operation = raw.first_operation[part.first + i] - part.first_operation;
  }
  return facts;
}
/// True if windows of a step may have nine pixels at most. The filter is its second operand, or its result.
template <class Raw>
constexpr bool has_small_windows(const Raw& raw, const plan::plan_step& step, bool makes_filter) {
  const ir::node_id of = makes_filter ? step.main_node() : raw.operands[step.first_operand + 1];
  if (of == ir::no_node) return true;
  const shape& s = raw.nodes[of].spec.dims;
  const extent rows = s[0] == dyn ? 1 : s[0], columns = s[1] == dyn ? 1 : s[1];
  return rows <= 9 && columns <= 9 && rows * columns <= 9;
}
/// True if a step may reduce rows of 2 to 32 elements. Its first attribute has a bit for each axis.
template <class Raw>
constexpr bool reduces_short_rows(const Raw& raw, const plan::plan_step& step) {
  const ir::node_id of = raw.operands[step.first_operand];
  if (of == ir::no_node) return false;
  const shape& s = raw.nodes[of].spec.dims;
  const ir::attribute axes = raw.attributes[raw.nodes[step.main_node()].first_attribute];
  int last = s.rank - 1;
  // Axes of one element do not count, nor others that are kept and may have one.
  while (last > 0 && (s[last] == 1 || (s[last] == dyn && ((axes >> last) & 1) == 0))) --last;
  return last > 0 && (s[last] == dyn || s[last] <= 32) && ((axes >> last) & 1) != 0;
}
template <std::size_t Count, class T, std::size_t All>
constexpr fixed_array<T, Count> entries(const fixed_array<T, All>& table, std::int32_t first) {
  const T* const from = table.data() + first;
  fixed_array<T, Count> some{};
  for (std::size_t i = 0; i != Count; ++i) some[i] = from[i];
  return some;
}
template <std::size_t Count, class Raw>
constexpr fixed_array<dtype, Count> operand_types(const Raw& raw, std::int32_t first) {
  const ir::node_id* const from = raw.operands.data() + first;
  fixed_array<dtype, Count> types{};
  for (std::size_t i = 0; i != Count; ++i)
    types[i] =
        from[i] == ir::no_node ? raw.loads[first + static_cast<std::int32_t>(i)].type : raw.nodes[from[i]].spec.type;
  return types;
}

template <class Plan, std::size_t Part>
struct plan_part {
  static constexpr std::size_t size = 16;
  static constexpr part_range range = range_of(Plan::raw, Part* size, size);
  static constexpr auto facts = facts_of<range.steps>(Plan::raw, range);
  static constexpr auto operations = entries<range.operations>(Plan::raw.operations, range.first_operation);
  static constexpr auto loads = entries<range.operands>(Plan::raw.loads, range.first_operand);
  static constexpr auto types = operand_types<range.operands>(Plan::raw, range.first_operand);
};

template <class Plan, std::size_t Step>
struct step_of {
  using part = plan_part<Plan, Step / plan_part<Plan, 0>::size>;
  static constexpr step_facts facts = part::facts[Step % part::size];
  static constexpr bool fused = facts.step.fused;
  static constexpr const ir::op_info* op = facts.op;
  static constexpr dtype type = facts.type;
  static constexpr std::size_t operations = facts.operations, operation = facts.operation;
  static constexpr std::size_t operands = facts.step.operands, outputs = facts.step.outputs;
  static constexpr std::size_t operand = facts.step.first_operand - part::range.first_operand;
  static constexpr std::size_t inputs = fused ? facts.before : operands;  ///< of its kernel
  /// What its loop reads, behind the inputs of the kernel before it but the last.
  static constexpr std::size_t load = operand + (inputs == 0 ? 0 : inputs - 1);
  static constexpr std::size_t loads = operand + operands - load;
  /// Asked of few steps.
  /// @{
  static constexpr bool small_windows(bool makes_filter) {
    return has_small_windows(Plan::raw, facts.step, makes_filter);
  }
  static constexpr bool short_rows(bool wanted) { return wanted && reduces_short_rows(Plan::raw, facts.step); }
  /// @}
};

/// The operation of a step that there is nothing for, or nullptr.
template <class Device, class Step, std::size_t... O>
constexpr const ir::op_info* find_missing(std::index_sequence<O...>) {
  const ir::op_info* missing = nullptr;
  if constexpr (!Step::fused || Step::inputs > 0)
    if (!has_kernel<Device, *Step::op->key>) missing = Step::op;
  if constexpr (Step::fused) {
    constexpr const auto& operations = Step::part::operations;
    ((missing == nullptr && !has_scalar_kernel<Device, *operations[Step::operation + O].op->key>
          ? void(missing = operations[Step::operation + O].op)
          : void()),
     ...);
  }
  return missing;
}
template <class Device, class Plan, std::size_t Step>
inline constexpr const ir::op_info* missing_in_step =
    find_missing<Device, step_of<Plan, Step>>(std::make_index_sequence<step_of<Plan, Step>::operations>{});

template <class Device, class Step, std::size_t... L, std::size_t... O>
constexpr auto loop_type(std::index_sequence<L...>, std::index_sequence<O...>) {
  constexpr const auto& loads = Step::part::loads;
  constexpr const auto& operations = Step::part::operations;
  constexpr std::size_t load = Step::load, first = Step::operation;
  return std::type_identity<fused_loop<
      Device, types<load_of<loads[load + L].type, loads[load + L].contiguous>...>,
      types<operation_of<*operations[first + O].op->key, operations[first + O].type, operations[first + O].operand[0],
                         operations[first + O].operand[1], operations[first + O].operand[2]>...>>>{};
}

/// @tparam I the inputs of the kernel before the loop
template <class Device, class Step, std::size_t... I>
constexpr kernel_entry loop_entry(std::index_sequence<I...>) {
  using loop = typename decltype(loop_type<Device, Step>(std::make_index_sequence<Step::loads>{},
                                                         std::make_index_sequence<Step::operations>{}))::type;
  if constexpr (sizeof...(I) == 0)
    return loop::entry;
  else
    return kernel_with_loop<Device, *Step::op->key, loop, Step::type, Step::part::types[Step::operand + I]...>::entry;
}

template <class Device, class Step, std::size_t... I>
constexpr kernel_entry plain_entry(std::index_sequence<I...>) {
  using chosen = kernel<Device, *Step::op->key>;
  if constexpr (requires { requires Step::facts.rank <= chosen::matrix_rank; })
    return chosen::template matrix_entry<Step::type, Step::part::types[Step::operand + I]...>;
  else if constexpr (requires { requires !Step::small_windows(chosen::makes_filter); })
    return chosen::template large_windows_entry<Step::type, Step::part::types[Step::operand + I]...>;
  else if constexpr (Step::facts.few && requires { chosen::template few_entry<Step::type, dtype::float32>; })
    return chosen::template few_entry<Step::type, Step::part::types[Step::operand + I]...>;
  else if constexpr (requires { requires Step::short_rows(chosen::turns_short_rows); })
    return chosen::template short_rows_entry<Step::type, Step::part::types[Step::operand + I]...>;
  else
    return chosen::template entry<Step::type, Step::part::types[Step::operand + I]...>;
}

/// @tparam O the results of the kernel, which stand behind its inputs
template <class Device, class Step, std::size_t... O, std::size_t... I>
constexpr kernel_entry entry_of_several(std::index_sequence<O...>, std::index_sequence<I...>) {
  constexpr std::size_t behind = Step::operand + Step::operands;
  return kernel<Device, *Step::op->key>::template entry<Step::part::types[behind + O]...,
                                                        Step::part::types[Step::operand + I]...>;
}

template <class Device, class Plan, std::size_t... Step>
constexpr const ir::op_info* first_missing(std::index_sequence<Step...>) {
  // An array, not a fold: clang folds at most 256 terms.
  const ir::op_info* const missing[] = {nullptr, missing_in_step<Device, Plan, Step>...};
  for (const ir::op_info* op : missing)
    if (op != nullptr) return op;
  return nullptr;
}

}  // namespace detail

/// The first operation of a plan that a device has no kernel for, or nullptr.
template <class Device, class Plan>
inline constexpr const ir::op_info* missing_kernel =
    detail::first_missing<Device, Plan>(std::make_index_sequence<Plan::steps.size()>{});

/// The kernel of a step; empty if there is none.
template <class Device, class Plan, std::size_t Step>
[[nodiscard]] constexpr kernel_entry step_entry() {
  using step = detail::step_of<Plan, Step>;
  if constexpr (detail::missing_in_step<Device, Plan, Step> != nullptr)
    return {};
  else if constexpr (step::fused)
    return detail::loop_entry<Device, step>(std::make_index_sequence<step::inputs>{});
  else if constexpr (step::outputs > 0)
    return detail::entry_of_several<Device, step>(std::make_index_sequence<step::outputs>{},
                                                  std::make_index_sequence<step::inputs>{});
  else
    return detail::plain_entry<Device, step>(std::make_index_sequence<step::inputs>{});
}

}  // namespace tagma::device
