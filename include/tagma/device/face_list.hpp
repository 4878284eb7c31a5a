// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Lists of operations as data, made of lists of types.

#include <cstddef>

#include "tagma/base/config.hpp"
#include "tagma/device/operations.hpp"
#include "tagma/ir/arguments.hpp"

namespace tagma::device::operations {

/// Operations that are no rows of a family.
template <class... Op>
struct operation_list {};

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

}  // namespace detail

}  // namespace tagma::device::operations
