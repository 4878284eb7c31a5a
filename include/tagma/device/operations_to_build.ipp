// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of operations_to_build.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/face_list.hpp"
#include "tagma/device/operations_to_build.hpp"
#include "tagma/device/own_operations.hpp"

namespace tagma::device::operations {

TAGMA_COLD TAGMA_DECL const ir::operation_face* find_face_to_build(std::string_view name) {
  if (const ir::operation_face* const found = find_operation(name)) return found;
  static constexpr detail::face_list all = [] {
    detail::face_list list;
    detail::add_faces(compositions{}, list);
    return list;
  }();
  for (std::size_t i = 0; i < all.count; ++i)
    if (all.list[i]->info().name == name) return all.list[i];
  return nullptr;
}

}  // namespace tagma::device::operations
