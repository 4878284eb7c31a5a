// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Random tensors, new in every run, and dropout. Their bytes follow from the seed of the session, the number of the
/// run and the place of the node in its program, not from threads.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/arithmetic.hpp"
#include "tagma/expr/op/constant.hpp"
#include "tagma/expr/phase.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {
namespace op {

/// Base of the tags of random sources. Attribute 0 is the element type; the extents follow, or an input has them.
struct random_source {
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr bool stateful = true;
  static constexpr bool stops_gradient = true;
  static constexpr std::uint64_t shape_only = 0b1;
  static constexpr void takes(auto& t) {
    t.inputs(0, 1), t.rule("TAGMA-E113"), t.float_type("element type");
    if (t.count() == 1) t.any_at(0);
    t.needs(t.rest() <= (t.count() == 0 ? max_rank : 0), "an input has the shape, or up to six attributes");
    t.sizes("extent");
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {static_cast<dtype>(a.attributes[0]), a.in.empty() ? shape(a.attributes.subspan(1)) : a.in[0].dims};
    return nullptr;
  }
};

/// In [0, 1).
struct random_uniform : random_source {
  static constexpr const char* name = "random_uniform";
};
/// Mean 0, deviation 1.
struct random_normal : random_source {
  static constexpr const char* name = "random_normal";
};
/// The same, drawn again outside (-2, 2).
struct truncated_normal : random_source {
  static constexpr const char* name = "truncated_normal";
};

}  // namespace op

namespace diagnose {
/// What has a name has variables, which are called by it.
template <class Input>
inline constexpr bool has_variables = false;
/// A random tensor has floating elements and static extents.
template <class T, extent... Extents>
inline constexpr bool can_be_random = is_floating(dtype_of<T>) && sizeof...(Extents) <= max_rank &&
                                      (true && ... && (Extents >= 0));
}  // namespace diagnose

namespace detail {

template <class Op, class Place, class T, extent... Extents>
[[nodiscard]] constexpr auto make_random() {
  if constexpr (diagnose::can_be_random<T, Extents...>)
    return make_node<Op, ir::pack_attributes(dtype_of<T>, Extents...), part<Place, 0>>();
}

/// offset + scale * unit.
template <class Place, class E, class Offset, class Scale>
[[nodiscard]] constexpr auto make_affine(const E& unit, const Offset& offset, const Scale& scale) {
  return make_binary<op::add, part<Place, 2>>(make_binary<op::multiply, part<Place, 1>>(unit, scale), offset);
}

template <class Place, class E, class Low, class High>
[[nodiscard]] constexpr auto make_between(const E& unit, const Low& low, const High& high) {
  if constexpr (expression<Low> || expression<High>)
    return make_affine<Place>(unit, low, make_binary<op::subtract, part<Place, 3>>(high, low));
  else
    return make_affine<Place>(unit, low, static_cast<double>(high) - static_cast<double>(low));
}

template <class A>
concept parameter = expression<A> || scalar<A>;

[[noreturn]] TAGMA_COLD inline void refuse_dropout_rate(double rate) {
  fail(status_code::invalid_argument, {"dropout: the rate is ", number_text(rate).text, ", not in [0, 1)"});
}

}  // namespace detail

/// A random tensor can have this element type and these extents.
#define TAGMA_NEEDS_RANDOM(...)                                \
  static_assert(::tagma::diagnose::can_be_random<__VA_ARGS__>, \
                "TAGMA-E113 random: needs a floating element type and at most six static extents")

/// A rate of dropout that is an expression is a number of the element type of the operand.
#define TAGMA_NEEDS_DROPOUT_RATE(E, Rate)                                                                        \
  static_assert(Rate::rank == 0 && diagnose::same_element_type<typename E::spec_type, typename Rate::spec_type>, \
                "TAGMA-E114 dropout: the rate needs rank 0 and the element type of the operand")

/// Uniform random numbers of the given type and extents, new in every run: `random_uniform<float, 3, 4>(-1.0f, 1.0f)`.
/// Two calls at two places draw different numbers. Gradients flow to `low` and `high` where these are expressions.
/// @param low, high numbers, or expressions that broadcast to the extents; by default [0, 1)
/// Raises TAGMA-E113 for another element type or extents that vary.
/// @{
template <class T, extent... Extents, class Place = TAGMA_FRESH_TYPE(T)>
[[nodiscard]] constexpr auto random_uniform() {
  TAGMA_NEEDS_RANDOM(T, Extents...);
  return detail::make_random<op::random_uniform, Place, T, Extents...>();
}
template <class T, extent... Extents, detail::parameter Low, detail::parameter High, class Place = TAGMA_FRESH_TYPE(T)>
[[nodiscard]] constexpr auto random_uniform(const Low& low, const High& high) {
  TAGMA_NEEDS_RANDOM(T, Extents...);
  if constexpr (diagnose::can_be_random<T, Extents...>)
    return detail::make_between<Place>(detail::make_random<op::random_uniform, Place, T, Extents...>(), low, high);
}
/// @}

/// Normal random numbers, new in every run; `random_uniform` tells the rest.
/// @param mean, deviation numbers, or expressions that broadcast to the extents; by default 0 and 1
/// @{
template <class T, extent... Extents, class Place = TAGMA_FRESH_TYPE(T)>
[[nodiscard]] constexpr auto random_normal() {
  TAGMA_NEEDS_RANDOM(T, Extents...);
  return detail::make_random<op::random_normal, Place, T, Extents...>();
}
template <class T, extent... Extents, detail::parameter Mean, detail::parameter Deviation,
          class Place = TAGMA_FRESH_TYPE(T)>
