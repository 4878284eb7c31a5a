// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Losses composed of elementary functions. Predictions come first, then labels of the same shape and element type.
/// The cross entropies over classes are operations of their own, in expr/op/softmax.hpp.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/constant.hpp"
#include "tagma/expr/op/softmax.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {

namespace diagnose {
/// A loss over the last axis has one.
template <class Predictions>
inline constexpr bool has_last_axis = Predictions::value.dims.rank > 0;
}  // namespace diagnose

namespace detail {

/// True if a loss can be built: floating element types, equal, and shapes that agree.
template <class P, class L>
inline constexpr bool is_loss = diagnose::is_floating_point<operand<P>>&&
    diagnose::same_element_type<operand<P>, operand<L>>&& diagnose::same_shape<operand<P>, operand<L>>;
template <class P, class L>
inline constexpr bool is_row_loss = diagnose::has_last_axis<operand<P>>&& is_loss<P, L>;

/// The mean of all elements; takes the parts 60 to 62 of `Place`.
template <class Place, class E>
[[nodiscard]] constexpr auto mean_of_all(const E& e) {
  constexpr auto mask = ir::pack_attributes(axis_mask<E::rank>);
  const auto total = make_reduction<op::sum, false, part<Place, 60>>(e);
  return step<op::multiply, Place, 62>(total, make_node<op::fraction, mask, part<Place, 61>>(e));
}

/// Stands for a parameter that is not given.
struct default_delta {};

template <class Place, class P, class L, class D>
[[nodiscard]] constexpr auto huber_elements(const P& predictions, const L& labels, const D& delta) {
  const auto size = step<op::abs, Place, 1>(step<op::subtract, Place, 0>(predictions, labels));
  const auto near = step<op::minimum, Place, 2>(size, delta);
  const auto far = step<op::subtract, Place, 3>(size, near);
  const auto half = make_constant<typename P::element_type, bits_of(0.5)>();
  const auto curved = step<op::multiply, Place, 5>(half, step<op::square, Place, 4>(near));
  return step<op::add, Place, 7>(curved, step<op::multiply, Place, 6>(delta, far));
}

}  // namespace detail

/// Predictions and labels that fit one another.
#define TAGMA_NEEDS_LABELS(P, L)                                                                        \
  static_assert(::tagma::diagnose::same_element_type<typename P::spec_type, typename L::spec_type>,     \
                "TAGMA-E010 loss: predictions and labels need the same element type; use tagma::cast"); \
  static_assert(::tagma::diagnose::same_shape<typename P::spec_type, typename L::spec_type>,            \
                "TAGMA-E140 loss: predictions and labels need the same shape");                         \
  TAGMA_NEEDS_FLOATS(typename P::spec_type)
#define TAGMA_NEEDS_LABELLED_ROWS(P, L)                                  \
  static_assert(::tagma::diagnose::has_last_axis<typename P::spec_type>, \
                "TAGMA-E141 loss: predictions need at least one axis");  \
  TAGMA_NEEDS_LABELS(P, L)

/// Losses whose result is one number: the mean over all elements, as TensorFlow's tf.losses with weights of 1.
/// @param predictions,labels tensors of one shape, floating
/// Raise TAGMA-E010 for different element types, TAGMA-E014 if they are not floating, TAGMA-E140 for different shapes.
/// @{

/// mean((p - y)^2).
template <expression P, expression L, class Place = TAGMA_FRESH_TYPE(P)>
[[nodiscard]] constexpr auto mean_squared_error(const P& predictions, const L& labels) {
  TAGMA_NEEDS_LABELS(P, L);
  if constexpr (detail::is_loss<P, L>) {
    const auto difference = detail::step<op::subtract, Place, 0>(predictions, labels);
    return detail::mean_of_all<Place>(detail::step<op::square, Place, 1>(difference));
  }
}

