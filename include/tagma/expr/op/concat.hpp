// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Tensors side by side: concat, stack, tile; and apart again: split.

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/expr/op/slice.hpp"

namespace tagma {
namespace op {

/// Joins its inputs along the axis in attribute 0.
struct concat {
  static constexpr const char* name = "concat";
  static constexpr ir::op_kind kind = ir::op_kind::compute;

  static constexpr void takes(auto& t) {
    t.rule("TAGMA-E102"), t.inputs(1, 64), t.any_at(0), t.all_alike(), t.axis("axis", t.rank(0)), t.rule("TAGMA-E101");
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    const int axis = static_cast<int>(a.attributes[0]);
    for (const tensor_spec& s : a.in.subspan(1)) {
      if (s.dims.rank != a.out.dims.rank) return "the operands have different ranks";
      for (int i = 0; i < s.dims.rank; ++i) {
        extent& known = a.out.dims[i];
        if (i == axis)
          known = known == dyn || s.dims[i] == dyn ? dyn : bounded_sum(known, s.dims[i]);
        else if (!compatible(known, s.dims[i]))
          return "the operands differ along another axis";
        else if (known == dyn)
          known = s.dims[i];
      }
    }
    return nullptr;
  }
  static constexpr void gradient(auto& g);
  static constexpr void fold(ir::fold_args& f) {
    if (f.inputs.size() == 1) f.use_input(0);
  }
};

/// Base of the tags of operations on one operand's place in a concatenation. Input 1 has the shape of the whole
/// (`part_into_whole`) or of the part (`part_of_whole`); inputs 2 and up are the operands between the part and the
/// beginning of the axis in attribute 0, or its end if attribute 1 says so.
struct concat_part {
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr std::uint64_t shape_only = ~std::uint64_t{1};
  static constexpr void takes(auto& t) {
    t.inputs(2, 64), t.float_at(0), t.alike(1), t.axis("axis", t.rank(0)), t.flag("from the end");
    t.rule("TAGMA-E101");
    for (int i = 2; i < t.count(); ++i) t.any_at(i), t.axes(i, t.rank(0), t.rank(0));
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    const shape& one = a.in[0].dims;
    a.out = {a.in[0].type, a.in[1].dims};
    if (one.rank != a.out.dims.rank) return "the part and the whole have different ranks";
    for (int i = 0; i < one.rank; ++i)
      if (i != static_cast<int>(a.attributes[0]) && !compatible(one[i], a.out.dims[i]))
        return "the part and the whole differ along another axis";
    return nullptr;
  }
  /// Where the part begins along the axis, for the extents of a run.
  /// @param in the inputs, as a kernel has them
  /// Throws InvalidArgument if the operands do not make up the axis.
  template <class Operands>
  [[nodiscard]] static extent begin(const Operands& in, ir::attribute_list attributes, const shape& whole,
                                    const shape& part) {
    const auto axis = static_cast<int>(attributes[0]);
    extent between = 0;
    for (const auto& o : in.subspan(2)) between += o.dims[axis];
    const extent at = attributes[1] != 0 ? whole[axis] - between - part[axis] : between;
    if (at < 0 || at + part[axis] > whole[axis])
      fail(status_code::invalid_argument, {"the operands do not make up an axis of extent ", whole[axis]});
    return at;
  }
  /// The same place, of other tensors.
  static constexpr void emit_same_place(auto& g, auto to) {
    ir::node_id inputs[64]{g.upstream, g.in(0)};
    for (int i = 2; i < g.input_count(); ++i) inputs[i] = g.in(i);
    g.set(0, g.emit_over(to, {inputs, g.input_count()}, g.g.attributes(g.self)));
  }
};

/// What one operand has contributed to the concatenation that is input 0.
struct part_of_whole : concat_part {
  static constexpr const char* name = "part_of_whole";
  static constexpr void gradient(auto& g);
};

/// Zeros in the shape of the whole, with input 0 in the place of one operand.
struct part_into_whole : concat_part {
  static constexpr const char* name = "part_into_whole";
  static constexpr void gradient(auto& g) { emit_same_place(g, part_of_whole{}); }
};

constexpr void part_of_whole::gradient(auto& g) { emit_same_place(g, part_into_whole{}); }

constexpr void concat::gradient(auto& g) {
  const int axis = static_cast<int>(g.attr(0)), rank = g.in_spec(0).dims.rank, count = g.input_count();
  bool known = true;
  for (int k = 0; k < count; ++k) known = known && g.in_spec(k).dims[axis] != dyn;
  extent at = 0;
  for (int k = 0; k < count; ++k) {
    if (known) {
      ir::attribute ranges[2 * max_rank]{};
      for (int i = 0; i < rank; ++i) ranges[2 * i + 1] = to_end;
      ranges[2 * axis] = at;
      ranges[2 * axis + 1] = at += g.in_spec(k).dims[axis];
      g.set(k, g.emit_with(slice{}, {ranges, 2 * rank}, g.upstream));
      continue;
    }
    const bool from_end = 2 * k > count;  // the shorter way: no node has more than half of the operands
    ir::node_id inputs[64]{g.upstream, g.in(k)};
    std::size_t used = 2;
    for (int i = from_end ? k + 1 : 0; i < (from_end ? count : k); ++i) inputs[used++] = g.in(i);
    g.set(k, g.emit_over(part_of_whole{}, {inputs, used}, ir::pack_attributes(axis, from_end)));
  }
}

/// The input in parts along the axis in attribute 0, as many as attribute 1 says, up to eight: equal ones, or of the
/// extents that further attributes say.
struct split {
  static constexpr const char* name = "split";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr int outputs = ir::most_outputs;

