// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Kernels that use queues. One that waits holds no thread; whoever ends the waiting copies.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/expr/op/queue.hpp"
#include "tagma/runtime/queue_resource.hpp"

namespace tagma::device {
namespace cpu::detail {

/// One step that uses a queue: what it waits with.
class queue_step : public kernel_state, public runtime::stop_hook, public runtime::queue_attempt {
 public:
  void stop() noexcept override { queue_->cancel(*this); }

  /// Begins the attempt `begin(queue)`, which ends the step.
  template <class Begin>
  void begin(const kernel_args& args, const run_context& context, runtime::completion done, const Begin& begin) {
    queue_ = &args.in[0].resource<runtime::queue>();
    args_ = args;
    done_ = done;
    begin(*queue_);
    if (!context.control->add(*this)) stop();
  }

 protected:
  /// What the step does when its attempt has ended well.
  virtual void finish() = 0;
  /// True if what its attempt has is taken from the queue.
  [[nodiscard]] virtual bool takes() const { return false; }
  [[nodiscard]] const kernel_args& args() const { return args_; }
  [[nodiscard]] runtime::queue& queue() const { return *queue_; }

 private:
  TAGMA_DECL void ended(std::exception_ptr error) noexcept override;
  /// A function of its own: two tables lead to `ended`.
  void end(std::exception_ptr& error) noexcept;

  runtime::queue* queue_ = nullptr;
  kernel_args args_;
  runtime::completion done_;
};

class enqueue_step final : public queue_step {
 public:
  static void start(const kernel_args& args, const run_context& context, runtime::completion done);

 private:
  void finish() override { *args().out.as<std::int64_t>() = count_; }
  std::int64_t count_ = 0;
};

/// Of components without open extents, as many as the graph says.
class dequeue_step : public queue_step {
 public:
  TAGMA_COLD ~dequeue_step() override = default;
  static void start(const kernel_args& args, const run_context& context, runtime::completion done);

 private:
  TAGMA_DECL void finish() override;
  [[nodiscard]] bool takes() const override { return true; }

 protected:
  /// The results are views of characters in the elements, which stay until the next run of this step.
  [[nodiscard]] bool queue_has_texts() const;
};

/// Of any components, as many as there are.
class late_dequeue_step final : public dequeue_step {
 private:
  TAGMA_DECL void finish() override;
  [[nodiscard]] bool queue_is_open() const;
};

class close_step final : public queue_step {
 public:
  static void start(const kernel_args& args, const run_context& context, runtime::completion done);

 private:
  void finish() override { *args().out.as<std::int64_t>() = queue().size(); }
};

template <class Step>
[[nodiscard]] owned<kernel_state> prepare_queue_step(const kernel_args&, const run_context&) {
  return make_owned<Step>();
}

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::enqueue>> {
  template <dtype...>
  static constexpr kernel_entry entry{.prepare = &cpu::detail::prepare_queue_step<cpu::detail::enqueue_step>,
                                      .start = &cpu::detail::enqueue_step::start};
};
namespace cpu::detail {
template <class Step>
struct dequeue_kernel {
  template <dtype...>
  static constexpr kernel_entry entry{.prepare = &prepare_queue_step<Step>, .start = &dequeue_step::start};
};
}  // namespace cpu::detail
template <>
struct kernel<on_cpu, ir::key<op::dequeue>> : cpu::detail::dequeue_kernel<cpu::detail::dequeue_step> {};
template <>
struct kernel<on_cpu, ir::key<op::dequeue_up_to>> : cpu::detail::dequeue_kernel<cpu::detail::late_dequeue_step> {};
template <>
struct kernel<on_cpu, ir::key<op::dequeue_open>> : cpu::detail::dequeue_kernel<cpu::detail::late_dequeue_step> {};
template <>
struct kernel<on_cpu, ir::key<op::queue_size>> {
  template <dtype...>
  static constexpr kernel_entry entry{[](const kernel_args& args, const run_context&) {
    *args.out.as<std::int64_t>() = args.in[0].resource<runtime::queue>().size();
  }};
};
template <>
struct kernel<on_cpu, ir::key<op::queue_close>> {
  template <dtype...>
  static constexpr kernel_entry entry{.prepare = &cpu::detail::prepare_queue_step<cpu::detail::close_step>,
                                      .start = &cpu::detail::close_step::start};
};

}  // namespace tagma::device

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/kernel/queue.ipp"
#endif
