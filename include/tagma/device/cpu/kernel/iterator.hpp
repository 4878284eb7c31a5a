// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernel that gives the elements of a dataset. One that waits holds no thread of the session.

#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/expr/op/iterator.hpp"
#include "tagma/runtime/iterator_resource.hpp"

namespace tagma::device {
namespace cpu::detail {

/// One step that asks for elements. Texts are views of its element, which stays until it runs again.
class next_step final : public kernel_state, public runtime::stop_hook, public runtime::element_request {
 public:
  static void start(const kernel_args& args, const run_context& context, runtime::completion done) {
    auto& own = static_cast<next_step&>(*args.state);
    own.iterator_ = &args.in[0].resource<runtime::iterator>();
    own.args_ = args;
    own.done_ = done;
    own.iterator_->next(own);
    if (!context.control->add(own)) own.stop();
  }
  void stop() noexcept override { iterator_->cancel(*this); }

 private:
  void ended(std::exception_ptr error) noexcept override {
    const runtime::completion done = done_;
    if (error != nullptr) return done.fail(static_cast<std::exception_ptr&&>(error));
    try {
      copy();
    } catch (...) {
      return done.fail(std::current_exception());
    }
    done.succeed();
  }
  void copy() {
    const std::vector<tensor_spec>& components = iterator_->components();
    raw_view parts[ir::most_outputs];
    element->show(parts);
    for (std::size_t i = 0; i < components.size(); ++i)
      if (parts[i].type != components[i].type || parts[i].dims.rank != components[i].dims.rank ||
          !compatible(parts[i].dims, components[i].dims))
        fail(status_code::invalid_argument,
             {iterator_->text(), ": component ", i, " of an element is ",
              to_string(tensor_spec{parts[i].type, parts[i].dims}), ", declared is ", to_string(components[i])});
    for (std::size_t i = 0; i < components.size(); ++i) {
      std::byte* const to =
          args_.late != nullptr ? args_.late->allocate(static_cast<int>(i), parts[i].dims) : args_.outs[i].data;
      if (to != nullptr && parts[i].bytes() > 0) std::memcpy(to, parts[i].data, parts[i].bytes());
    }
  }

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