[[nodiscard]] constexpr auto random_normal(const Mean& mean, const Deviation& deviation) {
  TAGMA_NEEDS_RANDOM(T, Extents...);
  if constexpr (diagnose::can_be_random<T, Extents...>)
    return detail::make_affine<Place>(detail::make_random<op::random_normal, Place, T, Extents...>(), mean, deviation);
}
/// @}

/// Normal random numbers within two deviations of their mean.
/// @{
template <class T, extent... Extents, class Place = TAGMA_FRESH_TYPE(T)>
[[nodiscard]] constexpr auto truncated_normal() {
  TAGMA_NEEDS_RANDOM(T, Extents...);
  return detail::make_random<op::truncated_normal, Place, T, Extents...>();
}
template <class T, extent... Extents, detail::parameter Mean, detail::parameter Deviation,
          class Place = TAGMA_FRESH_TYPE(T)>
[[nodiscard]] constexpr auto truncated_normal(const Mean& mean, const Deviation& deviation) {
  TAGMA_NEEDS_RANDOM(T, Extents...);
  if constexpr (diagnose::can_be_random<T, Extents...>)
    return detail::make_affine<Place>(detail::make_random<op::truncated_normal, Place, T, Extents...>(), mean,
                                      deviation);
}
/// @}

/// Random numbers of the type and shape of `e`, whose elements are not read: uniform in [0, 1), or normal with mean 0
/// and deviation 1. Raises TAGMA-E014 for an element type that is not floating.
/// @{
template <expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto random_uniform_like(const E& e) {
  TAGMA_NEEDS_FLOATS(typename E::spec_type);
  if constexpr (diagnose::is_floating_point<typename E::spec_type>)
    return detail::make_node<op::random_uniform, ir::pack_attributes(E::spec.type), Place>(e);
}
template <expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto random_normal_like(const E& e) {
  TAGMA_NEEDS_FLOATS(typename E::spec_type);
  if constexpr (diagnose::is_floating_point<typename E::spec_type>)
    return detail::make_node<op::random_normal, ir::pack_attributes(E::spec.type), Place>(e);
}
/// @}

/// Each element is zero with probability `rate`, else divided by 1 - rate (Srivastava et al. 2014, in the form that
/// needs no scaling when the network is used). The gradient drops the elements that were dropped.
/// It does so in every run: who evaluates builds the graph without it, or feeds a rate of 0.
/// @param rate of what is dropped: a number from 0 up to, but not including, 1, else InvalidArgument; or an expression
/// of rank 0 and the element type of `e`
/// Raises TAGMA-E014 for an element type that is not floating, TAGMA-E114 for another rate.
template <expression E, detail::parameter Rate, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto dropout(const E& e, const Rate& rate) {
  TAGMA_NEEDS_FLOATS(typename E::spec_type);
  if constexpr (diagnose::is_floating_point<typename E::spec_type>) {
    using T = typename E::element_type;
    // One float for each element, whatever the elements are: 16-bit floats would make the rate coarse.
    const auto drawn =
        detail::make_node<op::random_uniform, ir::pack_attributes(dtype::float32), detail::part<Place, 0>>(e);
    const auto zero = detail::make_constant<T, detail::bits_of(0)>();
    const auto keep_scaled = [&](const auto& threshold, const auto& scaled) {
      const auto kept = detail::make_binary<op::greater_equal, detail::part<Place, 2>>(drawn, threshold);
      return detail::step<op::select, Place, 3>(kept, scaled, zero);
    };
    if constexpr (expression<Rate>) {
      TAGMA_NEEDS_DROPOUT_RATE(E, Rate);
      constexpr auto single = ir::pack_attributes(dtype::float32);
      const auto one = detail::make_constant<T, detail::bits_of(1)>();
      const auto rest = detail::step<op::subtract, Place, 4>(one, rate);
      return keep_scaled(detail::make_node<op::cast, single, detail::part<Place, 5>>(rate),
                         detail::step<op::divide, Place, 1>(e, rest));
    } else {
      const auto value = static_cast<double>(rate);
      if (!(value >= 0 && value < 1)) detail::refuse_dropout_rate(value);
      return keep_scaled(value, detail::make_binary<op::multiply, detail::part<Place, 1>>(e, 1 / (1 - value)));
    }
  }
}

/// The same where the model is trained, and `e` itself where it is used: `dropout(x, 0.5, phase)` in a function that is
/// the model of both phases.
/// @param phase `phase::training` or `phase::inference`
/// Raises TAGMA-E014, TAGMA-E114, and TAGMA-E179 for another phase.
template <expression E, detail::parameter Rate, class Phase, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto dropout(const E& e, const Rate& rate, [[maybe_unused]] Phase phase) {
  TAGMA_NEEDS_PHASE("dropout", "(x, 0.5, tagma::phase::training)", Phase);
  if constexpr (std::is_same_v<Phase, training_phase>) {
    return dropout<E, Rate, Place>(e, rate);
  } else if constexpr (diagnose::is_phase<Phase>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    if constexpr (expression<Rate>) {
      TAGMA_NEEDS_DROPOUT_RATE(E, Rate);
    } else {
      const auto value = static_cast<double>(rate);
      if (!(value >= 0 && value < 1)) detail::refuse_dropout_rate(value);
    }
    return e;
  }
}

/// With a name, which is for what has variables: TAGMA-E314.
template <fixed_string Name, class E, class... Rest>
auto dropout(const E&, const Rest&...) {
  static_assert(diagnose::has_variables<E>,
                "TAGMA-E314 dropout: has no variables, and so no name: tagma::dropout(x, 0.5, tagma::phase::training)");
}

}  // namespace tagma

#undef TAGMA_NEEDS_RANDOM
#undef TAGMA_NEEDS_DROPOUT_RATE
