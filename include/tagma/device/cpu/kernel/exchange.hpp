// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Kernels that hand tensors over to other parts of a run, and take them. Those that wait hold no thread.

#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/expr/op/exchange.hpp"
#include "tagma/runtime/rendezvous.hpp"

namespace tagma::device {
namespace cpu::detail {

/// One step that meets another part of the run.
/// @tparam Attempt what it waits with
template <class Attempt>
class exchange_step : public kernel_state, public runtime::stop_hook, public Attempt {
 public:
  void stop() noexcept override { meeting_->cancel(edge(), *this); }
  void ended(std::exception_ptr error) noexcept override {
    const runtime::completion done = done_;
    error == nullptr ? done.succeed() : done.fail(static_cast<std::exception_ptr&&>(error));
  }

 protected:
  /// Begins with `meet(rendezvous, edge, task)`.
  template <class Meet>
  void begin(const kernel_args& args, const run_context& context, runtime::completion done, const Meet& meet) {
    if (context.meeting == nullptr)
      fail(status_code::failed_precondition, "a part of a program runs with the other parts, not by itself");
    meeting_ = context.meeting;
    args_ = args;
    done_ = done;
    meet(*meeting_, edge(), static_cast<std::int32_t>(args.attributes[1]));
    if (!context.control->add(*this)) stop();
  }
  [[nodiscard]] const kernel_args& args() const { return args_; }

 private:
  [[nodiscard]] std::int32_t edge() const { return static_cast<std::int32_t>(args_.attributes[0]); }

  runtime::rendezvous* meeting_ = nullptr;
  kernel_args args_;
  runtime::completion done_;
};

class send_step final : public exchange_step<runtime::send_attempt> {
 public:
  static void start(const kernel_args& args, const run_context& context, runtime::completion done);
};

class receive_step final : public exchange_step<runtime::receive_attempt> {
 public:
  static void start(const kernel_args& args, const run_context& context, runtime::completion done);

 private:
  TAGMA_DECL std::byte* place(const tensor_spec& come) override;
  void keep(std::vector<std::byte> characters) noexcept override { characters_ = std::move(characters); }

  std::vector<std::byte> characters_;  ///< of texts, until the next ones come
};

template <class Step>
struct exchange_kernel {
  [[nodiscard]] static owned<kernel_state> prepare(const kernel_args&, const run_context&) {
    return make_owned<Step>();
  }
  template <dtype...>
  static constexpr kernel_entry entry{.prepare = &prepare, .start = &Step::start};
};

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::send>> : cpu::detail::exchange_kernel<cpu::detail::send_step> {};
template <>
struct kernel<on_cpu, ir::key<op::receive>> : cpu::detail::exchange_kernel<cpu::detail::receive_step> {};
template <>
struct kernel<on_cpu, ir::key<op::receive_open>> : cpu::detail::exchange_kernel<cpu::detail::receive_step> {};

}  // namespace tagma::device

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/kernel/exchange.ipp"
#endif
