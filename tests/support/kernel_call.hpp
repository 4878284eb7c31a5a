// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Calls one kernel of the CPU by itself, without a graph around it.

#include <vector>

#include "tagma/device/cpu/executor.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma::test {

/// How a kernel is called; what is left out takes the value that a fresh session would give.
struct call_options {
  int threads = 2;
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  std::int32_t source = 0;
  bool repeated = false;
  bool few = false;         ///< by the entry for few or varying short rows, if there is one
  bool short_rows = false;  ///< by the entry for the reduction of short rows, if there is one
};

/// Runs the kernel of operation `Op` on tensors.
template <class Op, class Out, class... In>
void call_with(const call_options& options, tensor<Out>& out, const std::vector<ir::attribute>& attributes,
               const tensor<In>&... in) {
  const auto operand_of = [](auto& t) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(t.data())>>;
    return runtime::operand{reinterpret_cast<std::byte*>(const_cast<T*>(t.data())), dtype_of<T>, t.dims()};
  };
  std::vector<runtime::operand> operands{operand_of(in)...};
  std::vector<shape> declared{in.dims()...};
  const auto threads = runtime::make_cpu_executor(options.threads);
  const runtime::run_context context{threads.get(), options.seed, options.step};
  runtime::kernel_args args;
  args.in = operands;
  args.out = operand_of(out);
  args.attributes = attributes;
  args.source = options.source;
  args.repeated = options.repeated;
  args.declared = declared;
  args.declared_out = out.dims();
  using kernel = device::kernel<device::on_cpu, ir::key<Op>>;
  runtime::kernel_entry entry = kernel::template entry<dtype_of<Out>, dtype_of<In>...>;
  if constexpr (requires { kernel::template few_entry<dtype_of<Out>, dtype_of<In>...>; })
    if (options.few) entry = kernel::template few_entry<dtype_of<Out>, dtype_of<In>...>;
  if constexpr (requires { kernel::template short_rows_entry<dtype_of<Out>, dtype_of<In>...>; })
    if (options.short_rows) entry = kernel::template short_rows_entry<dtype_of<Out>, dtype_of<In>...>;
  tagma::owned<runtime::kernel_state> state;
  if (entry.prepare != nullptr) state = entry.prepare(args, context);
  args.state = state.get();
  entry.run(args, context);
}
/// Runs the kernel of an operation with two results on tensors; a result that is nullptr is not read.
template <class Op, class First, class Second, class... In>
void call_for_two(tensor<First>* first, tensor<Second>* second, const std::vector<ir::attribute>& attributes,
                  const tensor<In>&... in) {
  const auto data_of = [](auto& t) {
    return reinterpret_cast<std::byte*>(
        const_cast<std::remove_const_t<std::remove_pointer_t<decltype(t.data())>>*>(t.data()));
  };
  std::vector<runtime::operand> operands{{data_of(in), dtype_of<In>, in.dims()}...}, outs(2);
  outs[0].type = dtype_of<First>, outs[1].type = dtype_of<Second>;
  if (first != nullptr) outs[0] = {data_of(*first), dtype_of<First>, first->dims()};
  if (second != nullptr) outs[1] = {data_of(*second), dtype_of<Second>, second->dims()};
  std::vector<shape> declared{in.dims()...};
  const auto threads = runtime::make_cpu_executor(2);
  const runtime::run_context context{threads.get()};
  runtime::kernel_args args;
  args.in = operands;
  args.outs = outs;
  args.attributes = attributes;
  args.declared = declared;
  constexpr runtime::kernel_entry entry =
      device::kernel<device::on_cpu, ir::key<Op>>::template entry<dtype_of<First>, dtype_of<Second>, dtype_of<In>...>;
  tagma::owned<runtime::kernel_state> state;
  if (entry.prepare != nullptr) state = entry.prepare(args, context);
  args.state = state.get();
  entry.run(args, context);
}
template <class Op, class Out, class... In>
void call(tensor<Out>& out, const std::vector<ir::attribute>& attributes, const tensor<In>&... in) {
  call_with<Op>({}, out, attributes, in...);
}

}  // namespace tagma::test
