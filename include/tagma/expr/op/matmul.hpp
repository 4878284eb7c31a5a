// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Matrix products, batched and transposed.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/reduce.hpp"
#include "tagma/expr/op/transpose.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/ir/loops.hpp"

namespace tagma {

namespace diagnose {
/// The columns of the first operand are the rows of the second, after the transpositions asked for.
template <class A, class B, bool TransposeA, bool TransposeB>
inline constexpr bool inner_extents_agree = compatible(A::value.dims[A::value.dims.rank - (TransposeA ? 2 : 1)],
                                                       B::value.dims[B::value.dims.rank - (TransposeB ? 1 : 2)]);
/// Both operands have at least two axes.
template <class A, class B>
inline constexpr bool are_matrices = A::value.dims.rank >= 2 && B::value.dims.rank >= 2;
/// The axes before the last two broadcast.
template <class A, class B>
inline constexpr bool batch_extents_broadcast = broadcastable(A::value.dims.sub(0, A::value.dims.rank - 2),
                                                              B::value.dims.sub(0, B::value.dims.rank - 2));
}  // namespace diagnose

namespace op {

/// Product of the last two axes; attributes 0 and 1 tell whether the operands are transposed there first.
struct matmul {
  static constexpr const char* name = "matmul";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr int unstretched = 2;

  static constexpr void takes(auto& t) { t.floats(2), takes_matrices(t); }
  /// What products of any element types take.
  static constexpr void takes_matrices(auto& t) {
    t.rule("TAGMA-E013"), t.axes(0, 2), t.axes(1, 2);
    t.rule("TAGMA-E012"), t.flag("transpose_a"), t.flag("transpose_b");
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    const shape &x = a.in[0].dims, &y = a.in[1].dims;
    const bool tx = a.attributes[0] != 0, ty = a.attributes[1] != 0;
    if (x.rank < 2 || y.rank < 2) return "operands need at least two axes";
    if (!compatible(x[x.rank - (tx ? 2 : 1)], y[y.rank - (ty ? 1 : 2)])) return "inner extents differ";
    const shape bx = x.sub(0, x.rank - 2), by = y.sub(0, y.rank - 2);
    if (!broadcastable(bx, by)) return "batch extents do not broadcast";
    a.out = {a.in[0].type, broadcast(bx, by)};
    a.out.dims.push_back(x[x.rank - (tx ? 1 : 2)]);
    a.out.dims.push_back(y[y.rank - (ty ? 2 : 1)]);
    return nullptr;
  }

  TAGMA_COLD static constexpr double work(const ir::infer_args& a) {
    const shape& x = a.in[0].dims;
    return static_cast<double>(a.out.dims.elements()) * static_cast<double>(x[x.rank - (a.attributes[0] != 0 ? 2 : 1)]);
  }

  /// Sets the gradient by input `to`: the product of two nodes, each transposed or not.
  static constexpr void set_product(auto& g, ir::node_id a, bool ta, ir::node_id b, bool tb, int to) {
    const auto value = g.emit_with(matmul{}, ir::pack_attributes(ta, tb), a, b);
    g.set(to, unbroadcast(g.g, value, g.in_spec(to).dims));
  }
  /// The rows of all matrices in one; columns are static.
  static constexpr ir::node_id joined_rows(auto& g, ir::node_id x) {
    const shape& dims = g.g.spec(x).dims;
    return g.emit_with(reshape{}, ir::pack_attributes(dyn, dims[dims.rank - 1]), x);
  }
  static constexpr void gradient(auto& g) {
    const bool ta = g.attr(0) != 0, tb = g.attr(1) != 0;
    if (ta)
      set_product(g, g.in(1), tb, g.upstream, true, 0);
    else
      set_product(g, g.upstream, false, g.in(1), !tb, 0);
    const shape x = g.in_spec(0).dims, y = g.in_spec(1).dims;
    if (!ta && x.rank > 2 && y.rank == 2 && y.is_static()) {
      // The second operand is the same for all rows: one product over all of them.
      const auto rows = joined_rows(g, g.in(0)), upstream = joined_rows(g, g.upstream);
      set_product(g, tb ? upstream : rows, true, tb ? rows : upstream, false, 1);
      return;
    }
    if (tb)
      set_product(g, g.upstream, true, g.in(0), ta, 1);
    else
      set_product(g, g.in(0), !ta, g.upstream, false, 1);
  }
  /// Elements times a matrix that stays are one product. A matrix that stays is transposed once, in front of the loop.
  static constexpr void lift(auto& l) { lift_product(l, matmul{}); }
  static constexpr void lift_product(auto& l, auto product) {
    if (l.attributes[1] != 0 && l.stays_inside(1, 0) && l.g.spec(l.in(1)).dims.rank == 2) {
      const ir::node_id turned = l.emit_with(transpose{}, ir::pack_attributes(1, 0), l.in(1));
      l.result = l.emit_with(product, ir::pack_attributes(l.attributes[0] != 0, false), l.in(0), turned);
      return;
    }
    const ir::node_id all = l.sequence(0);
    if (all == ir::no_node || l.attributes[0] != 0 || !l.stays(1, 0)) return;
    if (l.g.spec(all).dims.rank < 3 || l.g.spec(l.in(1)).dims.rank != 2) return;
    l.set(l.emit_with(product, l.attributes, all, l.in(1)), 0);
  }
};

}  // namespace op

/// The matrix product of the last two axes; the axes before them broadcast.
/// @tparam TransposeA,TransposeB swap the last two axes of an operand first; nothing is copied for that.
/// @param a [..., m, k], floating
/// @param b [..., k, n], of the same element type
/// Raises TAGMA-E010, TAGMA-E012 if the inner extents differ, TAGMA-E013 if an operand is no matrix or batches differ.
template <bool TransposeA = false, bool TransposeB = false, expression A, expression B,
          class Place = TAGMA_FRESH_TYPE(A)>
[[nodiscard]] constexpr auto matmul(const A& a, const B& b) {
  using x = typename A::spec_type;
  using y = typename B::spec_type;
  static_assert(diagnose::same_element_type<x, y>, "TAGMA-E010 matmul: both operands need the same element type");
  TAGMA_NEEDS_MATRICES("matmul", x, y);
  TAGMA_NEEDS_FLOATS(x);
  if constexpr (diagnose::are_matrices<x, y> && diagnose::same_element_type<x, y> && diagnose::is_floating_point<x>) {
    TAGMA_NEEDS_PRODUCT("matmul", x, y, TransposeA, TransposeB);
    if constexpr (diagnose::inner_extents_agree<x, y, TransposeA, TransposeB> &&
                  diagnose::batch_extents_broadcast<x, y>)
      return detail::make_node<op::matmul, ir::pack_attributes(TransposeA, TransposeB), Place>(a, b);
  }
}

}  // namespace tagma
