// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The operations that a process builds graphs of, by their names.

#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/device/operation_faces.hpp"
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
[[nodiscard]] const ir::operation_face* find_face_to_build(std::string_view name);

}  // namespace tagma::device::operations

#ifndef TAGMA_COMPILED
#include "tagma/device/operations_to_build.ipp"
#endif
