// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/executor.hpp"
#include "tagma/device/cpu/initial_numbers.hpp"
#include "tagma/device/operations_of_records.hpp"
#include "tagma/runtime/late_runs.hpp"

namespace tagma::runtime {

const ir::op_rules& find_rules(const ir::table_operation& named) { return device::operations::rules_of(named); }

}  // namespace tagma::runtime
