// SPDX-License-Identifier: BSL-1.0
// The training steps of tagma_transformer.cpp on a GPU.
#include "tagma/cuda.hpp"

#include "../peers/tagma_transformer.cpp"