/// mean(|p - y|).
template <expression P, expression L, class Place = TAGMA_FRESH_TYPE(P)>
[[nodiscard]] constexpr auto mean_absolute_error(const P& predictions, const L& labels) {
  TAGMA_NEEDS_LABELS(P, L);
  if constexpr (detail::is_loss<P, L>) {
    const auto difference = detail::step<op::subtract, Place, 0>(predictions, labels);
    return detail::mean_of_all<Place>(detail::step<op::abs, Place, 1>(difference));
  }
}

/// d^2 / 2 where d = |p - y| is at most delta, else delta * (d - delta / 2); the mean of it. Huber 1964.
/// @param delta a positive number, 1 if it is not given
template <expression P, expression L, class D = detail::default_delta, class Place = TAGMA_FRESH_TYPE(P)>
[[nodiscard]] constexpr auto huber_loss(const P& predictions, const L& labels, const D& delta = {}) {
  using T = typename P::element_type;
  TAGMA_NEEDS_LABELS(P, L);
  if constexpr (detail::is_loss<P, L>) {
    if constexpr (std::is_same_v<D, detail::default_delta>)
      return detail::mean_of_all<Place>(
          detail::huber_elements<Place>(predictions, labels, detail::make_constant<T, detail::bits_of(1)>()));
    else
      return detail::mean_of_all<Place>(detail::huber_elements<Place>(
          predictions, labels, detail::as_expression<T, detail::part<Place, 8>, 0>(delta)));
  }
}

/// mean(max(0, 1 - s * p)), where s is -1 for label 0 and 1 for label 1.
template <expression P, expression L, class Place = TAGMA_FRESH_TYPE(P)>
[[nodiscard]] constexpr auto hinge_loss(const P& predictions, const L& labels) {
  using T = typename P::element_type;
  TAGMA_NEEDS_LABELS(P, L);
  if constexpr (detail::is_loss<P, L>) {
    const auto one = detail::make_constant<T, detail::bits_of(1)>();
    const auto two = detail::make_constant<T, detail::bits_of(2)>();
    const auto side = detail::step<op::subtract, Place, 1>(detail::step<op::multiply, Place, 0>(two, labels), one);
    const auto margin = detail::step<op::multiply, Place, 2>(side, predictions);
    return detail::mean_of_all<Place>(
        detail::step<op::relu, Place, 4>(detail::step<op::subtract, Place, 3>(one, margin)));
  }
}

/// mean(-y * log(p + e) - (1 - y) * log(1 - p + e)) with e = 1e-7; p are probabilities.
template <expression P, expression L, class Place = TAGMA_FRESH_TYPE(P)>
[[nodiscard]] constexpr auto log_loss(const P& predictions, const L& labels) {
  using T = typename P::element_type;
  TAGMA_NEEDS_LABELS(P, L);
  if constexpr (detail::is_loss<P, L>) {
    const auto one = detail::make_constant<T, detail::bits_of(1)>();
    const auto tiny = detail::make_constant<T, detail::bits_of(1e-7)>();
    const auto yes = detail::step<op::log, Place, 1>(detail::step<op::add, Place, 0>(predictions, tiny));
    const auto other = detail::step<op::add, Place, 3>(detail::step<op::subtract, Place, 2>(one, predictions), tiny);
    const auto no = detail::step<op::log, Place, 4>(other);
    const auto absent = detail::step<op::subtract, Place, 5>(one, labels);
    const auto both = detail::step<op::add, Place, 8>(detail::step<op::multiply, Place, 6>(labels, yes),
                                                      detail::step<op::multiply, Place, 7>(absent, no));
    return detail::step<op::negate, Place, 9>(detail::mean_of_all<Place>(both));
  }
}

/// mean(1 - sum(p * y)), summed over the last axis, along which both are taken to have length 1.
/// Raises TAGMA-E141 for tensors without axes.
template <expression P, expression L, class Place = TAGMA_FRESH_TYPE(P)>
[[nodiscard]] constexpr auto cosine_distance(const P& predictions, const L& labels) {
  using T = typename P::element_type;
  TAGMA_NEEDS_LABELLED_ROWS(P, L);
  if constexpr (detail::is_row_loss<P, L>) {
    const auto product = detail::step<op::multiply, Place, 0>(predictions, labels);
    const auto cosine = detail::make_reduction<op::sum, false, detail::part<Place, 1>, -1>(product);
    return detail::mean_of_all<Place>(
        detail::step<op::subtract, Place, 2>(detail::make_constant<T, detail::bits_of(1)>(), cosine));
  }
}
/// @}

