// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Steps of two kernels, of devices that do such.

#include "tagma/base/config.hpp"
#include "tagma/device/kernel_table.hpp"
#include "tagma/expr/op/matmul.hpp"

namespace tagma::device {

/// True for operations whose kernels on a GPU go on with the loop over their result: libraries do much of it on the
/// way.
[[nodiscard]] constexpr bool begins_loop(const ir::op_info& info) { return info.key == &ir::key<op::matmul>; }

/// A kernel that goes on with a loop over its result, one after the other: the loop reads the result where it stands,
/// as its first tensor, and writes over it. Pointers, since nvcc writes references to static members wrongly.
struct kernel_and_loop {
  const runtime::kernel_entry* kernel = nullptr;
  const runtime::kernel_entry* loop = nullptr;
  std::size_t inputs = 0;  ///< of the kernel; the others are the loop's

  [[nodiscard]] owned<runtime::kernel_state> prepare(const runtime::kernel_args& args,
                                                     const runtime::run_context& context) const {
    auto made = make_owned<states>();
    const split parts(args, *made, *this);
    if (kernel->prepare != nullptr) made->kernel = kernel->prepare(parts.kernel, context);
    if (loop->prepare != nullptr) made->loop = loop->prepare(parts.loop, context);
    return made;
  }
  void run(const runtime::kernel_args& args, const runtime::run_context& context) const {
    const split parts(args, *static_cast<const states*>(args.state), *this);
    kernel->run(parts.kernel, context);
    loop->run(parts.loop, context);
  }

  /// As a kernel whose recipe this is; it outlives all calls.
  [[nodiscard]] TAGMA_COLD runtime::kernel_entry entry() const {
    return {&run_recipe, &prepare_recipe, nullptr, kernel->reads_run || loop->reads_run, this};
  }
  static void run_recipe(const runtime::kernel_args& args, const runtime::run_context& context) {
    static_cast<const kernel_and_loop*>(args.recipe)->run(args, context);
  }
  [[nodiscard]] static owned<runtime::kernel_state> prepare_recipe(const runtime::kernel_args& args,
                                                                   const runtime::run_context& context) {
    return static_cast<const kernel_and_loop*>(args.recipe)->prepare(args, context);
  }

 private:
  struct states final : runtime::kernel_state {
    owned<runtime::kernel_state> kernel, loop;
  };
  /// The arguments of both. Addresses may differ from run to run.
  struct split {
    split(const runtime::kernel_args& args, const states& s, const kernel_and_loop& of) : kernel(args), loop(args) {
      kernel.in = args.in.first(of.inputs);
      kernel.state = s.kernel.get();
      kernel.recipe = of.kernel->recipe;
      in[0] = args.out;
      declared[0] = args.declared_out;
      std::size_t count = 1;
      for (std::size_t k = of.inputs; k < args.in.size(); ++k) {
        in[count] = args.in[k];
        declared[count++] = args.declared[k];
      }
      loop.in = {in, count};
      loop.declared = {declared, count};
      loop.state = s.loop.get();
      loop.recipe = of.loop->recipe;
    }
    runtime::operand in[ir::max_group_loads];
    shape declared[ir::max_group_loads];
    runtime::kernel_args kernel, loop;
  };
};

/// The entry of two kernels that the compiler knows.
template <const runtime::kernel_entry* Kernel, const runtime::kernel_entry* Loop, std::size_t Inputs>
class kernel_then_loop {
  static owned<runtime::kernel_state> prepare(const runtime::kernel_args& args, const runtime::run_context& context) {
    return kernel_and_loop{Kernel, Loop, Inputs}.prepare(args, context);
  }
  static void run(const runtime::kernel_args& args, const runtime::run_context& context) {
    kernel_and_loop{Kernel, Loop, Inputs}.run(args, context);
  }

 public:
  static constexpr runtime::kernel_entry entry{&kernel_then_loop::run, &kernel_then_loop::prepare, nullptr,
                                               Kernel->reads_run || Loop->reads_run};
};

}  // namespace tagma::device
