// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Metrics that accumulate over batches, in variables that are not trainable. Counts are int64 and sums double, so that
/// they stay exact over many batches.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/compare.hpp"
#include "tagma/expr/op/control.hpp"
#include "tagma/expr/op/fill.hpp"
#include "tagma/expr/op/positions.hpp"
#include "tagma/expr/op/slice.hpp"
#include "tagma/expr/op/softmax.hpp"
#include "tagma/expr/op/state.hpp"
#include "tagma/expr/op/top_k.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/nn/initializers.hpp"

namespace tagma {

/// What a metric gives a program: outputs to run.
template <expression Update, expression Result, expression Reset>
struct metric {
  Update update;  ///< takes a batch in; without value
  Result result;  ///< of all batches since the start or the last reset: one double. It reads the variables as they were
                  ///< before the updates of its run
  Reset reset;    ///< begins anew
};

namespace op {

// One node a statement: the order of operands in a call is the compiler's, and the fingerprint would depend on it.

/// a / b in double, 0 where b is 0. Inputs: numbers of two types and one shape.
struct ratio : composition<7> {
  static constexpr const char* name = "ratio";
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {dtype::float64, a.in[0].dims};
    return nullptr;
  }
  static constexpr ir::node_id of(auto& e, ir::node_id a, ir::node_id b) {
    const ir::node_id above = e.emit_with(cast{}, ir::pack_attributes(dtype::float64), a);
    const ir::node_id below = e.emit_with(cast{}, ir::pack_attributes(dtype::float64), b);
    const ir::node_id nothing = e.emit(equal{}, below, ir::emit_constant(e.g, dtype::float64, 0));
    const ir::node_id safe = e.emit(select{}, nothing, ir::emit_constant(e.g, dtype::float64, 1), below);
    return e.emit(divide{}, above, safe);
  }
  static constexpr void expand(auto& e) { e.result = of(e, e.in(0), e.in(1)); }
};

/// How many elements are true, as int64.
struct count_true : composition<2> {
  static constexpr const char* name = "count_true";
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {dtype::int64, {}};
    return nullptr;
  }
  static constexpr void expand(auto& e) {
    const ir::attribute all = (ir::attribute{1} << e.in_spec(0).dims.rank) - 1;
    const ir::node_id ones = e.emit_with(cast{}, ir::pack_attributes(dtype::int64), e.in(0));
    e.result = e.emit_with(sum{}, ir::pack_attributes(all, ir::attribute{0}), ones);
  }
};

/// At each threshold, how many elements are above it where the labels are true (attribute 0) or not. Inputs: numbers,
/// labels of bool, counts [thresholds], whose shape is that of the result.
struct count_above : composition<24> {
  static constexpr const char* name = "count_above";
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[2];
    return nullptr;
  }
  static constexpr void expand(auto& e) {
    const auto number = [&e](double value) { return ir::emit_constant(e.g, dtype::float64, value); };
    const extent last = e.in_spec(2).dims[0] - 1;
    const ir::node_id at = positions::below(e, last + 1, dtype::float64);
    const ir::node_id even = e.emit(divide{}, at, number(static_cast<double>(last)));
    const ir::node_id first = e.emit(equal{}, at, number(0));
    const ir::node_id low = e.emit(select{}, first, number(-1e-7), even);
    const ir::node_id end = e.emit(equal{}, at, number(static_cast<double>(last)));
    const ir::node_id thresholds = e.emit(select{}, end, number(1 + 1e-7), low);
    const ir::node_id line = e.emit_with(reshape{}, ir::pack_attributes(dyn, 1), e.in(0));
    const ir::node_id p = e.emit_with(cast{}, ir::pack_attributes(dtype::float64), line);
    const ir::node_id above = e.emit(greater{}, p, thresholds);
    ir::node_id truth = e.emit_with(reshape{}, ir::pack_attributes(dyn, 1), e.in(1));
    if (e.attr(0) == 0) truth = e.emit(logical_not{}, truth);
    const ir::node_id both = e.emit(logical_and{}, above, truth);
    const ir::node_id ones = e.emit_with(cast{}, ir::pack_attributes(dtype::int64), both);
    e.result = e.emit_with(sum{}, ir::pack_attributes(ir::attribute{1}, ir::attribute{0}), ones);
  }
};

