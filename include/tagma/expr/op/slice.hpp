// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Parts of tensors and frames around them: slice, pad.

#include <tuple>

#include "tagma/base/config.hpp"
#include "tagma/expr/op/reduce.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {

/// The end of an axis, however long it is.
inline constexpr extent to_end = INT64_MAX;

/// Positions `first` to `last`, exclusive, of one axis; negative ones count from the end of the axis.
struct range {
  extent first = 0;
  extent last = to_end;
};

/// All positions of an axis.
inline constexpr range all_of_axis{};

/// Elements added before and after one axis.
struct padding {
  extent before = 0;
  extent after = 0;
};

namespace op {

/// What `range_extent` says of a range that reaches beyond its axis.
inline constexpr extent beyond_axis = -2;

/// The number of positions in a range of an axis; `dyn` if it depends on the run, `beyond_axis` if it does not fit.
constexpr extent range_extent(extent first, extent last, extent axis) {
  if (axis == dyn) {
    const bool one_end = (first < 0) == (last < 0 || last == to_end);
    if (first == INT64_MIN) return beyond_axis;
    if (!one_end) return dyn;
    const extent size = (last == to_end ? 0 : last) - first;
    return size < 0 ? beyond_axis : size;
  }
  const extent a = first < 0 ? first + axis : first, b = last == to_end ? axis : last < 0 ? last + axis : last;
  return 0 <= a && a <= b && b <= axis ? b - a : beyond_axis;
}

/// Attributes 2 i and 2 i + 1 are the range of axis i.
struct slice {
  static constexpr const char* name = "slice";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr void takes_ranges(auto& t, int rank) {
    t.rule("TAGMA-E104");
    for (int i = 0; i < rank; ++i)
      t.attribute("first", -INT64_MAX, INT64_MAX), t.attribute("last", -INT64_MAX, INT64_MAX);
  }

  /// The first position of each range, of axes of these extents.
  /// @param first written, one an axis
  static constexpr void first_positions(const shape& dims, ir::attribute_list ranges, extent* first) {
    for (int i = 0; i < dims.rank; ++i) {
      const ir::attribute at = ranges[2 * i];
      first[i] = at < 0 ? at + dims[i] : at;
    }
  }
  static constexpr void takes(auto& t) { t.any(1), takes_ranges(t, t.rank(0)); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {a.in[0].type, {}};
    for (int i = 0; i < a.in[0].dims.rank; ++i) {
      const auto at = 2 * i;
      const extent size = range_extent(a.attributes[at], a.attributes[at + 1], a.in[0].dims[i]);
      if (size == beyond_axis) return "a range reaches beyond its axis";
      a.out.dims.push_back(size);
    }
    return nullptr;
  }
  static constexpr void gradient(auto& g);
  static constexpr void fold(ir::fold_args& f) {
    for (std::size_t i = 0; i < f.attributes.size(); i += 2)
      if (f.attributes[i] != 0 || f.attributes[i + 1] != to_end) return;
    f.use_input(0);
  }
};

/// Zeros of the shape of input 1, with input 0 in the place of the slice that the attributes name.
struct slice_gradient {
  static constexpr const char* name = "slice_gradient";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr std::uint64_t shape_only = 0b10;

  static constexpr void takes(auto& t) { t.floats(2), slice::takes_ranges(t, t.rank(1)); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    ir::infer_args part{a.in.subspan(1), a.attributes, {}};
    if (const char* problem = slice::infer(part)) return problem;
    if (!compatible(part.out.dims, a.in[0].dims)) return "the part has another shape than the slice";
    a.out = {a.in[0].type, a.in[1].dims};
    return nullptr;
  }
  static constexpr void gradient(auto& g) { g.set(0, g.emit_with(slice{}, g.g.attributes(g.self), g.upstream)); }
};

constexpr void slice::gradient(auto& g) {
  g.set(0, g.emit_with(slice_gradient{}, g.g.attributes(g.self), g.upstream, g.in(0)));
}

/// Input 0 in a frame of elements equal to input 1; attributes 2 i and 2 i + 1 are the padding of axis i.
struct pad {
  static constexpr const char* name = "pad";
  static constexpr ir::op_kind kind = ir::op_kind::compute;

