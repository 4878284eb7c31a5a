// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of device.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/runtime/device.hpp"

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL std::int64_t checked_option(std::string_view name, std::int64_t value, std::string_view zero) {
  if (value < 0) fail(status_code::invalid_argument, {"the option ", name, " is ", value, "; 0 stands for ", zero});
  return value;
}

TAGMA_COLD TAGMA_DECL std::string short_name(const device_spec& name) {
  return to_string(device_spec{{}, -1, -1, name.type, name.id});
}

TAGMA_COLD TAGMA_DECL device_table::device_table(const wanted_devices& wanted, int cpus, int threads, int step_threads,
                                                 bool soft, accelerator* others)
    : table_(wanted.list.size() < 1 ? 1 : wanted.list.size()) {
  if (cpus < 1)
    fail(status_code::invalid_argument, {"the option cpu_devices is ", cpus, "; a session has at least one"});
  checked_option("intra_op_threads", threads, "all threads that the process may use");
  checked_option("inter_op_threads", step_threads, "as many as intra_op_threads");
  devices_.allocate(cpus + (others == nullptr ? 0 : others->devices()));
  if (threads <= 0 && cpus > 1) {
    const int all = available_threads();
    threads = (all + cpus - 1) / cpus;
    if (step_threads <= 0) step_threads = all;
  }
  for (int d = 0; d < cpus; ++d) {
    devices_[d].name = ir::local_device("CPU", d);
    devices_[d].threads = make_cpu_executor(threads, d == 0 ? step_threads : 1);
  }
  table_[0] = &devices_[0];
  if (wanted.find != nullptr) wanted.find(*this, wanted.list, others, soft);
}

TAGMA_COLD TAGMA_DECL void device_table::find(device_table& table, array_view<const plan::plan_device> wanted,
                                              accelerator* others, bool soft) {
  const heap_array<session_device>& devices = table.devices_;
  int number = 0;
  for (session_device& d : devices)
    if (!d.threads) {
      int of_kind = d.number = number++;
      const accelerator& kind = others->kind_of(of_kind);
      d.name = ir::local_device(kind.type(), of_kind);
    }
  for (std::size_t w = 0; w < wanted.size(); ++w) {
    const session_device*& found = table.table_[w];
    for (const session_device& d : devices)
      if (d.name == wanted[w].name) found = &d;
    if (found == nullptr && !soft && !wanted[w].op.empty())
      fail(status_code::invalid_argument, table.missing_text(wanted[w]));
    for (const session_device& d : devices)
      if (found == nullptr && soft && d.name.type == wanted[w].name.type) found = &d;
    if (found == nullptr) found = &devices[0];
  }
}

TAGMA_COLD TAGMA_DECL std::string device_table::missing_text(const plan::plan_device& d) const {
  std::string text =
      sentence({"Cannot assign a device for operation '",
                d.node.empty() ? sentence({d.op, " #", d.source}) : sentence({d.node, d.suffix}),
                "': Operation was explicitly assigned to ", to_string(d.name), " but available devices are ["});
  for (const session_device& there : devices_)
    append_parts(text, {&there == &devices_[0] ? " " : ", ", to_string(there.name)});
  return sentence({text, " ]. Make sure the device specification refers to a valid device",
                   d.name.type == devices_[0].name.type
                       ? "; the option cpu_devices of a session says how many CPU devices it has"
                       : "",
                   "."});
}

}  // namespace tagma::runtime
