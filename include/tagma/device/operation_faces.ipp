// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of operation_faces.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/operation_faces.hpp"

namespace tagma::device::operations {

namespace detail {

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

TAGMA_DECL array_view<const ir::operation_face* const> operation_faces() {
  return {detail::faces.list, detail::faces.count};
}

TAGMA_COLD TAGMA_DECL const ir::operation_face* find_operation_face(std::string_view name) {
  for (const ir::operation_face* const f : operation_faces())
    if (f->info().name == name) return f;
  return nullptr;
}

}  // namespace tagma::device::operations
