// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Attention of Vaswani et al. 2017 and rotary positions of Su et al. 2021, as compositions.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/arithmetic.hpp"
#include "tagma/expr/op/compare.hpp"
#include "tagma/expr/op/matmul.hpp"
#include "tagma/expr/op/positions.hpp"
#include "tagma/expr/op/softmax.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {

/// How attention looks at its keys.
struct attention_options {
  bool causal = false;  ///< query i sees keys 0 to i
  bool rotary = false;  ///< queries and keys are turned by `rotary_embedding`; layers only
  extent units = 0;     ///< features of queries, keys and values, of all heads together; 0: those of the input
};
/// Query i sees keys 0 to i: what decoders need.
inline constexpr attention_options causal{.causal = true};

namespace diagnose {
/// An input has the axes [batch, time, features], with static features that the heads divide.
template <class X, extent Heads>
inline constexpr bool is_for_heads =
    X::value.dims.rank == 3 && Heads >= 1 && X::value.dims[2] >= 1 && X::value.dims[2] % Heads == 0;
/// Pairs of features are turned, so each head has an even number of them.
template <class X, extent Heads>
inline constexpr bool has_pairs = is_for_heads<X, Heads>&& X::value.dims[2] % (2 * Heads) == 0;
/// Queries and keys have equal features, keys and values equal time, all one batch.
template <class Q, class K, class V, extent Heads>
inline constexpr bool fit_attention =
    is_for_heads<Q, Heads>&& is_for_heads<K, Heads>&& is_for_heads<V, Heads>&& compatible(Q::value.dims[0],
                                                                                          K::value.dims[0]) &&
    Q::value.dims[2] == K::value.dims[2] && compatible(K::value.dims[0], V::value.dims[0]) &&
    compatible(K::value.dims[1], V::value.dims[1]);
/// All of that, and one floating type.
template <class Q, class K, class V, extent Heads>
inline constexpr bool attends = one_element_type<Q, K, V>&& is_floating_point<Q>&& fit_attention<Q, K, V, Heads>;
/// A mask is of bool and says of each key, or of each pair of query and key, whether it is seen.
template <class Q, class K, class Mask>
inline constexpr bool is_attention_mask = [] {
  const shape &q = Q::value.dims, &k = K::value.dims, &m = Mask::value.dims;
  if (Mask::value.type != dtype::boolean || (m.rank != 2 && m.rank != 3)) return false;
  if (m[0] != 1 && !compatible(m[0], q[0])) return false;
  return compatible(m[m.rank - 1], k[1]) && (m.rank == 2 || m[1] == 1 || compatible(m[1], q[1]));
}();
}  // namespace diagnose