/// The area under the curve of true over false positives, by trapezia. Inputs: true and false positives at each
/// threshold, from low to high; the first threshold is below all.
struct area_under_curve : composition<24> {
  static constexpr const char* name = "area_under_curve";
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {dtype::float64, {}};
    return nullptr;
  }
  static constexpr void expand(auto& e) {
    const extent count = e.in_spec(0).dims[0];
    ir::node_id rates[2]{};
    for (int i = 0; i < 2; ++i) {
      const ir::node_id all = e.emit_with(slice{}, ir::pack_attributes(0, 1), e.in(i));
      rates[i] = ratio::of(e, e.in(i), e.emit(broadcast_like{}, all, e.in(i)));
    }
    const auto part = [&e](ir::node_id of, extent first, extent end) {
      return e.emit_with(slice{}, ir::pack_attributes(first, end), of);
    };
    const ir::node_id lower = part(rates[0], 0, count - 1);
    const ir::node_id heights = e.emit(add{}, lower, part(rates[0], 1, count));
    const ir::node_id left = part(rates[1], 0, count - 1);
    const ir::node_id widths = e.emit(subtract{}, left, part(rates[1], 1, count));
    const ir::node_id areas = e.emit(multiply{}, heights, widths);
    const ir::node_id twice = e.emit_with(sum{}, ir::pack_attributes(ir::attribute{1}, ir::attribute{0}), areas);
    e.result = e.emit(multiply{}, twice, ir::emit_constant(e.g, dtype::float64, 0.5));
  }
};

}  // namespace op

namespace diagnose {
/// There is one label for each element, a number or bool.
template <class P, class Y>
inline constexpr bool labels_fit_elements = compatible(P::value.dims, Y::value.dims) && Y::value.type != dtype::string;
}  // namespace diagnose

namespace detail {

template <class Update, class Result, class Reset>
[[nodiscard]] constexpr auto make_metric(const Update& update, const Result& result, const Reset& reset) {
  return metric<Update, Result, Reset>{update, result, reset};
}
template <class Place, class V, class E>
[[nodiscard]] constexpr auto count_into(const V& v, const E& e) {
  return make_node<op::assign_add, ir::attributes<0>{}, part<Place, 1>>(
      v, make_node<op::count_true, ir::attributes<0>{}, part<Place, 0>>(e));
}
/// Elements as bool.
template <class Place, class E>
[[nodiscard]] constexpr auto as_bool(const E& e) {
  if constexpr (E::spec.type == dtype::boolean)
    return e;
  else
    return make_node<op::cast, ir::pack_attributes(dtype::boolean), Place>(e);
}
/// Of all elements of `hits`, the share that is true.
template <fixed_string Name, class Place, class Hits>
[[nodiscard]] constexpr auto share_of_hits(const Hits& hits) {
  const auto total = variable<Name / "total", std::int64_t>(zeros, not_trainable);
  const auto count = variable<Name / "count", std::int64_t>(zeros, not_trainable);
  const auto all = make_filled<part<Place, 0>, bits_of(1)>(hits);
  const auto update = group(count_into<part<Place, 1>>(total, hits), count_into<part<Place, 2>>(count, all));
  return make_metric(update, make_node<op::ratio, ir::attributes<0>{}, part<Place, 3>>(total, count),
                     group(initialize(total), initialize(count)));
}
/// Hits among those that `of` names; `other` with them makes them all.
template <fixed_string Name, fixed_string Other, bool Positive, class Place, class P, class Y>
[[nodiscard]] constexpr auto share_of_positives(const P& probabilities, const Y& labels, double threshold) {
  using T = typename P::element_type;
  const auto positive = step<op::greater, Place, 0>(probabilities, named_literal<Name / "threshold", T>(threshold));
  const auto truth = as_bool<part<Place, 1>>(labels);
  const auto hits = variable<Name / "true_positives", std::int64_t>(zeros, not_trainable);
  const auto misses = variable<Name / Other, std::int64_t>(zeros, not_trainable);
  const auto both = step<op::logical_and, Place, 2>(positive, truth);
  const auto wrong = [&] {
    if constexpr (Positive)
      return step<op::logical_and, Place, 4>(positive, step<op::logical_not, Place, 3>(truth));
    else
      return step<op::logical_and, Place, 4>(truth, step<op::logical_not, Place, 3>(positive));
  }();
  const auto update = group(count_into<part<Place, 5>>(hits, both), count_into<part<Place, 6>>(misses, wrong));
  return make_metric(
      update, make_node<op::ratio, ir::attributes<0>{}, part<Place, 8>>(hits, step<op::add, Place, 7>(hits, misses)),
      group(initialize(hits), initialize(misses)));
}

}  // namespace detail

