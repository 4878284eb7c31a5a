// SPDX-License-Identifier: BSL-1.0

/// @file
/// The updates of the optimizers, for kernels of all devices. A macro without a pragma: see base/config.hpp.

#ifndef TAGMA_EACH_UPDATE

#include "tagma/nn/optimizers.hpp"

/// Writes `each(Update)` for every update that has a rule.
#define TAGMA_EACH_UPDATE(each)                                                                           \
  each(op::apply_sgd) each(op::apply_momentum) each(op::apply_adagrad) each(op::apply_adadelta)           \
      each(op::apply_rmsprop) each(op::apply_centered_rmsprop) each(op::apply_adam) each(op::apply_adamw) \
          each(op::apply_ftrl)

#endif
