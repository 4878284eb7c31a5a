// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Keeps values, mostly gradients, within bounds. Pascanu, Mikolov, Bengio 2013. Without a tensor, a call of these
/// functions is an option of `minimize` and `apply_gradients`: all gradients are clipped by the graph compiler.

#include <tuple>

#include "tagma/base/config.hpp"
#include "tagma/expr/op/constant.hpp"
#include "tagma/expr/op/reduce.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {

namespace diagnose {
/// Tensors that share a norm have one floating element type.
template <class First, class... More>
inline constexpr bool norm_has_one_type = (true && ... &&
                                           std::is_same_v<typename First::element_type, typename More::element_type>);
/// A bound is a number, or an expression of rank 0 and of the element type of what it bounds.
template <class Value, class Bound>
inline constexpr bool is_bound = std::is_convertible_v<Bound, double>;
template <class Value, expression Bound>
inline constexpr bool is_bound<Value, Bound> =
    Bound::rank == 0 && std::is_same_v<typename Value::element_type, typename Bound::element_type>;
}  // namespace diagnose

namespace op {

/// The root of the sum of the squares of all elements of all inputs, with gradient 0 instead of infinity at 0. Squares
/// are of the type of statistics.
struct global_norm : composition<12> {
  static constexpr const char* name = "global_norm";
  static constexpr void takes(auto& t) { t.inputs(1, INT16_MAX), t.float_at(0), t.all_alike(); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {a.in[0].type, {}};
    return nullptr;
  }
  /// The norm, of the type of statistics.
  static constexpr ir::node_id of(auto& e, array_view<const ir::node_id> tensors) {
    ir::node_id squares = ir::no_node;
    for (const ir::node_id t : tensors) {
      const auto all = ir::pack_attributes((1 << e.g.spec(t).dims.rank) - 1, 0);
      const ir::node_id wide = with_type(e, statistics_type(e.g.spec(t).type), t);
      const ir::node_id own = e.emit_with(sum{}, all, e.emit(square{}, wide));
      squares = squares == ir::no_node ? own : e.emit(add{}, squares, own);
    }
    const dtype type = e.g.spec(squares).type;
    const ir::node_id zero = with_type(e, type, e.constant(0)), one = with_type(e, type, e.constant(1));
    const ir::node_id positive = e.emit(greater{}, squares, zero);
    const ir::node_id root = e.emit(sqrt{}, e.emit(select{}, positive, squares, one));
    return e.emit(select{}, positive, root, squares);
  }
  static constexpr void expand(auto& e) { e.result = with_type(e, e.in_spec(0).type, of(e, e.inputs)); }
};

/// What scales a tensor down to a norm. Inputs: the tensor, the bound.
struct clip_by_norm : composition<12> {
  static constexpr const char* name = "clip_by_norm";
  static constexpr void takes(auto& t) { t.floats(2), t.scalar(1); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
  static constexpr ir::node_id of(auto& e, ir::node_id tensor, ir::node_id bound) {
    const ir::node_id norm = global_norm::of(e, {&tensor, 1});
    const dtype type = e.g.spec(tensor).type, wide = e.g.spec(norm).type;
    const ir::node_id most = with_type(e, wide, bound), larger = e.emit(maximum{}, norm, most);
    const ir::node_id scaled = e.emit(multiply{}, with_type(e, wide, tensor), most);
    return with_type(e, type, e.emit(divide{}, scaled, larger));
  }
  static constexpr void expand(auto& e) { e.result = of(e, e.in(0), e.in(1)); }
};

/// The factor that scales all tensors down to a global norm. Inputs: the bound, the tensors.
struct global_norm_scale : composition<16> {
  static constexpr const char* name = "global_norm_scale";
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {a.in[0].type, {}};
    return nullptr;
  }
  /// The factor, of the type of statistics.
  static constexpr ir::node_id of(auto& e, ir::node_id bound, array_view<const ir::node_id> tensors) {
    const ir::node_id norm = global_norm::of(e, tensors);
    const ir::node_id most = with_type(e, e.g.spec(norm).type, bound);
    const ir::node_id ratio = e.emit(divide{}, most, e.emit(maximum{}, norm, most));
    // 0 for a norm that is a number, else not a number: one infinite gradient must not look like many that vanish.
    return e.emit(add{}, ratio, e.emit(subtract{}, norm, norm));
  }
  static constexpr void expand(auto& e) {
    e.result = with_type(e, e.in_spec(0).type, of(e, e.in(0), e.inputs.subspan(1)));
  }
};

/// How the gradients of an optimizer are clipped: changes them where they stand in `pairs`. The bounds are the first
/// inputs of the expansion, of the type of the loss; norms are formed in the type of its statistics.
struct clip_gradients_by_value {
  static constexpr void apply(auto& e, array_view<ir::variable_gradient> pairs) {
    for (ir::variable_gradient& pair : pairs) {
      const dtype type = e.g.spec(pair.gradient).type;
      const ir::node_id above = e.emit(maximum{}, pair.gradient, with_type(e, type, e.in(0)));
      pair.gradient = e.emit(minimum{}, above, with_type(e, type, e.in(1)));
    }
  }
};
struct clip_gradients_by_norm {
  static constexpr void apply(auto& e, array_view<ir::variable_gradient> pairs) {
    for (ir::variable_gradient& pair : pairs) {
      const ir::node_id clipped = clip_by_norm::of(e, with_type(e, e.in_spec(0).type, pair.gradient), e.in(0));
      pair.gradient = with_type(e, e.g.spec(pair.gradient).type, clipped);
    }
  }
};
struct clip_gradients_by_global_norm {
  static constexpr void apply(auto& e, array_view<ir::variable_gradient> pairs) {
    scratch_array<ir::node_id, 64> values(pairs.size());
    const dtype wide = statistics_type(e.in_spec(0).type);
    for (std::size_t i = 0; i < pairs.size(); ++i) values[i] = with_type(e, wide, pairs[i].gradient);
    const ir::node_id scale = global_norm_scale::of(e, e.in(0), values.view());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const dtype type = e.g.spec(pairs[i].gradient).type;
      pairs[i].gradient = type == statistics_type(type)
                              ? e.emit(multiply{}, pairs[i].gradient, with_type(e, type, scale))
                              : with_type(e, type, e.emit(multiply{}, values[i], scale));
    }
  }
};

}  // namespace op

