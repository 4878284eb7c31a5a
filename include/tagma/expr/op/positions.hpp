// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The positions along an axis: 0, 1, 2 and so on. For masks, interpolation and positions in sequences.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/concat.hpp"
#include "tagma/expr/op/constant.hpp"
#include "tagma/expr/op/gather.hpp"
#include "tagma/expr/op/reduce.hpp"
#include "tagma/expr/op/scan.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {

namespace op {

/// 0, 1, 2 and so on along the axis in attribute 0 of the input, whose elements are not read, of the element type in
/// attribute 1.
struct positions : composition<4> {
  static constexpr const char* name = "positions";
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {static_cast<dtype>(a.attributes[1]), {a.in[0].dims[static_cast<int>(a.attributes[0])]}};
    return nullptr;
  }
  static constexpr ir::node_id of(auto& e, ir::node_id x, ir::attribute axis, dtype type) {
    return counted(e, ones(e, x, axis, type), false);
  }
  /// From the last one down to 0.
  static constexpr ir::node_id falling(auto& e, ir::node_id x, ir::attribute axis, dtype type) {
    return counted(e, ones(e, x, axis, type), true);
  }
  /// As many as a static extent says.
  static constexpr ir::node_id below(auto& e, extent count, dtype type) {
    const ir::node_id one = e.emit_with(expand_dims{}, ir::pack_attributes(1), ir::emit_constant(e.g, type, 1));
    return counted(e, e.emit_with(tile{}, ir::pack_attributes(count), one), false);
  }
  static constexpr void expand(auto& e) { e.result = of(e, e.in(0), e.attr(0), static_cast<dtype>(e.attr(1))); }

 private:
  static constexpr ir::node_id ones(auto& e, ir::node_id x, ir::attribute axis, dtype type) {
    const ir::attribute others = ((ir::attribute{1} << e.g.spec(x).dims.rank) - 1) & ~(ir::attribute{1} << axis);
    const ir::node_id line = e.emit_with(sum{}, ir::pack_attributes(others, ir::attribute{0}), x);
    return e.emit(broadcast_like{}, ir::emit_constant(e.g, type, 1), line);
  }
  static constexpr ir::node_id counted(auto& e, ir::node_id each, bool falling) {
    return e.emit_with(cumulative_sum{}, ir::pack_attributes(0, true, falling), each);
  }
};

/// `x` under other last extents: [..., n] as [..., a, b], or [..., a, b] as [..., n], the latter with `joined` 2. All
/// extents before them may vary.
constexpr ir::node_id reshape_last(auto& e, ir::node_id x, int joined, array_view<const extent> last) {
  const shape dims = e.g.spec(x).dims;
  const int kept = dims.rank - joined;
  ir::attribute to[max_rank + 1]{};
  bool open = false, simple = true;
  for (int i = 0; i < kept; ++i) {
    to[i] = dims[i];
    if (dims[i] == 0 || (dims[i] == dyn && open)) simple = false;
    if (dims[i] == dyn) open = true;
  }
  const int rank = kept + static_cast<int>(last.size());
  for (int i = kept; i < rank; ++i) to[i] = last[static_cast<std::size_t>(i - kept)];
  if (simple) return e.emit_with(reshape{}, {to, rank}, x);
  // A tensor of the shape, of which no element is computed.
  ir::attribute ranges[2 * max_rank]{};
  for (int i = 0; i < dims.rank; ++i) ranges[2 * i + 1] = i < kept ? to_end : 1;
  ir::node_id like = e.emit_with(slice{}, {ranges, 2 * dims.rank}, x);
  ir::attribute times[max_rank]{};
  for (int i = 0; i < rank; ++i) times[i] = i < kept ? 1 : to[i];
  const ir::attribute added = ir::attribute{1} << kept, all_last = (ir::attribute{1} << dims.rank) - added;
  like = e.emit_with(squeeze{}, ir::pack_attributes(all_last), like);
  like = e.emit_with(expand_dims{}, ir::pack_attributes((ir::attribute{1} << rank) - added), like);
  return e.emit(reshape{}, x, e.emit_with(tile{}, {times, rank}, like));
}

/// The input with the axis in attribute 0 in reverse order.
struct reverse : composition<6> {
  static constexpr const char* name = "reverse";
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
  static constexpr void expand(auto& e) {
    const ir::node_id order = positions::falling(e, e.in(0), e.attr(0), dtype::int64);
    e.result = e.emit_with(gather{}, ir::pack_attributes(e.attr(0)), e.in(0), order);
  }
};

}  // namespace op

/// The elements along `Axis` in reverse order: of [1, 2, 3] they are [3, 2, 1].
/// @tparam Axis counts from the front, or from the back if negative
/// @param e numbers
/// @return the shape of `e`
/// Raises TAGMA-E020 if there is no such axis, TAGMA-E016 for elements that are no numbers.
template <int Axis, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto reverse(const E& e) {
  using from = typename E::spec_type;
  TAGMA_NEEDS_NUMBERS(from);
  static_assert(diagnose::axis_exists<from, Axis>, "TAGMA-E020 reverse: there is no such axis");
  if constexpr (diagnose::is_number<from> && diagnose::axis_exists<from, Axis>)
    return detail::make_node<op::reverse, ir::pack_attributes(Axis < 0 ? Axis + E::rank : Axis), Place>(e);
}

}  // namespace tagma
