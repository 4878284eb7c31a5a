// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Reductions over chosen axes: sum, mean, product, maximum, minimum, argmax, argmin, all, any.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/composition.hpp"
#include "tagma/expr/op/math.hpp"
#include "tagma/expr/op/view.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {
namespace op {

/// The type in which statistics of elements are formed: floats of those with 16 bits, whose sums and squares leave
/// their range, or have too few digits.
[[nodiscard]] constexpr dtype statistics_type(dtype elements) {
  return elements == dtype::float16 || elements == dtype::bfloat16 ? dtype::float32 : elements;
}
/// A tensor with elements of this type.
/// @param e what emits nodes
[[nodiscard]] constexpr ir::node_id with_type(auto& e, dtype type, ir::node_id x) {
  return e.g.spec(x).type == type ? x : e.emit_with(cast{}, ir::pack_attributes(type), x);
}

/// A set of axes, one bit each.
using attribute_mask = std::uint64_t;

/// Bit i of `mask` says that axis i is reduced; bit i of `keep` that it stays with extent 1.
constexpr const char* infer_reduction(ir::infer_args& a, attribute_mask mask, attribute_mask keep) {
  a.out = {a.in[0].type, {}};
  for (int i = 0; i < a.in[0].dims.rank; ++i) {
    if (!((mask >> i) & 1))
      a.out.dims.push_back(a.in[0].dims[i]);
    else if ((keep >> i) & 1)
      a.out.dims.push_back(1);
  }
  return nullptr;
}

/// Base of the tags of reductions. Attribute 0 is the mask of reduced axes, attribute 1 the mask of those kept as 1.
struct reduction {
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr void takes_axes(auto& t) {
    const attribute_mask mask = t.mask("axes", t.rank(0)), keep = t.mask("kept axes", t.rank(0), true);
    t.rule("TAGMA-E020"), t.needs((keep & ~mask) == 0, "an axis is kept that is not reduced");
  }
  static constexpr void takes(auto& t) { t.inputs(1), t.number_at(0), takes_axes(t); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    return infer_reduction(a, static_cast<attribute_mask>(a.attributes[0]),
                           static_cast<attribute_mask>(a.attributes[1]));
  }
  /// A tensor of the shape of a reduction's result, stretched back over the reduced axes.
  static constexpr ir::node_id spread(auto& g, ir::node_id value) {
    const ir::node_id wide = g.emit_with(expand_dims{}, ir::pack_attributes(g.attr(0) & ~g.attr(1)), value);
    return g.emit(broadcast_like{}, wide, g.in(0));
  }
};

struct sum : reduction {
  static constexpr const char* name = "sum";
  static constexpr void gradient(auto& g) { g.set(0, spread(g, g.upstream)); }
  static constexpr void fold(ir::fold_args& f) {
    if (f.attributes[0] == 0) f.use_input(0);
  }
};

/// One over the number of elements that a reduction with mask attribute 0 joins into one.
struct fraction {
  static constexpr const char* name = "fraction";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr std::uint8_t shape_only = 0b1;
  static constexpr bool stops_gradient = true;
  static constexpr void takes(auto& t) { t.floats(1), t.mask("axes", t.rank(0)); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {a.in[0].type, {}};
    return nullptr;
  }
  /// The elements along the axes in attribute 0; `dyn` if an extent is not known.
  static constexpr extent elements(const shape& dims, ir::attribute axes) {
    extent count = 1;
    for (int i = 0; i < dims.rank; ++i)
      if ((axes >> i) & 1) count = count == dyn || dims[i] == dyn ? dyn : bounded_product(count, dims[i]);
    return count;
  }
  static constexpr void fold(ir::fold_args& f) {
    const extent count = elements(f.g.spec(f.in(0)).dims, f.attributes[0]);
    if (count > 0) f.use_constant(1.0 / static_cast<double>(count));
  }
};

/// The sum times one over the number of elements that it joins, both of the type of statistics. Attributes as those of
/// `sum`.
struct mean : composition<3> {
  static constexpr const char* name = "mean";
  static constexpr void takes(auto& t) { t.floats(1), reduction::takes_axes(t); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) { return reduction::infer(a); }
  static constexpr ir::node_id of(auto& e, ir::node_id x, ir::attribute mask, ir::attribute keep) {
    const dtype type = e.g.spec(x).type;
    const ir::node_id wide = with_type(e, statistics_type(type), x);
    const ir::node_id total = e.emit_with(sum{}, ir::pack_attributes(mask, keep), wide);
    const ir::node_id share = e.emit_with(fraction{}, ir::pack_attributes(mask), wide);
    return with_type(e, type, e.emit(multiply{}, total, share));
  }
  static constexpr void expand(auto& e) { e.result = of(e, e.in(0), e.attr(0), e.attr(1)); }
};

/// Where the input equals the extreme value the gradient is shared equally, as TensorFlow does.
struct extreme : reduction {
  static constexpr void gradient(auto& g) {
    const auto type = ir::pack_attributes(g.g.spec(g.self).type);
    const auto hit = g.emit_with(cast{}, type, g.emit(equal{}, g.in(0), spread(g, g.self)));
    const auto hits = g.emit_with(sum{}, ir::pack_attributes(g.attr(0), g.attr(1)), hit);
    g.set(0, g.emit(multiply{}, hit, spread(g, g.emit(divide{}, g.upstream, hits))));
  }
};
struct reduce_max : extreme {
  static constexpr const char* name = "reduce_max";
};
struct reduce_min : extreme {
  static constexpr const char* name = "reduce_min";
};

/// The gradient by an element is the product of the others: the product by the element, where none is zero. Zeros are
/// factors by themselves, whose sum is zero as well, but not what it changes by: second derivatives follow from it.
struct product : reduction {
  static constexpr const char* name = "product";
  static constexpr void gradient(auto& g) {
    const auto type = ir::pack_attributes(g.in_spec(0).type);
    const auto axes = ir::pack_attributes(g.attr(0), g.attr(1));
    const ir::node_id zero = g.constant(0), one = g.constant(1), two = g.constant(2);
    const ir::node_id is_zero = g.emit(equal{}, g.in(0), zero);
    const ir::node_id factor = g.emit(select{}, is_zero, one, g.in(0));
    const ir::node_id zeros = g.emit_with(sum{}, axes, g.emit_with(cast{}, type, is_zero));
    const ir::node_id sum_of_zeros = g.emit_with(sum{}, axes, g.emit(select{}, is_zero, g.in(0), zero));
    const ir::node_id rest = g.emit(multiply{}, g.upstream, g.emit_with(product{}, axes, factor));
    const ir::node_id less = g.emit(multiply{}, rest, sum_of_zeros);
    const ir::node_id has_none = g.emit(equal{}, zeros, zero), has_one = g.emit(equal{}, zeros, one);
    const ir::node_id has_two = g.emit(equal{}, zeros, two);
    const ir::node_id whole = g.emit(select{}, has_none, rest, g.emit(select{}, has_one, less, zero));
    const ir::node_id by_others = g.emit(divide{}, spread(g, whole), factor);
    const ir::node_id of_two = g.emit(select{}, has_two, rest, zero), of_one = g.emit(select{}, has_one, rest, zero);
    const ir::node_id other_zero = g.emit(subtract{}, spread(g, sum_of_zeros), g.in(0));
    const ir::node_id both = g.emit(multiply{}, spread(g, of_two), other_zero);
    const ir::node_id by_zeros = g.emit(add{}, spread(g, of_one), both);
    g.set(0, g.emit(select{}, is_zero, by_zeros, by_others));
  }
};

struct all : reduction {
  static constexpr const char* name = "all";
  static constexpr void takes(auto& t) { t.inputs(1), t.boolean_at(0), takes_axes(t); }
};
struct any : reduction {
  static constexpr const char* name = "any";
  static constexpr void takes(auto& t) { t.inputs(1), t.boolean_at(0), takes_axes(t); }
};

/// Position of the largest element along one axis; the first one where several are equal, and the first NaN where there
/// is one.
struct argmax : reduction {
  static constexpr const char* name = "argmax";
  static constexpr void takes(auto& t) {
    t.inputs(1), t.number_at(0), t.rule("TAGMA-E020");
    const std::uint64_t mask = t.mask("axes", t.rank(0));
    t.needs(std::has_single_bit(mask), "there is one axis along which positions are");
    t.attribute("kept axes", 0, 0);
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    const char* problem = reduction::infer(a);
    a.out = {dtype::int64, a.out.dims};
    return problem;
  }
};
struct argmin : argmax {
  static constexpr const char* name = "argmin";
};

/// True if `factor` is no scalar, and its product with a tensor of shape `dims` has shape `dims`.
[[nodiscard]] constexpr bool scales(const shape& factor, const shape& dims) {
  const int lead = dims.rank - factor.rank;
  bool differs = false;
  for (int i = 0; i < factor.rank; ++i) {
    if (factor.extents[i] == 1) continue;
    if (lead < 0 || factor.extents[i] != dims.extents[i + lead]) return false;
    differs = true;
  }
  return differs && lead >= 0;
}

/// Sums `value` over the axes along which an operand of shape `target` was stretched, back to that shape. The outermost
/// signs, and factors of floats that are the same along these axes, are taken out of the sum: what remains is often
/// there already, as in the gradient of a normalisation.
/// @tparam Graph ir::graph: a template costs nothing where no gradient is formed
template <class Graph>
constexpr ir::node_id unbroadcast(Graph& g, ir::node_id value, const shape& target) {
  const shape from = g.spec(value).dims;
  if (from == target) return value;
  const int lead = from.rank - target.rank;
  ir::attribute mask = 0, keep = 0;
  for (int i = 0; i < from.rank; ++i) {
    if (i < lead)
      mask |= 1 << i;
    else if (target.extents[i - lead] == 1 && from.extents[i] != 1)
      mask |= 1 << i, keep |= 1 << i;
  }
  if (mask == 0) return value;
  const bool is_wide = g.spec(value).type == dtype::float32 || g.spec(value).type == dtype::float64;
  constexpr int most = 4;
  ir::node_id factors[most]{};
  int count = 0;
  bool negative = false;
  const auto taken_out = [&] {
    if (g[value].controls > 0) return false;
    if (g.info(value).key == &ir::key<negate>) {
      negative = !negative, value = g.input(value, 0);
      return true;
    }
    if (g.info(value).key != &ir::key<multiply> || !is_wide) return false;
    for (int k = 0; k < 2; ++k)
      if (const ir::node_id rest = g.input(value, k), factor = g.input(value, 1 - k);
          g.spec(rest).dims == from && scales(g.spec(factor).dims, target)) {
        factors[count++] = factor, value = rest;
        return true;
      }
    return false;
  };
  for (int tries = 0; tries < most && taken_out(); ++tries) {
  }
  ir::node_id total = g.emit_op(sum{}, {&value, 1}, ir::pack_attributes(mask, keep).list());
  while (count > 0) {
    const ir::node_id pair[] = {total, factors[--count]};
    total = g.emit_op(multiply{}, pair);
  }
  return negative ? g.emit_op(negate{}, {&total, 1}) : total;
}

}  // namespace op

