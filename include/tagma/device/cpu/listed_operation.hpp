// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Lists an operation of one's own for programs that are data: with its kernels, as kernel_table.hpp picks them.

#include <tuple>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/diagnose.hpp"
#include "tagma/device/cpu/kernel/elementwise.hpp"
#include "tagma/device/cpu/registry.hpp"
#include "tagma/device/own_operations.hpp"

namespace tagma {

namespace detail {

/// The element types of `Out(In...)`.
template <class Call>
struct call_types {
  static constexpr bool is_call = false;
};
template <class Out, class... In>
struct call_types<Out(In...)> : call_types<std::tuple<Out>(In...)> {};
template <class Out, class... Rest, class... In>
struct call_types<std::tuple<Out, Rest...>(In...)> {
  static constexpr bool is_call = true;
  static constexpr int inputs = sizeof...(In), outputs = 1 + sizeof...(Rest);
  static constexpr dtype out[2 + sizeof...(Rest)] = {dtype_of<Out>, dtype_of<Rest>...};
  static constexpr dtype in[sizeof...(In) + 3] = {dtype_of<In>...};
  /// Elements everywhere; of several results those behind the first have one type, and operands that of the third.
  static constexpr bool is_sound = [] {
    bool fine = true;
    for (int i = 0; i < outputs; ++i) fine = fine && out[i] != dtype::none && (i < 2 || out[i] == out[1]);
    for (int i = 0; i < inputs; ++i) fine = fine && in[i] != dtype::none && (i < 3 || in[i] == in[2]);
    return fine;
  }();
  static constexpr device::operations::signature types{out[0],
                                                       dtype::none,
                                                       out[0],
                                                       {in[0], inputs > 1 ? in[1] : in[0], inputs > 2 ? in[2] : in[0]},
                                                       inputs<3 ? inputs : 3, outputs> 1 ? out[1] : dtype::none};

