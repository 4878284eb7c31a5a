// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Scalars written in place: `2.0f * x`. Their values are known when the program runs, their places when it compiles.

#include "tagma/expr/expression.hpp"
#include "tagma/expr/name.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {

namespace op {
/// A run-time scalar that the program carries.
struct literal {
  static constexpr const char* name = "literal";
  static constexpr ir::op_kind kind = ir::op_kind::literal;
  static constexpr void takes(auto& t) {
    t.inputs(0), t.given(), t.needs(t.out().type != dtype::none && t.out().dims.rank == 0, "is one element");
  }
  static constexpr const char* infer(ir::infer_args&) { return "literal: its type is given, not inferred"; }
};
}  // namespace op

namespace detail {

template <class T, std::uint64_t Hash, class Id>
struct literal_definition {
  static constexpr tensor_spec spec{dtype_of<T>, {}};
  static constexpr ir::record value{ir::rules_for<op::literal, T>, Hash, spec, {}, {}, {}, {}, true, true};
};
/// The same with a name.
template <class T, fixed_string Name>
struct named_literal_definition {
  static constexpr tensor_spec spec{dtype_of<T>, {}};
  static constexpr std::uint64_t hash =
      hash_combine(hash_combine(hash_text("literal"), hash_text(Name.view())), static_cast<std::uint64_t>(dtype_of<T>));
  static constexpr ir::record value{ir::rules_for<op::literal, T>, hash, spec, {}, {}, {}, Name.view(), true, true};
};

/// The handle of a scalar of type `T` that is told apart by `Id`.
template <class T, class Id, class Definition, class S>
[[nodiscard]] auto make_literal(S value) {
  using id = typename binding<Id, Definition>::id;
  return expr<spec<T>, id, true>{carried(static_cast<double>(value), static_cast<std::int64_t>(value))};
}

template <class T, class Place, int Index, class S>
[[nodiscard]] auto literal_at(S value) {
  constexpr std::uint64_t hash = with_seen_hash<Place>(hash_combine(
      hash_combine(hash_text("literal"), static_cast<std::uint64_t>(dtype_of<T>)), static_cast<std::uint64_t>(Index)));
  using id = std::conditional_t<is_no_place<Place>, structural_id<hash>, place_id<Place, Index + 1>>;
  return make_literal<T, id, literal_definition<T, hash, id>>(value);
}

/// The handle of a scalar of type `T` that is told apart by its name.
template <fixed_string Name, class T, class S>
[[nodiscard]] auto named_literal(S value) {
  using definition = named_literal_definition<T, Name>;
  return make_literal<T, structural_id<definition::hash>, definition>(value);
}

/// True for a C++ number that may stand where a tensor of element type `T` is expected: no fraction is lost.
template <class S>
concept scalar = std::is_arithmetic_v<S> || std::is_same_v<S, float16> || std::is_same_v<S, bfloat16>;

/// A handle as it is; a number as a literal of element type `T`.
template <class T, class Place, int Index, class E>
[[nodiscard]] constexpr decltype(auto) as_expression(const E& e) {
  if constexpr (expression<E>)
    return (e);
  else
    return literal_at<T, Place, Index>(e);
}

template <class E>
struct element_or_void {
  using type = void;
};
template <expression E>
struct element_or_void<E> {
  using type = typename E::element_type;
};

/// The element type of the first handle among the operands.
template <class A, class... B>
struct common_element {
  using type = typename element_or_void<A>::type;
};
template <class A, class B, class... C>
  requires(!expression<A>)
struct common_element<A, B, C...> {
  using type = typename common_element<B, C...>::type;
};

}  // namespace detail

/// A scalar with a name: its value is given when the program runs, and equal names are one node.
/// Raises TAGMA-E160.
template <fixed_string Name, class T>
[[nodiscard]] auto constant(T value) {
  TAGMA_NEEDS_NAME("constant", Name);
  return detail::named_literal<Name, T>(value);
}

}  // namespace tagma
