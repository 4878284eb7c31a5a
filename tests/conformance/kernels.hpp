// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernels of a device as values, which the suite finds by operation and element types.

#include <utility>
#include <vector>

#include "conformance/devices.hpp"
#include "tagma/device/kernel_table.hpp"
#include "tagma/device/operations.hpp"

namespace tagma::conformance {

/// One kernel. Of a loop there are several: bit i of `stretched` says that all elements of a row read one of input i.
struct kernel_value {
  const char* key = nullptr;
  signature types;
  unsigned stretched = 0;
  runtime::kernel_entry entry;
};
using kernel_values = std::vector<kernel_value>;

namespace detail {

template <class Device, class Op, signature S, unsigned Stretched, std::size_t... I>
constexpr runtime::kernel_entry loop_kernel(std::index_sequence<I...>) {
  constexpr int b = S.inputs > 1 ? 1 : 0, c = S.inputs > 2 ? 2 : 0;
  using loop =
      tagma::device::fused_loop<Device,
                                tagma::device::types<tagma::device::load_of<S.in[I], ((Stretched >> I) & 1) == 0>...>,
                                tagma::device::types<tagma::device::operation_of<ir::key<Op>, S.out, 0, b, c>>>;
  return loop::entry;
}

template <class Device, class Op, signature S, unsigned... Stretched>
void add_variants(kernel_values& to, std::integer_sequence<unsigned, Stretched...>) {
  constexpr auto inputs = std::make_index_sequence<static_cast<std::size_t>(S.inputs)>{};
  (to.push_back({&ir::key<Op>, S, Stretched, loop_kernel<Device, Op, S, Stretched>(inputs)}), ...);
}

template <class Device, class Op, signature S, std::size_t... I>
void add_plain(kernel_values& to, std::index_sequence<I...>) {
  to.push_back({&ir::key<Op>, S, 0, tagma::device::kernel<Device, ir::key<Op>>::template entry<S.out, S.in[I]...>});
}

/// Of an operation with several results, whose types stand before those of the operands.
template <class Device, class Op, signature S, std::size_t... O, std::size_t... I>
void add_several(kernel_values& to, std::index_sequence<O...>, std::index_sequence<I...>) {
  to.push_back(
      {&ir::key<Op>, S, 0, tagma::device::kernel<Device, ir::key<Op>>::template entry<S.output(O)..., S.in[I]...>});
}

template <class Device, class Op, signature S>
void add_kernel(kernel_values& to) {
  if constexpr (Op::kind == ir::op_kind::elementwise) {
    if constexpr (tagma::device::has_scalar_kernel<Device, ir::key<Op>>)
      add_variants<Device, Op, S>(to, std::make_integer_sequence<unsigned, 1u << S.inputs>{});
  } else if constexpr (requires { Op::outputs; }) {
    if constexpr (tagma::device::has_kernel<Device, ir::key<Op>>)
      add_several<Device, Op, S>(to, std::make_index_sequence<static_cast<std::size_t>(Op::outputs)>{},
                                 std::make_index_sequence<static_cast<std::size_t>(S.inputs)>{});
  } else if constexpr (tagma::device::has_kernel<Device, ir::key<Op>>) {
    add_plain<Device, Op, S>(to, std::make_index_sequence<static_cast<std::size_t>(S.inputs)>{});
  }
}

template <class Device, class Row, std::size_t... I>
void add_row(kernel_values& to, std::index_sequence<I...>) {
  (add_kernel<Device, typename Row::operation, Row::signatures.list[I]>(to), ...);
}

}  // namespace detail

/// Adds the kernels of a family, those that the device has.
template <class Device, class... Row>
void add_family(family<Row...>, kernel_values& to) {
  (detail::add_row<Device, Row>(to, std::make_index_sequence<Row::signatures.count>{}), ...);
}

/// True if a kernel is among them; of a view, true.
[[nodiscard]] inline bool has_kernel(const kernel_values& all, const ir::op_info& op, const signature& types) {
  if (op.kind == ir::op_kind::view) return true;
  for (const kernel_value& k : all)
    if (k.key == op.key && k.types.out == types.out && k.types.in[0] == types.in[0] && k.types.in[1] == types.in[1])
      return true;
  return false;
}

/// The loads of a loop that read one element for a whole row, as the compiler of graphs decides.
[[nodiscard]] inline unsigned stretched_loads(const kernel_call& call) {
  const shape& out = call.declared_out;
  const auto stretched = [&](std::size_t l, int axis) {
    return plan::detail::is_stretched(call.declared[l], out, axis);
  };
  const int joined = plan::detail::innermost_axes(out, call.declared.size(), stretched);
  unsigned loads = 0;
  for (std::size_t l = 0; l < call.declared.size(); ++l)
    for (int axis = out.rank - joined; axis < out.rank; ++axis)
      if (out[axis] != 1 && stretched(l, axis)) loads |= 1u << l;
  return loads;
}

/// The kernel of a call among these. Throws Unimplemented if there is none.
[[nodiscard]] inline const runtime::kernel_entry& find_kernel(const kernel_values& all, const kernel_call& call) {
  const unsigned stretched = call.op->kind == ir::op_kind::elementwise ? stretched_loads(call) : 0;
  const auto fits = [&](const signature& types) {
    if (call.outs.empty() && types.out != call.out.type) return false;
    for (std::size_t k = 0; k < call.outs.size(); ++k)
      if (types.output(k) != call.outs[k].type) return false;
    for (std::size_t i = 0; i < call.in.size() && i < static_cast<std::size_t>(types.inputs); ++i)
      if (!call.op->ignores_elements(static_cast<int>(i)) && types.in[i] != call.in[i].type) return false;
    return true;
  };
  for (const kernel_value& k : all)
    if (k.key == call.op->key && k.stretched == stretched && fits(k.types)) return k.entry;
  fail(status_code::unimplemented, {"there is no kernel ", call.op->name, " for ", to_string(call.out.type)});
}

/// A call of a kernel, prepared.
class prepared_call {
 public:
  prepared_call(const kernel_values& all, kernel_call call, const runtime::run_context& context)
      : prepared_call(std::move(call), context, [&](const kernel_call& c) { return find_kernel(all, c); }) {}
  /// @param find gives the kernel of a call
  template <class Find>
  prepared_call(kernel_call call, const runtime::run_context& context, const Find& find)
      : call_(std::move(call)), context_(context) {
    const bool loop = call_.op->kind == ir::op_kind::elementwise;
    for (std::size_t i = call_.in.size(); loop && i-- > 0;)  // a loop is not given what it does not read
      if (call_.op->ignores_elements(static_cast<int>(i))) {
        call_.in.erase(call_.in.begin() + static_cast<std::ptrdiff_t>(i));
        call_.declared.erase(call_.declared.begin() + static_cast<std::ptrdiff_t>(i));
      }
    entry_ = find(call_);
    context_.seed = call_.seed;
    context_.step = call_.step;
    args_.in = call_.in;
    args_.out = call_.out;
    args_.outs = call_.outs;
    args_.late = call_.late;
    args_.attributes = call_.attributes;
    args_.source = call_.source;
    args_.declared = call_.declared;
    args_.declared_out = call_.declared_out;
    args_.value = call_.value;
    args_.recipe = entry_.recipe;
    if (entry_.prepare != nullptr) state_ = entry_.prepare(args_, context_);
    args_.state = state_.get();
  }
  prepared_call(const prepared_call&) = delete;
  prepared_call& operator=(const prepared_call&) = delete;
  void run() const { entry_.run(args_, context_); }

 private:
  kernel_call call_;
  runtime::run_context context_;
  runtime::kernel_entry entry_;
  runtime::kernel_args args_;
  owned<runtime::kernel_state> state_;
};

}  // namespace tagma::conformance
