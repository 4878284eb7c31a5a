// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernel that gives the elements of a dataset. One that waits holds no thread of the session.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/expr/op/iterator.hpp"
#include "tagma/runtime/iterator_resource.hpp"

namespace tagma::device {
namespace cpu::detail {

/// One step that asks for elements. Texts are views of its element, which stays until it runs again.
class next_step final : public kernel_state, public runtime::stop_hook, public runtime::element_request {
 public:
  static void start(const kernel_args& args, const run_context& context, runtime::completion done);
  void stop() noexcept override { iterator_->cancel(*this); }

 private:
  TAGMA_DECL void ended(std::exception_ptr error) noexcept override;
  void copy();

  runtime::iterator* iterator_ = nullptr;
  kernel_args args_;
  runtime::completion done_;
};

struct next_kernel {
  template <dtype...>
  static constexpr kernel_entry entry{
      .prepare = [](const kernel_args&, const run_context&) -> owned<kernel_state> { return make_owned<next_step>(); },
      .start = &next_step::start};
};

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::get_next>> : cpu::detail::next_kernel {};
template <>
struct kernel<on_cpu, ir::key<op::get_next_open>> : cpu::detail::next_kernel {};

}  // namespace tagma::device

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/kernel/iterator.ipp"
#endif
