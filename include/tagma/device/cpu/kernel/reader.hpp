// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Kernels that read records. One that waits holds no thread of the session.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/expr/op/reader.hpp"
#include "tagma/runtime/reader_resource.hpp"

namespace tagma::device {
namespace cpu::detail {

/// One step that reads: what it waits with. Its results are views of its records, which stay until it runs again.
class read_step final : public kernel_state, public runtime::stop_hook, public runtime::read_request {
 public:
  static void start(const kernel_args& args, const run_context& context, runtime::completion done);
  void stop() noexcept override { reader_->cancel(*this); }

 private:
  TAGMA_DECL void ended(std::exception_ptr error) noexcept override;

  runtime::reader* reader_ = nullptr;
  kernel_args args_;
  runtime::completion done_;
};

struct read_kernel {
  template <dtype...>
  static constexpr kernel_entry entry{
      .prepare = [](const kernel_args&, const run_context&) -> owned<kernel_state> { return make_owned<read_step>(); },
      .start = &read_step::start};
};

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::read>> : cpu::detail::read_kernel {};
template <>
struct kernel<on_cpu, ir::key<op::read_up_to>> : cpu::detail::read_kernel {};
template <>
struct kernel<on_cpu, ir::key<op::reader_count>> {
  template <dtype...>
  static constexpr kernel_entry entry{[](const kernel_args& args, const run_context&) {
    auto& reader = args.in[0].resource<runtime::reader>();
    if (args.attributes[0] == 2) reader.reset();
    *args.out.as<std::int64_t>() = args.attributes[0] == 1 ? reader.files_completed() : reader.records_produced();
  }};
};

}  // namespace tagma::device

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/kernel/reader.ipp"
#endif