/// Axes that a reduction names are there.
#define TAGMA_NEEDS_AXES(...) \
  static_assert(::tagma::diagnose::axes_exist<__VA_ARGS__>, "TAGMA-E020 reduction: there is no such axis")

/// Passed to `sum`, `mean`, `reduce_max` or `moments` to keep the reduced axes with extent 1.
struct keep_dims_tag {};
/// Behind the operand of `sum`, `mean`, `reduce_max` or `moments`: the axes stay, with extent 1.
inline constexpr keep_dims_tag keep_dims{};

namespace detail {

/// Axes in braces, where none are taken.
struct run_time_axes {
  run_time_axes(int);
  run_time_axes(int, int);
  run_time_axes(int, int, int);
};

/// The mask of the axes, of all axes if none are named; axes that do not exist are left out.
template <int Rank, int... Axes>
inline constexpr op::attribute_mask axis_mask = [] {
  op::attribute_mask mask = sizeof...(Axes) == 0 ? (op::attribute_mask{1} << Rank) - 1 : 0;
  ((Axes >= -Rank && Axes < Rank ? void(mask |= op::attribute_mask{1} << (Axes < 0 ? Axes + Rank : Axes)) : void()),
   ...);
  return mask;
}();

template <class Op, bool Keep, class Place, int... Axes, class E>
[[nodiscard]] constexpr auto make_reduction(const E& e) {
  if constexpr (diagnose::axes_exist<typename E::spec_type, Axes...>) {
    constexpr op::attribute_mask mask = axis_mask<E::rank, Axes...>;
    return make_node<Op, ir::pack_attributes(mask, Keep ? mask : 0), Place>(e);
  }
}

}  // namespace detail