namespace detail {

/// True for what can bound all gradients: a number or a scalar expression.
template <class Bound>
inline constexpr bool bounds_all = std::is_convertible_v<Bound, double>;
template <expression Bound>
inline constexpr bool bounds_all<Bound> = Bound::rank == 0;

/// An option of `minimize`: a way to clip, and its bounds. `clip_option<void>` leaves gradients as they are.
template <class Clip, class... Bound>
struct clip_option {
  std::tuple<Bound...> bounds;
};

/// True if bounds are numbers or scalars of the type of the first of some expressions.
template <class Option, class... E>
inline constexpr bool bounds_first = true;
template <class Clip, class... Bound, class First, class... More>
inline constexpr bool bounds_first<clip_option<Clip, Bound...>, First, More...> = (true && ... &&
                                                                                   diagnose::is_bound<First, Bound>);

template <class T>
inline constexpr bool is_clip_option = false;
template <class Clip, class... Bound>
inline constexpr bool is_clip_option<clip_option<Clip, Bound...>> = true;

/// What a clip option is made of.
template <class Option>
struct clipping_of;
template <class Clip, class... Bound>
struct clipping_of<const clip_option<Clip, Bound...>> {
  using type = Clip;
  static constexpr int bounds = static_cast<int>(sizeof...(Bound));
};

template <class Bound, class First, class... E>
inline constexpr bool is_clip = diagnose::norm_has_one_type<First, E...>&& diagnose::is_bound<First, Bound>&&
    diagnose::is_floating_point<operand<First>>;
template <class First, class... E>
struct operands_of {
  using first = First;
};

}  // namespace detail

/// Tensors that share a norm, and what bounds them.
#define TAGMA_NEEDS_NORM(...)                                                      \
  static_assert(::tagma::diagnose::norm_has_one_type<__VA_ARGS__>,                 \
                "TAGMA-E142 global_norm: all tensors need the same element type"); \
  TAGMA_NEEDS_FLOATS(detail::operand<typename detail::operands_of<__VA_ARGS__>::first>)
#define TAGMA_NEEDS_BOUND(Bound, ...)                                                                         \
  static_assert(::tagma::diagnose::is_bound<typename detail::operands_of<__VA_ARGS__>::first, Bound>,         \
                "TAGMA-E143 clip: the bound must be a number or a scalar of the element type of the tensor"); \
  TAGMA_NEEDS_NORM(__VA_ARGS__)

