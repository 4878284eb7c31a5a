// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Matrix products of 8-bit integers, as models with quantised weights have them.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/matmul.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {

namespace diagnose {
/// Both operands have elements of one byte that are integers.
template <class A, class B>
inline constexpr bool are_bytes = ((A::value.type == dtype::int8 || A::value.type == dtype::uint8) &&
                                   (B::value.type == dtype::int8 || B::value.type == dtype::uint8));
}  // namespace diagnose

namespace op {

/// As `matmul`, of int8 or uint8; the result is int32, modulo 2^32.
struct matmul_integer {
  static constexpr const char* name = "matmul_integer";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr int unstretched = matmul::unstretched;

  static constexpr void takes(auto& t) {
    t.inputs(2), t.rule("TAGMA-E316"), t.byte_at(0), t.byte_at(1), matmul::takes_matrices(t);
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    const char* const problem = matmul::infer(a);
    a.out.type = dtype::int32;
    return problem;
  }
  TAGMA_COLD static constexpr double work(const ir::infer_args& a) { return matmul::work(a); }
  static constexpr void lift(auto& l) { matmul::lift_product(l, matmul_integer{}); }
};

}  // namespace op

/// The matrix product of the last two axes of 8-bit integers, in int32; the axes before them broadcast. Sums are exact,
/// whatever the processor, and those beyond int32 wrap around, modulo 2^32: not of fewer than 2^17 terms of int8, 2^16
/// of int8 and uint8, or 2^15 of uint8. There is no gradient.
///
/// Zero points are left to the caller. For A = sa * (a - za) and B = sb * (b - zb), where za and zb are scalars and k
/// is the number of terms, A * B is sa * sb * (matmul_integer(a, b) - zb * (sums of the rows of a) - za * (sums of the
/// columns of b) + k * za * zb), with sums in int32.
/// @tparam TransposeA,TransposeB swap the last two axes of an operand first; nothing is copied for that.
/// @param a [..., m, k], int8 or uint8
/// @param b [..., k, n], int8 or uint8
/// Raises TAGMA-E012 if the inner extents differ, TAGMA-E013 if an operand is no matrix or batches differ, TAGMA-E316
/// if an operand has other elements.
template <bool TransposeA = false, bool TransposeB = false, expression A, expression B,
          class Place = TAGMA_FRESH_TYPE(A)>
[[nodiscard]] constexpr auto matmul_integer(const A& a, const B& b) {
  using x = typename A::spec_type;
  using y = typename B::spec_type;
  static_assert(diagnose::are_bytes<x, y>,
                "TAGMA-E316 matmul_integer: operands are int8 or uint8; tagma::matmul is for floats");
  TAGMA_NEEDS_MATRICES("matmul_integer", x, y);
  if constexpr (diagnose::are_matrices<x, y> && diagnose::are_bytes<x, y>) {
    TAGMA_NEEDS_PRODUCT("matmul_integer", x, y, TransposeA, TransposeB);
    if constexpr (diagnose::inner_extents_agree<x, y, TransposeA, TransposeB> &&
                  diagnose::batch_extents_broadcast<x, y>)
      return detail::make_node<op::matmul_integer, ir::pack_attributes(TransposeA, TransposeB), Place>(a, b);
  }
}

}  // namespace tagma
