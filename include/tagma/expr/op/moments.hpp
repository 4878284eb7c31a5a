// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Mean and variance together.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/reduce.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {
namespace op {

/// The mean and the mean of squared deviations from it, in one pass over memory, both of the type of statistics.
/// Attributes as those of `sum`.
struct moments : reduction {
  static constexpr const char* name = "moments";
  static constexpr int outputs = 2;
  static constexpr void takes(auto& t) { t.inputs(1), t.float_at(0), takes_axes(t); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    const char* problem = reduction::infer(a);
    a.out.type = statistics_type(a.out.type);
    return problem;
  }
  /// dmean / n + dvariance * 2 / n * (x - mean)
  static constexpr void gradient(auto& g) {
    const dtype type = g.in_spec(0).type;
    const ir::node_id x = with_type(g, statistics_type(type), g.in(0));
    const ir::node_id share = g.emit_with(fraction{}, ir::pack_attributes(g.attr(0)), x);
    ir::node_id by_mean = ir::no_node, by_variance = ir::no_node;
    if (g.upstream_of(0) != ir::no_node) by_mean = spread(g, g.emit(multiply{}, g.upstream_of(0), share));
    if (g.upstream_of(1) != ir::no_node) {
      const ir::node_id twice = g.emit(add{}, share, share);
      const ir::node_id scale = spread(g, g.emit(multiply{}, g.upstream_of(1), twice));
      const ir::node_id centred = g.emit(subtract{}, x, spread(g, g.output(0)));
      by_variance = g.emit(multiply{}, centred, scale);
    }
    ir::node_id both = by_mean == ir::no_node ? by_variance : by_mean;
    if (by_mean != ir::no_node && by_variance != ir::no_node) both = g.emit(add{}, by_mean, by_variance);
    g.set(0, with_type(g, type, both));
  }
};

}  // namespace op

namespace detail {

/// Both moments with elements like those of `E`, rounded where they have 16 bits.
template <class Place, class E, class Mean, class Variance>
[[nodiscard]] constexpr auto moments_like(const E&, const std::tuple<Mean, Variance>& both) {
  if constexpr (std::is_same_v<typename E::element_type, typename Mean::element_type>) {
    return both;
  } else {
    constexpr auto type = ir::pack_attributes(E::spec.type);
    return std::make_tuple(make_node<op::cast, type, part<Place, 0>>(std::get<0>(both)),
                           make_node<op::cast, type, part<Place, 1>>(std::get<1>(both)));
  }
}

template <bool Keep, class Place, int... Axes, class E>
[[nodiscard]] constexpr auto make_moments(const E& e) {
  if constexpr (diagnose::axes_exist<typename E::spec_type, Axes...> &&
                diagnose::is_floating_point<typename E::spec_type>) {
    constexpr op::attribute_mask mask = axis_mask<E::rank, Axes...>;
    return moments_like<Place>(e, make_nodes<op::moments, ir::pack_attributes(mask, Keep ? mask : 0), Place>(e));
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
