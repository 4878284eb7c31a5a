// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Operations that find how large their result is: nonzero, boolean_mask, unique.

#include <tuple>

#include "tagma/base/config.hpp"
#include "tagma/expr/op/gather.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {
namespace op {

/// Where input 0 is not 0, in the order of its elements: positions along each axis, or if attribute 0 says so, those
/// among all elements. The leading extents of input 1, if there is one, must be those of input 0.
struct nonzero {
  static constexpr const char* name = "nonzero";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr bool late = true;
  static constexpr bool stops_gradient = true;
  static constexpr std::uint64_t shape_only = 0b10;

  static constexpr void takes(auto& t) {
    t.inputs(1, 2), t.rule("TAGMA-E194"), t.no_string_at(0), t.flag("flat"), t.rule("TAGMA-E193"), t.axes(0, 1);
    if (t.count() == 2) t.any_at(1), t.rule("TAGMA-E191"), t.axes(1, t.rank(0)), t.rule("TAGMA-E192");
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) { return infer_with(a, dyn); }
  TAGMA_COLD static constexpr const char* bound(ir::infer_args& a) { return infer_with(a, a.in[0].dims.elements()); }

 private:
  static constexpr const char* infer_with(ir::infer_args& a, extent count) {
    const shape& mask = a.in[0].dims;
    a.out = {dtype::int64, {}};
    a.out.dims.push_back(count);
    if (a.attributes[0] == 0) a.out.dims.push_back(mask.rank);
    return a.in.size() < 2 || compatible(mask, a.in[1].dims.sub(0, mask.rank))
               ? nullptr
               : "the mask needs the leading extents of what it is for";
  }
};

/// As many leading axes as attribute 0 says become one.
struct merge_axes {
  static constexpr const char* name = "merge_axes";
  static constexpr ir::op_kind kind = ir::op_kind::view;

  static constexpr void takes(auto& t) { t.any(1), t.attribute("axes", 1, t.rank(0)); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    const shape& from = a.in[0].dims;
    const int merged = static_cast<int>(a.attributes[0]);
    const shape leading = from.sub(0, merged);
    a.out = {a.in[0].type, {}};
    a.out.dims.push_back(leading.is_static() ? leading.elements() : dyn);
    for (int i = merged; i < from.rank; ++i) a.out.dims.push_back(from[i]);
    return nullptr;
  }
  static constexpr void gradient(auto& g) { g.set(0, g.emit(reshape{}, g.upstream, g.in(0))); }
};

/// The elements of a vector, each once, in the order in which they come first; for each element, where it is there; and
/// how often each is there.
struct unique {
  static constexpr const char* name = "unique";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr bool late = true;
  static constexpr int outputs = 3;

  static constexpr void takes(auto& t) { t.numbers(1), t.rule("TAGMA-E195"), t.axes(0, 1, 1); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) { return infer_with(a, dyn); }
  TAGMA_COLD static constexpr const char* bound(ir::infer_args& a) { return infer_with(a, a.in[0].dims[0]); }

 private:
  static constexpr const char* infer_with(ir::infer_args& a, extent count) {
    a.out = {a.output == 0 ? a.in[0].type : dtype::int64, {}};
    a.out.dims.push_back(a.output == 1 ? a.in[0].dims[0] : count);
    return nullptr;
  }
};

}  // namespace op

namespace diagnose {
/// A mask has axes, as many as what it is for or fewer.
template <class Spec, class Mask>
inline constexpr bool has_axes_for_mask = Mask::value.dims.rank >= 1 && Mask::value.dims.rank <= Spec::value.dims.rank;
/// Extents of a mask are the leading ones of what it is for.
template <class Spec, class Mask>
inline constexpr bool mask_fits =
    !has_axes_for_mask<Spec, Mask> || compatible(Mask::value.dims, Spec::value.dims.sub(0, Mask::value.dims.rank));
/// There are axes to give positions along.
template <class Spec>
inline constexpr bool has_positions = Spec::value.dims.rank >= 1;
/// Elements can be compared with 0.
template <class Spec>
inline constexpr bool can_be_nonzero = Spec::value.type != dtype::string&& Spec::value.type != dtype::none;
/// There is one axis.
template <class Spec>
inline constexpr bool is_vector = Spec::value.dims.rank == 1;
}  // namespace diagnose

