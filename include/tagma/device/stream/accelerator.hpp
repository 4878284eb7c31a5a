// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a session has of devices with streams, whoever makes them.

#include "tagma/base/config.hpp"
#include "tagma/device/stream/looped_steps.hpp"
#include "tagma/device/stream/plan_steps.hpp"
#include "tagma/runtime/plan_memory.hpp"

namespace tagma::device::stream {

/// Memory that is given back with the object.
template <class Buffer>
struct held_memory final : runtime::memory_block {
  explicit held_memory(Buffer&& b) : buffer(static_cast<Buffer&&>(b)) { data = buffer.data(); }
  Buffer buffer;
};
/// Memory of a device, or of the host where devices reach it.
[[nodiscard]] TAGMA_COLD inline owned<runtime::memory_block> allocate_memory(local_devices& devices, int device,
                                                                             std::int64_t bytes,
                                                                             std::initializer_list<text_part> purpose) {
  if (device < 0)
    return make_owned<held_memory<pinned_buffer>>(devices.pinned().allocate(static_cast<std::size_t>(bytes)));
  return make_owned<held_memory<device_block>>(devices.pool(device).allocate(bytes, sentence(purpose)));
}

/// What runs the steps of a plan.
[[nodiscard]] TAGMA_COLD inline owned<runtime::accelerated_steps> bind_steps(kernel_sources& sources,
                                                                             local_devices& devices,
                                                                             const gpu_options& options,
                                                                             runtime::bound_plan& plan,
                                                                             const runtime::run_context& context) {
  if (plan.loops() != nullptr && plan.loops()->joined) return make_owned<looped_steps>(sources, devices, plan, context);
  return make_owned<plan_steps>(sources, devices, options, plan, context);
}

/// Those of one kind.
class accelerator : public runtime::accelerator, public kernel_source {
 public:
  accelerator(shared_devices& shared, const gpu_options& options)
      : type_(shared.type()), lease_(shared, options), devices_(*lease_), options_(options) {
    if (options.streams < 1)
      fail(status_code::invalid_argument,
           {"the option gpu.streams is ", options.streams, "; a device has at least one"});
  }

  [[nodiscard]] std::string_view type() const override { return type_; }
  [[nodiscard]] int devices() override { return devices_.count(); }
  [[nodiscard]] TAGMA_COLD runtime::memory_use memory(int device) override {
    const pool_use use = devices_.pool(device).use();
    return {use.used, use.limit};
  }
  [[nodiscard]] TAGMA_COLD owned<runtime::memory_block> allocate(int device, std::int64_t bytes,
                                                                 std::initializer_list<text_part> purpose) override {
    return allocate_memory(devices_, device, bytes, purpose);
  }
  [[nodiscard]] TAGMA_COLD owned<runtime::accelerated_memory> memory_of(const runtime::bound_plan& plan) override {
    return make_owned<runtime::plan_memory>(*this, plan);
  }
  /// Through pinned memory: copies of streams want that.
  TAGMA_COLD void copy(runtime::memory_place to, runtime::memory_place from, std::size_t bytes) override {
    if (bytes == 0) return;
    const int device = devices_.number(to.device < 0 ? from.device : to.device);
    runtime::stream_driver& driver = devices_.driver();
    const pinned_buffer between = devices_.pinned().allocate(bytes);
    const runtime::owned_stream stream(driver, driver.make_stream(device));
    const runtime::owned_event done(driver, driver.make_event(device));
    const runtime::memory_place here{between.data(), runtime::on_host};
    if (from.device < 0) {
      std::memcpy(between.data(), from.data, bytes);
      driver.copy(stream.get(), {to.data, device}, here, bytes);
    } else {
      driver.copy(stream.get(), here, {from.data, device}, bytes);
    }
    driver.record(done.get(), stream.get());
    static_cast<void>(driver.host_wait(done.get(), -1));
    if (to.device < 0) std::memcpy(to.data, between.data(), bytes);
  }
  [[nodiscard]] TAGMA_COLD owned<runtime::accelerated_steps> bind(runtime::bound_plan& plan,
                                                                  const runtime::run_context& context) override {
    return bind_steps(*this, devices_, options_, plan, context);
  }
  [[nodiscard]] local_devices& local() const { return devices_; }
  [[nodiscard]] const gpu_options& options() const { return options_; }

 private:
  std::string_view type_;
  shared_devices::lease lease_;
  local_devices& devices_;
  gpu_options options_;
};

}  // namespace tagma::device::stream
