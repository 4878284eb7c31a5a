// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of iterator.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/iterator.hpp"

namespace tagma::device::cpu::detail {

TAGMA_DECL void next_step::start(const kernel_args& args, const run_context& context, runtime::completion done) {
  auto& own = static_cast<next_step&>(*args.state);
  own.iterator_ = &args.in[0].resource<runtime::iterator>();
  own.args_ = args;
  own.done_ = done;
  own.iterator_->next(own);
  if (!context.control->add(own)) own.stop();
}

TAGMA_DECL void next_step::ended(std::exception_ptr error) noexcept {
  const runtime::completion done = done_;
  if (error != nullptr) return done.fail(static_cast<std::exception_ptr&&>(error));
  try {
    copy();
  } catch (...) {
    return done.fail(std::current_exception());
  }
  done.succeed();
}

TAGMA_DECL void next_step::copy() {
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

}  // namespace tagma::device::cpu::detail