namespace op {

// One node a statement: the order of operands in a call is the compiler's, and the fingerprint would depend on it.

/// Turns pairs of features by angles that grow with the position. Inputs: x [batch, time, heads * depth], and where
/// there is one, the position of its first step. Attributes: heads, the base of the wave lengths.
struct rotary_embedding : composition<24> {
  static constexpr const char* name = "rotary_embedding";
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
  static constexpr void expand(auto& e) {
    const dtype type = e.in_spec(0).type, wide = type == dtype::float64 ? type : dtype::float32;
    const extent units = e.in_spec(0).dims[2], heads = e.attr(0), half = units / heads / 2;
    const extent split_to[] = {heads, 2 * half}, joined[] = {units};
    const auto number = [&e, wide](double value) { return ir::emit_constant(e.g, wide, value); };
    ir::node_id at = positions::of(e, e.in(0), 1, wide);
    if (e.inputs.size() > 1) {
      const ir::node_id first = e.emit_with(cast{}, ir::pack_attributes(wide), e.in(1));
      at = e.emit(add{}, at, first);
    }
    const ir::node_id step = number(-1.0 / static_cast<double>(half)), base = number(static_cast<double>(e.attr(1)));
    const ir::node_id exponents = e.emit(multiply{}, positions::below(e, half, wide), step);
    const ir::node_id speeds = e.emit(power{}, base, exponents);
    const ir::node_id column = e.emit_with(expand_dims{}, ir::pack_attributes(0b110), at);  // [time, 1, 1]
    const ir::node_id angles = e.emit(multiply{}, column, speeds);
    ir::node_id cosine = e.emit(cos{}, angles);
    ir::node_id sine = e.emit(sin{}, angles);
    cosine = e.emit_with(cast{}, ir::pack_attributes(type), cosine);
    sine = e.emit_with(cast{}, ir::pack_attributes(type), sine);
    const ir::node_id x = reshape_last(e, e.in(0), 1, split_to);
    const ir::node_id a = e.emit_with(slice{}, ir::pack_attributes(0, to_end, 0, to_end, 0, to_end, 0, half), x);
    const ir::node_id b = e.emit_with(slice{}, ir::pack_attributes(0, to_end, 0, to_end, 0, to_end, half, to_end), x);
    const ir::node_id a_cosine = e.emit(multiply{}, a, cosine);
    const ir::node_id b_sine = e.emit(multiply{}, b, sine);
    const ir::node_id first = e.emit(subtract{}, a_cosine, b_sine);
    const ir::node_id b_cosine = e.emit(multiply{}, b, cosine);
    const ir::node_id a_sine = e.emit(multiply{}, a, sine);
    const ir::node_id second = e.emit(add{}, b_cosine, a_sine);
    e.result = reshape_last(e, e.emit_with(concat{}, ir::pack_attributes(3), first, second), 2, joined);
  }
};

/// softmax(q * k^T / sqrt(depth)) * v of each head. Inputs: q [batch, queries, heads * depth], k [batch, keys, heads *
/// depth], v [batch, keys, heads * any], and where there is one, the mask. Attributes: heads; whether it is causal,
/// plus 2 where the mask lets each query see a key. A query that sees none gets zeros.
struct attention : composition<32> {
  static constexpr const char* name = "attention";
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    const shape &q = a.in[0].dims, &k = a.in[1].dims;
    a.out = {a.in[0].type, {q[0] == dyn ? k[0] : q[0], q[1], a.in[2].dims[2]}};
    return nullptr;
  }
  /// [batch, time, heads * depth] as [batch, heads, time, depth].
  static constexpr ir::node_id heads_first(auto& e, ir::node_id x) {
    const extent heads = e.attr(0), to[] = {heads, e.g.spec(x).dims[2] / heads};
    return e.emit_with(transpose{}, ir::pack_attributes(0, 2, 1, 3), reshape_last(e, x, 1, to));
  }
  static constexpr double root(double x) {
    double r = x;
    for (int i = 0; i < 64; ++i) r = (r + x / r) / 2;
    return r;
  }
  /// What a score is that does not count: finite, so that the weights of a query without keys are no NaN.
  static constexpr double masked(dtype type) { return type == dtype::float16 ? -65504 : -1e30; }
  /// Which pairs of query and key count, [batch, 1, queries, keys] or fewer axes; `no_node` if all do.
  static constexpr ir::node_id seen(auto& e) {
    ir::node_id result = ir::no_node;
    if ((e.attr(1) & 1) != 0) {
      const ir::node_id queries = positions::of(e, e.in(0), 1, dtype::int32);
      const ir::node_id keys = positions::of(e, e.in(1), 1, dtype::int32);
      result = e.emit(less_equal{}, keys, e.emit_with(expand_dims{}, ir::pack_attributes(0b10), queries));
    }
    if (e.inputs.size() > 3) {
      const bool for_keys = e.in_spec(3).dims.rank == 2;
      const ir::node_id mask = e.emit_with(expand_dims{}, ir::pack_attributes(for_keys ? 0b110 : 0b10), e.in(3));
      result = result == ir::no_node ? mask : e.emit(logical_and{}, mask, result);
    }
    return result;
  }
  static constexpr void expand(auto& e) {
    const ir::node_id q = heads_first(e, e.in(0));
    const ir::node_id k = heads_first(e, e.in(1));
    const ir::node_id v = heads_first(e, e.in(2));
    const double depth = static_cast<double>(e.g.spec(q).dims[3]);
    const ir::node_id scaled = e.emit(multiply{}, q, e.constant(1 / root(depth)));
    ir::node_id scores = e.emit_with(matmul{}, ir::pack_attributes(false, true), scaled, k);
    const ir::node_id which = seen(e);
    if (which != ir::no_node) scores = e.emit(select{}, which, scores, e.constant(masked(e.in_spec(0).type)));
    const ir::node_id weights = e.emit(softmax{}, scores);
    ir::node_id mixed = e.emit_with(matmul{}, ir::pack_attributes(false, false), weights, v);
    if (e.inputs.size() > 3 && (e.attr(1) & 2) == 0) {
      const ir::node_id sees = e.emit_with(any{}, ir::pack_attributes(0b1000, 0b1000), which);
      mixed = e.emit(select{}, sees, mixed, e.constant(0));
    }
    const extent joined[] = {e.in_spec(2).dims[2]};
    e.result = reshape_last(e, e.emit_with(transpose{}, ir::pack_attributes(0, 2, 1, 3), mixed), 2, joined);
  }
};

}  // namespace op

/// An input whose pairs of features are turned.
#define TAGMA_NEEDS_PAIRS(Spec, Heads)                                                                         \
  TAGMA_NEEDS_FLOATS(Spec);                                                                                    \
  static_assert(                                                                                               \
      ::tagma::diagnose::has_pairs<Spec, Heads>,                                                               \
      "TAGMA-E295 rotary_embedding: needs an input of shape [batch, time, features] with static features, an " \
      "even number of them for each head")
