// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The operations that devices have kernels for, and the element types of each: one list for the registry, for the
/// tests that run every kernel, and for docs/operations.md.

#include "tagma/expr/op/cell.hpp"
#include "tagma/expr/op/concat.hpp"
#include "tagma/expr/op/conv.hpp"
#include "tagma/expr/op/fill.hpp"
#include "tagma/expr/op/filter.hpp"
#include "tagma/expr/op/gather.hpp"
#include "tagma/expr/op/matmul.hpp"
#include "tagma/expr/op/matmul_integer.hpp"
#include "tagma/expr/op/moments.hpp"
#include "tagma/expr/op/pool.hpp"
#include "tagma/expr/op/random.hpp"
#include "tagma/expr/op/scan.hpp"
#include "tagma/expr/op/shuffle.hpp"
#include "tagma/expr/op/softmax.hpp"
#include "tagma/expr/op/sort.hpp"
#include "tagma/expr/op/state.hpp"
#include "tagma/expr/op/top_k.hpp"
#include "tagma/expr/op/transpose.hpp"
#include "tagma/graph/keep.hpp"
#include "tagma/ir/loops.hpp"
#include "tagma/nn/optimizers.hpp"
#include "tagma/plan/transfer.hpp"

namespace tagma::device::operations {

/// The element types of one kernel: of its result and of its inputs. A kernel of more inputs repeats the last type.
struct signature {
  dtype element = dtype::none;  ///< what the table of operations counts
  dtype second = dtype::none;   ///< a type that varies beside it: of indices, of the result of a conversion
  dtype out = dtype::none;
  dtype in[3]{};
  int inputs = 0;
  dtype rest = dtype::none;  ///< of the results behind the first, where there are several; none: as the first

  [[nodiscard]] constexpr dtype input(std::size_t i) const {
    return in[i < static_cast<std::size_t>(inputs) ? i : static_cast<std::size_t>(inputs) - 1];
  }
  /// The element type of result `k` of an operation with several.
  [[nodiscard]] constexpr dtype output(std::size_t k) const { return k == 0 || rest == dtype::none ? out : rest; }
};

/// All signatures of one operation.
struct signature_list {
  signature list[112]{};
  std::size_t count = 0;

