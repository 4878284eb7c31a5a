// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Kernels of steps whose results are kept: they do nothing while no variable was written.

#include "tagma/device/cpu/kernel/transfer.hpp"
#include "tagma/device/cpu/kernel_table.hpp"
#include "tagma/graph/keep.hpp"
#include "tagma/plan/kept.hpp"
#include "tagma/runtime/stored_variable.hpp"

namespace tagma::device {

template <>
struct kernel<on_cpu, ir::key<ir::keep>> {
  template <dtype, dtype>
  static constexpr kernel_entry entry{&kernel<on_cpu, ir::key<plan::transfer>>::run};
};

namespace cpu::detail {

/// Another kernel, done in the first run, and again in the first behind a write. All kept steps of a run go by one
/// count, taken before the run reads any variable: what is written meanwhile is another count for the next run.
template <runtime::kernel_function Run, runtime::prepare_function Prepare>
struct kept_kernel {
  struct state final : runtime::kernel_state {
    owned<runtime::kernel_state> of_kernel;
    std::uint64_t writes = ~std::uint64_t{0};  // what the result is good for
  };

  static owned<runtime::kernel_state> prepare(const kernel_args& args, const run_context& context) {
    runtime::stored_variable::count_writes();
    auto made = make_owned<state>();
    if constexpr (Prepare != nullptr) made->of_kernel = Prepare(args, context);
    return made;
  }
  static void run(const kernel_args& args, const run_context& context) {
    auto& own = static_cast<state&>(*args.state);
    if (own.writes == context.writes) return;
    kernel_args of_kernel = args;
    of_kernel.state = own.of_kernel.get();
    Run(of_kernel, context);
    own.writes = context.writes;
  }
};

template <class Plan, std::size_t Step>
struct kept_entry {
  static constexpr kernel_entry plain = step_entry<on_cpu, Plan, Step>();
  static constexpr bool keeps = plain.run != nullptr && tagma::detail::kept_steps<typename Plan::graph>::is_kept(
                                                            Plan::raw, static_cast<std::int32_t>(Step));
  static constexpr kernel_entry make() {
    if constexpr (keeps) {
      using kept = kept_kernel<plain.run, plain.prepare>;
      return {.run = &kept::run, .prepare = &kept::prepare};
    } else {
      return plain;
    }
  }
  static constexpr kernel_entry value = make();
};

}  // namespace cpu::detail
}  // namespace tagma::device
