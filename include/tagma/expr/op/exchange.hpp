// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a graph that was cut into parts has where an edge leads from one part to another. Nobody writes these nodes:
/// graph/cut.hpp does. A step that waits for another part holds no thread.

#include "tagma/base/config.hpp"
#include "tagma/ir/queue.hpp"

namespace tagma::op {

/// Hands input 0 to the part that waits for it. Attribute 0 is the number of the edge, 1 the number of the task there.
/// How many bytes that were (runtime::handed_over_bytes).
struct send {
  static constexpr const char* name = "send";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr bool stateful = true;
  static constexpr bool on_host = true;
  static constexpr bool stops_gradient = true;
  static constexpr void takes(auto& t) {
    t.inputs(1), t.any_at(0), t.attribute("edge", 0, INT32_MAX), t.attribute("task", 0, INT32_MAX);
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {dtype::int64, {}};
    return nullptr;
  }
};

/// What another part hands over. Attribute 0 is the number of the edge, 1 the number of the task there; behind them are
/// its type and its shape, as of a component of a queue.
struct receive {
  static constexpr const char* name = "receive";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr bool stateful = true;
  static constexpr bool on_host = true;
  static constexpr bool stops_gradient = true;
  static constexpr void takes(auto& t) { takes_spec(t, false); }
  static constexpr void takes_spec(auto& t, bool open) {
    t.inputs(0), t.attribute("edge", 0, INT32_MAX), t.attribute("task", 0, INT32_MAX);
    const ir::attribute_list words = t.rest_of_attributes();
    ir::take_component(t);
    if (!t.fine() || words.size() < ir::queue_component_words) return;
    const tensor_spec s = ir::queue_component(words, 0);
    t.needs(s.dims.is_static() != open, open ? "no extent is open" : "an extent is open");
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = ir::queue_component(a.attributes.subspan(2, a.attributes.size() - 2), 0);
    return nullptr;
  }
};

/// The same of a tensor with open extents, which come with it.
struct receive_open : receive {
  static constexpr const char* name = "receive_open";
  static constexpr bool late = true;
  static constexpr void takes(auto& t) { takes_spec(t, true); }
};

}  // namespace tagma::op
