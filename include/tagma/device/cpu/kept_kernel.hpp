// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Steps whose results are kept: their kernels do nothing while no variable was written.

#include "tagma/base/config.hpp"
#include "tagma/runtime/kernel.hpp"
#include "tagma/runtime/stored_variable.hpp"

namespace tagma::device::cpu::detail {

/// What a kept step has beside the state of its kernel.
struct kept_state final : runtime::kernel_state {
  owned<runtime::kernel_state> of_kernel;
  std::uint64_t writes = ~std::uint64_t{0};  // what the result is good for
};

/// Another kernel, done in the first run, and again in the first behind a write. All kept steps of a run go by one
/// count, taken before the run reads any variable: what is written meanwhile is another count for the next run.
/// @{
[[nodiscard]] inline owned<runtime::kernel_state> prepare_kept(const runtime::kernel_entry& kernel,
                                                               const runtime::kernel_args& args,
                                                               const runtime::run_context& context) {
  runtime::stored_variable::count_writes();
  auto made = make_owned<kept_state>();
  if (kernel.prepare != nullptr) {
    runtime::kernel_args of_kernel = args;
    of_kernel.recipe = kernel.recipe;
    made->of_kernel = kernel.prepare(of_kernel, context);
  }
  return made;
}
inline void run_kept(const runtime::kernel_entry& kernel, const runtime::kernel_args& args,
                     const runtime::run_context& context) {
  auto& own = static_cast<kept_state&>(*args.state);
  if (own.writes == context.writes) return;
  runtime::kernel_args of_kernel = args;
  of_kernel.state = own.of_kernel.get();
  of_kernel.recipe = kernel.recipe;
  kernel.run(of_kernel, context);
  own.writes = context.writes;
}
/// @}

}  // namespace tagma::device::cpu::detail

namespace tagma::device::cpu {

/// Such a kernel as data.
/// @param kernel outlives all calls
[[nodiscard]] TAGMA_COLD inline runtime::kernel_entry kept(const runtime::kernel_entry& kernel) {
  return {[](const runtime::kernel_args& args, const runtime::run_context& context) {
            detail::run_kept(*static_cast<const runtime::kernel_entry*>(args.recipe), args, context);
          },
          [](const runtime::kernel_args& args, const runtime::run_context& context) {
            return detail::prepare_kept(*static_cast<const runtime::kernel_entry*>(args.recipe), args, context);
          },
          nullptr,
          kernel.reads_run,
          &kernel,
          true};
}

}  // namespace tagma::device::cpu
