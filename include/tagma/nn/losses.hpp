// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Losses composed of elementary functions: one handle each. Predictions come first, then labels of the same shape and
/// element type. The cross entropies over classes are operations of their own, in expr/op/softmax.hpp.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/composition.hpp"
#include "tagma/expr/op/constant.hpp"
#include "tagma/expr/op/softmax.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {

namespace diagnose {
/// A loss over the last axis has one.
template <class Predictions>
inline constexpr bool has_last_axis = Predictions::value.dims.rank > 0;
}  // namespace diagnose

namespace op {

// One node a statement: the order of operands in a call is the compiler's, and the fingerprint would depend on it.

/// Base of losses: predictions and labels of one shape.
struct loss : composition<8> {
  static constexpr void takes(auto& t) { t.floats(2), takes_labels(t); }
  static constexpr void takes_labels(auto& t) {
    t.rule("TAGMA-E140");
    t.needs(compatible(t.in(0).dims, t.in(1).dims), "predictions and labels need the same shape");
  }
};
/// Base of the losses whose result is one number.
struct mean_loss : loss {
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {a.in[0].type, {}};
    return nullptr;
  }
  static constexpr ir::attribute all_axes(auto& e, ir::node_id value) {
    return (ir::attribute{1} << e.g.spec(value).dims.rank) - 1;
  }
  static constexpr ir::node_id sum_of_all(auto& e, ir::node_id value) {
    return e.emit_with(sum{}, ir::pack_attributes(all_axes(e, value), 0), value);
  }
  static constexpr ir::node_id mean_of_all(auto& e, ir::node_id value) {
    return mean::of(e, value, all_axes(e, value), 0);
  }
};
/// Base of the losses that sum over the last axis.
struct row_loss : loss {
  static constexpr void takes(auto& t) { loss::takes(t), t.rule("TAGMA-E141"), t.axes(0, 1); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {a.in[0].type, a.in[0].dims.sub(0, a.in[0].dims.rank - 1)};
    return nullptr;
  }
  static constexpr ir::node_id sum_of_rows(auto& e, ir::node_id value) {
    const ir::attribute last = ir::attribute{1} << (e.g.spec(value).dims.rank - 1);
    return e.emit_with(sum{}, ir::pack_attributes(last, ir::attribute{0}), value);
  }
};

