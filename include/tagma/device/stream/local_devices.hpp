// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The devices of one driver that a process sees, and their memory. Sessions share them. Those of several drivers make
/// one list for a session that uses them all.

#include "tagma/base/config.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/device/stream/memory_pool.hpp"
#include "tagma/device/stream/pinned_pool.hpp"
#include "tagma/runtime/accelerator.hpp"

namespace tagma::device::stream {

class local_devices {
 public:
  /// Touches no device. Throws InvalidArgument if the visible devices are no list of different devices that exist.
  TAGMA_COLD local_devices(runtime::stream_driver& driver, std::string_view type, const gpu_options& options)
      : driver_(driver), pinned_(driver) {
    const int existing = driver.devices();
    const array_view<const int> visible = options.visible_devices.numbers();
    check_visible_devices(visible, existing);
    numbers_ = heap_array<int>(visible.empty() ? static_cast<std::size_t>(existing) : visible.size());
    pools_ = heap_array<memory_pool*>(numbers_.size());
    own_ = heap_array<owned<memory_pool>>(numbers_.size());
    const memory_options memory{options.memory_fraction, options.memory_cap, options.allow_growth};
    for (std::size_t d = 0; d < numbers_.size(); ++d) {
      numbers_[d] = visible.empty() ? static_cast<int>(d) : visible[d];
      own_[d] = make_owned<memory_pool>(driver, numbers_[d], sentence({"/device:", type, ":", d}), memory);
      pools_[d] = own_[d].get();
    }
    one_of_each_ = heap_array<int>(numbers_.size() == 0 ? 0 : 1);
    if (numbers_.size() > 0) one_of_each_[0] = numbers_[0];
  }
  /// A part of a list, and what is added to the numbers that its driver has for its devices.
  struct part {
    local_devices* devices = nullptr;
    int first = 0;
  };
  /// The devices of all parts, in their order. The parts must outlive it.
  /// @param all the drivers of the parts as one
  TAGMA_COLD local_devices(runtime::stream_driver& all, array_view<const part> parts) : driver_(all), pinned_(all) {
    std::size_t count = 0;
    for (const part& p : parts) count += p.devices->numbers_.size();
    numbers_ = heap_array<int>(count);
    pools_ = heap_array<memory_pool*>(count);
    one_of_each_ = heap_array<int>(parts.size());
    count = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const local_devices& from = *parts[i].devices;
      for (std::size_t d = 0; d < from.numbers_.size(); ++d, ++count) {
        numbers_[count] = parts[i].first + from.numbers_[d];
        pools_[count] = from.pools_[d];
      }
      one_of_each_[i] = parts[i].first + from.numbers_[0];
    }
  }

  [[nodiscard]] runtime::stream_driver& driver() const { return driver_; }
  [[nodiscard]] int count() const { return static_cast<int>(numbers_.size()); }
  /// What the driver calls device `d` of the process.
  [[nodiscard]] int number(int d) const { return d < 0 ? d : numbers_[d]; }
  [[nodiscard]] memory_pool& pool(int d) { return *pools_[d]; }
  /// Memory of the host that all of them reach.
  [[nodiscard]] pinned_pool& pinned() { return pinned_; }
  /// What the driver calls a device; one of each driver, where these are several.
  [[nodiscard]] array_view<const int> one_of_each_driver() const { return one_of_each_; }

 private:
  runtime::stream_driver& driver_;
  heap_array<int> numbers_;
  heap_array<owned<memory_pool>> own_;
  heap_array<memory_pool*> pools_;
  heap_array<int> one_of_each_;
  pinned_pool pinned_;
};

/// The devices of a driver for all sessions that live at the same time. The first of them decides what the options say
/// of memory and of visible devices; when the last is gone, the memory goes back to the driver.
class shared_devices {
 public:
  TAGMA_COLD shared_devices(runtime::stream_driver& driver, std::string_view type) : driver_(driver), type_(type) {}
  shared_devices(const shared_devices&) = delete;
  shared_devices& operator=(const shared_devices&) = delete;

  /// The part of a session. What it is made of must outlive it.
  class lease {
   public:
    /// Throws FailedPrecondition if sessions live that have other options, and as `local_devices`.
    TAGMA_COLD lease(shared_devices& shared, const gpu_options& options) : shared_(shared) {
      const mutex_lock lock(shared.mutex_);
      if (shared.sessions_ == 0) {
        shared.devices_ = make_owned<local_devices>(shared.driver_, shared.type_, options);
        shared.options_ = options;
      } else if (!equal(shared.options_, options)) {
        fail(status_code::failed_precondition,
             {"the options gpu.memory_fraction, memory_cap, allow_growth and visible_devices of a session differ from "
              "those of a session that lives: all of a process share the memory of its ",
              shared.type_, " devices"});
      }
      ++shared.sessions_;
    }
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;
    TAGMA_COLD ~lease() {
      const mutex_lock lock(shared_.mutex_);
      if (--shared_.sessions_ == 0) shared_.devices_ = {};
    }
    [[nodiscard]] local_devices& operator*() const { return *shared_.devices_; }

   private:
    shared_devices& shared_;
  };

  [[nodiscard]] std::string_view type() const { return type_; }

 private:
  [[nodiscard]] static bool equal(const gpu_options& a, const gpu_options& b) {
    const array_view<const int> x = a.visible_devices.numbers(), y = b.visible_devices.numbers();
    bool same = a.memory_fraction == b.memory_fraction && a.memory_cap == b.memory_cap &&
                a.allow_growth == b.allow_growth && x.size() == y.size();
    for (std::size_t i = 0; same && i < x.size(); ++i) same = x[i] == y[i];
    return same;
  }

  runtime::stream_driver& driver_;
  std::string_view type_;
  mutex mutex_;
  owned<local_devices> devices_;
  gpu_options options_;
  int sessions_ = 0;
};

}  // namespace tagma::device::stream
