// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Reads and writes at indices: gather, embedding_lookup, scatter_add, one_hot.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/state.hpp"
#include "tagma/expr/op/view.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {
namespace op {

/// A tensor of known extents, seen as [outer, axis, inner].
struct around_axis {
  extent outer, count, inner;
  constexpr around_axis(const shape& dims, ir::attribute axis)
      : outer(dims.elements(0, static_cast<int>(axis))),
        count(dims[static_cast<int>(axis)]),
        inner(dims.elements(static_cast<int>(axis) + 1, dims.rank)) {}
};

/// Zeros in the shape of input 2, to whose slices along the axis in attribute 0 the slices of input 0 are added: slice
/// i of input 0 goes where element i of input 1 points. What one index names twice is summed in the order of indices.
struct scatter_rows {
  static constexpr const char* name = "scatter_rows";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr std::uint64_t shape_only = 0b100;

  static constexpr void takes(auto& t) {
    t.inputs(3), t.float_at(0), t.index_at(1), t.alike(2), t.axis("axis", t.rank(2)), t.rule("TAGMA-E108");
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {a.in[0].type, a.in[2].dims};
    const int axis = static_cast<int>(a.attributes[0]);
    if (a.in[1].dims.rank + a.out.dims.rank - 1 != a.in[0].dims.rank) return "the values need one slice for each index";
    shape expected = a.out.dims.sub(0, axis);
    for (const extent e : a.in[1].dims.span()) expected.push_back(e);
    for (int i = axis + 1; i < a.out.dims.rank; ++i) expected.push_back(a.out.dims[i]);
    return compatible(expected, a.in[0].dims) ? nullptr : "the values need one slice for each index";
  }
  static constexpr void gradient(auto& g);
};

/// The slices of input 0 that input 1 names along the axis in attribute 0.
struct gather {
  static constexpr const char* name = "gather";
  static constexpr ir::op_kind kind = ir::op_kind::compute;

  static constexpr void takes(auto& t) {
    t.inputs(2), t.any_at(0), t.index_at(1), t.axis("axis", t.rank(0)), t.rule("TAGMA-E108");
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    const shape &from = a.in[0].dims, &indices = a.in[1].dims;
    const int axis = static_cast<int>(a.attributes[0]);
    if (from.rank + indices.rank - 1 > max_rank) return "the result would have more than six axes";
    a.out = {a.in[0].type, from.sub(0, axis)};
    for (const extent e : indices.span()) a.out.dims.push_back(e);
    for (int i = axis + 1; i < from.rank; ++i) a.out.dims.push_back(from[i]);
    return nullptr;
  }
  static constexpr void gradient(auto& g) {
    g.set(0, g.emit_with(scatter_rows{}, ir::pack_attributes(g.attr(0)), g.upstream, g.in(1), g.in(0)));
  }
};

constexpr void scatter_rows::gradient(auto& g) {
  g.set(0, g.emit_with(gather{}, ir::pack_attributes(g.attr(0)), g.upstream, g.in(1)));
}

/// Rows of the length in attribute 0, of the element type in attribute 1: 1 where the index points, else 0.
struct one_hot {
  static constexpr const char* name = "one_hot";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr bool stops_gradient = true;

  static constexpr void takes(auto& t) {
    t.inputs(1), t.index_at(0), t.rule("TAGMA-E110"), t.size("depth", 1), t.element_type("element type");
    t.rule("TAGMA-E108");
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    if (a.in[0].dims.rank == max_rank) return "the result would have more than six axes";
    a.out = {static_cast<dtype>(a.attributes[1]), a.in[0].dims};
    a.out.dims.push_back(a.attributes[0]);
    return nullptr;
  }
};

}  // namespace op

namespace diagnose {
/// Indices are int32, int64 or uint8.
template <class Indices>
inline constexpr bool are_indices =
    Indices::value.type == dtype::int32 || Indices::value.type == dtype::int64 || Indices::value.type == dtype::uint8;
/// The result of a gather has at most six axes.
template <class Params, class Indices>
inline constexpr bool gather_rank_fits = Params::value.dims.rank + Indices::value.dims.rank - 1 <= max_rank;
/// There is one row of updates for each index, of the shape of a row of the variable.
template <class Variable, class Indices, class Updates>
inline constexpr bool updates_fit_rows = [] {
  if (Variable::value.dims.rank == 0) return false;
  const tensor_spec specs[] = {Updates::value, Indices::value, Variable::value};
  const ir::attribute axis = 0;
  ir::infer_args args{specs, {&axis, 1}, {}};
  return op::scatter_rows::infer(args) == nullptr;
}();
}  // namespace diagnose

