// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The same elements under another shape: reshape, flatten, expand_dims, squeeze. No byte moves.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/elementwise.hpp"

namespace tagma {

namespace diagnose {
/// The new shape has room for exactly the elements of the old one; at most one extent is left to be worked out.
template <class From, extent... To>
inline constexpr bool element_counts_agree = [] {
  if (sizeof...(To) > max_rank || (false || ... || (To < dyn))) return false;
  extent known = 1;
  int open = 0;
  ((To == dyn ? void(++open) : void(known = bounded_product(known, To))), ...);
  if (open > 1) return false;
  if (!From::value.dims.is_static()) {
    extent part = 1;
    for (int i = 0; i < From::value.dims.rank; ++i)
      if (From::value.dims[i] != dyn) part = bounded_product(part, From::value.dims[i]);
    return open == 1 ? known != 0 : part == 0 || known % part == 0;
  }
  const extent total = From::value.dims.elements();
  return open == 1 ? known != 0 && total % known == 0 : known == total;
}();
/// An axis, counted from the front or, if negative, from the back, exists.
template <class Spec, int Axis>
inline constexpr bool axis_exists = Axis >= -Spec::value.dims.rank&& Axis < Spec::value.dims.rank;
template <class Spec, int... Axes>
inline constexpr bool axes_exist = (true && ... && axis_exists<Spec, Axes>);
template <class Spec, int Axis>
inline constexpr bool axis_has_extent_one = [] {
  constexpr int rank = Spec::value.dims.rank, axis = Axis < 0 ? Axis + rank : Axis;
  return axis < 0 || axis >= rank || Spec::value.dims[axis] == 1;  // TAGMA-E020 tells of an axis that is not there
}();
/// A new axis has a place, counted in the result.
template <class Spec, int Axis>
inline constexpr bool axis_can_be_added =
    Axis >= -Spec::value.dims.rank - 1 && Axis <= Spec::value.dims.rank&& Spec::value.dims.rank < max_rank;
/// There is a first axis, and all others are static.
template <class Spec>
inline constexpr bool flattens = [] {
  for (int i = 1; i < Spec::value.dims.rank; ++i)
    if (Spec::value.dims[i] == dyn) return false;
  return Spec::value.dims.rank > 0;
}();
}  // namespace diagnose

namespace op {

/// Takes on the extents in the attributes; one of them may be `dyn`. With a second input, its shape is the target.
struct reshape {
  static constexpr const char* name = "reshape";
  static constexpr ir::op_kind kind = ir::op_kind::view;
  static constexpr std::uint8_t shape_only = 0b10;

  static constexpr void takes(auto& t) {
    t.inputs(1, 2), t.any_at(0);
    if (t.count() == 2) return t.any_at(1);
    t.rule("TAGMA-E021");
    int open = 0;
    t.needs(t.rest() <= max_rank, "there are more than six extents");
    for (int left = t.fine() ? t.rest() : 0; left > 0; --left) open += t.size("extent", dyn) == dyn;
    t.needs(open <= 1, "more than one extent is left to be worked out");
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    const shape& from = a.in[0].dims;
    if (a.in.size() == 2) {
      a.out.dims = a.in[1].dims;
      return from.is_static() && a.out.dims.is_static() && from.elements() != a.out.dims.elements()
                 ? "the new shape has another number of elements"
                 : nullptr;
    }
    extent known = 1;
    int open = -1;
    a.out.dims = {};
    for (std::size_t i = 0; i < a.attributes.size(); ++i) {
      const extent e = a.attributes[i];
      if (e == dyn)
        open = static_cast<int>(i);
      else
        known = bounded_product(known, e);
      a.out.dims.push_back(e);
    }
    if (!from.is_static()) return nullptr;
    const extent total = from.elements();
    if (open >= 0 && (known == 0 || total % known != 0)) return "the elements do not divide into the new shape";
    if (open >= 0) a.out.dims[open] = total / known;
    return a.out.dims.elements() == total ? nullptr : "the new shape has another number of elements";
  }
  static constexpr void gradient(auto& g) { g.set(0, g.emit(reshape{}, g.upstream, g.in(0))); }
};

/// Inserts axes of extent 1; bit i of attribute 0 says that axis i of the result is new.
struct expand_dims {
  static constexpr const char* name = "expand_dims";
  static constexpr ir::op_kind kind = ir::op_kind::view;

  static constexpr void takes(auto& t) {
    t.inputs(1), t.any_at(0), t.rule("TAGMA-E108");
    const std::uint64_t mask = t.mask("axes", max_rank);
    t.needs(mask >> (t.rank(0) + std::popcount(mask)) == 0, "an axis is beyond the result");
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    const auto mask = static_cast<std::uint64_t>(a.attributes[0]);
    a.out = {a.in[0].type, {}};
    for (int i = 0, from = 0; from < a.in[0].dims.rank || (mask >> i) != 0; ++i) {
      if (i == max_rank) return "more than six axes";
      a.out.dims.push_back((mask >> i) & 1 ? 1 : a.in[0].dims[from++]);
    }
    return nullptr;
  }
  static constexpr void gradient(auto& g) { g.set(0, g.emit(reshape{}, g.upstream, g.in(0))); }
  static constexpr void fold(ir::fold_args& f) {
    if (f.attributes[0] == 0) f.use_input(0);
  }
};

/// Removes axes of extent 1; bit i of attribute 0 says that axis i goes.
struct squeeze {
  static constexpr const char* name = "squeeze";
  static constexpr ir::op_kind kind = ir::op_kind::view;

