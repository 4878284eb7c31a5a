// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// One row of what a loop has gathered, where it is.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/slice.hpp"

namespace tagma::op {

/// Row attribute 0 of input 0, along its first axis. A view that only plans with loops have: another begins where its
/// input does.
struct row {
  static constexpr const char* name = "row";
  static constexpr ir::op_kind kind = ir::op_kind::view;
  static constexpr bool unasked = true;

  static constexpr void takes(auto& t) {
    t.any(1), t.axes(0, 1), t.attribute("row", 0, (t.in(0).dims[0] < INT32_MAX ? t.in(0).dims[0] : INT32_MAX) - 1);
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {a.in[0].type, a.in[0].dims.sub(1, a.in[0].dims.rank)};
    return nullptr;
  }
  static constexpr void gradient(auto& g) {
    const int rank = g.in_spec(0).dims.rank;
    ir::attribute ranges[2 * max_rank]{g.attr(0), g.attr(0) + 1};
    for (int i = 1; i < rank; ++i) ranges[2 * i + 1] = to_end;
    const auto part = g.emit_with(expand_dims{}, ir::pack_attributes(1), g.upstream);
    g.set(0, g.emit_with(slice_gradient{}, {ranges, 2 * rank}, part, g.in(0)));
  }
};

}  // namespace tagma::op
