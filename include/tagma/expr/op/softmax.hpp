// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Softmax, its logarithm, and cross entropy of logits, over the last axis.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/composition.hpp"
#include "tagma/expr/op/reduce.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {

namespace diagnose {
/// Labels are integers, one for each row of logits.
template <class Logits, class Labels>
inline constexpr bool labels_fit_logits =
    is_integer(Labels::value.type) && Logits::value.dims.rank == Labels::value.dims.rank + 1 &&
    compatible(Logits::value.dims.sub(0, Labels::value.dims.rank), Labels::value.dims);
/// Both tensors have one shape.
template <class A, class B>
inline constexpr bool same_shape = compatible(A::value.dims, B::value.dims);
}  // namespace diagnose

namespace op {

/// Base of the tags of operations that map rows of the last axis to rows.
struct row_operation {
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr std::uint8_t in_place = 0b1;
  static constexpr void takes(auto& t) { t.floats(1), t.rule("TAGMA-E025"), t.axes(0, 1); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    return a.out.dims.rank == 0 ? "needs at least one axis" : nullptr;
  }
  /// Sums over the last axis, kept with extent 1.
  static constexpr ir::node_id row_sum(auto& g, ir::node_id value) {
    const ir::attribute last = ir::attribute{1} << (g.g.spec(value).dims.rank - 1);
    return g.emit_with(sum{}, ir::pack_attributes(last, last), value);
  }
};

/// exp(x) / sum(exp(x)) over the last axis, computed after subtracting the maximum.
struct softmax : row_operation {
  static constexpr const char* name = "softmax";
  static constexpr void gradient(auto& g) {
    const auto weighted = g.emit(multiply{}, g.upstream, g.self);
    const auto total = row_sum(g, weighted);
    g.set(0, g.emit(multiply{}, g.emit(subtract{}, g.upstream, total), g.self));
  }
};

/// x - log(sum(exp(x))) over the last axis.
struct log_softmax : row_operation {
  static constexpr const char* name = "log_softmax";
  static constexpr void gradient(auto& g) {
    const auto total = row_sum(g, g.upstream);
    g.set(0, g.emit(subtract{}, g.upstream, g.emit(multiply{}, g.emit(exp{}, g.self), total)));
  }
};

/// (softmax(logits) - one_hot(labels)) * upstream, row by row.
struct sparse_softmax_cross_entropy_gradient {
  static constexpr const char* name = "sparse_softmax_cross_entropy_gradient";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr std::uint8_t in_place = 0b1;
  static constexpr void takes(auto& t) {
    t.inputs(3), t.float_at(0), t.rule("TAGMA-E043"), t.axes(0, 1), t.integer_at(1), t.alike(2);
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    const shape rows = a.out.dims.sub(0, a.out.dims.rank - 1);
    return compatible(rows, a.in[1].dims) && compatible(rows, a.in[2].dims)
               ? nullptr
               : "labels and gradients need one element for each row of logits";
  }
  static constexpr void gradient(auto& g) {
    // d/dlogits: with p = softmax, rows u_i * (diag(p) - p p^T) applied to the new upstream; d/du: its row sum with (p
    // - y).
    const auto p = g.emit(softmax{}, g.in(0));
    const auto wide = [&g](ir::node_id row) {
      return g.emit_with(expand_dims{}, ir::pack_attributes(ir::attribute{1} << g.g.spec(row).dims.rank), row);
    };
    const auto total = row_operation::row_sum(g, g.emit(multiply{}, g.upstream, p));
    const auto through = g.emit(multiply{}, p, g.emit(subtract{}, g.upstream, total));
    g.set(0, g.emit(multiply{}, through, wide(g.in(2))));
    const auto ones = g.emit(broadcast_like{}, g.constant(1), g.in(1));
    const auto difference = g.emit(sparse_softmax_cross_entropy_gradient{}, g.in(0), g.in(1), ones);
    const ir::attribute last = ir::attribute{1} << (g.in_spec(0).dims.rank - 1);
    g.set(2,
          g.emit_with(sum{}, ir::pack_attributes(last, ir::attribute{0}), g.emit(multiply{}, g.upstream, difference)));
  }
};

/// -log(softmax(logits)[label]), row by row.
struct sparse_softmax_cross_entropy {
  static constexpr const char* name = "sparse_softmax_cross_entropy";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr void takes(auto& t) {
    t.inputs(2), t.float_at(0), t.rule("TAGMA-E043"), t.axes(0, 1), t.integer_at(1);
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {a.in[0].type, a.in[0].dims.sub(0, a.in[0].dims.rank - 1)};
    return compatible(a.out.dims, a.in[1].dims) ? nullptr : "labels need one element for each row of logits";
  }
  static constexpr void gradient(auto& g) {
    g.set(0, g.emit(sparse_softmax_cross_entropy_gradient{}, g.in(0), g.in(1), g.upstream));
  }
};

/// -sum(p * log_softmax(logits)), row by row.
struct softmax_cross_entropy : composition<4> {
  static constexpr const char* name = "softmax_cross_entropy";
  static constexpr void takes(auto& t) {
    t.floats(2), t.rule("TAGMA-E141"), t.axes(0, 1), t.rule("TAGMA-E140");
    t.needs(compatible(t.in(0).dims, t.in(1).dims), "predictions and labels need the same shape");
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {a.in[0].type, a.in[0].dims.sub(0, a.in[0].dims.rank - 1)};
    return nullptr;
  }
  static constexpr void expand(auto& e) {
    const ir::node_id weighted = e.emit(multiply{}, e.in(1), e.emit(log_softmax{}, e.in(0)));
    const ir::attribute last = ir::attribute{1} << (e.in_spec(0).dims.rank - 1);
    e.result = e.emit(negate{}, e.emit_with(sum{}, ir::pack_attributes(last, ir::attribute{0}), weighted));
  }
};

}  // namespace op

