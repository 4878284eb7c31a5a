// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Memory for the words of a run, on every device that has a kernel which reads them.

#include "tagma/base/config.hpp"
#include "tagma/device/stream/kernel_source.hpp"
#include "tagma/device/stream/local_devices.hpp"

namespace tagma::device::stream {

struct device_words {
  int device = 0;  ///< of the driver
  device_block block;
  pinned_buffer host;
  kernel_source* source = nullptr;  ///< whose words they are

  [[nodiscard]] std::size_t size() const { return host.size(); }
};

class run_words {
 public:
  /// For all steps of a plan.
  TAGMA_COLD run_words(kernel_sources& sources, local_devices& devices, const runtime::bound_plan& plan) : plan_(plan) {
    const heap_array<bool> reads(devices.count());
    std::size_t count = 0;
    for (std::size_t s = 0; s < plan.step_count(); ++s) {
      if (!reads_them(s)) continue;
      const int device = plan.device_of(s).number;
      bool& known = reads[device];
      count += !known && sources.kernels_of(device).words_size() > 0;
      known = true;
    }
    words_ = heap_array<device_words>(count);
    for (std::size_t d = 0, w = 0; d < reads.size(); ++d) {
      if (!reads[d]) continue;
      const auto number = static_cast<int>(d);
      kernel_source& source = sources.kernels_of(number);
      const std::size_t size = source.words_size();
      if (size == 0) continue;
      words_[w++] = {devices.number(number),
                     devices.pool(number).allocate(static_cast<std::int64_t>(size), "the words of a run"),
                     devices.pinned().allocate(size), &source};
    }
  }

  /// True if the kernel of step `s` of the plan reads them.
  [[nodiscard]] bool reads_them(std::size_t s) const {
    return plan_.device_of(s).number >= 0 && plan_.device_kernel(s).reads_run;
  }
  [[nodiscard]] std::size_t size() const { return words_.size(); }
  [[nodiscard]] const device_words& operator[](std::size_t i) const { return words_[i]; }
  /// Where they are on a device of the driver; nullptr if nobody reads them there.
  [[nodiscard]] std::byte* on(int device) const {
    for (const device_words& w : words_)
      if (w.device == device) return w.block.data();
    return nullptr;
  }
  /// Those of the host, before they are copied to the devices.
  void write(const runtime::run_context& context) const {
    for (const device_words& w : words_) w.source->write_words(w.host.data(), context);
  }
  /// The same when they are back: throws if they tell that something went wrong.
  void check() const {
    for (const device_words& w : words_) w.source->check_words(w.host.data(), plan_);
  }

 private:
  const runtime::bound_plan& plan_;
  heap_array<device_words> words_;
};

}  // namespace tagma::device::stream
