// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a session has whose program is on several kinds of devices with streams.

#include "tagma/base/config.hpp"
#include "tagma/device/stream/accelerator.hpp"
#include "tagma/device/stream/joint_driver.hpp"
#include "tagma/graph/local_devices.hpp"

namespace tagma::device::stream {

/// The devices of several kinds, numbered one kind behind the other. A plan has one list of steps for all of them; what
/// kinds differ in stays with each.
static_assert(most_drivers == ir::most_kinds);
class joint_accelerator final : public runtime::accelerator, kernel_sources {
 public:
  /// @param kinds each with a device at least
  TAGMA_COLD explicit joint_accelerator(heap_array<counted<stream::accelerator>>&& kinds)
      : kinds_(static_cast<heap_array<counted<stream::accelerator>>&&>(kinds)),
        drivers_(kinds_.size()),
        driver_(list_drivers()),
        parts_(kinds_.size()),
        devices_(driver_, list_parts()),
        options_(kinds_[0]->options()) {
    for (const counted<stream::accelerator>& k : kinds_) {
      if (k->options().streams < options_.streams) options_.streams = k->options().streams;
      options_.graphs = options_.graphs && k->options().graphs;
    }
  }

  [[nodiscard]] std::string_view type() const override { return {}; }
  /// @param device becomes its number among those of its kind
  [[nodiscard]] stream::accelerator& kind_of(int& device) override {
    std::size_t k = 0;
    for (; device >= kinds_[k]->devices(); ++k) device -= kinds_[k]->devices();
    return *kinds_[k];
  }
  [[nodiscard]] int devices() override { return devices_.count(); }
  [[nodiscard]] TAGMA_COLD runtime::memory_use memory(int device) override {
    stream::accelerator& kind = kind_of(device);
    return kind.memory(device);
  }
  [[nodiscard]] TAGMA_COLD owned<runtime::memory_block> allocate(int device, std::int64_t bytes,
                                                                 std::initializer_list<text_part> purpose) override {
    return allocate_memory(devices_, device, bytes, purpose);
  }
  [[nodiscard]] TAGMA_COLD owned<runtime::accelerated_memory> memory_of(const runtime::bound_plan& plan) override {
    return make_owned<runtime::plan_memory>(*this, plan);
  }
  TAGMA_COLD void copy(runtime::memory_place to, runtime::memory_place from, std::size_t bytes) override {
    int& device = to.device < 0 ? from.device : to.device;
    stream::accelerator& kind = kind_of(device);
    kind.copy(to, from, bytes);
  }
  [[nodiscard]] TAGMA_COLD owned<runtime::accelerated_steps> bind(runtime::bound_plan& plan,
                                                                  const runtime::run_context& context) override {
    return bind_steps(*this, devices_, options_, plan, context);
  }

 private:
  [[nodiscard]] kernel_source& kernels_of(int device) override { return kind_of(device); }

  [[nodiscard]] TAGMA_COLD array_view<runtime::stream_driver* const> list_drivers() {
    for (std::size_t k = 0; k < kinds_.size(); ++k) drivers_[k] = &kinds_[k]->local().driver();
    return drivers_;
  }
  [[nodiscard]] TAGMA_COLD array_view<const local_devices::part> list_parts() {
    for (std::size_t k = 0; k < kinds_.size(); ++k) parts_[k] = {&kinds_[k]->local(), driver_.first_of(k)};
    return parts_;
  }

  heap_array<counted<stream::accelerator>> kinds_;
  heap_array<runtime::stream_driver*> drivers_;
  joint_driver driver_;
  heap_array<local_devices::part> parts_;
  local_devices devices_;
  gpu_options options_;
};

/// The devices of all kinds that the machine has; nothing if there are none.
/// @param kinds some of them may be empty
[[nodiscard]] TAGMA_COLD inline owned<runtime::accelerator> join(heap_array<counted<accelerator>>& kinds) {
  std::size_t count = 0;
  for (const counted<accelerator>& k : kinds) count += k && k->devices() > 0;
  if (count == 0) return {};
  heap_array<counted<accelerator>> found(count);
  count = 0;
  for (const counted<accelerator>& k : kinds)
    if (k && k->devices() > 0) found[count++] = k;
  return make_owned<joint_accelerator>(static_cast<heap_array<counted<accelerator>>&&>(found));
}

void takes_streams(const accelerator* kind);
/// A kind of devices that a session can use beside others.
template <class Kind>
concept starts_streams = requires(const gpu_options& options) {
  takes_streams(Kind::start(options).get());
};

}  // namespace tagma::device::stream

namespace tagma::runtime {

/// Starts the devices of a program that is on several kinds.
template <class Graph, class Placed>
struct joined_accelerators {
  /// False for a kind that starts something else.
  template <int Kind>
  static constexpr bool has_streams() {
    if constexpr (Placed::uses_kind(Kind))
      return device::stream::starts_streams<ir::accelerator_of<Graph, Kind>>;
    else
      return true;
  }
  template <int... Kind>
  static constexpr bool all_have_streams(std::integer_sequence<int, Kind...>) {
    return (has_streams<Kind>() && ...);
  }
  static constexpr bool value = all_have_streams(std::make_integer_sequence<int, ir::most_kinds>{});

  template <int... Kind>
  [[nodiscard]] static owned<accelerator> start(const gpu_options& options, const kind_options_list& kinds,
                                                std::integer_sequence<int, Kind...>) {
    heap_array<counted<device::stream::accelerator>> started(ir::most_kinds);
    const auto add = [&]<int K>(std::integral_constant<int, K>) {
      if constexpr (Placed::uses_kind(K))
        started[K] = counted<device::stream::accelerator>(
            ir::accelerator_of<Graph, K>::start(options_of(ir::accelerator_of<Graph, K>::type, options, kinds))
                .release());
    };
    (add(std::integral_constant<int, Kind>{}), ...);
    return device::stream::join(started);
  }
};

}  // namespace tagma::runtime
