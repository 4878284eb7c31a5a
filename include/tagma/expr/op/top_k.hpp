// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The largest elements of each row.

#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/expr/op/elementwise.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {
namespace op {

/// The largest elements of the last axis, as many as attribute 0 says, the largest first, and their positions.
struct top_k {
  static constexpr const char* name = "top_k";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr int outputs = 2;

  static constexpr void takes(auto& t) { t.numbers(1), t.rule("TAGMA-E111"), t.axes(0, 1), t.size("k", 1); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {a.output == 0 ? a.in[0].type : dtype::int64, a.in[0].dims};
    extent& last = a.out.dims[a.out.dims.rank - 1];
    if (last != dyn && last < a.attributes[0]) return "the last axis has fewer elements than are asked for";
    last = a.attributes[0];
    return nullptr;
  }
  static constexpr void gradient(auto& g);
};

/// Zeros in the shape of input 2, to whose rows the elements of input 0 are added at the positions in input 1.
struct scatter_last {
  static constexpr const char* name = "scatter_last";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr std::uint64_t shape_only = 0b100;

  static constexpr void takes(auto& t) { t.inputs(3), t.float_at(0), t.axes(0, 1), t.int64_at(1), t.alike(2); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    const shape &from = a.in[0].dims, &to = a.in[2].dims;
    a.out = {a.in[0].type, to};
    if (!compatible(from, a.in[1].dims)) return "every element needs one position";
    return from.rank == to.rank && compatible(from.sub(0, from.rank - 1), to.sub(0, to.rank - 1))
               ? nullptr
               : "the result needs the rows of the elements";
  }
  static constexpr void gradient(auto& g);
};

/// Elements of input 0 at positions of its last axis, row by row.
struct gather_last {
  static constexpr const char* name = "gather_last";
  static constexpr ir::op_kind kind = ir::op_kind::compute;

  static constexpr void takes(auto& t) { t.inputs(2), t.number_at(0), t.axes(0, 1), t.int64_at(1); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    const shape &from = a.in[0].dims, &at = a.in[1].dims;
    a.out = {a.in[0].type, at};
    return from.rank == at.rank && compatible(from.sub(0, from.rank - 1), at.sub(0, at.rank - 1))
               ? nullptr
               : "every row needs its positions";
  }
  static constexpr void gradient(auto& g) { g.set(0, g.emit(scatter_last{}, g.upstream, g.in(1), g.in(0))); }
};

constexpr void top_k::gradient(auto& g) { g.set(0, g.emit(scatter_last{}, g.upstream_of(0), g.output(1), g.in(0))); }
constexpr void scatter_last::gradient(auto& g) { g.set(0, g.emit(gather_last{}, g.upstream, g.in(1))); }

}  // namespace op

namespace diagnose {
/// Rows have at least `K` elements.
template <class Spec, int K>
inline constexpr bool has_k_elements = [] {
  const shape& dims = Spec::value.dims;
  return K >= 1 && dims.rank >= 1 && (dims[dims.rank - 1] == dyn || dims[dims.rank - 1] >= K);
}();
}  // namespace diagnose

namespace detail {

template <int K, class Place, class E>
[[nodiscard]] constexpr auto make_top_k(const E& e) {
  if constexpr (diagnose::has_k_elements<typename E::spec_type, K> && diagnose::is_number<typename E::spec_type>) {
    const auto results = make_nodes<op::top_k, ir::pack_attributes(K), Place>(e);
    return std::pair{std::get<0>(results), std::get<1>(results)};
  }
}

}  // namespace detail

/// Rows of numbers with at least `K` elements.
#define TAGMA_NEEDS_ROWS(Spec, K)                                                                             \
  static_assert(::tagma::diagnose::has_k_elements<Spec, K>,                                                   \
                "TAGMA-E111 top_k: the last axis needs as many elements as are asked for, and at least one"); \
  TAGMA_NEEDS_NUMBERS(Spec)

/// The `K` largest elements of the last axis and their positions, largest first; of equal ones the lower position comes
/// first, and NaN counts as larger than everything. Gradients flow through the values, to where the positions say.
/// @param e [..., n], numbers
/// @return two handles: the values [..., K], and the positions [..., K] as int64
/// Raises TAGMA-E111 if n is below `K`.
template <int K, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto top_k(const E& e) {
  TAGMA_NEEDS_ROWS(typename E::spec_type, K);
  return detail::make_top_k<K, Place>(e);
}

/// The values, or the positions, of `top_k` alone.
/// @{
template <int K, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto top_k_values(const E& e) {
  TAGMA_NEEDS_ROWS(typename E::spec_type, K);
  if constexpr (diagnose::has_k_elements<typename E::spec_type, K> && diagnose::is_number<typename E::spec_type>)
    return detail::make_top_k<K, Place>(e).first;
}
template <int K, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto top_k_indices(const E& e) {
  TAGMA_NEEDS_ROWS(typename E::spec_type, K);
  if constexpr (diagnose::has_k_elements<typename E::spec_type, K> && diagnose::is_number<typename E::spec_type>)
    return detail::make_top_k<K, Place>(e).second;
}
/// @}

}  // namespace tagma

#undef TAGMA_NEEDS_ROWS
