// SPDX-License-Identifier: BSL-1.0
#include "conformance/devices.hpp"

namespace tagma::conformance {

std::vector<const device*> devices() { return {&cpu_device(), &fake_gpu_device()}; }

}  // namespace tagma::conformance