  constexpr void add(const signature& s) { list[count++] = s; }
  [[nodiscard]] constexpr array_view<const signature> view() const { return {list, count}; }
};

/// The element types, in the order of the table.
inline constexpr dtype element_types[] = {dtype::float64, dtype::float32, dtype::float16, dtype::bfloat16,
                                          dtype::int64,   dtype::int32,   dtype::int16,   dtype::int8,
                                          dtype::uint8,   dtype::boolean, dtype::string};

// What the functions of expr/op ask of element types, beside `is_floating`, `is_integer` and `is_numeric`.
[[nodiscard]] constexpr bool is_any(dtype type) { return type != dtype::none; }
[[nodiscard]] constexpr bool is_no_string(dtype type) { return type != dtype::string; }
[[nodiscard]] constexpr bool is_bool(dtype type) { return type == dtype::boolean; }
[[nodiscard]] constexpr bool is_byte(dtype type) { return type == dtype::int8 || type == dtype::uint8; }
[[nodiscard]] constexpr bool is_index(dtype type) {
  return type == dtype::int32 || type == dtype::int64 || type == dtype::uint8;
}

/// Inputs and result have one type.
template <bool (*Accepts)(dtype), int Inputs>
[[nodiscard]] constexpr signature_list same() {
  signature_list all;
  for (const dtype t : element_types)
    if (Accepts(t)) all.add({t, dtype::none, t, {t, t, t}, Inputs});
  return all;
}
/// Inputs have one type, the result another.
template <bool (*Accepts)(dtype), int Inputs, dtype Out>
[[nodiscard]] constexpr signature_list to() {
  signature_list all;
  for (const dtype t : element_types)
    if (Accepts(t)) all.add({t, dtype::none, Out, {t, t, t}, Inputs});
  return all;
}
/// The second input has a type of its own.
template <bool (*Accepts)(dtype), int Inputs, bool (*Second)(dtype)>
[[nodiscard]] constexpr signature_list with() {
  signature_list all;
  for (const dtype t : element_types)
    for (const dtype u : element_types)
      if (Accepts(t) && Second(u)) all.add({t, u, t, {t, u, t}, Inputs});
  return all;
}
/// The same, where only one type will do.
template <bool (*Accepts)(dtype), int Inputs, dtype Second>
[[nodiscard]] constexpr signature_list beside() {
  signature_list all;
  for (const dtype t : element_types)
    if (Accepts(t)) all.add({t, dtype::none, t, {t, Second, t}, Inputs});
  return all;
}
/// The results have the type of statistics.
[[nodiscard]] constexpr signature_list statistics() {
  signature_list all;
  for (const dtype t : element_types)
    if (is_floating(t)) all.add({t, dtype::none, op::statistics_type(t), {t}, 1});
  return all;
}
/// The first result has the type of the input, the others are positions.
template <bool (*Accepts)(dtype)>
[[nodiscard]] constexpr signature_list same_and_positions() {
  signature_list all;
  for (const dtype t : element_types)
    if (Accepts(t)) all.add({t, dtype::none, t, {t, t, t}, 1, dtype::int64});
  return all;
}
[[nodiscard]] constexpr signature_list selections() {
  signature_list all;
  for (const dtype t : element_types)
    if (is_no_string(t)) all.add({t, dtype::none, t, {dtype::boolean, t, t}, 3});
  return all;
}
[[nodiscard]] constexpr signature_list conversions() {
  signature_list all;
  for (const dtype from : element_types)
    for (const dtype to : element_types)
      if (is_no_string(from) && is_no_string(to)) all.add({from, to, to, {from}, 1});
  return all;
}
[[nodiscard]] constexpr signature_list one_hots() {
  signature_list all;
  for (const dtype t : element_types)
    for (const dtype index : element_types)
      if (is_no_string(t) && is_index(index)) all.add({t, index, t, {index}, 1});
  return all;
}
[[nodiscard]] constexpr signature_list products_of_bytes() {
  signature_list all;
  for (const dtype a : element_types)
    for (const dtype b : element_types)
      if (is_byte(a) && is_byte(b)) all.add({a, b, dtype::int32, {a, b}, 2});
  return all;
}
[[nodiscard]] constexpr signature_list rates() {
  signature_list all;
  all.add({dtype::float64, dtype::none, dtype::float64, {dtype::int64}, 1});
  return all;
}

/// One operation.
template <class Op, signature_list (*Signatures)()>
struct row {
  using operation = Op;
  static constexpr signature_list signatures = Signatures();
};

/// Operations whose kernels are compiled together.
template <class... Row>
struct family {};

using arithmetic = family<row<op::add, &same<&is_numeric, 2>>, row<op::subtract, &same<&is_numeric, 2>>,
                          row<op::multiply, &same<&is_numeric, 2>>, row<op::divide, &same<&is_numeric, 2>>,
                          row<op::maximum, &same<&is_numeric, 2>>, row<op::minimum, &same<&is_numeric, 2>>,
                          row<op::negate, &same<&is_numeric, 1>>, row<op::abs, &same<&is_numeric, 1>>,
                          row<op::sign, &same<&is_numeric, 1>>, row<op::square, &same<&is_numeric, 1>>,
                          row<op::floor, &same<&is_floating, 1>>, row<op::ceil, &same<&is_floating, 1>>,
                          row<op::round, &same<&is_floating, 1>>, row<op::broadcast_like, &same<&is_no_string, 1>>>;

using comparison = family<
    row<op::equal, &to<&is_no_string, 2, dtype::boolean>>, row<op::not_equal, &to<&is_no_string, 2, dtype::boolean>>,
    row<op::less, &to<&is_numeric, 2, dtype::boolean>>, row<op::less_equal, &to<&is_numeric, 2, dtype::boolean>>,
    row<op::greater, &to<&is_numeric, 2, dtype::boolean>>, row<op::greater_equal, &to<&is_numeric, 2, dtype::boolean>>,
    row<op::logical_and, &same<&is_bool, 2>>, row<op::logical_or, &same<&is_bool, 2>>,
    row<op::logical_not, &same<&is_bool, 1>>, row<op::select, &selections>>;

using conversion = family<row<op::cast, &conversions>>;

using elementary = family<row<op::exp, &same<&is_floating, 1>>, row<op::log, &same<&is_floating, 1>>,
                          row<op::log1p, &same<&is_floating, 1>>, row<op::expm1, &same<&is_floating, 1>>,
                          row<op::sqrt, &same<&is_floating, 1>>, row<op::rsqrt, &same<&is_floating, 1>>,
                          row<op::tanh, &same<&is_floating, 1>>, row<op::sigmoid, &same<&is_floating, 1>>,
                          row<op::softplus, &same<&is_floating, 1>>, row<op::erf, &same<&is_floating, 1>>,
                          row<op::sin, &same<&is_floating, 1>>, row<op::cos, &same<&is_floating, 1>>,
                          row<op::power, &same<&is_floating, 2>>, row<op::relu, &same<&is_floating, 1>>,
                          row<op::relu_gradient, &same<&is_floating, 2>>>;

using reduction = family<row<op::sum, &same<&is_numeric, 1>>, row<op::product, &same<&is_numeric, 1>>,
                         row<op::reduce_max, &same<&is_numeric, 1>>, row<op::reduce_min, &same<&is_numeric, 1>>,
                         row<op::fraction, &same<&is_floating, 1>>, row<op::all, &same<&is_bool, 1>>,
                         row<op::any, &same<&is_bool, 1>>, row<op::argmax, &to<&is_numeric, 1, dtype::int64>>,
                         row<op::argmin, &to<&is_numeric, 1, dtype::int64>>, row<op::moments, &statistics>>;

using contraction = family<row<op::matmul, &same<&is_floating, 2>>, row<op::matmul_integer, &products_of_bytes>,
                           row<op::conv2d, &same<&is_floating, 2>>, row<op::conv2d_bias, &same<&is_floating, 3>>,
                           row<op::conv2d_input_gradient, &same<&is_floating, 3>>,
                           row<op::conv2d_filter_gradient, &same<&is_floating, 3>>>;

using pooling = family<row<op::max_pool, &same<&is_floating, 1>>, row<op::max_pool_gradient, &same<&is_floating, 3>>,
                       row<op::max_pool_select, &same<&is_floating, 3>>, row<op::average_pool, &same<&is_floating, 1>>,
                       row<op::average_pool_gradient, &same<&is_floating, 2>>>;

using rows = family<row<op::softmax, &same<&is_floating, 1>>, row<op::log_softmax, &same<&is_floating, 1>>,
                    row<op::sparse_softmax_cross_entropy, &with<&is_floating, 2, &is_integer>>,
                    row<op::sparse_softmax_cross_entropy_gradient, &with<&is_floating, 3, &is_integer>>,
                    row<op::top_k, &same_and_positions<&is_numeric>>,
                    row<op::gather_last, &beside<&is_numeric, 2, dtype::int64>>,
                    row<op::scatter_last, &beside<&is_floating, 3, dtype::int64>>>;

using cells = family<row<op::lstm_gates, &same<&is_floating, 1>>, row<op::lstm_gates_gradient, &same<&is_floating, 1>>,
                     row<op::gru_gates, &same<&is_floating, 1>>, row<op::gru_gates_gradient, &same<&is_floating, 1>>,
                     row<op::gru_output, &same<&is_floating, 1>>, row<op::gru_output_gradient, &same<&is_floating, 1>>>;

using order =
    family<row<op::argsort, &to<&is_numeric, 1, dtype::int64>>, row<op::cumulative_sum, &same<&is_numeric, 1>>,
           row<op::random_permutation, &to<&is_any, 1, dtype::int64>>>;

/// Those that find how large their results are.
using filters =
    family<row<op::nonzero, &to<&is_no_string, 1, dtype::int64>>, row<op::unique, &same_and_positions<&is_numeric>>>;

using movement =
    family<row<op::slice, &same<&is_any, 1>>, row<op::slice_gradient, &same<&is_floating, 2>>,
           row<op::pad, &same<&is_any, 2>>, row<op::concat, &same<&is_any, 1>>, row<op::split, &same<&is_any, 1>>,
           row<op::part_of_whole, &same<&is_floating, 1>>, row<op::part_into_whole, &same<&is_floating, 1>>,
           row<op::tile, &same<&is_any, 1>>, row<op::tile_gradient, &same<&is_floating, 2>>,
           row<op::transpose, &same<&is_any, 1>>, row<op::gather, &with<&is_any, 2, &is_index>>,
           row<op::scatter_rows, &with<&is_floating, 3, &is_index>>, row<op::one_hot, &one_hots>>;

using state = family<row<op::assign, &same<&is_any, 2>>, row<op::assign_add, &same<&is_numeric, 2>>,
                     row<op::assign_sub, &same<&is_numeric, 2>>, row<op::scatter_add, &with<&is_numeric, 3, &is_index>>,
                     row<op::initialize, &same<&is_no_string, 1>>>;

using chance = family<row<op::random_uniform, &same<&is_floating, 1>>, row<op::random_normal, &same<&is_floating, 1>>,
                      row<op::truncated_normal, &same<&is_floating, 1>>>;

template <class Update>
using update_row = row<Update, &same<&is_floating, 1>>;
template <class Update>
using sparse_update_row = row<op::apply_rows<Update>, &same<&is_floating, 1>>;

using training =
    family<update_row<op::apply_sgd>, update_row<op::apply_momentum>, update_row<op::apply_adagrad>,
           update_row<op::apply_adadelta>, update_row<op::apply_rmsprop>, update_row<op::apply_centered_rmsprop>,
           update_row<op::apply_adam>, update_row<op::apply_adamw>, update_row<op::apply_ftrl>,
           sparse_update_row<op::apply_sgd>, sparse_update_row<op::apply_momentum>,
           sparse_update_row<op::apply_adagrad>, sparse_update_row<op::apply_adadelta>,
           sparse_update_row<op::apply_rmsprop>, sparse_update_row<op::apply_centered_rmsprop>,
           sparse_update_row<op::apply_adam>, sparse_update_row<op::apply_adamw>, sparse_update_row<op::apply_ftrl>,
           row<op::scheduled_rate, &rates>>;

/// Nothing is computed: a device needs no kernel.
using views = family<row<op::reshape, &same<&is_any, 1>>, row<op::expand_dims, &same<&is_any, 1>>,
                     row<op::squeeze, &same<&is_any, 1>>, row<op::merge_axes, &same<&is_any, 1>>,
                     row<op::identity, &same<&is_any, 1>>, row<op::stop_gradient, &same<&is_any, 1>>>;

/// What plans have beside the operations of programs.
using internal = family<row<ir::loop_copy, &same<&is_no_string, 1>>, row<plan::transfer, &same<&is_any, 1>>,
                        row<ir::keep, &same<&is_any, 1>>>;

/// All operations of programs, in the order of the table.
template <class... Family>
struct families {};
using all_families = families<arithmetic, comparison, conversion, elementary, reduction, contraction, pooling, rows,
                              cells, order, filters, movement, views, state, chance, training>;

}  // namespace tagma::device::operations
