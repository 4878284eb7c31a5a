// SPDX-License-Identifier: BSL-1.0
#define TAGMA_COMPILED_KERNEL
#include "tagma/device/cpu/compiled_kernels.hpp"