/// Where the elements of `e` are not 0, or true: TensorFlow's `tf.where` of one operand. How many there are is known
/// when it has run; what follows is bound to that then.
/// @param e of rank 1 or more, bool or numbers; NaN is not 0
/// @return [n, rank of e], int64: the positions along each axis, in the order of the elements
/// Raises TAGMA-E193 for a scalar, TAGMA-E194 for strings.
template <expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto nonzero(const E& e) {
  using spec_type = typename E::spec_type;
  static_assert(diagnose::has_positions<spec_type>, "TAGMA-E193 nonzero: needs an axis, along which positions are");
  static_assert(diagnose::can_be_nonzero<spec_type>, "TAGMA-E194 nonzero: needs bool or numbers, not strings");
  if constexpr (diagnose::has_positions<spec_type> && diagnose::can_be_nonzero<spec_type>)
    return detail::make_node<op::nonzero, ir::pack_attributes(0), Place>(e);
}

/// The slices of `e` where `mask` is true, in their order. How many there are is known when it has run; what follows is
/// bound to that then. Gradients go back to where each slice was; of a variable, to these rows alone where the mask has
/// one axis.
/// @param e [m..., rest...], any element type
/// @param mask [m...], bool
/// @return [n, rest...]
/// Raises TAGMA-E190 if the mask is not bool, TAGMA-E191 if it has no axis or too many, TAGMA-E192 if its extents are
/// not the leading ones of `e`; throws InvalidArgument for that where extents are dynamic.
template <expression E, expression M, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto boolean_mask(const E& e, const M& mask) {
  using x = typename E::spec_type;
  using m = typename M::spec_type;
  static_assert(diagnose::is_boolean<m>, "TAGMA-E190 boolean_mask: the mask needs to be bool");
  static_assert(diagnose::has_axes_for_mask<x, m>,
                "TAGMA-E191 boolean_mask: the mask needs at least one axis, and no more than what it is for");
  static_assert(diagnose::mask_fits<x, m>,
                "TAGMA-E192 boolean_mask: the extents of the mask need to be the leading ones of what it is for");
  if constexpr (diagnose::is_boolean<m> && diagnose::has_axes_for_mask<x, m> && diagnose::mask_fits<x, m>) {
    const auto at = detail::make_node<op::nonzero, ir::pack_attributes(1), detail::part<Place, 0>>(mask, e);
    if constexpr (M::rank == 1)
      return detail::make_node<op::gather, ir::pack_attributes(0), detail::part<Place, 1>>(e, at);
    else
      return detail::make_node<op::gather, ir::pack_attributes(0), detail::part<Place, 1>>(
          detail::make_node<op::merge_axes, ir::pack_attributes(M::rank), detail::part<Place, 2>>(e), at);
  }
}

namespace detail {
template <class Place, class E>
[[nodiscard]] constexpr auto make_unique_nodes(const E& e) {
  return make_nodes<op::unique, ir::attributes<0>{}, Place>(e);
}
}  // namespace detail

/// Numbers along one axis.
#define TAGMA_NEEDS_VECTOR(Spec)                                                                       \
  static_assert(::tagma::diagnose::is_vector<Spec>, "TAGMA-E195 unique: needs a vector, of one axis"); \
  TAGMA_NEEDS_NUMBERS(Spec)

/// The elements of `e`, each once, in the order in which they come first, as TensorFlow's `tf.unique`. How many there
/// are is known when it has run; what follows is bound to that then. -0 equals 0, and NaN equals nothing.
/// @param e [n], numbers
/// @return two handles: the values [u], and for each element of `e` its position among them [n], int64
/// Raises TAGMA-E195 unless there is one axis.
template <expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto unique(const E& e) {
  TAGMA_NEEDS_VECTOR(typename E::spec_type);
  if constexpr (diagnose::is_vector<typename E::spec_type> && diagnose::is_number<typename E::spec_type>) {
    const auto all = detail::make_unique_nodes<Place>(e);
    return std::tuple{std::get<0>(all), std::get<1>(all)};
  }
}

/// What `unique` returns and, as a third handle, how often each value is there [u], int64.
template <expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto unique_with_counts(const E& e) {
  TAGMA_NEEDS_VECTOR(typename E::spec_type);
  if constexpr (diagnose::is_vector<typename E::spec_type> && diagnose::is_number<typename E::spec_type>)
    return detail::make_unique_nodes<Place>(e);
}

}  // namespace tagma

#undef TAGMA_NEEDS_VECTOR
