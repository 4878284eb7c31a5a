// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of batch.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/data/batch.hpp"

namespace tagma::detail {

TAGMA_DECL queue_options kind_of(const batch_options& o) {
  return {.kind = o.dynamic_pad ? queue_kind::padding : queue_kind::fifo, .capacity = o.capacity};
}

TAGMA_COLD TAGMA_DECL queue_options kind_of(const shuffle_batch_options& o) {
  if (o.capacity <= o.min_after_dequeue)
    fail(status_code::invalid_argument, {"shuffle_batch: the capacity of ", o.capacity,
                                         " must be more than min_after_dequeue, which is ", o.min_after_dequeue});
  return {queue_kind::shuffle, o.capacity, o.min_after_dequeue, o.seed};
}

}  // namespace tagma::detail
