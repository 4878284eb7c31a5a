// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/all_kernels.hpp"

// The other files have the kernels.
namespace tagma::device::cpu {

extern template struct registered<operations::arithmetic>;
extern template struct registered<operations::comparison>;
extern template struct registered<operations::conversion>;
extern template struct registered<operations::elementary>;
extern template struct registered<operations::reduction>;
extern template struct registered<operations::contraction>;
extern template struct registered<operations::pooling>;
extern template struct registered<operations::rows>;
extern template struct registered<operations::cells>;
extern template struct registered<operations::order>;
extern template struct registered<operations::filters>;
extern template struct registered<operations::movement>;
extern template struct registered<operations::state>;
extern template struct registered<operations::chance>;
extern template struct registered<operations::training>;
extern template struct registered<operations::internal>;
extern template struct registered<operations::queues>;
extern template struct registered<operations::exchange>;
extern template struct registered<operations::readers>;
extern template struct registered<operations::records>;

}  // namespace tagma::device::cpu

namespace tagma::runtime {

owned<step_kernels> find_kernels(const plan::heap_plan& plan) {
  return make_owned<device::found_kernels>(device::cpu::all_kernels(), plan);
}
const resource_functions& find_resource(const plan::plan_resource& named) {
  return device::cpu::find_resource_functions(named);
}

}  // namespace tagma::runtime