namespace diagnose {
/// Behind the operand of a reduction stands nothing but `keep_dims`: the compiler knows the axes.
template <class Keep>
inline constexpr bool axes_are_template_arguments = std::is_same_v<Keep, keep_dims_tag>;
}  // namespace diagnose

#define TAGMA_NEEDS_KEEP_DIMS(Who, Keep)                                                                 \
  static_assert(diagnose::axes_are_template_arguments<Keep>,                                             \
                "TAGMA-E178 " Who ": axes are template arguments: tagma::" Who "<0>(x), and tagma::" Who \
                "<0>(x, tagma::keep_dims)")
#define TAGMA_REFUSES_AXES(Who, E)                        \
  static_assert(diagnose::axes_are_template_arguments<E>, \
                "TAGMA-E178 " Who ": its axes are template arguments: tagma::" Who "<0>(x); nothing stands behind x")

/// Reductions. Without axes, over all of them. Axes count from the front, or from the back if negative.
/// `sum<0, 1>(x)` drops the axes; `sum<0>(x, tagma::keep_dims)` keeps them with extent 1, of all but `argmax` and
/// `argmin`. `all` and `any` take bool, `mean` floating elements, the others numbers.
/// Raises TAGMA-E020 if there is no such axis, TAGMA-E014, TAGMA-E016 and TAGMA-E017 for other elements.
/// @{
template <int... Axes, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto sum(const E& e) {
  TAGMA_NEEDS_NUMBERS(typename E::spec_type);
  TAGMA_NEEDS_AXES(typename E::spec_type, Axes...);
  return detail::make_reduction<op::sum, false, Place, Axes...>(e);
}
template <int... Axes, expression E, class Keep = detail::run_time_axes, class Place = TAGMA_FRESH_TYPE(E)>
  requires(!expression<Keep>)