  static constexpr void takes(auto& t) {
    t.any(2), t.rule("TAGMA-E105"), t.scalar(1);
    for (int i = 0; i < t.rank(0); ++i) t.size("before"), t.size("after");
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    for (int i = 0; i < a.out.dims.rank; ++i) {
      const auto at = 2 * i;
      if (extent& e = a.out.dims[i]; e != dyn) e = bounded_sum(e, bounded_sum(a.attributes[at], a.attributes[at + 1]));
    }
    return nullptr;
  }
  static constexpr void gradient(auto& g) {
    ir::attribute ranges[2 * max_rank]{};
    const int rank = g.in_spec(0).dims.rank;
    for (int i = 0; i < rank; ++i) {
      ranges[2 * i] = g.attr(2 * i);
      ranges[2 * i + 1] = g.attr(2 * i + 1) == 0 ? to_end : -g.attr(2 * i + 1);
    }
    const auto inside = g.emit_with(slice{}, {ranges, 2 * rank}, g.upstream);
    g.set(0, inside);
    if (g.g.info(g.in(1)).is_number()) return;
    const auto total = [&g, rank](ir::node_id value) {
      return g.emit_with(sum{}, ir::pack_attributes((ir::attribute{1} << rank) - 1, ir::attribute{0}), value);
    };
    g.set(1, g.emit(subtract{}, total(g.upstream), total(inside)));
  }
  static constexpr void fold(ir::fold_args& f) {
    for (const ir::attribute a : f.attributes)
      if (a != 0) return;
    f.use_input(0);
  }
};

}  // namespace op

namespace diagnose {
/// There is at most one range for each axis, and none reaches beyond an axis of static extent.
template <class Spec, range... Ranges>
inline constexpr bool ranges_fit = [] {
  const shape& dims = Spec::value.dims;
  if (static_cast<int>(sizeof...(Ranges)) > dims.rank) return false;
  [[maybe_unused]] int i = 0;
  return (true && ... && (op::range_extent(Ranges.first, Ranges.last, dims[i++]) != op::beyond_axis));
}();
/// There is one padding for each axis, and none is negative.
template <class Spec, padding... Paddings>
inline constexpr bool paddings_fit = static_cast<int>(sizeof...(Paddings)) == Spec::value.dims.rank &&
                                     (true && ... && (Paddings.before >= 0 && Paddings.after >= 0));
}  // namespace diagnose

namespace detail {

template <int Rank, range... Ranges>
inline constexpr auto slice_attributes = [] {
  ir::attributes<2 * static_cast<std::size_t>(Rank)> list;
  for (int i = 0; i < Rank; ++i) list.values[2 * i + 1] = to_end;
  [[maybe_unused]] int i = 0;
  ((list.values[2 * i] = Ranges.first, list.values[2 * i + 1] = Ranges.last, ++i), ...);
  return list;
}();

template <int Rank, int Axis, extent First, extent Last>
inline constexpr auto part_attributes = [] {
  auto list = slice_attributes<Rank>;
  list.values[2 * Axis] = First;
  list.values[2 * Axis + 1] = Last;
  return list;
}();

template <padding... Paddings>
inline constexpr auto pad_attributes = [] {
  ir::attributes<2 * sizeof...(Paddings)> list;
  [[maybe_unused]] int i = 0;
  ((list.values[2 * i] = Paddings.before, list.values[2 * i + 1] = Paddings.after, ++i), ...);
  return list;
}();

}  // namespace detail

/// A part of a tensor: `slice<tagma::range{0, 3}, tagma::all_of_axis, tagma::range{-2}>(x)` is x[0:3, :, -2:].
/// @tparam Ranges one for each axis from the first on; axes without one stay whole
/// Raises TAGMA-E104 if a range reaches beyond a static extent; beyond one that varies it is an error at run time.
template <range... Ranges, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto slice(const E& e) {
  static_assert(diagnose::ranges_fit<typename E::spec_type, Ranges...>,
                "TAGMA-E104 slice: there are more ranges than axes, or a range reaches beyond its axis");
  if constexpr (diagnose::ranges_fit<typename E::spec_type, Ranges...>)
    return detail::make_node<op::slice, detail::slice_attributes<E::rank, Ranges...>, Place>(e);
}

/// A tensor in a frame of equal elements: `pad<tagma::padding{1, 1}, tagma::padding{}>(x, 0.0f)`.
/// @tparam Paddings one for each axis
/// @param value a number, or an expression of rank 0
/// Raises TAGMA-E105 if the paddings do not fit, TAGMA-E010 if an expression of another element type is given.
template <padding... Paddings, expression E, class V, class Place = TAGMA_FRESH_TYPE(E)>
  requires detail::operands<E, V>
[[nodiscard]] constexpr auto pad(const E& e, const V& value) {
  static_assert(diagnose::paddings_fit<typename E::spec_type, Paddings...>,
                "TAGMA-E105 pad: every axis needs one padding, and none may be negative");
  if constexpr (expression<V>) static_assert(V::rank == 0, "TAGMA-E105 pad: the value needs rank 0");
  TAGMA_NEEDS_OPERANDS(E, V);
  if constexpr (diagnose::paddings_fit<typename E::spec_type, Paddings...> && detail::operands_agree<E, V>)
    return detail::make_node<op::pad, detail::pad_attributes<Paddings...>, Place>(
        e, detail::as_expression<typename E::element_type, Place, 0>(value));
}

}  // namespace tagma