/// The cross entropy of each probability sigmoid(x) with its label z, in the form that neither overflows nor cancels:
/// max(x, 0) - x * z + log(1 + exp(-|x|)). Classes need not exclude one another.
/// https://www.tensorflow.org/api_docs/python/tf/nn/sigmoid_cross_entropy_with_logits
/// @param logits,labels tensors of one shape, floating
/// @return the same shape
/// Raises TAGMA-E010, TAGMA-E014, TAGMA-E140.
template <expression P, expression L, class Place = TAGMA_FRESH_TYPE(P)>
[[nodiscard]] constexpr auto sigmoid_cross_entropy(const P& logits, const L& labels) {
  using T = typename P::element_type;
  TAGMA_NEEDS_LABELS(P, L);
  if constexpr (detail::is_loss<P, L>) {
    // One condition for both selections: at 0 the two halves of the gradient then add up to sigmoid(0) - z.
    const auto zero = detail::make_constant<T, detail::bits_of(0)>();
    const auto positive = detail::step<op::greater_equal, Place, 0>(logits, zero);
    const auto above = detail::step<op::select, Place, 1>(positive, logits, zero);
    const auto minus_size =
        detail::step<op::select, Place, 3>(positive, detail::step<op::negate, Place, 2>(logits), logits);
    const auto rest = detail::step<op::log1p, Place, 5>(detail::step<op::exp, Place, 4>(minus_size));
    const auto linear_part =
        detail::step<op::subtract, Place, 7>(above, detail::step<op::multiply, Place, 6>(logits, labels));
    return detail::step<op::add, Place, 8>(linear_part, rest);
  }
}

/// The divergence of each row of predicted probabilities q from its row of labels p: sum(p * log(p / q)) over the last
/// axis, both raised to at least 1e-7 first, as in Keras. Kullback and Leibler 1951.
/// @return [...], the shape without its last axis
/// Raises TAGMA-E010, TAGMA-E014, TAGMA-E140, TAGMA-E141.
template <expression P, expression L, class Place = TAGMA_FRESH_TYPE(P)>
[[nodiscard]] constexpr auto kl_divergence(const P& predictions, const L& labels) {
  using T = typename P::element_type;
  TAGMA_NEEDS_LABELLED_ROWS(P, L);
  if constexpr (detail::is_row_loss<P, L>) {
    const auto tiny = detail::make_constant<T, detail::bits_of(1e-7)>();
    const auto q = detail::step<op::maximum, Place, 0>(predictions, tiny);
    const auto p = detail::step<op::maximum, Place, 1>(labels, tiny);
    const auto ratio = detail::step<op::log, Place, 3>(detail::step<op::divide, Place, 2>(p, q));
    return detail::make_reduction<op::sum, false, detail::part<Place, 5>, -1>(
        detail::step<op::multiply, Place, 4>(p, ratio));
  }
}

/// sum(x^2) / 2, for weight decay.
template <expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto l2_loss(const E& e) {
  TAGMA_NEEDS_FLOATS(typename E::spec_type);
  if constexpr (diagnose::is_floating_point<typename E::spec_type>) {
    const auto half = detail::make_constant<typename E::element_type, detail::bits_of(0.5)>();
    const auto squares = detail::step<op::square, Place, 0>(e);
    const auto total = detail::make_reduction<op::sum, false, detail::part<Place, 1>>(squares);
    return detail::step<op::multiply, Place, 2>(half, total);
  }
}

}  // namespace tagma

#undef TAGMA_NEEDS_LABELLED_ROWS
#undef TAGMA_NEEDS_LABELS
