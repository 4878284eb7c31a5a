// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Elementary functions and activations, element by element, for floating element types.

#include "tagma/expr/op/arithmetic.hpp"

namespace tagma {
namespace op {

struct exp : elementwise {
  static constexpr std::string_view name = "exp";
  static constexpr void gradient(ir::gradient_args& g) { g.set(0, g.emit<multiply>(g.upstream, g.self)); }
};
struct log : elementwise {
  static constexpr std::string_view name = "log";
  static constexpr void gradient(ir::gradient_args& g) { g.set(0, g.emit<divide>(g.upstream, g.in(0))); }
};
struct log1p : elementwise {
  static constexpr std::string_view name = "log1p";
  static constexpr void gradient(ir::gradient_args& g) {
    g.set(0, g.emit<divide>(g.upstream, g.emit<add>(g.in(0), g.constant(1))));
  }
};
struct expm1 : elementwise {
  static constexpr std::string_view name = "expm1";
  static constexpr void gradient(ir::gradient_args& g) {
    g.set(0, g.emit<multiply>(g.upstream, g.emit<add>(g.self, g.constant(1))));
  }
};
struct sqrt : elementwise {
  static constexpr std::string_view name = "sqrt";
  static constexpr void gradient(ir::gradient_args& g) {
    g.set(0, g.emit<divide>(g.emit<multiply>(g.upstream, g.constant(0.5)), g.self));
  }
};
/// 1 / sqrt(x).
struct rsqrt : elementwise {
  static constexpr std::string_view name = "rsqrt";
  static constexpr void gradient(ir::gradient_args& g) {
    const auto cubed = g.emit<multiply>(g.self, g.emit<square>(g.self));
    g.set(0, g.emit<multiply>(g.upstream, g.emit<multiply>(g.constant(-0.5), cubed)));
  }
};
struct tanh : elementwise {
  static constexpr std::string_view name = "tanh";
  static constexpr void gradient(ir::gradient_args& g) {
    g.set(0, g.emit<multiply>(g.upstream, g.emit<subtract>(g.constant(1), g.emit<square>(g.self))));
  }
};
/// 1 / (1 + exp(-x)).
struct sigmoid : elementwise {
  static constexpr std::string_view name = "sigmoid";
  static constexpr void gradient(ir::gradient_args& g) {
    const auto slope = g.emit<multiply>(g.self, g.emit<subtract>(g.constant(1), g.self));
    g.set(0, g.emit<multiply>(g.upstream, slope));
  }
};
/// log(1 + exp(x)), without overflow.
struct softplus : elementwise {
  static constexpr std::string_view name = "softplus";
  static constexpr void gradient(ir::gradient_args& g) {
    g.set(0, g.emit<multiply>(g.upstream, g.emit<sigmoid>(g.in(0))));
  }
};
struct erf : elementwise {
  static constexpr std::string_view name = "erf";
  static constexpr void gradient(ir::gradient_args& g) {
    const auto bell = g.emit<exp>(g.emit<negate>(g.emit<square>(g.in(0))));
    g.set(0, g.emit<multiply>(g.upstream, g.emit<multiply>(g.constant(1.12837916709551257390), bell)));
  }
};
struct cos;
struct sin : elementwise {
  static constexpr std::string_view name = "sin";
  static constexpr void gradient(ir::gradient_args& g);
};
struct cos : elementwise {
  static constexpr std::string_view name = "cos";
  static constexpr void gradient(ir::gradient_args& g) {
    g.set(0, g.emit<negate>(g.emit<multiply>(g.upstream, g.emit<sin>(g.in(0)))));
  }
};
constexpr void sin::gradient(ir::gradient_args& g) { g.set(0, g.emit<multiply>(g.upstream, g.emit<cos>(g.in(0)))); }

/// x to the power y. The gradient by y is taken as zero where x is not positive.
struct power : elementwise {
  static constexpr std::string_view name = "power";
  static constexpr void gradient(ir::gradient_args& g) {
    const auto lower = g.emit<power>(g.in(0), g.emit<subtract>(g.in(1), g.constant(1)));
    g.set(0, g.emit<multiply>(g.upstream, g.emit<multiply>(g.in(1), lower)));
    const auto zero = g.constant(0);
    const auto positive = g.emit<greater>(g.in(0), zero);
    const auto logarithm = g.emit<log>(g.emit<select>(positive, g.in(0), g.constant(1)));
    g.set(1, g.emit<multiply>(g.upstream, g.emit<multiply>(g.self, logarithm)));
  }
};

/// `upstream` where the activation `y` is positive, else 0.
struct relu_gradient : elementwise {
  static constexpr std::string_view name = "relu_gradient";
  static constexpr void gradient(ir::gradient_args& g) { g.set(0, g.emit<relu_gradient>(g.upstream, g.in(1))); }
};
/// max(x, 0); the gradient at 0 is 0.
struct relu : elementwise {
  static constexpr std::string_view name = "relu";
  static constexpr void gradient(ir::gradient_args& g) { g.set(0, g.emit<relu_gradient>(g.upstream, g.self)); }
};

}  // namespace op

/// Elementary functions, element by element. Raise TAGMA-E014 for an element type that is not floating.
inline constexpr auto exp = []<expression E, class Place = TAGMA_FRESH_TYPE>(const E& e) {
  return detail::make_unary<op::exp, detail::accepts::floats, Place>(e);
};
inline constexpr auto log = []<expression E, class Place = TAGMA_FRESH_TYPE>(const E& e) {
  return detail::make_unary<op::log, detail::accepts::floats, Place>(e);
};
inline constexpr auto log1p = []<expression E, class Place = TAGMA_FRESH_TYPE>(const E& e) {
  return detail::make_unary<op::log1p, detail::accepts::floats, Place>(e);
};
inline constexpr auto expm1 = []<expression E, class Place = TAGMA_FRESH_TYPE>(const E& e) {
  return detail::make_unary<op::expm1, detail::accepts::floats, Place>(e);
};
inline constexpr auto sqrt = []<expression E, class Place = TAGMA_FRESH_TYPE>(const E& e) {
  return detail::make_unary<op::sqrt, detail::accepts::floats, Place>(e);
};
inline constexpr auto rsqrt = []<expression E, class Place = TAGMA_FRESH_TYPE>(const E& e) {
  return detail::make_unary<op::rsqrt, detail::accepts::floats, Place>(e);
};
inline constexpr auto tanh = []<expression E, class Place = TAGMA_FRESH_TYPE>(const E& e) {
  return detail::make_unary<op::tanh, detail::accepts::floats, Place>(e);
};
inline constexpr auto sigmoid = []<expression E, class Place = TAGMA_FRESH_TYPE>(const E& e) {
  return detail::make_unary<op::sigmoid, detail::accepts::floats, Place>(e);
};
inline constexpr auto softplus = []<expression E, class Place = TAGMA_FRESH_TYPE>(const E& e) {
  return detail::make_unary<op::softplus, detail::accepts::floats, Place>(e);
};
inline constexpr auto erf = []<expression E, class Place = TAGMA_FRESH_TYPE>(const E& e) {
  return detail::make_unary<op::erf, detail::accepts::floats, Place>(e);
};
inline constexpr auto sin = []<expression E, class Place = TAGMA_FRESH_TYPE>(const E& e) {
  return detail::make_unary<op::sin, detail::accepts::floats, Place>(e);
};
inline constexpr auto cos = []<expression E, class Place = TAGMA_FRESH_TYPE>(const E& e) {
  return detail::make_unary<op::cos, detail::accepts::floats, Place>(e);
};
inline constexpr auto power =
    []<class A, class B, class Place = TAGMA_FRESH_TYPE>(const A& a, const B& b) requires detail::operands<A, B> {
  return detail::make_checked_binary<op::power, detail::accepts::floats, Place>(a, b);
};

/// max(x, 0).
inline constexpr auto relu = []<expression E, class Place = TAGMA_FRESH_TYPE>(const E& e) {
  return detail::make_unary<op::relu, detail::accepts::floats, Place>(e);
};

}  // namespace tagma