  /// The extent of part `k` of an axis.
  static constexpr extent part_extent(ir::attribute_list attributes, extent whole, int k) {
    return attributes.size() > 2 ? attributes[2 + k] : whole / attributes[1];
  }
  static constexpr void takes(auto& t) {
    t.any(1);
    const extent whole = t.in(0).dims[t.axis("axis", t.rank(0))];
    t.rule("TAGMA-E103");
    const extent parts = t.attribute("parts", 1, outputs);
    t.needs(t.rest() == 0 || t.rest() == parts, "there is one extent for each part");
    t.needs(t.rest() > 0 || whole != dyn, "the extent of the axis varies");
    t.sizes("extent");
  }
  /// A result beyond the parts has no type.
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {dtype::none, {0}};
    if (a.output >= a.attributes[1]) return nullptr;
    a.out = a.in[0];
    extent& size = a.out.dims[static_cast<int>(a.attributes[0])];
    extent rest = size;
    for (int k = 0; k < a.attributes[1]; ++k) rest -= part_extent(a.attributes, size, k);
    if (size != dyn && rest != 0) return "the parts do not make up the axis";
    if (size != dyn || a.attributes.size() > 2) size = part_extent(a.attributes, size, a.output);
    return nullptr;
  }
  static constexpr void gradient(auto& g) {
    const int axis = static_cast<int>(g.attr(0)), parts = static_cast<int>(g.attr(1)), rank = g.in_spec(0).dims.rank;
    const extent whole = g.in_spec(0).dims[axis];
    int flowing = 0, last = 0;
    for (int k = 0; k < parts; ++k)
      if (g.upstream_of(k) != ir::no_node) ++flowing, last = k;
    if (flowing < parts && (flowing == 1 || g.g.attributes(g.self).size() > 2)) {  // zeros around parts
      ir::node_id sum = ir::no_node;
      extent at = 0;
      for (int k = 0; k < parts; ++k) {
        ir::attribute ranges[2 * max_rank]{};
        for (int i = 0; i < rank; ++i) ranges[2 * i + 1] = to_end;
        ranges[2 * axis] = at;
        ranges[2 * axis + 1] = at += part_extent(g.g.attributes(g.self), whole, k);
        if (g.upstream_of(k) == ir::no_node) continue;
        const auto part = g.emit_with(slice_gradient{}, {ranges, 2 * rank}, g.upstream_of(k), g.in(0));
        sum = sum == ir::no_node ? part : g.emit(add{}, sum, part);
      }
      g.set(0, sum);
      return;
    }
    ir::node_id inputs[ir::most_outputs]{};
    for (int k = 0; k < parts; ++k) {
      inputs[k] = g.upstream_of(k);
      if (inputs[k] == ir::no_node)
        inputs[k] = g.emit(broadcast_like{}, ir::emit_constant(g.g, g.in_spec(0).type, 0), g.upstream_of(last));
    }
    g.set(0, g.emit_over(concat{}, {inputs, parts}, ir::pack_attributes(axis)));
  }
};

struct tile_gradient;

/// The input repeated along axis i as often as attribute i says.
struct tile {
  static constexpr const char* name = "tile";
  static constexpr void takes_multiples(auto& t, int rank) {
    t.rule("TAGMA-E106");
    for (int i = 0; i < rank; ++i) t.size("multiple", 1);
  }
  static constexpr ir::op_kind kind = ir::op_kind::compute;

  static constexpr void takes(auto& t) { t.any(1), takes_multiples(t, t.rank(0)); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    for (int i = 0; i < a.out.dims.rank; ++i)
      if (extent& e = a.out.dims[i]; e != dyn) e = bounded_product(e, a.attributes[i]);
    return nullptr;
  }
  static constexpr void gradient(auto& g);
  static constexpr void fold(ir::fold_args& f) {
    for (const ir::attribute a : f.attributes)
      if (a != 1) return;
    f.use_input(0);
  }
};

/// The sum of the repetitions that make up input 0; input 1 has the shape of one.
struct tile_gradient {
  static constexpr const char* name = "tile_gradient";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr std::uint64_t shape_only = 0b10;