/// Queries, keys and values that belong together.
#define TAGMA_NEEDS_QUERIES(Q, K, V, Heads)                                                                           \
  static_assert(::tagma::diagnose::one_element_type<Q, K, V>,                                                         \
                "TAGMA-E010 attention: queries, keys and values need one element type");                              \
  TAGMA_NEEDS_FLOATS(Q);                                                                                              \
  static_assert(::tagma::diagnose::fit_attention<Q, K, V, Heads>,                                                     \
                "TAGMA-E295 attention: needs queries and keys of shape [batch, time, features] with static features " \
                "that the number of heads divides, and as many values as keys")

/// Rotary position embedding: in each head, features i and i + depth / 2 are the coordinates of a point, which is
/// turned by the angle p * base^(-2 i / depth) at position p, so that products of queries and keys depend on how far
/// apart they are. Su et al. 2021, in the order of halves (GPT-NeoX, LLaMA), not of neighbours.
/// @tparam Heads the features are those of so many heads, depth = features / Heads
/// @tparam Base of the wave lengths
/// @param x [batch, time, features], floating; features static, a multiple of 2 * Heads
/// @return the shape of `x`; step 0 is at position 0, or at `first`, an int32 or int64 expression of rank 0
/// Raises TAGMA-E295 for another shape, TAGMA-E014 if it is not floating, TAGMA-E107 for another `first`.
/// @{
template <extent Heads = 1, extent Base = 10000, expression X, class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto rotary_embedding(const X& x) {
  using s = typename X::spec_type;
  TAGMA_NEEDS_PAIRS(s, Heads);
  if constexpr (diagnose::is_floating_point<s> && diagnose::has_pairs<s, Heads>)
    return detail::make_node<op::rotary_embedding, ir::pack_attributes(Heads, Base), Place>(x);
}
template <extent Heads = 1, extent Base = 10000, expression X, expression First, class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto rotary_embedding(const X& x, const First& first) {
  using s = typename X::spec_type;
  TAGMA_NEEDS_PAIRS(s, Heads);
  static_assert(diagnose::are_indices<typename First::spec_type> && First::rank == 0,
                "TAGMA-E107 rotary_embedding: the first position needs to be one int32 or int64");
  if constexpr (diagnose::is_floating_point<s> && diagnose::has_pairs<s, Heads> && First::rank == 0 &&
                diagnose::are_indices<typename First::spec_type>)
    return detail::make_node<op::rotary_embedding, ir::pack_attributes(Heads, Base), Place>(x, first);
}
/// @}

/// Scaled dot product attention of each head h: softmax(q_h * k_h^T / sqrt(depth)) * v_h. Vaswani et al. 2017.
/// @tparam Heads the last axes are those of so many heads, one behind the other; depth = features / Heads
/// @tparam Options of which `causal` counts here: query i sees keys 0 to i
/// @param q [batch, queries, features], floating, features static
/// @param k [batch, keys, features]
/// @param v [batch, keys, any]
/// @param mask of bool, true for what is seen: [batch, keys], or [batch, queries, keys]; the batch may be 1. A query
///             that sees no key gets zeros, as in PyTorch
/// @return [batch, queries, any]
/// Raises TAGMA-E010, TAGMA-E014, TAGMA-E295 for other shapes, TAGMA-E296 for another mask.
/// @{
template <extent Heads = 1, attention_options Options = attention_options{}, expression Q, expression K, expression V,
          class Place = TAGMA_FRESH_TYPE(Q)>
[[nodiscard]] constexpr auto scaled_dot_product_attention(const Q& q, const K& k, const V& v) {
  using s = typename Q::spec_type;
  using k_spec = typename K::spec_type;
  using v_spec = typename V::spec_type;
  TAGMA_NEEDS_QUERIES(s, k_spec, v_spec, Heads);
  if constexpr (diagnose::attends<s, k_spec, v_spec, Heads>)
    return detail::make_node<op::attention, ir::pack_attributes(Heads, Options.causal), Place>(q, k, v);
}
template <extent Heads = 1, attention_options Options = attention_options{}, expression Q, expression K, expression V,
          expression Mask, class Place = TAGMA_FRESH_TYPE(Q)>
[[nodiscard]] constexpr auto scaled_dot_product_attention(const Q& q, const K& k, const V& v, const Mask& mask) {
  using s = typename Q::spec_type;
  using k_spec = typename K::spec_type;
  using v_spec = typename V::spec_type;
  TAGMA_NEEDS_QUERIES(s, k_spec, v_spec, Heads);
  if constexpr (diagnose::attends<s, k_spec, v_spec, Heads>) {
    static_assert(diagnose::is_attention_mask<s, k_spec, typename Mask::spec_type>,
                  "TAGMA-E296 attention: the mask needs to be of bool, [batch, keys] or [batch, queries, keys]");
    if constexpr (diagnose::is_attention_mask<s, k_spec, typename Mask::spec_type>)
      return detail::make_node<op::attention, ir::pack_attributes(Heads, Options.causal), Place>(q, k, v, mask);
  }
}
/// @}

}  // namespace tagma

#undef TAGMA_NEEDS_QUERIES
#undef TAGMA_NEEDS_PAIRS
