// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The operations that a process builds graphs of, by their names.

#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/device/operation_faces.hpp"
#include "tagma/device/own_operations.hpp"
#include "tagma/expr/op/normalize.hpp"
#include "tagma/nn/activations.hpp"
#include "tagma/nn/clip.hpp"
#include "tagma/nn/losses.hpp"

namespace tagma::device::operations {

/// Compositions that a graph can be built of, beside the operations that finished graphs have.
using compositions =
    operation_list<op::mean, op::variance, op::global_norm, op::clip_by_norm, op::elu, op::selu, op::gelu, op::silu,
                   op::relu6, op::hard_sigmoid, op::softsign, op::leaky_relu, op::softmax_cross_entropy,
                   op::sigmoid_cross_entropy, op::mean_squared_error, op::mean_absolute_error, op::huber_loss,
                   op::hinge_loss, op::log_loss, op::cosine_distance, op::l2_loss, op::kl_divergence>;

/// The operation or composition of a name, or nullptr.
[[nodiscard]] TAGMA_COLD inline const ir::operation_face* find_face_to_build(std::string_view name) {
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
