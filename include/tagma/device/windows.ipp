// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of windows.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/windows.hpp"

namespace tagma::device {

TAGMA_COLD TAGMA_DECL conv_axis::conv_axis(const op::window_axis& w, std::int64_t extent, std::int64_t positions)
    : in(extent), out(positions), size(w.size), stride(w.stride), dilation(w.dilation), before(w.lead(extent)) {
  const std::int64_t end = (out - 1) * stride + w.reach() - in - before;
  after = end > 0 ? end : 0;
}

TAGMA_COLD TAGMA_DECL conv_problem::conv_problem(const shape& x, const shape& filter, const shape& y,
                                                 ir::attribute_list attributes)
    : images(x[0]), channels(x[3]), filters(filter[3]), groups(attributes[2]) {
  const op::window_plane plane = op::convolution::plane(attributes, filter);
  rows = {plane.rows, x[1], y[1]};
  columns = {plane.columns, x[2], y[2]};
}

TAGMA_COLD TAGMA_DECL conv_problem::conv_problem(conv_role role, const shape& a, const shape& b, const shape& result,
                                                 ir::attribute_list attributes)
    : conv_problem(plays(role, conv_role::input_gradient) ? result : a,
                   plays(role, conv_role::filter_gradient) ? result : b,
                   plays(role, conv_role::forward)          ? result
                   : plays(role, conv_role::input_gradient) ? a
                                                            : b,
                   attributes) {}

TAGMA_COLD TAGMA_DECL pool_problem::pool_problem(const shape& x, const shape& y, ir::attribute_list attributes)
    : images(x[0]), channels(x[3]) {
  const op::window_plane plane = op::pooling::plane(attributes);
  rows = {plane.rows, x[1], y[1]};
  columns = {plane.columns, x[2], y[2]};
}

TAGMA_COLD TAGMA_DECL pool_problem::pool_problem(pool_kind kind, const kernel_args& args)
    : pool_problem(kind == pool_kind::mean_gradient ? args.out.dims : args.in[0].dims,
                   kind == pool_kind::maximum || kind == pool_kind::mean ? args.out.dims
                   : kind == pool_kind::mean_gradient                    ? args.in[0].dims
                                                                         : args.in[1].dims,
                   args.attributes) {}

}  // namespace tagma::device
