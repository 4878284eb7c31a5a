// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Kernels of steps whose results are kept: they do nothing while no variable was written.

#include "tagma/device/cpu/kept_kernel.hpp"
#include "tagma/device/cpu/kernel/transfer.hpp"
#include "tagma/device/cpu/kernel_table.hpp"
#include "tagma/plan/kept.hpp"

namespace tagma::device::cpu::detail {

/// One that the compiler knows.
template <runtime::kernel_function Run, runtime::prepare_function Prepare>
struct kept_kernel {
  static constexpr kernel_entry plain{Run, Prepare};

  static owned<runtime::kernel_state> prepare(const kernel_args& args, const run_context& context) {
    return prepare_kept(plain, args, context);
  }
  static void run(const kernel_args& args, const run_context& context) { run_kept(plain, args, context); }
};

template <class Plan, std::size_t Step>
struct kept_entry {
  static constexpr kernel_entry plain = step_entry<on_cpu, Plan, Step>();
  static constexpr bool keeps = plain.run != nullptr && tagma::detail::kept_steps<typename Plan::graph>::is_kept(
                                                            Plan::raw, static_cast<std::int32_t>(Step));
  static constexpr kernel_entry make() {
    if constexpr (keeps) {
      using kept = kept_kernel<plain.run, plain.prepare>;
      return {.run = &kept::run, .prepare = &kept::prepare, .keeps = true};
    } else {
      return plain;
    }
  }
  static constexpr kernel_entry value = make();
};

}  // namespace tagma::device::cpu::detail