/// The slices of `params` along `Axis` that `indices` names.
/// @param params [.., n, ..], any element type
/// @param indices int32, int64 or uint8, of any shape, each from 0 to n - 1; another value is an error at run time
/// @return the shape of `params` with that of `indices` in the place of `Axis`
/// Raises TAGMA-E020 if there is no such axis, TAGMA-E107 for other indices, TAGMA-E108 for a result of too many axes.
template <int Axis = 0, expression P, expression I, class Place = TAGMA_FRESH_TYPE(P)>
[[nodiscard]] constexpr auto gather(const P& params, const I& indices) {
  using p = typename P::spec_type;
  using i = typename I::spec_type;
  static_assert(diagnose::axis_exists<p, Axis>, "TAGMA-E020 gather: there is no such axis");
  static_assert(diagnose::are_indices<i>, "TAGMA-E107 gather: indices need to be int32, int64 or uint8");
  static_assert(diagnose::gather_rank_fits<p, i>, "TAGMA-E108 gather: the result would have more than six axes");
  if constexpr (diagnose::axis_exists<p, Axis> && diagnose::are_indices<i> && diagnose::gather_rank_fits<p, i>)
    return detail::make_node<op::gather, ir::pack_attributes(Axis < 0 ? Axis + P::rank : Axis), Place>(params, indices);
}

/// The rows of a table that `ids` names, as `gather` along the first axis. Its gradient by the table touches only these
/// rows.
template <expression T, expression I, class Place = TAGMA_FRESH_TYPE(T)>
[[nodiscard]] constexpr auto embedding_lookup(const T& table, const I& ids) {
  return gather<0, T, I, Place>(table, ids);
}

/// Adds to rows of a variable; what one index names twice is added twice. The result is the new value.
/// @param v variable of shape [n, row...]
/// @param indices int32, int64 or uint8, each from 0 to n - 1
/// @param updates the shape of `indices` followed by that of a row
/// Raises TAGMA-E065 if `v` is no variable, TAGMA-E010, TAGMA-E107, and TAGMA-E109 if the shapes do not fit.
template <expression V, expression I, expression U, class Place = TAGMA_FRESH_TYPE(V)>
[[nodiscard]] constexpr auto scatter_add(const V& v, const I& indices, const U& updates) {
  using x = typename V::spec_type;
  using i = typename I::spec_type;
  using u = typename U::spec_type;
  static_assert(diagnose::is_variable<V>, "TAGMA-E065 scatter_add: the first operand must be a variable");
  static_assert(diagnose::same_element_type<x, u>,
                "TAGMA-E010 scatter_add: updates need the element type of the variable");
  static_assert(diagnose::are_indices<i>, "TAGMA-E107 scatter_add: indices need to be int32, int64 or uint8");
  static_assert(diagnose::updates_fit_rows<x, i, u>, "TAGMA-E109 scatter_add: needs one row of updates for each index");
  TAGMA_NEEDS_NUMBERS(x);
  if constexpr (diagnose::is_variable<V> && diagnose::same_element_type<x, u> && diagnose::are_indices<i> &&
                diagnose::updates_fit_rows<x, i, u> && diagnose::is_number<x>)
    return detail::make_node<op::scatter_add, ir::attributes<0>{}, Place>(v, indices, updates);
}

/// Rows of `Depth` elements, 1 where the index points and 0 elsewhere; an index outside gives a row of zeros.
/// @param indices [...], int32, int64 or uint8
/// @return [..., Depth] of element type `T`
/// Raises TAGMA-E107 for other indices, TAGMA-E108 if the result has too many axes, TAGMA-E110 for a depth below 1 or
/// strings.
template <extent Depth, element T = float, expression I, class Place = TAGMA_FRESH_TYPE(I)>
[[nodiscard]] constexpr auto one_hot(const I& indices) {
  using i = typename I::spec_type;
  static_assert(Depth >= 1 && dtype_of<T> != dtype::string,
                "TAGMA-E110 one_hot: needs a depth of at least 1 and a number");
  static_assert(diagnose::are_indices<i>, "TAGMA-E107 one_hot: indices need to be int32, int64 or uint8");
  static_assert(I::rank < max_rank, "TAGMA-E108 one_hot: the result would have more than six axes");
  if constexpr (Depth >= 1 && dtype_of<T> != dtype::string && diagnose::are_indices<i> && I::rank < max_rank)
    return detail::make_node<op::one_hot, ir::pack_attributes(Depth, dtype_of<T>), Place>(indices);
}

}  // namespace tagma