/// min(max(x, low), high), element by element. The gradient is 0 where x is outside.
/// @param low,high numbers, or expressions that broadcast to the shape of x
template <expression E, class Low, class High, class Place = TAGMA_FRESH_TYPE(E)>
  requires detail::operands<E, Low> && detail::operands<E, High>
[[nodiscard]] constexpr auto clip_by_value(const E& e, const Low& low, const High& high) {
  TAGMA_NEEDS_NUMBERS(typename E::spec_type);
  TAGMA_NEEDS_OPERANDS(E, Low);
  TAGMA_NEEDS_OPERANDS(E, High);
  if constexpr (detail::operands_agree<E, Low> && detail::operands_agree<E, High>) {
    const auto above = detail::make_binary<op::maximum, detail::part<Place, 0>>(e, low);
    return detail::make_binary<op::minimum, detail::part<Place, 1>>(above, high);
  }
}

/// The root of the sum of the squares of all elements of all tensors.
/// Raises TAGMA-E142 for different element types, TAGMA-E014 if they are not floating.
template <expression... E, class Place = TAGMA_FRESH_TYPE(E...)>
  requires(sizeof...(E) > 0)
[[nodiscard]] constexpr auto global_norm(const E&... e) {
  TAGMA_NEEDS_NORM(E...);
  if constexpr (detail::is_clip<float, E...>)
    return detail::make_node<op::global_norm, ir::attributes<0>{}, Place>(e...);
}

/// x scaled down to the norm `bound` if its own is larger: x * bound / max(norm, bound).
/// @param bound a positive number, or a scalar expression
/// Raises TAGMA-E014, TAGMA-E143.
template <expression E, class Bound, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto clip_by_norm(const E& e, const Bound& bound) {
  TAGMA_NEEDS_BOUND(Bound, E);
  if constexpr (detail::is_clip<Bound, E>) {
    const auto limit = detail::as_expression<typename E::element_type, detail::part<Place, 3>, 0>(bound);
    return detail::make_node<op::clip_by_norm, ir::attributes<0>{}, Place>(e, limit);
  }
}

/// All tensors scaled by one factor, so that their global norm is at most `bound`. Where the norm is not finite all
/// results are not numbers, as in TensorFlow.
/// @return a std::tuple of expressions
/// Raises TAGMA-E014, TAGMA-E142, TAGMA-E143.
template <class Bound, expression... E, class Place = TAGMA_FRESH_TYPE(Bound)>
  requires(sizeof...(E) > 0)
[[nodiscard]] constexpr auto clip_by_global_norm(const Bound& bound, const E&... e) {
  TAGMA_NEEDS_BOUND(Bound, E...);
  if constexpr (detail::is_clip<Bound, E...>) {
    using T = typename std::tuple_element_t<0, std::tuple<E...>>::element_type;
    const auto limit = detail::as_expression<T, detail::part<Place, 0>, 0>(bound);
    const auto scale =
        detail::make_node<op::global_norm_scale, ir::attributes<0>{}, detail::part<Place, 1>>(limit, e...);
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return std::make_tuple(detail::step<op::multiply, Place, 2 + I>(e, scale)...);
    }
    (std::make_integer_sequence<int, static_cast<int>(sizeof...(E))>{});
  }
}

/// Options of `minimize` and `apply_gradients`: the gradients are clipped by value, each by its own norm, or all by
/// their global norm, before they update variables. They are as if clipped by the functions above, at a fraction of
/// what these cost the compiler; norms of 16-bit gradients are formed of floats.
/// @param low,high,bound numbers, or scalar expressions of the type of the loss
/// Raise TAGMA-E143 for other bounds, from `minimize`.
/// @{
template <class Low, class High>
  requires detail::bounds_all<Low> && detail::bounds_all<High>
[[nodiscard]] constexpr detail::clip_option<op::clip_gradients_by_value, Low, High> clip_by_value(const Low& low,
                                                                                                  const High& high) {
  return {{low, high}};
}
template <class Bound>
  requires detail::bounds_all<Bound>
[[nodiscard]] constexpr detail::clip_option<op::clip_gradients_by_norm, Bound> clip_by_norm(const Bound& bound) {
  return {{bound}};
}
template <class Bound>
  requires detail::bounds_all<Bound>
[[nodiscard]] constexpr detail::clip_option<op::clip_gradients_by_global_norm, Bound> clip_by_global_norm(
    const Bound& bound) {
  return {{bound}};
}
/// @}

}  // namespace tagma

#undef TAGMA_NEEDS_BOUND
#undef TAGMA_NEEDS_NORM