/// exp(x) / sum(exp(x)) over the last axis. Raises TAGMA-E014 for an element type that is not floating, TAGMA-E025 for
/// a scalar.
inline constexpr auto softmax = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    static_assert(E::rank > 0, "TAGMA-E025 softmax: needs at least one axis");
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    if constexpr (E::rank > 0) return detail::make_node<op::softmax, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("softmax", E);
  }
};
/// The logarithm of softmax over the last axis, without overflow. Raises TAGMA-E014 for an element type that is not
/// floating, TAGMA-E025 for a scalar.
inline constexpr auto log_softmax = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    static_assert(E::rank > 0, "TAGMA-E025 log_softmax: needs at least one axis");
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    if constexpr (E::rank > 0) return detail::make_node<op::log_softmax, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("log_softmax", E);
  }
};

/// The cross entropy of each row of logits with the class that its label names.
/// @param logits [..., classes], floating
/// @param labels [...], integers from 0 to classes - 1; another value is an error at run time
/// @return [...]
/// Raises TAGMA-E043 if the labels do not fit.
template <expression L, expression Y, class Place = TAGMA_FRESH_TYPE(L)>
[[nodiscard]] constexpr auto sparse_softmax_cross_entropy(const L& logits, const Y& labels) {
  using x = typename L::spec_type;
  using y = typename Y::spec_type;
  static_assert(diagnose::labels_fit_logits<x, y>,
                "TAGMA-E043 sparse_softmax_cross_entropy: needs one integer label for each row of logits");
  TAGMA_NEEDS_FLOATS(x);
  if constexpr (diagnose::labels_fit_logits<x, y> && diagnose::is_floating_point<x>)
    return detail::make_node<op::sparse_softmax_cross_entropy, ir::attributes<0>{}, Place>(logits, labels);
}

/// The cross entropy of each row of logits with a row of probabilities: -sum(p * log_softmax(logits)).
/// @param logits [..., classes]
/// @param probabilities the same shape and element type
/// @return [...]
/// Raises TAGMA-E025 for a scalar, TAGMA-E010 and TAGMA-E043 if the probabilities do not fit.
template <expression L, expression P, class Place = TAGMA_FRESH_TYPE(L)>
[[nodiscard]] constexpr auto softmax_cross_entropy(const L& logits, const P& probabilities) {
  using x = typename L::spec_type;
  using y = typename P::spec_type;
  static_assert(diagnose::same_shape<x, y>,
                "TAGMA-E043 softmax_cross_entropy: probabilities need the shape of the logits");
  static_assert(diagnose::same_element_type<x, y>,
                "TAGMA-E010 softmax_cross_entropy: probabilities need the element type of the logits");
  static_assert(L::rank > 0, "TAGMA-E025 softmax_cross_entropy: needs at least one axis");
  TAGMA_NEEDS_FLOATS(x);
  if constexpr (diagnose::same_shape<x, y> && diagnose::same_element_type<x, y> && L::rank > 0 &&
                diagnose::is_floating_point<x>)
    return detail::make_node<op::softmax_cross_entropy, ir::attributes<0>{}, Place>(logits, probabilities);
}

}  // namespace tagma