struct mean_squared_error : mean_loss {
  static constexpr const char* name = "mean_squared_error";
  static constexpr void expand(auto& e) {
    e.result = mean_of_all(e, e.emit(square{}, e.emit(subtract{}, e.in(0), e.in(1))));
  }
};
struct mean_absolute_error : mean_loss {
  static constexpr const char* name = "mean_absolute_error";
  static constexpr void expand(auto& e) {
    e.result = mean_of_all(e, e.emit(abs{}, e.emit(subtract{}, e.in(0), e.in(1))));
  }
};
/// Input 2, if there is one, is delta.
struct huber_loss : mean_loss {
  static constexpr const char* name = "huber_loss";
  static constexpr void takes(auto& t) {
    t.inputs(2, 3), t.float_at(0), t.all_alike(), takes_labels(t);
    if (t.count() == 3) t.scalar(2);
  }
  static constexpr void expand(auto& e) {
    const ir::node_id delta = e.inputs.size() == 2 ? e.constant(1) : e.in(2);
    const ir::node_id size = e.emit(abs{}, e.emit(subtract{}, e.in(0), e.in(1)));
    const ir::node_id near = e.emit(minimum{}, size, delta);
    const ir::node_id far = e.emit(subtract{}, size, near);
    const ir::node_id half = e.constant(0.5);
    const ir::node_id curved = e.emit(multiply{}, half, e.emit(square{}, near));
    e.result = mean_of_all(e, e.emit(add{}, curved, e.emit(multiply{}, delta, far)));
  }
};
struct hinge_loss : mean_loss {
  static constexpr const char* name = "hinge_loss";
  static constexpr void expand(auto& e) {
    const ir::node_id one = e.constant(1);
    const ir::node_id side = e.emit(subtract{}, e.emit(multiply{}, e.constant(2), e.in(1)), one);
    const ir::node_id margin = e.emit(multiply{}, side, e.in(0));
    e.result = mean_of_all(e, e.emit(relu{}, e.emit(subtract{}, one, margin)));
  }
};
struct log_loss : mean_loss {
  static constexpr const char* name = "log_loss";
  static constexpr void expand(auto& e) {
    const ir::node_id one = e.constant(1);
    const ir::node_id tiny = e.constant(1e-7);
    const ir::node_id yes = e.emit(log{}, e.emit(add{}, e.in(0), tiny));
    const ir::node_id other = e.emit(add{}, e.emit(subtract{}, one, e.in(0)), tiny);
    const ir::node_id no = e.emit(log{}, other);
    const ir::node_id present = e.emit(multiply{}, e.in(1), yes);
    const ir::node_id absent = e.emit(multiply{}, e.emit(subtract{}, one, e.in(1)), no);
    e.result = e.emit(negate{}, mean_of_all(e, e.emit(add{}, present, absent)));
  }
};
struct cosine_distance : mean_loss {
  static constexpr const char* name = "cosine_distance";
  static constexpr void takes(auto& t) { row_loss::takes(t); }
  static constexpr void expand(auto& e) {
    const ir::node_id cosine = row_loss::sum_of_rows(e, e.emit(multiply{}, e.in(0), e.in(1)));
    e.result = mean_of_all(e, e.emit(subtract{}, e.constant(1), cosine));
  }
};
struct l2_loss : mean_loss {
  static constexpr const char* name = "l2_loss";
  static constexpr void takes(auto& t) { t.floats(1); }
  static constexpr void expand(auto& e) {
    const ir::node_id half = e.constant(0.5);
    e.result = e.emit(multiply{}, half, sum_of_all(e, e.emit(square{}, e.in(0))));
  }
};
struct sigmoid_cross_entropy : elementwise_composition<9> {
  static constexpr const char* name = "sigmoid_cross_entropy";
  static constexpr void takes(auto& t) { t.floats(2), loss::takes_labels(t); }
  static constexpr void expand(auto& e) {
    // One condition for both selections: at 0 the two halves of the gradient then add up to sigmoid(0) - z.
    const ir::node_id zero = e.constant(0);
    const ir::node_id positive = e.emit(greater_equal{}, e.in(0), zero);
    const ir::node_id above = e.emit(select{}, positive, e.in(0), zero);
    const ir::node_id minus_size = e.emit(select{}, positive, e.emit(negate{}, e.in(0)), e.in(0));
    const ir::node_id rest = e.emit(log1p{}, e.emit(exp{}, minus_size));
    const ir::node_id linear_part = e.emit(subtract{}, above, e.emit(multiply{}, e.in(0), e.in(1)));
    e.result = e.emit(add{}, linear_part, rest);
  }
};
struct kl_divergence : row_loss {
  static constexpr const char* name = "kl_divergence";
  static constexpr void expand(auto& e) {
    const ir::node_id tiny = e.constant(1e-7);
    const ir::node_id q = e.emit(maximum{}, e.in(0), tiny);
    const ir::node_id p = e.emit(maximum{}, e.in(1), tiny);
    const ir::node_id ratio = e.emit(log{}, e.emit(divide{}, p, q));
    e.result = sum_of_rows(e, e.emit(multiply{}, p, ratio));
  }
};

}  // namespace op

namespace detail {

/// True if a loss can be built: floating element types, equal, and shapes that agree.
template <class P, class L>
inline constexpr bool is_loss = diagnose::is_floating_point<operand<P>>&&
    diagnose::same_element_type<operand<P>, operand<L>>&& diagnose::same_shape<operand<P>, operand<L>>;
template <class P, class L>
inline constexpr bool is_row_loss = diagnose::has_last_axis<operand<P>>&& is_loss<P, L>;

/// Stands for a parameter that is not given.
struct default_delta {};

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
  if constexpr (detail::is_loss<P, L>)
    return detail::make_node<op::mean_squared_error, ir::attributes<0>{}, Place>(predictions, labels);
}

/// mean(|p - y|).
template <expression P, expression L, class Place = TAGMA_FRESH_TYPE(P)>
[[nodiscard]] constexpr auto mean_absolute_error(const P& predictions, const L& labels) {
  TAGMA_NEEDS_LABELS(P, L);
  if constexpr (detail::is_loss<P, L>)
    return detail::make_node<op::mean_absolute_error, ir::attributes<0>{}, Place>(predictions, labels);
}

