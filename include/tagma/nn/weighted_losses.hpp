// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Losses in which examples count differently, and labels that are not quite certain.

#include <string>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/expr/op/composition.hpp"
#include "tagma/expr/op/constant.hpp"
#include "tagma/expr/op/softmax.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/nn/losses.hpp"

namespace tagma {

namespace diagnose {
/// There is one weight for each element, or for all that the leading axes lead to.
template <class Values, class Weights>
inline constexpr bool weights_fit = [] {
  const shape &v = Values::value.dims, &w = Weights::value.dims;
  return w.rank <= v.rank && compatible(v.sub(0, w.rank), w);
}();
}  // namespace diagnose

namespace op {

// One node a statement: the order of operands in a call is the compiler's, and the fingerprint would depend on it.

/// sum(w * x) / sum(w), whose sums are of the type of statistics; 0 where the weights add up to 0. Inputs: values,
/// weights.
struct weighted_mean : composition<14> {
  static constexpr const char* name = "weighted_mean";
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {a.in[0].type, {}};
    return nullptr;
  }
  static constexpr void expand(auto& e) {
    const int rank = e.in_spec(0).dims.rank, given = e.in_spec(1).dims.rank;
    const ir::attribute added = (ir::attribute{1} << rank) - (ir::attribute{1} << given);
    const dtype type = e.in_spec(0).type, wide = statistics_type(type);
    const ir::node_id values = with_type(e, wide, e.in(0));
    const ir::node_id own = e.emit_with(expand_dims{}, ir::pack_attributes(added), with_type(e, wide, e.in(1)));
    const ir::node_id weights = e.emit(broadcast_like{}, own, values);
    const ir::node_id above = mean_loss::sum_of_all(e, e.emit(multiply{}, values, weights));
    const ir::node_id below = mean_loss::sum_of_all(e, weights);
    const ir::node_id zero = with_type(e, wide, e.constant(0)), one = with_type(e, wide, e.constant(1));
    const ir::node_id nothing = e.emit(equal{}, below, zero);
    const ir::node_id safe = e.emit(select{}, nothing, one, below);
    const ir::node_id mean_of_them = e.emit(divide{}, above, safe);
    e.result = with_type(e, type, e.emit(select{}, nothing, zero, mean_of_them));
  }
};

/// (1 - s) * -log(softmax(logits)[label]) + s * mean(-log(softmax(logits))). Inputs: logits, labels, s.
struct smoothed_cross_entropy : composition<10> {
  static constexpr const char* name = "smoothed_cross_entropy";
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {a.in[0].type, a.in[0].dims.sub(0, a.in[0].dims.rank - 1)};
    return nullptr;
  }
  static constexpr void expand(auto& e) {
    const ir::attribute last = ir::attribute{1} << (e.in_spec(0).dims.rank - 1);
    const ir::node_id named = e.emit(sparse_softmax_cross_entropy{}, e.in(0), e.in(1));
    const ir::node_id others = mean::of(e, e.emit(log_softmax{}, e.in(0)), last, 0);
    // named + s * (-others - named)
    const ir::node_id both = e.emit(add{}, named, others);
    e.result = e.emit(subtract{}, named, e.emit(multiply{}, both, e.in(2)));
  }
};

}  // namespace op

namespace detail {
/// Throws InvalidArgument for what is no share of the labels.
constexpr double checked_smoothing(double smoothing) {
  if (!(smoothing >= 0 && smoothing <= 1))
    fail(status_code::invalid_argument, {"label_smoothing is from 0 to 1, not ", std::to_string(smoothing)});
  return smoothing;
}
/// p * (1 - s) + s / classes.
template <class Place, class P>
[[nodiscard]] constexpr auto smoothed(const P& p, double smoothing, double classes) {
  using T = typename P::element_type;
  smoothing = checked_smoothing(smoothing);
  const auto kept = step<op::multiply, Place, 0>(p, literal_at<T, part<Place, 1>, 0>(1 - smoothing));
  return step<op::add, Place, 2>(kept, literal_at<T, part<Place, 3>, 0>(smoothing / classes));
}
}  // namespace detail

/// The mean of values that count differently: sum(w * x) / sum(w); 0 if the weights add up to 0.
///
///     tagma::weighted_mean(tagma::sparse_softmax_cross_entropy(logits, labels), weights)
///
/// Weights of 1 give the mean, weights of 0 and 1 that of the elements that count, such as those that are no padding.
/// A value that is not finite makes the mean so, whatever its weight.
/// @param values of any shape, floating: losses of examples
/// @param weights of the same element type, [batch, ...]: one for each value, or for all values that the axes it has
///                lead to
/// @return one number
/// Raises TAGMA-E010, TAGMA-E014, TAGMA-E140 if the weights have other extents.
template <expression V, expression W, class Place = TAGMA_FRESH_TYPE(V)>
[[nodiscard]] constexpr auto weighted_mean(const V& values, const W& weights) {
  using v = typename V::spec_type;
  using w = typename W::spec_type;
  static_assert(diagnose::same_element_type<v, w>,
                "TAGMA-E010 weighted_mean: values and weights need the same element type; use tagma::cast");
  TAGMA_NEEDS_FLOATS(v);
  static_assert(diagnose::weights_fit<v, w>,
                "TAGMA-E140 weighted_mean: the weights need the shape of the values, or of their leading axes");
  if constexpr (diagnose::same_element_type<v, w> && diagnose::is_floating_point<v> && diagnose::weights_fit<v, w>)
    return detail::make_node<op::weighted_mean, ir::attributes<0>{}, Place>(values, weights);
}

