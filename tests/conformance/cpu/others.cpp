// SPDX-License-Identifier: BSL-1.0
#include "conformance/cpu/kernels.hpp"
#include "tagma/device/cpu/kernel/concat.hpp"
#include "tagma/device/cpu/kernel/gather.hpp"
#include "tagma/device/cpu/kernel/optimizers.hpp"
#include "tagma/device/cpu/kernel/random.hpp"
#include "tagma/device/cpu/kernel/slice.hpp"
#include "tagma/device/cpu/kernel/state.hpp"
#include "tagma/device/cpu/kernel/transpose.hpp"

namespace tagma::conformance {

void add_others(cpu_kernels& to) {
  add_family(movement{}, to);
  add_family(state{}, to);
  add_family(chance{}, to);
  add_family(training{}, to);
}

}  // namespace tagma::conformance
