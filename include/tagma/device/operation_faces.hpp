// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// All operations by name, with what they take: for those who read graphs that no compiler has seen.

#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/device/face_list.hpp"
#include "tagma/device/input_operations.hpp"
#include "tagma/device/operations.hpp"
#include "tagma/expr/literal.hpp"
#include "tagma/expr/op/control.hpp"
#include "tagma/expr/op/row.hpp"
#include "tagma/expr/placeholder.hpp"
#include "tagma/expr/variable.hpp"
#include "tagma/graph/keep.hpp"
#include "tagma/ir/arguments.hpp"

namespace tagma::device::operations {

/// What graphs have beside the operations of `all_families` and `input_families`: leaves, things of containers, results
/// of operations that have several, and loops.
using structural = operation_list<op::placeholder, op::variable, op::literal, ir::constant_op, ir::output_op, op::group,
                                  ir::keep, op::queue, op::reader, op::iterator, op::row, ir::loop_head, ir::times_head,
                                  ir::while_head, ir::loop_given, ir::loop_element, ir::loop_member, ir::loop_carried,
                                  ir::loop_result, ir::loop_copy, ir::loop_last, ir::loop_stack>;

/// All operations that a finished graph may have.
[[nodiscard]] array_view<const ir::operation_face* const> operation_faces();

/// The operation of a name, or nullptr.
[[nodiscard]] const ir::operation_face* find_operation_face(std::string_view name);

namespace detail {

template <class... Row>
constexpr bool has_name(family<Row...>, std::string_view name) {
  return (false || ... || (Row::operation::name == name));
}
template <class... Op>
constexpr bool has_name(operation_list<Op...>, std::string_view name) {
  return (false || ... || (Op::name == name));
}
template <class... Family>
constexpr bool has_name(families<Family...>, std::string_view name) {
  return (false || ... || has_name(Family{}, name));
}

}  // namespace detail

/// Whether an operation that a finished graph may have is called so.
[[nodiscard]] constexpr bool is_operation_name(std::string_view name) {
  return detail::has_name(all_families{}, name) || detail::has_name(input_families{}, name) ||
         detail::has_name(structural{}, name);
}

}  // namespace tagma::device::operations

#ifndef TAGMA_COMPILED
#include "tagma/device/operation_faces.ipp"
#endif
