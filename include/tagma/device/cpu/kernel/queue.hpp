// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Kernels that use queues. One that waits holds no thread; whoever ends the waiting copies.

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
  [[nodiscard]] const kernel_args& args() const { return args_; }
  [[nodiscard]] runtime::queue& queue() const { return *queue_; }

 private:
  void ended(std::exception_ptr error) noexcept override {
    const runtime::completion done = done_;
    if (error != nullptr) return done.fail(static_cast<std::exception_ptr&&>(error));
    try {
      finish();
    } catch (...) {
      return done.fail(std::current_exception());
    }
    done.succeed();
  }

  runtime::queue* queue_ = nullptr;
  kernel_args args_;
  runtime::completion done_;
};

class enqueue_step final : public queue_step {
 public:
  static void start(const kernel_args& args, const run_context& context, runtime::completion done) {
    auto& own = static_cast<enqueue_step&>(*args.state);
    own.begin(args, context, done, [&](runtime::queue& q) {
      const std::size_t first = args.attributes[1] != 0 ? 2 : 1, count = args.in.size() - first;
      raw_view tensors[ir::most_outputs];
      for (std::size_t i = 0; i < count; ++i) {
        const operand& o = args.in[first + i];
        tensors[i] = {o.data, o.type, o.dims};
      }
      const array_view<const raw_view> all(tensors, count);
      const auto* const priorities = first == 2 ? args.in[1].as<const std::int64_t>() : nullptr;
      runtime::queue_elements made =
          args.attributes[0] == 0 ? q.make(all, priorities == nullptr ? 0 : *priorities)
          : priorities == nullptr ? q.make_rows(all)
                                  : q.make_rows(all, {priorities, static_cast<std::size_t>(args.in[1].elements())});
      own.count_ = made.size();
      q.enqueue(own, static_cast<runtime::queue_elements&&>(made));
    });
  }

 private:
  void finish() override { *args().out.as<std::int64_t>() = count_; }
  std::int64_t count_ = 0;
};

class dequeue_step final : public queue_step {
 public:
  static void start(const kernel_args& args, const run_context& context, runtime::completion done) {
    auto& own = static_cast<dequeue_step&>(*args.state);
    own.begin(args, context, done, [&](runtime::queue& q) {
      if (!own.elements.empty()) q.reuse(static_cast<runtime::queue_elements&&>(own.elements));
      const extent count = args.attributes[0];
      q.dequeue(own, count < 0 ? 1 : count, args.attributes[args.attributes.size() - 1] != 0);
    });
  }

 private:
  void finish() override {
    const bool one = args().attributes[0] < 0;
    const array_view<const tensor_spec> components = queue().components();
    for (std::size_t i = 0; i < components.size(); ++i) {
      const operand& out = args().outs[i];
      const bool open = !components[i].dims.is_static();
      const shape dims = runtime::dims_of_batch(elements, i, components[i].dims);
      const shape own = one ? dims.sub(1, dims.rank) : dims;
      std::byte* to = out.data;
      if (args().late != nullptr && (open || queue_is_open())) {
        to = args().late->allocate(static_cast<int>(i), own);
      } else if (args().late != nullptr) {
        args().late->set(0, elements.size(), static_cast<int>(i));
      }
      if (to == nullptr) continue;
      if (open) std::memset(to, 0, raw_view{nullptr, components[i].type, own}.bytes());
      runtime::write_batch(elements, i, dims, to);
    }
    if (!queue_has_texts()) queue().reuse(static_cast<runtime::queue_elements&&>(elements));
  }
  [[nodiscard]] bool queue_is_open() const {
    for (const tensor_spec& s : queue().components())
      if (!s.dims.is_static()) return true;
    return false;
  }
  /// The results are views of characters in the elements, which stay until the next run of this step.
  [[nodiscard]] bool queue_has_texts() const {
    for (const tensor_spec& s : queue().components())
      if (s.type == dtype::string) return true;
    return false;
  }
};

class close_step final : public queue_step {
 public:
  static void start(const kernel_args& args, const run_context& context, runtime::completion done) {
    auto& own = static_cast<close_step&>(*args.state);
    if (args.attributes[0] == 0) return own.begin(args, context, done, [&](runtime::queue& q) { q.close(own); });
    auto& q = args.in[0].resource<runtime::queue>();
    q.close_now();
    *args.out.as<std::int64_t>() = q.size();
    done.succeed();
  }

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
struct dequeue_kernel {
  template <dtype...>
  static constexpr kernel_entry entry{.prepare = &prepare_queue_step<dequeue_step>, .start = &dequeue_step::start};
};
}  // namespace cpu::detail
template <>
struct kernel<on_cpu, ir::key<op::dequeue>> : cpu::detail::dequeue_kernel {};
template <>
struct kernel<on_cpu, ir::key<op::dequeue_up_to>> : cpu::detail::dequeue_kernel {};
template <>
struct kernel<on_cpu, ir::key<op::dequeue_open>> : cpu::detail::dequeue_kernel {};
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