  static constexpr void takes(auto& t) { t.floats(2), tile::takes_multiples(t, t.rank(1)); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    ir::infer_args whole{a.in.subspan(1), a.attributes, {}};
    tile::infer(whole);
    if (!compatible(whole.out.dims, a.in[0].dims)) return "the repetitions do not make up the whole";
    a.out = {a.in[0].type, a.in[1].dims};
    return nullptr;
  }
  static constexpr void gradient(auto& g) { g.set(0, g.emit_with(tile{}, g.g.attributes(g.self), g.upstream)); }
};

constexpr void tile::gradient(auto& g) {
  g.set(0, g.emit_with(tile_gradient{}, g.g.attributes(g.self), g.upstream, g.in(0)));
}

}  // namespace op

namespace diagnose {
/// Operands are joined along an axis.
template <class... Operands>
inline constexpr bool names_its_axis = false;
/// All operands have one rank, the axis exists, and they agree along every other axis.
template <int Axis, class First, class... Rest>
inline constexpr bool shapes_concatenate = [] {
  if constexpr (!axis_exists<First, Axis>) {
    return false;
  } else {
    const tensor_spec specs[] = {First::value, Rest::value...};
    const ir::attribute axis = Axis < 0 ? Axis + First::value.dims.rank : Axis;
    ir::infer_args args{specs, {&axis, 1}, {}};
    return op::concat::infer(args) == nullptr;
  }
}();
/// One node joins at most 64 operands.
template <class... Specs>
inline constexpr bool operands_fit_one_node = sizeof...(Specs) >= 1 && sizeof...(Specs) <= 64;
/// All operands of `stack` have one shape.
template <class First, class... Rest>
inline constexpr bool have_one_shape = (true && ... && compatible(First::value.dims, Rest::value.dims));
/// An axis has a static extent that a number of parts divides.
template <class Spec, int Axis, int Parts>
inline constexpr bool splits_evenly = [] {
  if constexpr (!axis_exists<Spec, Axis> || Parts < 1) {
    return false;
  } else {
    const extent size = Spec::value.dims[Axis < 0 ? Axis + Spec::value.dims.rank : Axis];
    return size != dyn && size % Parts == 0;
  }
}();
/// There is one multiple for each axis, and each is at least 1.
template <class Spec, extent... Multiples>
inline constexpr bool multiples_fit = static_cast<int>(sizeof...(Multiples)) == Spec::value.dims.rank &&
                                      (true && ... && (Multiples >= 1));
}  // namespace diagnose

namespace detail {

template <int Axis, class Place, class First, class... Rest>
[[nodiscard]] constexpr auto make_concat(const First& first, const Rest&... rest) {
  using f = typename First::spec_type;
  if constexpr (diagnose::operands_fit_one_node<f, typename Rest::spec_type...> &&
                diagnose::one_element_type<f, typename Rest::spec_type...> &&
                diagnose::shapes_concatenate<Axis, f, typename Rest::spec_type...>)
    return make_node<op::concat, ir::pack_attributes(Axis < 0 ? Axis + First::rank : Axis), Place>(first, rest...);
}

template <int Axis, class Place, class... E, int... I>
[[nodiscard]] constexpr auto stack_operands(std::integer_sequence<int, I...>, const E&... e) {
  return make_concat<Axis, Place>(make_node<op::expand_dims, ir::pack_attributes(1 << Axis), part<Place, I>>(e)...);
}

template <int Axis, extent Size, class Place, class E, int... Part>
[[nodiscard]] constexpr auto split_into(const E& e, std::integer_sequence<int, Part...>) {
  return std::make_tuple(
      make_node<op::slice, part_attributes<E::rank, Axis, Part * Size, (Part + 1) * Size>, part<Place, Part>>(e)...);
}

/// The same by one operation, of at most eight parts.
template <int Axis, int Parts, class Place, class E>
[[nodiscard]] constexpr auto make_split(const E& e) {
  using whole = node_definition<op::split, ir::pack_attributes(Axis, Parts), id_list<typename E::id>>;
  return split_results<whole>(make_handle<whole, Place>(e), std::make_integer_sequence<int, Parts>{});
}

/// Parts of these extents along an axis, by one operation.
template <int Axis, class Place, extent... Extents, class E>
[[nodiscard]] constexpr auto make_parts(const E& e) {
  constexpr int parts = sizeof...(Extents);
  using whole = node_definition<op::split, ir::pack_attributes(Axis, parts, Extents...), id_list<typename E::id>>;
  return split_results<whole>(make_handle<whole, Place>(e), std::make_integer_sequence<int, parts>{});
}

}  // namespace detail

