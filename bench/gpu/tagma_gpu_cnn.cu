// SPDX-License-Identifier: BSL-1.0
// The training steps of tagma_cnn.cpp on a GPU.
#include "tagma/cuda.hpp"

#include "../peers/tagma_cnn.cpp"