[[nodiscard]] constexpr auto sum(const E& e, const Keep&) {
  TAGMA_NEEDS_KEEP_DIMS("sum", Keep);
  TAGMA_NEEDS_NUMBERS(typename E::spec_type);
  TAGMA_NEEDS_AXES(typename E::spec_type, Axes...);
  return detail::make_reduction<op::sum, true, Place, Axes...>(e);
}
template <int... Axes, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto product(const E& e) {
  TAGMA_NEEDS_NUMBERS(typename E::spec_type);
  TAGMA_NEEDS_AXES(typename E::spec_type, Axes...);
  return detail::make_reduction<op::product, false, Place, Axes...>(e);
}
template <int... Axes, expression E, class Keep = detail::run_time_axes, class Place = TAGMA_FRESH_TYPE(E)>
  requires(!expression<Keep>)
[[nodiscard]] constexpr auto product(const E& e, const Keep&) {
  TAGMA_NEEDS_KEEP_DIMS("product", Keep);
  TAGMA_NEEDS_NUMBERS(typename E::spec_type);
  TAGMA_NEEDS_AXES(typename E::spec_type, Axes...);
  return detail::make_reduction<op::product, true, Place, Axes...>(e);
}
template <int... Axes, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto reduce_max(const E& e) {
  TAGMA_NEEDS_NUMBERS(typename E::spec_type);
  TAGMA_NEEDS_AXES(typename E::spec_type, Axes...);
  return detail::make_reduction<op::reduce_max, false, Place, Axes...>(e);
}
template <int... Axes, expression E, class Keep = detail::run_time_axes, class Place = TAGMA_FRESH_TYPE(E)>
  requires(!expression<Keep>)
[[nodiscard]] constexpr auto reduce_max(const E& e, const Keep&) {
  TAGMA_NEEDS_KEEP_DIMS("reduce_max", Keep);
  TAGMA_NEEDS_NUMBERS(typename E::spec_type);
  TAGMA_NEEDS_AXES(typename E::spec_type, Axes...);
  return detail::make_reduction<op::reduce_max, true, Place, Axes...>(e);
}
template <int... Axes, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto reduce_min(const E& e) {
  TAGMA_NEEDS_NUMBERS(typename E::spec_type);
  TAGMA_NEEDS_AXES(typename E::spec_type, Axes...);
  return detail::make_reduction<op::reduce_min, false, Place, Axes...>(e);
}
template <int... Axes, expression E, class Keep = detail::run_time_axes, class Place = TAGMA_FRESH_TYPE(E)>
  requires(!expression<Keep>)
