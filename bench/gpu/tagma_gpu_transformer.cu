// SPDX-License-Identifier: BSL-1.0
// The training steps of a block of a transformer on a GPU.
#define TAGMA_NETWORK transformer
#include "tagma/cuda.hpp"

#include "../networks/tagma_network.cpp"
