// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Steps of two kernels, of devices that do such.

#include "tagma/device/kernel_table.hpp"
#include "tagma/expr/op/matmul.hpp"

namespace tagma::device {

/// True for operations whose kernels on a GPU go on with the loop over their result: libraries do much of it on the
/// way.
[[nodiscard]] constexpr bool begins_loop(const ir::op_info& info) { return info.key == &ir::key<op::matmul>; }

/// A kernel that goes on with a loop over its result, one after the other: the loop reads the result where it stands,
/// as its first tensor, and writes over it.
/// @tparam Kernel,Loop pointers, since nvcc writes references to static members wrongly
/// @tparam Inputs of the kernel; the others are the loop's
template <const runtime::kernel_entry* Kernel, const runtime::kernel_entry* Loop, std::size_t Inputs>
class kernel_then_loop {
  struct states final : runtime::kernel_state {
    owned<runtime::kernel_state> kernel, loop;
  };
  /// The arguments of both. Addresses may differ from run to run.
  struct split {
    split(const runtime::kernel_args& args, const states& s) : kernel(args), loop(args) {
      kernel.in = args.in.first(Inputs);
      kernel.state = s.kernel.get();
      in[0] = args.out;
      declared[0] = args.declared_out;
      std::size_t count = 1;
      for (std::size_t k = Inputs; k < args.in.size(); ++k) {
        in[count] = args.in[k];
        declared[count++] = args.declared[k];
      }
      loop.in = {in, count};
      loop.declared = {declared, count};
      loop.state = s.loop.get();
    }
    runtime::operand in[ir::max_group_loads];
    shape declared[ir::max_group_loads];
    runtime::kernel_args kernel, loop;
  };

  static owned<runtime::kernel_state> prepare(const runtime::kernel_args& args, const runtime::run_context& context) {
    auto made = make_owned<states>();
    const split parts(args, *made);
    if (Kernel->prepare != nullptr) made->kernel = Kernel->prepare(parts.kernel, context);
    if (Loop->prepare != nullptr) made->loop = Loop->prepare(parts.loop, context);
    return made;
  }
  static void run(const runtime::kernel_args& args, const runtime::run_context& context) {
    const split parts(args, *static_cast<const states*>(args.state));
    Kernel->run(parts.kernel, context);
    Loop->run(parts.loop, context);
  }

 public:
  static constexpr runtime::kernel_entry entry{&kernel_then_loop::run, &kernel_then_loop::prepare, nullptr,
                                               Kernel->reads_run || Loop->reads_run};
};

}  // namespace tagma::device
