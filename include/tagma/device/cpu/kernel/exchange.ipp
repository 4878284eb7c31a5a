// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of exchange.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/exchange.hpp"

namespace tagma::device::cpu::detail {

TAGMA_DECL void send_step::start(const kernel_args& args, const run_context& context, runtime::completion done) {
  auto& own = static_cast<send_step&>(*args.state);
  const operand& given = args.in[0];
  own.value = {given.data, given.type, given.dims};
  if (args.out.data != nullptr)
    *args.out.as<std::int64_t>() = static_cast<std::int64_t>(runtime::handed_over_bytes(own.value));
  own.begin(args, context, done,
            [&](runtime::rendezvous& meeting, std::int32_t edge, std::int32_t task) { meeting.send(edge, task, own); });
}

TAGMA_DECL void receive_step::start(const kernel_args& args, const run_context& context, runtime::completion done) {
  auto& own = static_cast<receive_step&>(*args.state);
  own.begin(args, context, done, [&](runtime::rendezvous& meeting, std::int32_t edge, std::int32_t task) {
    meeting.receive(edge, task, own);
  });
}

TAGMA_DECL std::byte* receive_step::place(const tensor_spec& come) {
  const shape wanted = args().late != nullptr ? args().declared_out : args().out.dims;
  if (come.type != args().out.type || !compatible(wanted, come.dims))
    fail(status_code::invalid_argument, {"another part of the run hands over ", to_string(come), " where ",
                                         to_string(tensor_spec{args().out.type, wanted}), " is expected"});
  return args().late != nullptr ? args().late->allocate(0, come.dims) : args().out.data;
}

}  // namespace tagma::device::cpu::detail
