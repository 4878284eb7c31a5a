// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Tells where the nodes of a bound plan run.

#include <cstdio>

#include "tagma/base/config.hpp"
#include "tagma/runtime/bound_plan.hpp"

namespace tagma {
namespace runtime {

/// Where each node runs and why, and each copy between devices, as lines of text.
[[nodiscard]] TAGMA_COLD inline std::string placement_text(const bound_plan& bound) {
  const plan::plan_view& plan = bound.plan();
  const auto device_name = [&](const plan::plan_node& n) { return short_name(bound.device_at(n.device).name); };
  std::string text;
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    const plan::plan_node& n = plan.nodes[i];
    if (n.op == &ir::info<plan::transfer>) {
      const plan::plan_node& from = plan.nodes[plan.inputs[n.first_input]];
      append_parts(text, {"copy of ", detail::describe(from), ": ", device_name(from), " to ", device_name(n), ", ",
                          bound.bytes_of(static_cast<ir::node_id>(i)), " bytes\n"});
      continue;
    }
    text += n.name.empty() ? sentence({n.op->name, " #", n.source}) : sentence({n.name, n.suffix});
    const device_spec& name = bound.device_at(n.device).name;
    const ir::place_reason why = name == plan.devices[n.device].name ? plan.reason(n) : ir::place_reason::softened;
    append_parts(text, {": (", n.op->name, "): ", to_string(name), ", ",
                        n.op->is(ir::op_kind::placeholder) ? "fed there" : to_string(why), "\n"});
  }
  return text;
}

/// The same to standard error.
TAGMA_COLD inline void log_placement(const bound_plan& bound) { std::fputs(placement_text(bound).c_str(), stderr); }

}  // namespace runtime

/// Whether standard error is told where each node runs and what is copied: `true` or `false`. What tells it is compiled
/// only into programs that have a `true` or a condition there.
class placement_log {
 public:
  constexpr placement_log() = default;
  constexpr placement_log(bool on) : write_(on ? &runtime::log_placement : nullptr) {}
  [[nodiscard]] constexpr explicit operator bool() const { return write_ != nullptr; }
  /// Tells of one plan, or nothing.
  void operator()(const runtime::bound_plan& bound) const {
    if (write_ != nullptr) write_(bound);
  }

 private:
  void (*write_)(const runtime::bound_plan& bound) = nullptr;
};

}  // namespace tagma
