// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Which plans have steps that may be done in blocks of rows.

#include "tagma/base/array_view.hpp"
#include "tagma/ir/op.hpp"
#include "tagma/plan/plan.hpp"

namespace tagma::op {
// Their keys are all that is needed here.
struct average_pool;
struct concat;
struct conv2d;
struct conv2d_bias;
struct conv2d_filter_gradient;
struct log_softmax;
struct max_pool;
struct moments;
struct reduce_max;
struct softmax;
struct sum;
struct tile;
struct transpose;
}  // namespace tagma::op

namespace tagma::runtime {

/// True if a plan has an operation on rows, between which and loops tensors may stay in the cache, or three
/// convolutions and no gradient of one: a program takes a tenth longer to compile with blocks, and one that trains
/// gains less.
[[nodiscard]] constexpr bool has_rows(array_view<const plan::plan_node> nodes, array_view<const plan::plan_step> steps,
                                      array_view<const ir::attribute> attributes) {
  int convolutions = 0, gradients = 0;
  for (const plan::plan_step& step : steps) {
    const plan::plan_node& n = nodes[step.main_node()];
    const char* const key = n.op->key;
    if (key == &ir::key<op::conv2d> || key == &ir::key<op::conv2d_bias>) ++convolutions;
    if (key == &ir::key<op::conv2d_filter_gradient>) ++gradients;
    if (key == &ir::key<op::softmax> || key == &ir::key<op::log_softmax> || key == &ir::key<op::moments>) return true;
    // A sum along the last axes, of more than one result.
    if (key == &ir::key<op::sum> && n.spec.dims.rank > 0 && (attributes[n.first_attribute] & 1) == 0) return true;
  }
  return convolutions > 2 && gradients == 0;
}

}  // namespace tagma::runtime
