// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Layers of transformers, which name their variables: multi-head attention, blocks, and both over a cache of keys and
/// values for decoding step by step.

#include <tuple>

#include "tagma/base/config.hpp"
#include "tagma/expr/op/attention.hpp"
#include "tagma/expr/op/control.hpp"
#include "tagma/expr/op/gather.hpp"
#include "tagma/expr/op/state.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/nn/activations.hpp"
#include "tagma/nn/conv_layers.hpp"
#include "tagma/nn/layers.hpp"

namespace tagma {

/// What a block of a transformer is made of.
struct transformer_options {
  attention_options attention{};
  bool post_norm = false;  ///< normalises what is added up, as in 2017; else what goes into attention and dense layers
};

/// A layer that keeps what it has seen: what it computes, and the update that makes it forget.
template <expression Output, expression Reset>
struct decoding_layer {
  Output output;
  Reset reset;
};

namespace diagnose {
/// A memory has the batch and the element type of the input, and static features.
template <class X, class Memory>
inline constexpr bool is_memory = Memory::value.dims.rank == 3 &&
                                  Memory::value.type == X::value.type&& Memory::value.dims[2] >= 1 &&
                                  compatible(Memory::value.dims[0], X::value.dims[0]);
/// The steps of an input fit into a cache.
template <class X, extent Length>
inline constexpr bool is_cached = X::value.dims[0] != dyn&& X::value.dims[1] != dyn&& Length >= X::value.dims[1];
}  // namespace diagnose

namespace detail {

/// The features of queries, keys and values.
template <class X, attention_options Options>
inline constexpr extent attention_units = Options.units > 0 ? Options.units : X::spec.dims[2];
/// The features of an input can go through a layer of attention.
template <class X, extent Heads, attention_options Options>
inline constexpr bool is_attended = [] {
  if (X::spec.dims.rank != 3 || X::spec.dims[2] < 1 || Heads < 1) return false;
  return attention_units<X, Options> % ((Options.rotary ? 2 : 1) * Heads) == 0;
}();

/// Projections of an input: queries, keys or values.
template <fixed_string Name, extent Units, class Place, class X>
[[nodiscard]] constexpr auto project(const X& x) {
  return dense<Name, Units, X, std::remove_const_t<decltype(linear)>, std::remove_const_t<decltype(glorot_uniform)>,
               Place>(x, linear, glorot_uniform);
}
template <extent Heads, bool Rotary, class Place, class X, class... First>
[[nodiscard]] constexpr auto turned(const X& x, const First&... first) {
  if constexpr (Rotary)
    return make_node<op::rotary_embedding, ir::pack_attributes(Heads, 10000), Place>(x, first...);
  else
    return x;
}

template <fixed_string Name, extent Heads, attention_options Options, class Place, class X, class Memory, class... Mask>
[[nodiscard]] constexpr auto attend(const X& x, const Memory& memory, const Mask&... mask) {
  constexpr extent units = attention_units<X, Options>;
  const auto q = turned<Heads, Options.rotary, part<Place, 1>>(project<Name / "query", units, part<Place, 0>>(x));
  const auto k = turned<Heads, Options.rotary, part<Place, 3>>(project<Name / "key", units, part<Place, 2>>(memory));
  const auto v = project<Name / "value", units, part<Place, 4>>(memory);
  const auto mixed =
      make_node<op::attention, ir::pack_attributes(Heads, Options.causal), part<Place, 5>>(q, k, v, mask...);
  return project<Name / "output", X::spec.dims[2], part<Place, 6>>(mixed);
}

template <class E>
inline constexpr bool is_mask = E::spec.type == dtype::boolean;

}  // namespace detail

/// An input of a layer of attention.
#define TAGMA_NEEDS_ATTENDED(Who, X, Heads, Options)                                                         \
  static_assert(::tagma::detail::is_attended<X, Heads, Options>,                                             \
                "TAGMA-E295 " Who                                                                            \
                ": needs an input of shape [batch, time, features] with static features that the number of " \
                "heads divides, evenly if they are rotary");                                                 \
  TAGMA_NEEDS_FLOATS(typename X::spec_type)
#define TAGMA_NEEDS_MEMORY(X, Memory)                                                                                 \
  static_assert(::tagma::diagnose::is_memory<typename X::spec_type, typename Memory::spec_type>,                      \
                "TAGMA-E295 multi_head_attention: the memory needs the shape [batch, keys, features], the batch and " \
                "the element type of the input, and static features")
#define TAGMA_NEEDS_MASK(Who, X, Keys, Mask)                                                                           \
  static_assert(                                                                                                       \
      ::tagma::diagnose::is_attention_mask<typename X::spec_type, typename Keys::spec_type, typename Mask::spec_type>, \
      "TAGMA-E296 " Who ": the mask needs to be of bool, [batch, keys] or [batch, queries, keys]")

/// Multi-head attention, Vaswani et al. 2017:
///
///     q = x * query/kernel + query/bias, k and v likewise of the memory, or of x itself
///     y = [softmax(q_h * k_h^T / sqrt(units / Heads)) * v_h of each head h] * output/kernel + output/bias
///
/// with variables "<Name>/query/kernel" [features, units], "<Name>/query/bias" [units], "key" and "value" of the same
/// shapes, and "<Name>/output/kernel" [units, features], "<Name>/output/bias". Head h has columns h * depth to
/// (h + 1) * depth. `multi_head_attention<"a", 8, tagma::causal>(x)`
/// @tparam Options whether it is causal, whether positions are rotary, units (the features of `x`)
/// @param x [batch, time, features], floating, features static
/// @param memory what keys and values are made of, [batch, keys, any]; by default `x`
/// @param mask of bool, true for what is seen: [batch, keys] (padding is false), or [batch, time, keys]
/// @return the shape of `x`
/// Raises TAGMA-E295 for other shapes, TAGMA-E296 for another mask, TAGMA-E010, TAGMA-E014.
/// @{
template <fixed_string Name, extent Heads, attention_options Options = attention_options{}, expression X,
          class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto multi_head_attention(const X& x) {
  TAGMA_NEEDS_NAME("multi_head_attention", Name);
  TAGMA_NEEDS_ATTENDED("multi_head_attention", X, Heads, Options);
  if constexpr (detail::is_attended<X, Heads, Options> && diagnose::is_floating_point<typename X::spec_type>)
    return detail::attend<Name, Heads, Options, Place>(x, x);
}
/// With a memory, or a mask for the keys of `x`, whichever it is.
template <fixed_string Name, extent Heads, attention_options Options = attention_options{}, expression X,
          expression Other, class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto multi_head_attention(const X& x, const Other& other) {
  TAGMA_NEEDS_NAME("multi_head_attention", Name);
  TAGMA_NEEDS_ATTENDED("multi_head_attention", X, Heads, Options);
  if constexpr (detail::is_attended<X, Heads, Options> && diagnose::is_floating_point<typename X::spec_type>) {
    if constexpr (detail::is_mask<Other>) {
      TAGMA_NEEDS_MASK("multi_head_attention", X, X, Other);
      if constexpr (diagnose::is_attention_mask<typename X::spec_type, typename X::spec_type,
                                                typename Other::spec_type>)
        return detail::attend<Name, Heads, Options, Place>(x, x, other);
    } else {
      TAGMA_NEEDS_MEMORY(X, Other);
      if constexpr (diagnose::is_memory<typename X::spec_type, typename Other::spec_type>)
        return detail::attend<Name, Heads, Options, Place>(x, other);
    }
  }
}
template <fixed_string Name, extent Heads, attention_options Options = attention_options{}, expression X,
          expression Memory, expression Mask, class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto multi_head_attention(const X& x, const Memory& memory, const Mask& mask) {
  TAGMA_NEEDS_NAME("multi_head_attention", Name);
  TAGMA_NEEDS_ATTENDED("multi_head_attention", X, Heads, Options);
  if constexpr (detail::is_attended<X, Heads, Options> && diagnose::is_floating_point<typename X::spec_type>) {
    TAGMA_NEEDS_MEMORY(X, Memory);
    if constexpr (diagnose::is_memory<typename X::spec_type, typename Memory::spec_type>) {
      TAGMA_NEEDS_MASK("multi_head_attention", X, Memory, Mask);
      if constexpr (diagnose::is_attention_mask<typename X::spec_type, typename Memory::spec_type,
                                                typename Mask::spec_type>)
        return detail::attend<Name, Heads, Options, Place>(x, memory, mask);
    }
  }
}
/// Without a name, or with one that is no template argument: TAGMA-E181.
template <extent... Sizes, class... Rest>
auto multi_head_attention(detail::meant_as_input, const Rest&...) {
  TAGMA_NEEDS_SIZES("multi_head_attention", "<\"name\", 8>(x), for 8 heads", Rest...);
}
/// @}

namespace detail {

/// Normalisation in a block, with PyTorch's epsilon.
template <fixed_string Name, class Place, class E>
[[nodiscard]] constexpr auto block_norm(const E& e) {
  return layer_norm<Name, E, Place>(e, 1e-5);
}

/// A part of a block, with a normalisation and a way around it.
/// @tparam Parts of `Place` from this on
template <fixed_string Norm, bool PostNorm, class Place, int Parts, class X, class Layer, class After>
[[nodiscard]] constexpr auto make_sublayer(const X& x, const Layer& layer, const After& after) {
  if constexpr (PostNorm)
    return block_norm<Norm, part<Place, Parts>>(step<op::add, Place, Parts + 1>(x, after(layer(x))));
  else
    return step<op::add, Place, Parts + 1>(x, after(layer(block_norm<Norm, part<Place, Parts>>(x))));
}
/// The dense layers of a block.
template <fixed_string Name, extent Hidden, bool PostNorm, class Place, class X, class After>
[[nodiscard]] constexpr auto feed_forward(const X& x, const After& after) {
  const auto layers = [](const auto& e) {
    const auto wide = project<Name / "hidden", Hidden, part<Place, 2>>(e);
    return project<Name / "output", X::spec.dims[2], part<Place, 4>>(
        make_node<op::gelu, ir::attributes<0>{}, part<Place, 3>>(wide));
  };
  return make_sublayer<Name / "output_norm", PostNorm, Place, 5>(x, layers, after);
}
/// A block around whatever attention is given: a function of its input.
template <fixed_string Name, extent Hidden, bool PostNorm, class Place, class X, class Attention, class After>
[[nodiscard]] constexpr auto make_block(const X& x, const Attention& attention, const After& after) {
  const auto h = make_sublayer<Name / "attention_norm", PostNorm, Place, 0>(x, attention, after);
  return feed_forward<Name, Hidden, PostNorm, Place>(h, after);
}

}  // namespace detail

/// A block of a transformer: self-attention and two dense layers, each with a normalisation and a way around it.
///
///     h = x + attention(layer_norm(x))          post_norm: h = layer_norm(x + attention(x))
///     y = h + dense(gelu(dense(layer_norm(h)))) post_norm: y = layer_norm(h + dense(gelu(dense(h))))
///
/// with the variables of `multi_head_attention<Name / "attention", Heads>`, "<Name>/attention_norm/gamma" and "beta",
/// "<Name>/hidden/kernel" [features, Hidden] and "bias", "<Name>/output/kernel" [Hidden, features] and "bias",
/// "<Name>/output_norm/gamma" and "beta". The epsilon of the normalisations is 1e-5.
/// `transformer_block<"block", 4, 256, tagma::transformer_options{.attention = tagma::causal}>(x)`
/// @tparam Heads of the attention
/// @tparam Hidden units between the dense layers
/// @param x [batch, time, features], floating, features static
/// @param mask as that of `multi_head_attention`
/// @param after a function that is applied to what attention and dense layers return, before it is added:
///              `[](const auto& e) { return tagma::dropout(e, 0.1); }`
/// @return the shape of `x`
/// Raises what `multi_head_attention` does.
/// @{
template <fixed_string Name, extent Heads, extent Hidden, transformer_options Options = transformer_options{},
          expression X, class After = std::remove_const_t<decltype(linear)>, class Place = TAGMA_FRESH_TYPE(X)>
  requires(!expression<After>)
[[nodiscard]] constexpr auto transformer_block(const X& x, const After& after = linear) {
  TAGMA_NEEDS_NAME("transformer_block", Name);
  TAGMA_NEEDS_ATTENDED("transformer_block", X, Heads, Options.attention);
  if constexpr (detail::is_attended<X, Heads, Options.attention> && diagnose::is_floating_point<typename X::spec_type>)
    return detail::make_block<Name, Hidden, Options.post_norm, Place>(
        x,
        [](const auto& e) {
          return detail::attend<Name / "attention", Heads, Options.attention, detail::part<Place, 7>>(e, e);
        },
        after);
}
template <fixed_string Name, extent Heads, extent Hidden, transformer_options Options = transformer_options{},
          expression X, expression Mask, class After = std::remove_const_t<decltype(linear)>,
          class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto transformer_block(const X& x, const Mask& mask, const After& after = linear) {
  TAGMA_NEEDS_NAME("transformer_block", Name);
  TAGMA_NEEDS_ATTENDED("transformer_block", X, Heads, Options.attention);
  if constexpr (detail::is_attended<X, Heads, Options.attention> &&
                diagnose::is_floating_point<typename X::spec_type>) {
    TAGMA_NEEDS_MASK("transformer_block", X, X, Mask);
    if constexpr (diagnose::is_attention_mask<typename X::spec_type, typename X::spec_type, typename Mask::spec_type>)
      return detail::make_block<Name, Hidden, Options.post_norm, Place>(
          x,
          [&mask](const auto& e) {
            return detail::attend<Name / "attention", Heads, Options.attention, detail::part<Place, 7>>(e, e, mask);
          },
          after);
  }
}
/// Without a name, or with one that is no template argument: TAGMA-E181.
template <extent... Sizes, class... Rest>
auto transformer_block(detail::meant_as_input, const Rest&...) {
  TAGMA_NEEDS_SIZES("transformer_block", "<\"name\", 8, 2048>(x), for 8 heads and 2048 hidden units", Rest...);
}
/// @}

/// A block of a decoder: self-attention, attention to a memory, such as what an encoder made, and two dense layers,
/// each with a normalisation and a way around it.
///
///     h = x + attention(layer_norm(x))                     post_norm: the norm is around each sum
///     m = h + memory_attention(layer_norm(h), memory)
///     y = m + dense(gelu(dense(layer_norm(m))))
///
/// with the variables of `transformer_block`, those of `multi_head_attention<Name / "memory_attention", Heads>`, and
/// "<Name>/memory_norm/gamma" and "beta". Options of the attention are those of the self-attention; the memory is seen
/// whole. `transformer_decoder_block<"block", 4, 256, tagma::transformer_options{.attention = tagma::causal}>(x,
/// memory)`
/// @tparam Heads of both attentions
/// @tparam Hidden units between the dense layers
/// @param x [batch, time, features], floating, features static
/// @param memory [batch, keys, any]
/// @param after as that of `transformer_block`
/// @return the shape of `x`
/// Raises what `multi_head_attention` does.
template <fixed_string Name, extent Heads, extent Hidden, transformer_options Options = transformer_options{},
          expression X, expression Memory, class After = std::remove_const_t<decltype(linear)>,
          class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto transformer_decoder_block(const X& x, const Memory& memory, const After& after = linear) {
  TAGMA_NEEDS_NAME("transformer_decoder_block", Name);
  TAGMA_NEEDS_ATTENDED("transformer_decoder_block", X, Heads, Options.attention);
  if constexpr (detail::is_attended<X, Heads, Options.attention> &&
                diagnose::is_floating_point<typename X::spec_type>) {
    TAGMA_NEEDS_MEMORY(X, Memory);
    if constexpr (diagnose::is_memory<typename X::spec_type, typename Memory::spec_type>) {
      const auto h = detail::make_sublayer<Name / "attention_norm", Options.post_norm, Place, 0>(
          x,
          [](const auto& e) {
            return detail::attend<Name / "attention", Heads, Options.attention, detail::part<Place, 7>>(e, e);
          },
          after);
      const auto m = detail::make_sublayer<Name / "memory_norm", Options.post_norm, Place, 8>(
          h,
          [&memory](const auto& e) {
            return detail::attend<Name / "memory_attention", Heads, attention_options{.units = Options.attention.units},
                                  detail::part<Place, 10>>(e, memory);
          },
          after);
      return detail::feed_forward<Name, Hidden, Options.post_norm, Place>(m, after);
    }
  }
}

namespace detail {

/// The variables of a cache: keys and values, with the time first, so that steps are rows, and the position.
template <fixed_string Name, extent Length, attention_options Options, class X>
[[nodiscard]] constexpr auto make_cache() {
  using T = typename X::element_type;
  constexpr extent batch = X::spec.dims[0], units = attention_units<X, Options>;
  return std::tuple(variable<Name / "cached_keys", T, Length, batch, units>(zeros, not_trainable),
                    variable<Name / "cached_values", T, Length, batch, units>(zeros, not_trainable),
                    variable<Name / "position", std::int32_t>(zeros, not_trainable));
}
template <class Cache>
[[nodiscard]] constexpr auto forget(const Cache& cache) {
  return std::apply([](const auto&... v) { return group(initialize(v)...); }, cache);
}
/// Attention over what the cache has, and the steps that are added to it.
template <fixed_string Name, extent Heads, extent Length, attention_options Options, class Place, class X>
[[nodiscard]] constexpr auto attend_cached(const X& x) {
  constexpr extent steps = X::spec.dims[1], units = attention_units<X, Options>;
  const auto cache = make_cache<Name, Length, Options, X>();
  const auto old_keys = std::get<0>(cache);
  const auto old_values = std::get<1>(cache);
  const auto position = std::get<2>(cache);
  const auto q =
      turned<Heads, Options.rotary, part<Place, 1>>(project<Name / "query", units, part<Place, 0>>(x), position);
  const auto k =
      turned<Heads, Options.rotary, part<Place, 3>>(project<Name / "key", units, part<Place, 2>>(x), position);
  const auto v = project<Name / "value", units, part<Place, 4>>(x);
  const auto count = make_node<op::positions, ir::pack_attributes(1, dtype::int32), part<Place, 5>>(x);
  const auto rows = step<op::add, Place, 6>(count, position);
  constexpr auto swapped = ir::pack_attributes(1, 0, 2);
  const auto keys = make_node<op::scatter_add, ir::attributes<0>{}, part<Place, 8>>(
      old_keys, rows, make_node<op::transpose, swapped, part<Place, 7>>(k));
  const auto values = make_node<op::scatter_add, ir::attributes<0>{}, part<Place, 10>>(
      old_values, rows, make_node<op::transpose, swapped, part<Place, 9>>(v));
  // Step i sees what is at its row and before it; rows behind are zeros.
  const auto places = make_node<op::positions, ir::pack_attributes(0, dtype::int32), part<Place, 11>>(old_keys);
  const auto column = make_node<op::expand_dims, ir::pack_attributes(0b10), part<Place, 12>>(rows);
  const auto seen = make_node<op::expand_dims, ir::pack_attributes(0b1), part<Place, 14>>(
      step<op::less_equal, Place, 13>(places, column));
  const auto mixed = make_node<op::attention, ir::pack_attributes(Heads, 2), part<Place, 17>>(
      q, make_node<op::transpose, swapped, part<Place, 15>>(keys),
      make_node<op::transpose, swapped, part<Place, 16>>(values), seen);
  const auto on = make_node<op::assign_add, ir::attributes<0>{}, part<Place, 18>>(
      position, make_constant<std::int32_t, bits_of(steps)>());
  return after(on)(project<Name / "output", X::spec.dims[2], part<Place, 19>>(mixed));
}

template <class Output, class Reset>
[[nodiscard]] constexpr auto make_decoding(const Output& output, const Reset& reset) {
  return decoding_layer<Output, Reset>{output, reset};
}

}  // namespace detail

/// An input of a layer that keeps keys and values.
#define TAGMA_NEEDS_CACHED(Who, X, Length)                                   \
  static_assert(::tagma::diagnose::is_cached<typename X::spec_type, Length>, \
                "TAGMA-E003 " Who                                            \
                ": batch and time of the input must be static, and the cache at least as long, for it is a variable")

/// Causal `multi_head_attention` over all steps that the layer has seen in this session: for decoding, a few steps in
/// each run, where the keys and values of the steps before are kept. Its kernels and biases are the variables of
/// `multi_head_attention<Name, Heads, Options>`, trained with `causal`; it computes what that would for these steps.
/// Beside them are "<Name>/cached_keys" and "<Name>/cached_values" [Length, batch, units], and "<Name>/position", the
/// number of steps seen; they are not trainable. A run that computes the output moves the position on.
/// @tparam Length the most steps; one more is an error of the run, OutOfRange
/// @param x the next steps, [batch, steps, features], all static: one, or those of a prompt
/// @return `{output, reset}`: the shape of `x`, and the update that begins anew
/// Raises TAGMA-E003 for extents that vary, and what `multi_head_attention` does.
template <fixed_string Name, extent Heads, extent Length, attention_options Options = attention_options{}, expression X,
          class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto cached_attention(const X& x) {
  TAGMA_NEEDS_NAME("cached_attention", Name);
  TAGMA_NEEDS_ATTENDED("cached_attention", X, Heads, Options);
  if constexpr (detail::is_attended<X, Heads, Options> && diagnose::is_floating_point<typename X::spec_type>) {
    TAGMA_NEEDS_CACHED("cached_attention", X, Length);
    if constexpr (diagnose::is_cached<typename X::spec_type, Length>)
      return detail::make_decoding(detail::attend_cached<Name, Heads, Length, Options, Place>(x),
                                   detail::forget(detail::make_cache<Name, Length, Options, X>()));
  }
}

/// A `transformer_block` over all steps that it has seen in this session, as `cached_attention` is attention over them.
/// @tparam Length the most steps
/// @param x the next steps, [batch, steps, features], all static
/// @return `{output, reset}`
/// Raises what `cached_attention` does.
template <fixed_string Name, extent Heads, extent Hidden, extent Length,
          transformer_options Options = transformer_options{}, expression X, class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto cached_transformer_block(const X& x) {
  TAGMA_NEEDS_NAME("cached_transformer_block", Name);
  TAGMA_NEEDS_ATTENDED("cached_transformer_block", X, Heads, Options.attention);
  if constexpr (detail::is_attended<X, Heads, Options.attention> &&
                diagnose::is_floating_point<typename X::spec_type>) {
    TAGMA_NEEDS_CACHED("cached_transformer_block", X, Length);
    if constexpr (diagnose::is_cached<typename X::spec_type, Length>) {
      const auto output = detail::make_block<Name, Hidden, Options.post_norm, Place>(
          x,
          [](const auto& e) {
            return detail::attend_cached<Name / "attention", Heads, Length, Options.attention, detail::part<Place, 7>>(
                e);
          },
          linear);
      return detail::make_decoding(
          output, detail::forget(detail::make_cache<Name / "attention", Length, Options.attention, X>()));
    }
  }
}

}  // namespace tagma

#undef TAGMA_NEEDS_CACHED
#undef TAGMA_NEEDS_MASK
#undef TAGMA_NEEDS_MEMORY
#undef TAGMA_NEEDS_ATTENDED
