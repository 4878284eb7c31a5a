// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of step_pools.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/step_pools.hpp"

namespace tagma::device::cpu {

TAGMA_DECL named_step_pools& named_step_pools::all() {
  static named_step_pools pools;
  return pools;
}

TAGMA_COLD TAGMA_DECL named_step_pools::entry& named_step_pools::find(int threads, std::string_view name) {
  const mutex_lock lock(mutex_);
  for (entry* e = first_.get(); e != nullptr; e = e->next.get()) {
    if (e->name != name) continue;
    if (e->threads.wanted() != threads)
      fail(status_code::invalid_argument, {"Pool ", name, " configured previously with num_threads=",
                                           e->threads.wanted(), ", this session asks for ", threads});
    ++e->users;
    return *e;
  }
  owned<entry> made(new entry(name, threads));
  made->next = static_cast<owned<entry>&&>(first_);
  first_ = static_cast<owned<entry>&&>(made);
  return *first_;
}

TAGMA_COLD TAGMA_DECL void named_step_pools::leave(entry& gone) {
  owned<entry> ended;  // after the lock is open: it waits for threads
  const mutex_lock lock(mutex_);
  if (--gone.users > 0) return;
  owned<entry>* place = &first_;
  while (place->get() != &gone) place = &(*place)->next;
  ended = static_cast<owned<entry>&&>(*place);
  *place = static_cast<owned<entry>&&>(ended->next);
}

}  // namespace tagma::device::cpu

namespace tagma {

TAGMA_COLD TAGMA_DECL owned<runtime::step_pool> runtime::make_cpu_step_pool(int threads, std::string_view name) {
  if (threads < 0)
    fail(status_code::invalid_argument, {"the option inter_op_pools asks for a pool of ", threads,
                                         " threads; 0 stands for all that the process may use"});
  if (threads == 0) threads = device::cpu::available_cpus();
  if (name.empty()) return owned<runtime::step_pool>(new device::cpu::step_pool(threads));
  return owned<runtime::step_pool>(
      new device::cpu::named_step_pools::user(device::cpu::named_step_pools::all(), threads, name));
}

}  // namespace tagma