/// d^2 / 2 where d = |p - y| is at most delta, else delta * (d - delta / 2); the mean of it. Huber 1964.
/// @param delta a positive number, 1 if it is not given
template <expression P, expression L, class D = detail::default_delta, class Place = TAGMA_FRESH_TYPE(P)>
[[nodiscard]] constexpr auto huber_loss(const P& predictions, const L& labels, const D& delta = {}) {
  using T = typename P::element_type;
  TAGMA_NEEDS_LABELS(P, L);
  if constexpr (detail::is_loss<P, L>) {
    if constexpr (std::is_same_v<D, detail::default_delta>)
      return detail::make_node<op::huber_loss, ir::attributes<0>{}, Place>(predictions, labels);
    else
      return detail::make_node<op::huber_loss, ir::attributes<0>{}, Place>(
          predictions, labels, detail::as_expression<T, detail::part<Place, 8>, 0>(delta));
  }
}

/// mean(max(0, 1 - s * p)), where s is -1 for label 0 and 1 for label 1.
template <expression P, expression L, class Place = TAGMA_FRESH_TYPE(P)>
[[nodiscard]] constexpr auto hinge_loss(const P& predictions, const L& labels) {
  TAGMA_NEEDS_LABELS(P, L);
  if constexpr (detail::is_loss<P, L>)
    return detail::make_node<op::hinge_loss, ir::attributes<0>{}, Place>(predictions, labels);
}

/// mean(-y * log(p + e) - (1 - y) * log(1 - p + e)) with e = 1e-7; p are probabilities.
template <expression P, expression L, class Place = TAGMA_FRESH_TYPE(P)>
[[nodiscard]] constexpr auto log_loss(const P& predictions, const L& labels) {
  TAGMA_NEEDS_LABELS(P, L);
  if constexpr (detail::is_loss<P, L>)
    return detail::make_node<op::log_loss, ir::attributes<0>{}, Place>(predictions, labels);
}

/// mean(1 - sum(p * y)), summed over the last axis, along which both are taken to have length 1.
/// Raises TAGMA-E141 for tensors without axes.
template <expression P, expression L, class Place = TAGMA_FRESH_TYPE(P)>
[[nodiscard]] constexpr auto cosine_distance(const P& predictions, const L& labels) {
  TAGMA_NEEDS_LABELLED_ROWS(P, L);
  if constexpr (detail::is_row_loss<P, L>)
    return detail::make_node<op::cosine_distance, ir::attributes<0>{}, Place>(predictions, labels);
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
  TAGMA_NEEDS_LABELS(P, L);
  if constexpr (detail::is_loss<P, L>)
    return detail::make_node<op::sigmoid_cross_entropy, ir::attributes<0>{}, Place>(logits, labels);
}

/// The divergence of each row of predicted probabilities q from its row of labels p: sum(p * log(p / q)) over the last
/// axis, both raised to at least 1e-7 first, as in Keras. Kullback and Leibler 1951.
/// @return [...], the shape without its last axis
/// Raises TAGMA-E010, TAGMA-E014, TAGMA-E140, TAGMA-E141.
template <expression P, expression L, class Place = TAGMA_FRESH_TYPE(P)>
[[nodiscard]] constexpr auto kl_divergence(const P& predictions, const L& labels) {
  TAGMA_NEEDS_LABELLED_ROWS(P, L);
  if constexpr (detail::is_row_loss<P, L>)
    return detail::make_node<op::kl_divergence, ir::attributes<0>{}, Place>(predictions, labels);
}

/// sum(x^2) / 2, for weight decay.
template <expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto l2_loss(const E& e) {
  TAGMA_NEEDS_FLOATS(typename E::spec_type);
  if constexpr (diagnose::is_floating_point<typename E::spec_type>)
    return detail::make_node<op::l2_loss, ir::attributes<0>{}, Place>(e);
}

}  // namespace tagma

#undef TAGMA_NEEDS_LABELLED_ROWS
#undef TAGMA_NEEDS_LABELS