/// Losses of one number in which each example has a weight: `weighted_mean` of what `mean_squared_error`,
/// `mean_absolute_error` are the mean of.
/// @param weights [batch], or of the shape of the predictions
/// Raise TAGMA-E010, TAGMA-E014, TAGMA-E140 if labels or weights have another shape.
/// @{
template <expression P, expression L, expression W, class Place = TAGMA_FRESH_TYPE(P)>
[[nodiscard]] constexpr auto mean_squared_error(const P& predictions, const L& labels, const W& weights) {
  static_assert(detail::is_loss<P, L>, "TAGMA-E140 loss: predictions and labels need the same shape and type");
  if constexpr (detail::is_loss<P, L>)
    return weighted_mean(detail::step<op::square, Place, 1>(detail::step<op::subtract, Place, 0>(predictions, labels)),
                         weights);
}
template <expression P, expression L, expression W, class Place = TAGMA_FRESH_TYPE(P)>
[[nodiscard]] constexpr auto mean_absolute_error(const P& predictions, const L& labels, const W& weights) {
  static_assert(detail::is_loss<P, L>, "TAGMA-E140 loss: predictions and labels need the same shape and type");
  if constexpr (detail::is_loss<P, L>)
    return weighted_mean(detail::step<op::abs, Place, 1>(detail::step<op::subtract, Place, 0>(predictions, labels)),
                         weights);
}
/// @}

/// Cross entropies with smoothed labels (Szegedy et al. 2016): a class has the probability p * (1 - s) + s / classes in
/// place of p; of two classes, as with `sigmoid_cross_entropy`, a label z is z * (1 - s) + s / 2.
/// @param label_smoothing s, from 0 to 1; throws InvalidArgument for another
/// @return and errors as without: TAGMA-E043 and TAGMA-E003 for logits and labels that do not fit, TAGMA-E014
/// @{
template <expression L, expression Y, class Place = TAGMA_FRESH_TYPE(L)>
[[nodiscard]] constexpr auto sparse_softmax_cross_entropy(const L& logits, const Y& labels, double label_smoothing) {
  using x = typename L::spec_type;
  using y = typename Y::spec_type;
  static_assert(diagnose::labels_fit_logits<x, y>,
                "TAGMA-E043 sparse_softmax_cross_entropy: needs one integer label for each row of logits");
  TAGMA_NEEDS_FLOATS(x);
  if constexpr (diagnose::labels_fit_logits<x, y> && diagnose::is_floating_point<x>)
    return detail::make_node<op::smoothed_cross_entropy, ir::attributes<0>{}, Place>(
        logits, labels,
        detail::literal_at<typename L::element_type, detail::part<Place, 0>, 0>(
            detail::checked_smoothing(label_smoothing)));
}
template <expression L, expression P, class Place = TAGMA_FRESH_TYPE(L)>
[[nodiscard]] constexpr auto softmax_cross_entropy(const L& logits, const P& probabilities, double label_smoothing) {
  static_assert(L::rank > 0 && L::spec.dims[L::rank > 0 ? L::rank - 1 : 0] != dyn,
                "TAGMA-E003 softmax_cross_entropy: the number of classes must be static for smoothed labels");
  if constexpr (L::rank > 0 && diagnose::same_element_type<typename L::spec_type, typename P::spec_type>)
    return softmax_cross_entropy(logits, detail::smoothed<Place>(probabilities, label_smoothing,
                                                                 static_cast<double>(L::spec.dims[L::rank - 1])));
  else
    return softmax_cross_entropy(logits, probabilities);  // says what is wrong
}
template <expression P, expression L, class Place = TAGMA_FRESH_TYPE(P)>
[[nodiscard]] constexpr auto sigmoid_cross_entropy(const P& logits, const L& labels, double label_smoothing) {
  if constexpr (diagnose::same_element_type<typename P::spec_type, typename L::spec_type>)
    return sigmoid_cross_entropy(logits, detail::smoothed<Place>(labels, label_smoothing, 2));
  else
    return sigmoid_cross_entropy(logits, labels);  // says what is wrong
}
/// @}

}  // namespace tagma
