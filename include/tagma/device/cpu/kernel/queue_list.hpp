// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Kernels that use one queue of a list.

#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/device/cpu/kernel/queue.hpp"
#include "tagma/expr/op/queue_list.hpp"

namespace tagma::device {
namespace cpu::detail {

/// The input with the queue that a step is to use.
[[nodiscard]] const operand& chosen_queue(const kernel_args& args);

/// A step of one queue, which is another one in each run.
template <class Step>
class chosen_step final : public kernel_state {
 public:
  static void start(const kernel_args& args, const run_context& context, runtime::completion done) {
    auto& own = static_cast<chosen_step&>(*args.state);
    const std::size_t queues = static_cast<std::size_t>(args.attributes[0]), others = args.in.size() - 1 - queues;
    if (own.in_.size() == 0) own.in_ = heap_array<operand>(1 + others);
    own.in_[0] = chosen_queue(args);
    for (std::size_t i = 0; i < others; ++i) own.in_[1 + i] = args.in[1 + queues + i];
    kernel_args inner = args;
    inner.in = own.in_;
    inner.attributes = args.attributes.subspan(1);
    inner.state = &own.step_;
    Step::start(inner, context, done);
  }

 private:
  heap_array<operand> in_;
  Step step_;
};
template <class Step>
struct chosen_kernel {
  template <dtype...>
  static constexpr kernel_entry entry{.prepare = &prepare_queue_step<chosen_step<Step>>,
                                      .start = &chosen_step<Step>::start};
};

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::chosen_enqueue>> : cpu::detail::chosen_kernel<cpu::detail::enqueue_step> {};
template <>
struct kernel<on_cpu, ir::key<op::chosen_dequeue>> : cpu::detail::chosen_kernel<cpu::detail::dequeue_step> {};
template <>
struct kernel<on_cpu, ir::key<op::chosen_dequeue_up_to>> : cpu::detail::chosen_kernel<cpu::detail::late_dequeue_step> {
};
template <>
struct kernel<on_cpu, ir::key<op::chosen_dequeue_open>> : cpu::detail::chosen_kernel<cpu::detail::late_dequeue_step> {};
template <>
struct kernel<on_cpu, ir::key<op::chosen_queue_close>> : cpu::detail::chosen_kernel<cpu::detail::close_step> {};
template <>
struct kernel<on_cpu, ir::key<op::chosen_queue_size>> {
  template <dtype...>
  static constexpr kernel_entry entry{[](const kernel_args& args, const run_context&) {
    *args.out.as<std::int64_t>() = cpu::detail::chosen_queue(args).resource<runtime::queue>().size();
  }};
};

}  // namespace tagma::device

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/kernel/queue_list.ipp"
#endif
