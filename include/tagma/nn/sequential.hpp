// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Layers behind one another, and recurrent layers that read a sequence from both ends.

#include <tuple>

#include "tagma/base/config.hpp"
#include "tagma/expr/op/concat.hpp"
#include "tagma/expr/op/positions.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/expr/scope.hpp"

namespace tagma {

namespace detail {

/// Layers that wait for their operand.
template <class... Layer>
struct sequential_call {
  std::tuple<Layer...> layers;

  template <class E>
  [[nodiscard]] constexpr auto operator()(const E& e) const {
    return apply<0>(e);
  }

 private:
  template <std::size_t I, class E>
  [[nodiscard]] constexpr auto apply(const E& e) const {
    if constexpr (I == sizeof...(Layer))
      return e;
    else
      return apply<I + 1>(std::get<I>(layers)(e));
  }
};

/// A layer in both directions, which waits for its sequence.
template <fixed_string Name, class Layer>
struct bidirectional_call {
  Layer layer;

  template <expression X>
  [[nodiscard]] constexpr auto operator()(const X& x) const {
    static_assert(X::rank >= 2, "TAGMA-E020 bidirectional: the sequence has no second axis, of time");
    if constexpr (X::rank >= 2) {
      const auto forward = scope<Name / "forward">(layer)(x);
      const auto backward = scope<Name / "backward">(layer)(reverse<1>(x));
      if constexpr (decltype(backward)::rank == X::rank)
        return concat<-1>(forward, reverse<1>(backward));
      else
        return concat<-1>(forward, backward);
    }
  }
};

}  // namespace detail

/// Layers in turn: `sequential(f, g, h)(x)` is h(g(f(x))).
///
///     auto model = tagma::sequential([](const auto& x) { return tagma::dense<"hidden", 16>(x, tagma::relu); },
///                                    [](const auto& h) { return tagma::dense<"logits", 3>(h); });
///
/// @param layers functions of one expression; activations, such as `relu`, are some
/// @return a function of one expression, which can be a layer again
template <class... Layer>
[[nodiscard]] constexpr auto sequential(const Layer&... layers) {
  return detail::sequential_call<std::decay_t<const Layer>...>{{layers...}};
}

/// A recurrent layer that reads the sequence from its beginning, and another from its end; what both return, side by
/// side along the last axis. Schuster and Paliwal 1997. The outputs of all steps stand at the steps to which they
/// belong, [batch, time, 2 * units]; of last outputs, that of the second layer has read the first step last,
/// [batch, 2 * units].
///
///     auto both = tagma::bidirectional<"both">([](const auto& x) { return tagma::lstm<"lstm", 16>(x); })(sequence);
///
/// has the variables of the layer in the scopes "<Name>/forward" and "<Name>/backward":
/// "both/forward/lstm/kernel" and so on.
/// @param layer a function of a sequence, [batch, time, features]
/// Raises TAGMA-E020 for a sequence without a second axis, and what the layer raises.
template <fixed_string Name, class Layer>
[[nodiscard]] constexpr auto bidirectional(const Layer& layer) {
  TAGMA_NEEDS_NAME("bidirectional", Name);
  return detail::bidirectional_call<Name, std::decay_t<const Layer>>{layer};
}

}  // namespace tagma