  static constexpr void takes(auto& t) { t.inputs(1), t.any_at(0), t.mask("axes", t.rank(0)), t.rule("TAGMA-E023"); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {a.in[0].type, {}};
    for (int i = 0; i < a.in[0].dims.rank; ++i) {
      if (!((a.attributes[0] >> i) & 1))
        a.out.dims.push_back(a.in[0].dims[i]);
      else if (a.in[0].dims[i] != 1 && a.in[0].dims[i] != dyn)
        return "a squeezed axis has an extent other than 1";
    }
    return nullptr;
  }
  static constexpr void gradient(auto& g) { g.set(0, g.emit(reshape{}, g.upstream, g.in(0))); }
};

/// The value itself under another node.
struct identity {
  static constexpr const char* name = "identity";
  static constexpr ir::op_kind kind = ir::op_kind::view;
  static constexpr void takes(auto& t) { t.any(1); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
  static constexpr void gradient(auto& g) { g.set(0, g.upstream); }
};

/// The value itself; no gradient flows through it.
struct stop_gradient {
  static constexpr const char* name = "stop_gradient";
  static constexpr ir::op_kind kind = ir::op_kind::view;
  static constexpr bool stops_gradient = true;
  static constexpr void takes(auto& t) { t.any(1); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
};

/// Input 0 stretched to the shape of input 1, whose elements are not read.
struct broadcast_like {
  static constexpr const char* name = "broadcast_like";
  static constexpr ir::op_kind kind = ir::op_kind::elementwise;
  static constexpr std::uint8_t shape_only = 0b10;
  static constexpr void takes(auto& t) {
    t.inputs(2), t.no_string_at(0), t.any_at(1);
    const shape from = t.in(0).dims, to = t.in(1).dims;
    t.needs(broadcastable(from, to) && compatible(broadcast(from, to), to), "the shape is not one to stretch to");
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    if (!broadcastable(a.in[0].dims, a.in[1].dims)) return "shapes do not broadcast";
    a.out = {a.in[0].type, a.in[1].dims};
    return nullptr;
  }
  static constexpr void gradient(auto& g) { g.set(0, g.upstream); }
  static constexpr void fold(ir::fold_args& f) { f.use_input(0); }
};

}  // namespace op

/// The elements of `e` under new extents; one of them may be `dyn` and is worked out.
/// Raises TAGMA-E021 if the numbers of elements differ.
template <extent... Extents, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto reshape(const E& e) {
  static_assert(diagnose::element_counts_agree<typename E::spec_type, Extents...>,
                "TAGMA-E021 reshape: the new shape needs as many elements as the old one, at most one tagma::dyn, and "
                "at most six axes");
  if constexpr (diagnose::element_counts_agree<typename E::spec_type, Extents...>)
    return detail::make_node<op::reshape, ir::pack_attributes(Extents...), Place>(e);
}

/// All axes but the first, joined: [n, 28, 28, 1] gives [n, 784]. The joined extents must be static.
/// Raises TAGMA-E022 for a scalar, or for another extent than the first that varies.
template <expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto flatten(const E& e) {
  using from = typename E::spec_type;
  static_assert(diagnose::flattens<from>,
                "TAGMA-E022 flatten: needs an axis, and every extent but the first must be static");
  if constexpr (diagnose::flattens<from>) {
    constexpr extent joined = E::spec.dims.elements(1, E::rank);
    return detail::make_node<op::reshape, ir::pack_attributes(E::spec.dims[0], joined), Place>(e);
  }
}

/// A new axis of extent 1 before axis `Axis` of the result; negative counts from the back.
/// Raises TAGMA-E020 if there is no such axis.
template <int Axis, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto expand_dims(const E& e) {
  using from = typename E::spec_type;
  static_assert(diagnose::axis_can_be_added<from, Axis>, "TAGMA-E020 expand_dims: there is no such axis");
  if constexpr (diagnose::axis_can_be_added<from, Axis>)
    return detail::make_node<op::expand_dims, ir::pack_attributes(1 << (Axis < 0 ? Axis + E::rank + 1 : Axis)), Place>(
        e);
}

/// Without axis `Axis`, whose extent must be 1.
/// Raises TAGMA-E020 if there is no such axis, TAGMA-E023 for another extent.
template <int Axis, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto squeeze(const E& e) {
  using from = typename E::spec_type;
  static_assert(diagnose::axis_exists<from, Axis>, "TAGMA-E020 squeeze: there is no such axis");
  static_assert(diagnose::axis_has_extent_one<from, Axis>, "TAGMA-E023 squeeze: the axis must have extent 1");
  if constexpr (diagnose::axis_exists<from, Axis> && diagnose::axis_has_extent_one<from, Axis>)
    return detail::make_node<op::squeeze, ir::pack_attributes(1 << (Axis < 0 ? Axis + E::rank : Axis)), Place>(e);
}

/// The value of `e` as a node of its own.
template <expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto identity(const E& e) {
  return detail::make_node<op::identity, ir::attributes<0>{}, Place>(e);
}

/// The value of `e`, through which no gradient flows.
template <expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto stop_gradient(const E& e) {
  return detail::make_node<op::stop_gradient, ir::attributes<0>{}, Place>(e);
}

}  // namespace tagma
