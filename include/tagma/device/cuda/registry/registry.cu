// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cuda/all_kernels.hpp"
#include "tagma/device/gpus.hpp"

const tagma::runtime::device_kind& tagma::gpus() { return device::cuda::registered_gpus(); }