/// One label for each element.
#define TAGMA_NEEDS_TRUTH(Who, P, Y)                                                                  \
  TAGMA_NEEDS_FLOATS(typename P::spec_type);                                                          \
  static_assert(::tagma::diagnose::labels_fit_elements<typename P::spec_type, typename Y::spec_type>, \
                "TAGMA-E140 " Who ": probabilities and labels need the same shape, and labels are no strings")

/// Metrics that accumulate over batches. Each returns a `metric`: `update` is run for every batch, by itself or beside
/// what trains or evaluates; `result` is one double; `reset` begins anew. They keep integers and doubles in variables
/// that are not trainable and that a session, its checkpoints and scopes have as others.
///
///     auto right = tagma::metrics::accuracy<"accuracy">(logits, label);
///     auto program = tagma::compile([=] { return tagma::outputs(right.update, right.result, right.reset); });
namespace metrics {

/// The mean of all elements of all batches, 0 if there were none: "<Name>/total" (double) over "<Name>/count" (int64).
/// @param values numbers, of any shape: losses, for example
/// Raises TAGMA-E016 for bool and strings.
template <fixed_string Name, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto mean(const E& values) {
  TAGMA_NEEDS_NAME("metrics::mean", Name);
  TAGMA_NEEDS_NUMBERS(typename E::spec_type);
  if constexpr (diagnose::is_number<typename E::spec_type>) {
    const auto total = variable<Name / "total", double>(zeros, not_trainable);
    const auto count = variable<Name / "count", std::int64_t>(zeros, not_trainable);
    constexpr auto all_axes = ir::pack_attributes((1 << E::rank) - 1, 0);
    const auto wide = detail::make_node<op::cast, ir::pack_attributes(dtype::float64), detail::part<Place, 0>>(values);
    const auto sum = detail::make_node<op::sum, all_axes, detail::part<Place, 1>>(wide);
    const auto ones = detail::make_node<op::broadcast_like, ir::attributes<0>{}, detail::part<Place, 2>>(
        detail::make_constant<bool, detail::bits_of(1)>(), values);
    const auto added = detail::make_node<op::assign_add, ir::attributes<0>{}, detail::part<Place, 4>>(total, sum);
    const auto update = group(added, detail::count_into<detail::part<Place, 5>>(count, ones));
    return detail::make_metric(update,
                               detail::make_node<op::ratio, ir::attributes<0>{}, detail::part<Place, 6>>(total, count),
                               group(initialize(total), initialize(count)));
  }
}

/// The share of rows whose largest element is at the label; of equal ones, the first counts. "<Name>/total" and
/// "<Name>/count", int64.
/// @param predictions [..., classes], numbers: logits or probabilities
/// @param labels [...], integers
/// Raises TAGMA-E043 if the labels do not fit.
template <fixed_string Name, expression P, expression Y, class Place = TAGMA_FRESH_TYPE(P)>
[[nodiscard]] constexpr auto accuracy(const P& predictions, const Y& labels) {
  TAGMA_NEEDS_NAME("metrics::accuracy", Name);
  constexpr bool fits = diagnose::labels_fit_logits<typename P::spec_type, typename Y::spec_type>;
  static_assert(diagnose::labels_fit_logits<typename P::spec_type, typename Y::spec_type>,
                "TAGMA-E043 metrics::accuracy: needs one integer label for each row of predictions");
  if constexpr (fits) return detail::share_of_hits<Name, Place>(equal(argmax(predictions), labels));
}

/// The share of rows whose label is among the `K` largest elements; of equal ones, lower positions come first.
/// "<Name>/total" and "<Name>/count", int64.
/// @tparam K 1 to the number of classes
/// @param predictions [..., classes], numbers
/// @param labels [...], integers
/// Raises TAGMA-E043 if the labels do not fit, TAGMA-E111 for too large a `K`.
template <fixed_string Name, int K, expression P, expression Y, class Place = TAGMA_FRESH_TYPE(P)>
[[nodiscard]] constexpr auto top_k_accuracy(const P& predictions, const Y& labels) {
  TAGMA_NEEDS_NAME("metrics::top_k_accuracy", Name);
  constexpr bool fits = diagnose::labels_fit_logits<typename P::spec_type, typename Y::spec_type>;
  static_assert(diagnose::labels_fit_logits<typename P::spec_type, typename Y::spec_type>,
                "TAGMA-E043 metrics::top_k_accuracy: needs one integer label for each row of predictions");
  if constexpr (fits)
    return detail::share_of_hits<Name, Place>(any<-1>(equal(top_k_indices<K>(predictions), expand_dims<-1>(labels))));
}

/// Of the elements that are taken for positive, the share that is: true positives over true and false positives, 0
/// without any. "<Name>/true_positives" and "<Name>/false_positives", int64.
/// @param probabilities floating, of any shape
/// @param labels of the same shape, bool or numbers, of which 0 is negative
/// @param threshold what is above it is taken for positive
/// Raises TAGMA-E140 if the labels have another shape, TAGMA-E014.
template <fixed_string Name, expression P, expression Y, class Place = TAGMA_FRESH_TYPE(P)>
[[nodiscard]] constexpr auto precision(const P& probabilities, const Y& labels, double threshold = 0.5) {
  TAGMA_NEEDS_NAME("metrics::precision", Name);
  TAGMA_NEEDS_TRUTH("metrics::precision", P, Y);
  if constexpr (diagnose::labels_fit_elements<typename P::spec_type, typename Y::spec_type>)
    return detail::share_of_positives<Name, "false_positives", true, Place>(probabilities, labels, threshold);
}

/// Of the elements that are positive, the share that is taken for it: true positives over true positives and false
/// negatives, 0 without any. "<Name>/true_positives" and "<Name>/false_negatives", int64. The rest is as for
/// `precision`.
template <fixed_string Name, expression P, expression Y, class Place = TAGMA_FRESH_TYPE(P)>
[[nodiscard]] constexpr auto recall(const P& probabilities, const Y& labels, double threshold = 0.5) {
  TAGMA_NEEDS_NAME("metrics::recall", Name);
  TAGMA_NEEDS_TRUTH("metrics::recall", P, Y);
  if constexpr (diagnose::labels_fit_elements<typename P::spec_type, typename Y::spec_type>)
    return detail::share_of_positives<Name, "false_negatives", false, Place>(probabilities, labels, threshold);
}

/// The area under the curve of the share of true positives over that of false ones (ROC), by trapezia between
/// thresholds, as Keras has it: -1e-7, 1 / (Thresholds - 1) and so on, 1 + 1e-7. "<Name>/true_positives" and
/// "<Name>/false_positives", int64 [Thresholds].
/// @tparam Thresholds 2 or more (TAGMA-E002), 200 if it is not given
/// @param probabilities from 0 to 1, floating, of any shape
/// @param labels of the same shape, bool or numbers, of which 0 is negative
/// Raises TAGMA-E140 if the labels have another shape, TAGMA-E014.
template <fixed_string Name, extent Thresholds = 200, expression P, expression Y, class Place = TAGMA_FRESH_TYPE(P)>
[[nodiscard]] constexpr auto auc(const P& probabilities, const Y& labels) {
  TAGMA_NEEDS_NAME("metrics::auc", Name);
  TAGMA_NEEDS_TRUTH("metrics::auc", P, Y);
  static_assert(Thresholds >= 2, "TAGMA-E002 metrics::auc: needs two thresholds at least");
  if constexpr (Thresholds >= 2 && diagnose::labels_fit_elements<typename P::spec_type, typename Y::spec_type>) {
    const auto truth = detail::as_bool<detail::part<Place, 0>>(labels);
    const auto hits = variable<Name / "true_positives", std::int64_t, Thresholds>(zeros, not_trainable);
    const auto misses = variable<Name / "false_positives", std::int64_t, Thresholds>(zeros, not_trainable);
    const auto right = detail::make_node<op::count_above, ir::pack_attributes(true), detail::part<Place, 1>>(
        probabilities, truth, hits);
    const auto wrong = detail::make_node<op::count_above, ir::pack_attributes(false), detail::part<Place, 2>>(
        probabilities, truth, misses);
    const auto update =
        group(detail::make_node<op::assign_add, ir::attributes<0>{}, detail::part<Place, 3>>(hits, right),
              detail::make_node<op::assign_add, ir::attributes<0>{}, detail::part<Place, 4>>(misses, wrong));
    return detail::make_metric(
        update, detail::make_node<op::area_under_curve, ir::attributes<0>{}, detail::part<Place, 5>>(hits, misses),
        group(initialize(hits), initialize(misses)));
  }
}

}  // namespace metrics

}  // namespace tagma

#undef TAGMA_NEEDS_TRUTH