  template <class Op>
  static constexpr device::kernel_entry entry =
      device::kernel<device::on_cpu, ir::key<Op>>::template entry<dtype_of<Out>, dtype_of<Rest>..., dtype_of<In>...>;
};

}  // namespace detail

namespace diagnose {

template <class Op>
inline constexpr bool says_what_it_takes = requires(ir::arguments& t) {
  Op::takes(t);
};
/// Plans have a step of it, so that it needs kernels.
template <class Op>
inline constexpr bool is_computed =
    Op::kind == ir::op_kind::compute || Op::kind == ir::op_kind::elementwise || Op::kind == ir::op_kind::update;
template <class Op>
inline constexpr bool has_cpu_kernel = [] {
  if constexpr (!is_computed<Op>)
    return true;
  else if constexpr (Op::kind == ir::op_kind::elementwise)
    return device::has_scalar_kernel<device::on_cpu, ir::key<Op>>;
  else
    return device::has_kernel<device::on_cpu, ir::key<Op>>;
}();
/// Signatures are calls of as many results, and of an element-wise operation of as many operands, as the operation has.
template <class Op, class... Calls>
inline constexpr bool are_calls = [] {
  if constexpr (!is_computed<Op>) {
    return sizeof...(Calls) == 0 && (Op::kind == ir::op_kind::view || Op::kind == ir::op_kind::resource);
  } else if constexpr (sizeof...(Calls) == 0 || !(true && ... && tagma::detail::call_types<Calls>::is_call)) {
    return false;
  } else {
    int outputs = 1;
    if constexpr (requires { Op::outputs; }) outputs = Op::outputs;
    const int inputs[] = {tagma::detail::call_types<Calls>::inputs...};
    bool fine = (true && ... &&
                 (tagma::detail::call_types<Calls>::is_sound && tagma::detail::call_types<Calls>::outputs == outputs));
    for (const int n : inputs)
      fine = fine && (Op::kind != ir::op_kind::elementwise || (n == inputs[0] && n >= 1 && n <= 3));
    return fine;
  }
}();
/// No operation of the library is called so.
template <class Op>
inline constexpr bool has_a_name_of_its_own = !device::operations::is_operation_name(Op::name);

}  // namespace diagnose

namespace detail {

template <class Op, class Call>
constexpr device::registered_kernel own_kernel() {
  using call = call_types<Call>;
  if constexpr (Op::kind == ir::op_kind::elementwise)
    return device::detail::kernel_of<device::on_cpu, device::cpu::detail::spans, Op, call::types>(
        std::make_index_sequence<static_cast<std::size_t>(call::inputs)>{});
  else
    return {&ir::key<Op>, call::types, call::template entry<Op>, nullptr};
}

template <class Op, class... Calls>
struct own_kernels {
  static constexpr device::registered_kernel list[] = {own_kernel<Op, Calls>()...};
};
template <class Op>
inline constexpr runtime::resource_functions own_resource{&runtime::resource_of<ir::key<Op>>::make,
                                                          &runtime::resource_of<ir::key<Op>>::check};

template <class Op, class... Calls>
[[nodiscard]] constexpr device::operations::own_operation describe_operation() {
  device::operations::own_operation own{&ir::face<Op>};
  if constexpr (sizeof...(Calls) > 0) own.kernels = own_kernels<Op, Calls...>::list;
  if constexpr (Op::kind == ir::op_kind::resource) own.resource = &own_resource<Op>;
  return own;
}

}  // namespace detail

#define TAGMA_NEEDS_A_WHOLE_OPERATION(Who, Op, ...)                                                                 \
  static_assert(diagnose::says_what_it_takes<Op>,                                                                   \
                "TAGMA-E287 " Who ": the operation says what it takes: static constexpr void takes(auto& t)");      \
  static_assert(diagnose::has_cpu_kernel<Op> && diagnose::are_calls<Op, __VA_ARGS__>,                               \
                "TAGMA-E288 " Who                                                                                   \
                ": the operation needs a kernel of the CPU, and the element types that it is for: "                 \
                "double(double), float(float, std::int64_t)");                                                      \
  static_assert(diagnose::has_a_name_of_its_own<Op>, "TAGMA-E289 " Who                                              \
                                                     ": the library has an operation of this name; names of one's " \
                                                     "own have a point: \"mine.cubed\"")

/// Lists an operation of one's own, so that programs which are data may have it: sessions find its kernels, files are
/// written and read with it. An object of this type in one file of the program, outside of functions, is enough:
///
///     const tg::listed_operation<mine::cubed, float(float), double(double)> cubed_is_listed;
///
/// @tparam Op its tag, which says beside `infer` what it takes; a kernel, or the body of a loop, is seen here
/// @tparam Calls element types of result and operands that it has kernels for: `float(float, std::int64_t)`; of several
/// results `std::tuple<float, std::int64_t>(float)`. Operands behind the last that is named, or the third, are of any
/// number, and `takes` tells their types. In loops 16-bit floats are float, and are not named. None for a view or a
/// resource, whose `runtime::resource_of` is seen here.
/// Whoever looks the operation up is thrown AlreadyExists if two were listed with one name, or one with two versions.
/// Raises TAGMA-E287 to TAGMA-E289.
template <class Op, class... Calls>
class listed_operation {
 public:
  listed_operation() {
    TAGMA_NEEDS_A_WHOLE_OPERATION("listed_operation", Op, Calls...);
    if constexpr (diagnose::says_what_it_takes<Op> && diagnose::has_cpu_kernel<Op> && diagnose::are_calls<Op, Calls...>)
      device::operations::own_operation_list::of_process().add_early(detail::describe_operation<Op, Calls...>());
  }
};
/// Lists an operation as an object of `listed_operation` does, when it is called: for what is loaded late. Throws
/// AlreadyExists if there is one of its name.
template <class Op, class... Calls>
void list_operation() {
  TAGMA_NEEDS_A_WHOLE_OPERATION("list_operation", Op, Calls...);
  if constexpr (diagnose::says_what_it_takes<Op> && diagnose::has_cpu_kernel<Op> && diagnose::are_calls<Op, Calls...>)
    device::operations::own_operation_list::of_process().add(detail::describe_operation<Op, Calls...>());
}
#undef TAGMA_NEEDS_A_WHOLE_OPERATION

}  // namespace tagma
