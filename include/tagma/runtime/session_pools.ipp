// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of session_pools.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/runtime/session_pools.hpp"

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL session_pools::session_pools(const inter_op_pool_list& pools)
    : functions_(pools.functions()), pools_(pools.size()) {
  for (std::size_t i = 0; i < pools.size(); ++i) pools_[i] = functions_->make(pools[i].threads, pools[i].name);
}

TAGMA_DECL void session_pools::run(step_pool& threads, run_control& control, run_steps& steps,
                                   std::size_t count) const {
  functions_->run(threads, control, steps, count);
}

TAGMA_DECL int session_pools::most_threads() const {
  int most = 1;
  for (const owned<step_pool>& pool : pools_)
    if (pool->step_threads() > most) most = pool->step_threads();
  return most;
}

TAGMA_DECL step_pool* session_pools::find(int index, step_pool& own) const {
  if (index == -1) return nullptr;
  if (index == 0 && !any()) return &own;
  if (index < 0 || static_cast<std::size_t>(index) >= pools_.size()) explain(index);
  return pools_[index].get();
}

TAGMA_COLD TAGMA_DECL void session_pools::explain(int index) const {
  fail(status_code::invalid_argument, {"Invalid inter_op_thread_pool: ", index, "; the session has ",
                                       any() ? pools_.size() : 1, any() && pools_.size() > 1 ? " pools" : " pool"});
}

}  // namespace tagma::runtime
