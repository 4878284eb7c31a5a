// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Kernels of the updates of optimizers, as far as they are the same on all devices.

#include "tagma/base/config.hpp"
#include "tagma/device/kernel.hpp"
#include "tagma/nn/optimizers.hpp"

namespace tagma::device {

/// What a device does for an update that has a rule, by a gradient and by a sparse one. A specialisation has `entry`,
/// as a kernel has.
template <class Device, class Update>
struct update_kernel {
  static constexpr bool missing = true;
};
template <class Device, class Update>
struct row_update_kernel {
  static constexpr bool missing = true;
};

#define TAGMA_UPDATE_KERNELS(Update)                                         \
  template <class Device>                                                    \
  struct kernel<Device, ir::key<Update>> : update_kernel<Device, Update> {}; \
  template <class Device>                                                    \
  struct kernel<Device, ir::key<op::apply_rows<Update>>> : row_update_kernel<Device, Update> {};
TAGMA_UPDATE_KERNELS(op::apply_sgd)
TAGMA_UPDATE_KERNELS(op::apply_momentum)
TAGMA_UPDATE_KERNELS(op::apply_adagrad)
TAGMA_UPDATE_KERNELS(op::apply_adadelta)
TAGMA_UPDATE_KERNELS(op::apply_rmsprop)
TAGMA_UPDATE_KERNELS(op::apply_centered_rmsprop)
TAGMA_UPDATE_KERNELS(op::apply_adam)
TAGMA_UPDATE_KERNELS(op::apply_adamw)
TAGMA_UPDATE_KERNELS(op::apply_ftrl)
#undef TAGMA_UPDATE_KERNELS

}  // namespace tagma::device
