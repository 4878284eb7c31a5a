// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of reader.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/reader.hpp"

namespace tagma::device::cpu::detail {

TAGMA_DECL void read_step::start(const kernel_args& args, const run_context& context, runtime::completion done) {
  auto& own = static_cast<read_step&>(*args.state);
  own.reader_ = &args.in[0].resource<runtime::reader>();
  own.args_ = args;
  own.done_ = done;
  const extent most = args.attributes[0];
  own.reader_->read(own, args.in[1].resource<runtime::queue>(), most < 0 ? 1 : static_cast<std::size_t>(most));
  if (!context.control->add(own)) own.stop();
}

TAGMA_DECL void read_step::ended(std::exception_ptr error) noexcept {
  const runtime::completion done = done_;
  if (error != nullptr) return done.fail(static_cast<std::exception_ptr&&>(error));
  for (int part = 0; part < 2; ++part) {
    if (args_.late != nullptr) args_.late->set(0, static_cast<extent>(records.size()), part);
    auto* to = args_.outs[static_cast<std::size_t>(part)].as<string_element>();
    if (to == nullptr) continue;
    for (const io::record& r : records) *to++ = part == 0 ? r.key : r.value;
  }
  done.succeed();
}

}  // namespace tagma::device::cpu::detail
