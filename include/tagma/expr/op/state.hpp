// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Updates of variables. Within one run, reads that are not ordered after an update see the value before it.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/elementwise.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/expr/variable.hpp"

namespace tagma {

namespace diagnose {
/// The first operand is a variable, not a computed tensor.
template <class E>
inline constexpr bool is_variable = E::record().op->info->is(ir::op_kind::variable);
/// A value has the shape of the variable it goes to; a plain number goes to one of rank 0.
template <class Variable, class Value>
inline constexpr bool fits_variable = Variable::value.dims.rank == 0;
template <class Variable, class T, extent... Extents>
inline constexpr bool fits_variable<Variable, spec<T, Extents...>> = compatible(Variable::value.dims,
                                                                                shape{Extents...});
}  // namespace diagnose

namespace op {

/// Base of the tags of updates: input 0 is the variable, the result its new value.
struct update {
  static constexpr ir::op_kind kind = ir::op_kind::update;
  static constexpr void takes_value(auto& t) { t.inputs(2), t.variable(0), t.alike(1), t.rule("TAGMA-E066"); }
  static constexpr bool stateful = true;
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    if (a.in.size() > 1 && !compatible(a.in[0].dims, a.in[1].dims))
      return "the value has another shape than the variable";
    return nullptr;
  }
};

struct assign : update {
  static constexpr const char* name = "assign";
  static constexpr bool overwrites = true;
  static constexpr void takes(auto& t) { takes_value(t), t.any_at(0); }
};
/// Attribute 0 is the kind of the initializer, attribute 1 the stream of its random numbers.
struct initialize : update {
  static constexpr const char* name = "initialize";
  static constexpr bool overwrites = true;
  static constexpr void takes(auto& t) {
    t.variable(0), t.no_strings(1), t.attribute("initializer", 0, 255), t.attribute("stream", 0, UINT32_MAX);
  }
};
struct assign_add : update {
  static constexpr const char* name = "assign_add";
  static constexpr void takes(auto& t) { takes_value(t), t.number_at(0); }
};
struct assign_sub : update {
  static constexpr const char* name = "assign_sub";
  static constexpr void takes(auto& t) { takes_value(t), t.number_at(0); }
};

/// Adds rows of input 2 to the rows of the variable that input 1 names.
struct scatter_add : update {
  static constexpr const char* name = "scatter_add";
  static constexpr void takes(auto& t) {
    t.inputs(3), t.variable(0), t.number_at(0), t.index_at(1), t.alike(2), t.rule("TAGMA-E109"), t.axes(0, 1);
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    shape expected = a.in[1].dims;
    if (expected.rank + a.out.dims.rank - 1 > max_rank) return "the updates would have more than six axes";
    for (int i = 1; i < a.out.dims.rank; ++i) expected.push_back(a.out.dims[i]);
    return compatible(expected, a.in[2].dims) ? nullptr : "the updates need one row for each index";
  }
};

}  // namespace op

namespace detail {

template <class Op, class Place, class V, class E>
[[nodiscard]] constexpr auto make_update(const V& v, const E& e) {
  if constexpr (diagnose::is_variable<V> && operands_agree<V, E> && diagnose::fits_variable<operand<V>, operand<E>>)
    return make_node<Op, ir::attributes<0>{}, Place>(v, as_expression<typename V::element_type, Place, 0>(e));
}

/// The initializer of a variable as a node; it knows what the variable knows of it.
template <class Id>
struct initialize_definition {
  static constexpr const ir::record* variable = find_record<Id>();
  static constexpr const ir::record* inputs[] = {variable};
  static constexpr auto attributes = ir::pack_attributes(variable->attributes[0], stream_of(variable->name, {}));
  static constexpr tensor_spec spec = variable->spec;
  static constexpr ir::record value{ir::rules_for<op::initialize, Id>,
                                    hash_combine(ir::rules_for<op::initialize, Id>->info->id, variable->hash),
                                    spec,
                                    inputs,
                                    {},
                                    attributes.list(),
                                    {},
                                    variable->valued,
                                    variable->carries,
                                    nullptr,
                                    nullptr,
                                    {},
                                    variable};
};

}  // namespace detail

/// The first operand is a variable that the second fits.
#define TAGMA_NEEDS_VARIABLE(V, E)                                                                             \
  static_assert(::tagma::diagnose::is_variable<V>, "TAGMA-E065 assign: the first operand must be a variable"); \
  static_assert(::tagma::diagnose::same_element_type<detail::operand<V>, detail::operand<E>>,                  \
                "TAGMA-E010 assign: the value needs the element type of the variable; use tagma::cast");       \
  static_assert(::tagma::diagnose::fits_variable<detail::operand<V>, detail::operand<E>>,                      \
                "TAGMA-E066 assign: the value needs the shape of the variable, a plain number rank 0");        \
  static_assert(::tagma::diagnose::numbers_fit<detail::operand<V>, detail::operand<E>>,                        \
                "TAGMA-E015 assign: the fraction of this number would be lost in a variable of integers")

/// Updates of a variable `v`: `assign` makes it `e`, `assign_add` v + e, `assign_sub` v - e; the result is the new
/// value. `e` is an expression of the variable's type and shape or, for a scalar variable, a number.
/// Raises TAGMA-E065 if `v` is no variable, TAGMA-E010 and TAGMA-E066 if type or shape differ, TAGMA-E016 for a sum of
/// bool.
/// @{
template <expression V, class E, class Place = TAGMA_FRESH_TYPE(V)>
[[nodiscard]] constexpr auto assign(const V& v, const E& e) {
  TAGMA_NEEDS_VARIABLE(V, E);
  return detail::make_update<op::assign, Place>(v, e);
}
template <expression V, class E, class Place = TAGMA_FRESH_TYPE(V)>
[[nodiscard]] constexpr auto assign_add(const V& v, const E& e) {
  TAGMA_NEEDS_NUMBERS(typename V::spec_type);
  TAGMA_NEEDS_VARIABLE(V, E);
  return detail::make_update<op::assign_add, Place>(v, e);
}
template <expression V, class E, class Place = TAGMA_FRESH_TYPE(V)>
[[nodiscard]] constexpr auto assign_sub(const V& v, const E& e) {
  TAGMA_NEEDS_NUMBERS(typename V::spec_type);
  TAGMA_NEEDS_VARIABLE(V, E);
  return detail::make_update<op::assign_sub, Place>(v, e);
}
/// @}

/// Gives a variable its initial value once more; the result is that value. The same bytes as at the start of the
/// session, since random ones are keyed by its seed and the name of the variable. In a session that was made without
/// `initialize`, the first value. Several: `group(initialize(a), initialize(b))`.
/// Raises TAGMA-E065 if `v` is no variable.
template <expression V, class Place = TAGMA_FRESH_TYPE(V)>
[[nodiscard]] constexpr auto initialize(const V& v) {
  static_assert(diagnose::is_variable<V>, "TAGMA-E065 initialize: the operand must be a variable");
  if constexpr (diagnose::is_variable<V>)
    return detail::make_handle<detail::initialize_definition<typename V::id>, Place>(v);
}

}  // namespace tagma

#undef TAGMA_NEEDS_VARIABLE
