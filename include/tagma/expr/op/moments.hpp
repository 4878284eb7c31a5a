// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Mean and variance together.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/reduce.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {
namespace op {

/// The mean and the mean of squared deviations from it, in one pass over memory. Attributes as those of `sum`.
struct moments : reduction {
  static constexpr const char* name = "moments";
  static constexpr int outputs = 2;
  static constexpr void takes(auto& t) { t.inputs(1), t.float_at(0), takes_axes(t); }
  /// dmean / n + dvariance * 2 / n * (x - mean)
  static constexpr void gradient(auto& g) {
    const ir::node_id share = g.emit_with(fraction{}, ir::pack_attributes(g.attr(0)), g.in(0));
    ir::node_id by_mean = ir::no_node, by_variance = ir::no_node;
    if (g.upstream_of(0) != ir::no_node) by_mean = spread(g, g.emit(multiply{}, g.upstream_of(0), share));
    if (g.upstream_of(1) != ir::no_node) {
      const ir::node_id twice = g.emit(add{}, share, share);
      const ir::node_id scale = spread(g, g.emit(multiply{}, g.upstream_of(1), twice));
      const ir::node_id centred = g.emit(subtract{}, g.in(0), spread(g, g.output(0)));
      by_variance = g.emit(multiply{}, centred, scale);
    }
    if (by_mean == ir::no_node || by_variance == ir::no_node)
      g.set(0, by_mean == ir::no_node ? by_variance : by_mean);
    else
      g.set(0, g.emit(add{}, by_mean, by_variance));
  }
};

}  // namespace op

namespace detail {

template <bool Keep, class Place, int... Axes, class E>
[[nodiscard]] constexpr auto make_moments(const E& e) {
  if constexpr (diagnose::axes_exist<typename E::spec_type, Axes...> &&
                diagnose::is_floating_point<typename E::spec_type>) {
    constexpr op::attribute_mask mask = axis_mask<E::rank, Axes...>;
    return make_nodes<op::moments, ir::pack_attributes(mask, Keep ? mask : 0), Place>(e);
  }
}

}  // namespace detail

/// Mean and variance of floating elements over axes, without axes over all of them: the variance divides by the number
/// of elements. Elements are read once, and their deviations are formed from means of few at a time, so that a large
/// mean does not drown the variance. Of no elements the results are NaN; where one is infinite, the mean is infinite or
/// NaN, and the variance not finite.
/// @return a tuple of both; `moments<0>(x)` drops the axes, `moments<0>(x, tagma::keep_dims)` keeps them with extent 1
/// Raises TAGMA-E020 for an axis that is not there, TAGMA-E178 for what is not `keep_dims`.
/// @{
template <int... Axes, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto moments(const E& e) {
  TAGMA_NEEDS_FLOATS(typename E::spec_type);
  static_assert(diagnose::axes_exist<typename E::spec_type, Axes...>, "TAGMA-E020 moments: there is no such axis");
  return detail::make_moments<false, Place, Axes...>(e);
}
template <int... Axes, expression E, class Keep = detail::run_time_axes, class Place = TAGMA_FRESH_TYPE(E)>
  requires(!expression<Keep>)
[[nodiscard]] constexpr auto moments(const E& e, const Keep&) {
  static_assert(diagnose::axes_are_template_arguments<Keep>,
                "TAGMA-E178 moments: axes are template arguments: tagma::moments<0>(x), and tagma::moments<0>(x, "
                "tagma::keep_dims)");
  TAGMA_NEEDS_FLOATS(typename E::spec_type);
  static_assert(diagnose::axes_exist<typename E::spec_type, Axes...>, "TAGMA-E020 moments: there is no such axis");
  return detail::make_moments<true, Place, Axes...>(e);
}
/// @}

}  // namespace tagma