/// Specs of operands that can be joined along an axis.
#define TAGMA_NEEDS_PARTS(Axis, ...)                                                                                 \
  static_assert(::tagma::diagnose::operands_fit_one_node<__VA_ARGS__>, "TAGMA-E102 concat: takes 1 to 64 operands"); \
  static_assert(::tagma::diagnose::one_element_type<__VA_ARGS__>,                                                    \
                "TAGMA-E010 concat: all operands need the same element type; use tagma::cast");                      \
  static_assert(::tagma::diagnose::shapes_concatenate<Axis, __VA_ARGS__>,                                            \
                "TAGMA-E101 concat: the operands need one rank, the axis, and equal extents along every other axis")

/// The operands one after another along `Axis`. Raises TAGMA-E101 if their shapes do not fit, TAGMA-E102 for more than
/// 64 of them, TAGMA-E010 for different element types.
template <int Axis, expression... E, class Place = TAGMA_FRESH_TYPE(E...)>
  requires(sizeof...(E) > 0)
[[nodiscard]] constexpr auto concat(const E&... e) {
  TAGMA_NEEDS_PARTS(Axis, typename E::spec_type...);
  return detail::make_concat<Axis, Place>(e...);
}

namespace detail {
/// Takes an operand. A function of the user's own that takes it as it is comes first, by whatever way ours is found.
struct meant_as_operand {
  template <expression E>
  meant_as_operand(const E&);
};
}  // namespace detail

/// Without an axis: TAGMA-E309.
template <class... Rest>
auto concat(detail::meant_as_operand, const Rest&...) {
  static_assert(diagnose::names_its_axis<Rest...>,
                "TAGMA-E309 concat: the axis is a template argument: tagma::concat<1>(a, b); the last is -1");
}

/// The operands, of one shape, side by side along a new axis `Axis` of the result. Raises what `concat` does.
/// Raises TAGMA-E010 for different element types, TAGMA-E101 for other shapes or an axis that is not there, TAGMA-E102
/// for more than 64 operands.
template <int Axis = 0, expression First, expression... Rest, class Place = TAGMA_FRESH_TYPE(First)>
[[nodiscard]] constexpr auto stack(const First& first, const Rest&... rest) {
  static_assert(Axis >= -First::rank - 1 && Axis <= First::rank && First::rank < max_rank,
                "TAGMA-E101 stack: there is no such axis, or the operands have six already");
  static_assert(diagnose::operands_fit_one_node<First, Rest...>, "TAGMA-E102 stack: takes 1 to 64 operands");
  static_assert(diagnose::one_element_type<typename First::spec_type, typename Rest::spec_type...>,
                "TAGMA-E010 stack: all operands need the same element type; use tagma::cast");
  static_assert(diagnose::have_one_shape<typename First::spec_type, typename Rest::spec_type...>,
                "TAGMA-E101 stack: all operands need the same shape");
  if constexpr (Axis >= -First::rank - 1 && Axis <= First::rank && First::rank < max_rank)
    return detail::stack_operands < Axis < 0 ? Axis + First::rank + 1 : Axis,
           Place > (std::make_integer_sequence<int, 1 + static_cast<int>(sizeof...(Rest))>{}, first, rest...);
}

/// A tuple of `Parts` equal slices along an axis of static extent. Raises TAGMA-E103 if the parts do not divide it.
template <int Axis, int Parts, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto split(const E& e) {
  static_assert(diagnose::splits_evenly<typename E::spec_type, Axis, Parts>,
                "TAGMA-E103 split: the axis needs a static extent that the number of parts divides");
  if constexpr (diagnose::splits_evenly<typename E::spec_type, Axis, Parts>) {
    constexpr int axis = Axis < 0 ? Axis + E::rank : Axis;
    if constexpr (Parts > 1 && Parts <= ir::most_outputs)
      return detail::make_split<axis, Parts, Place>(e);
    else
      return detail::split_into<axis, E::spec.dims[axis] / Parts, Place>(e, std::make_integer_sequence<int, Parts>{});
  }
}

/// The operand repeated `Multiples[i]` times along axis i. Raises TAGMA-E106 unless each axis has one multiple.
template <extent... Multiples, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto tile(const E& e) {
  static_assert(diagnose::multiples_fit<typename E::spec_type, Multiples...>,
                "TAGMA-E106 tile: every axis needs one multiple of at least 1");
  if constexpr (diagnose::multiples_fit<typename E::spec_type, Multiples...>)
    return detail::make_node<op::tile, ir::pack_attributes(Multiples...), Place>(e);
}

}  // namespace tagma

#undef TAGMA_NEEDS_PARTS