[[nodiscard]] constexpr auto reduce_min(const E& e, const Keep&) {
  TAGMA_NEEDS_KEEP_DIMS("reduce_min", Keep);
  TAGMA_NEEDS_NUMBERS(typename E::spec_type);
  TAGMA_NEEDS_AXES(typename E::spec_type, Axes...);
  return detail::make_reduction<op::reduce_min, true, Place, Axes...>(e);
}
template <int... Axes, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto all(const E& e) {
  TAGMA_NEEDS_BOOLEANS(typename E::spec_type);
  TAGMA_NEEDS_AXES(typename E::spec_type, Axes...);
  return detail::make_reduction<op::all, false, Place, Axes...>(e);
}
template <int... Axes, expression E, class Keep = detail::run_time_axes, class Place = TAGMA_FRESH_TYPE(E)>
  requires(!expression<Keep>)
[[nodiscard]] constexpr auto all(const E& e, const Keep&) {
  TAGMA_NEEDS_KEEP_DIMS("all", Keep);
  TAGMA_NEEDS_BOOLEANS(typename E::spec_type);
  TAGMA_NEEDS_AXES(typename E::spec_type, Axes...);
  return detail::make_reduction<op::all, true, Place, Axes...>(e);
}
template <int... Axes, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto any(const E& e) {
  TAGMA_NEEDS_BOOLEANS(typename E::spec_type);
  TAGMA_NEEDS_AXES(typename E::spec_type, Axes...);
  return detail::make_reduction<op::any, false, Place, Axes...>(e);
}
template <int... Axes, expression E, class Keep = detail::run_time_axes, class Place = TAGMA_FRESH_TYPE(E)>
  requires(!expression<Keep>)
[[nodiscard]] constexpr auto any(const E& e, const Keep&) {
  TAGMA_NEEDS_KEEP_DIMS("any", Keep);
  TAGMA_NEEDS_BOOLEANS(typename E::spec_type);
  TAGMA_NEEDS_AXES(typename E::spec_type, Axes...);
  return detail::make_reduction<op::any, true, Place, Axes...>(e);
}
/// The mean of floating elements.
template <int... Axes, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto mean(const E& e) {
  TAGMA_NEEDS_FLOATS(typename E::spec_type);
  TAGMA_NEEDS_AXES(typename E::spec_type, Axes...);
  return detail::make_reduction<op::mean, false, Place, Axes...>(e);
}
template <int... Axes, expression E, class Keep = detail::run_time_axes, class Place = TAGMA_FRESH_TYPE(E)>
  requires(!expression<Keep>)
[[nodiscard]] constexpr auto mean(const E& e, const Keep&) {
  TAGMA_NEEDS_KEEP_DIMS("mean", Keep);
  TAGMA_NEEDS_FLOATS(typename E::spec_type);
  TAGMA_NEEDS_AXES(typename E::spec_type, Axes...);
  return detail::make_reduction<op::mean, true, Place, Axes...>(e);
}
/// The position of the largest element along `Axis`, by default the last one, as int64; the first of equals. Where
/// there is a NaN, the position of the first: what `reduce_max` returns is at that position. One axis, which is
/// dropped.
template <int Axis = -1, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto argmax(const E& e) {
  TAGMA_NEEDS_NUMBERS(typename E::spec_type);
  TAGMA_NEEDS_AXES(typename E::spec_type, Axis);
  return detail::make_reduction<op::argmax, false, Place, Axis>(e);
}
/// The position of the smallest element along `Axis`, by default the last one, otherwise as `argmax`.
template <int Axis = -1, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto argmin(const E& e) {
  TAGMA_NEEDS_NUMBERS(typename E::spec_type);
  TAGMA_NEEDS_AXES(typename E::spec_type, Axis);
  return detail::make_reduction<op::argmin, false, Place, Axis>(e);
}
/// @}

/// These drop the axis: TAGMA-E178.
/// @{
template <int Axis = -1, expression E, class Keep = detail::run_time_axes>
  requires(!expression<Keep>)
auto argmax(const E&, const Keep&) { TAGMA_REFUSES_AXES("argmax", E); }
template <int Axis = -1, expression E, class Keep = detail::run_time_axes>
  requires(!expression<Keep>)
auto argmin(const E&, const Keep&) { TAGMA_REFUSES_AXES("argmin", E); }
/// @}

}  // namespace tagma

#undef TAGMA_NEEDS_AXES
#undef TAGMA_REFUSES_AXES
#undef TAGMA_NEEDS_KEEP_DIMS
