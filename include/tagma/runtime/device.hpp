// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The devices of a session, and which of them stands for each device that its program knows of.

#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/graph/local_devices.hpp"
#include "tagma/plan/plan.hpp"
#include "tagma/runtime/accelerator.hpp"
#include "tagma/runtime/executor.hpp"

namespace tagma::runtime {

/// The value of an option of a session. Throws InvalidArgument that names the option if it is below 0.
/// @param zero what 0 stands for
std::int64_t checked_option(std::string_view name, std::int64_t value, std::string_view zero);

/// A device of a session: its name, and the threads of its kernels if it is a CPU.
struct session_device {
  device_spec name;
  owned<executor> threads;
  int number = on_host;  ///< of the accelerator
};

/// "/device:CPU:1": the name of a device inside its process.
[[nodiscard]] std::string short_name(const device_spec& name);

class device_table;

/// The devices that a program asks for, the client's first. Of a program that knows of no other than that, nothing is
/// looked for, and the search is not compiled.
class wanted_devices {
 public:
  constexpr wanted_devices() = default;
  constexpr wanted_devices(array_view<const plan::plan_device> list);

  array_view<const plan::plan_device> list;
  void (*find)(device_table& table, array_view<const plan::plan_device> list, accelerator* others, bool soft) = nullptr;
};

/// The devices of a session. Without a program that asks for more, there is one.
class device_table {
 public:
  device_table() = default;
  /// Takes what the program asks for from what there is. A device where no node runs may be missing.
  /// @param cpus how many CPU devices the session has
  /// @param threads of each device that share a kernel; 0: the processors of the process are divided among them
  /// @param step_threads that share the steps of a run
  /// @param soft a device that is missing is replaced by the first one of its type, or the first CPU
  /// @param others the devices that are no CPUs, or nullptr
  /// Throws InvalidArgument that names the node and the device that is missing, or the option that makes no sense.
  device_table(const wanted_devices& wanted, int cpus, int threads, int step_threads, bool soft, accelerator* others);

  /// The device that stands for number `d` of the program.
  template <class Index>
  [[nodiscard]] const session_device& operator[](Index d) const {
    return *table_[d];
  }
  /// How many devices the program knows of.
  [[nodiscard]] std::size_t size() const { return table_.size(); }
  /// The threads that the steps of a run are shared among.
  [[nodiscard]] executor& threads() const { return *devices_[0].threads; }

 private:
  friend class wanted_devices;

  /// Names the devices of accelerators, and takes what is wanted from all.
  static void find(device_table& table, array_view<const plan::plan_device> wanted, accelerator* others, bool soft);
  [[nodiscard]] std::string missing_text(const plan::plan_device& d) const;

  heap_array<session_device> devices_;
  heap_array<const session_device*> table_;
};

constexpr wanted_devices::wanted_devices(array_view<const plan::plan_device> devices)
    : list(devices), find(&device_table::find) {}

/// What a program asks for whose nodes are placed like this.
template <class Placed>
[[nodiscard]] constexpr wanted_devices devices_of() {
  if constexpr (Placed::device_count > 1)
    return {Placed::devices};
  else
    return {};
}

}  // namespace tagma::runtime

#ifndef TAGMA_COMPILED
#include "tagma/runtime/device.ipp"
#endif
