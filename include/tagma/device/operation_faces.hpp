// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// All operations by name, with what they take: for those who read graphs that no compiler has seen.

#include <string_view>

#include "tagma/base/config.hpp"
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
template <class... Op>
struct operation_list {};
using structural = operation_list<op::placeholder, op::variable, op::literal, ir::constant_op, ir::output_op, op::group,
                                  ir::keep, op::queue, op::reader, op::iterator, op::row, ir::loop_head, ir::times_head,
                                  ir::while_head, ir::loop_given, ir::loop_element, ir::loop_member, ir::loop_carried,
                                  ir::loop_result, ir::loop_copy, ir::loop_last, ir::loop_stack>;

namespace detail {

/// Room for all of them.
struct face_list {
  const ir::operation_face* list[256]{};
  std::size_t count = 0;
};
template <class... Row>
constexpr void add_faces(family<Row...>, face_list& to) {
  ((to.list[to.count++] = &ir::face<typename Row::operation>), ...);
}
template <class... Op>
constexpr void add_faces(operation_list<Op...>, face_list& to) {
  ((to.list[to.count++] = &ir::face<Op>), ...);
}
template <class... Family, class... Input>
constexpr face_list make_faces(families<Family...>, families<Input...>) {
  face_list all;
  (add_faces(Family{}, all), ...);
  (add_faces(Input{}, all), ...);
  add_faces(structural{}, all);
  return all;
}
inline constexpr face_list faces = make_faces(all_families{}, input_families{});

}  // namespace detail

/// All operations that a finished graph may have.
[[nodiscard]] constexpr array_view<const ir::operation_face* const> operation_faces() {
  return {detail::faces.list, detail::faces.count};
}

/// The operation of a name, or nullptr.
[[nodiscard]] TAGMA_COLD constexpr const ir::operation_face* find_operation_face(std::string_view name) {
  for (const ir::operation_face* const f : operation_faces())
    if (f->info().name == name) return f;
  return nullptr;
}

}  // namespace tagma::device::operations
