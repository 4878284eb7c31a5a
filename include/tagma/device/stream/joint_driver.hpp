// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Several drivers as one: their devices are numbered one driver behind the other, and reach the same memory of the
/// host.

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/device/stream/steps.hpp"
#include "tagma/runtime/mutex.hpp"
#include "tagma/runtime/stream_driver.hpp"

namespace tagma::device::stream {

/// Whoever uses it brings nothing of one driver to another: a stream waits for events of its own driver only, a copy
/// has the host on one side or stays with one driver.
class joint_driver final : public runtime::stream_driver {
 public:
  using stream_ref = runtime::stream_ref;
  using event_ref = runtime::event_ref;
  using graph_ref = runtime::graph_ref;
  using memory_place = runtime::memory_place;

  /// @param drivers each with a device at least; they must outlive it
  TAGMA_COLD explicit joint_driver(array_view<runtime::stream_driver* const> drivers) : parts_(drivers.size()) {
    int first = 0;
    for (std::size_t p = 0; p < drivers.size(); ++p) {
      parts_[p] = {drivers[p], first};
      first += drivers[p]->devices();
    }
    count_ = first;
  }

  /// The number of the first device of driver `p`.
  [[nodiscard]] int first_of(std::size_t p) const { return parts_[p].first; }

  [[nodiscard]] int devices() override { return count_; }
  [[nodiscard]] std::string name(int device) override {
    const part& p = of(device);
    return p.driver->name(device - p.first);
  }
  [[nodiscard]] runtime::device_memory memory(int device) override {
    const part& p = of(device);
    return p.driver->memory(device - p.first);
  }
  [[nodiscard]] int driver_of(int device) const override { return static_cast<int>(&of(device) - parts_.data()); }
  int make_current(int device) override {
    const part& p = of(device);
    return p.driver->make_current(device - p.first) * most_drivers + static_cast<int>(&p - parts_.data());
  }
  void restore(int before) noexcept override { parts_[before % most_drivers].driver->restore(before / most_drivers); }
  void connect(int from, int to) override {
    const part& p = of(from);
    p.driver->connect(from - p.first, to - p.first);
  }

  [[nodiscard]] std::byte* allocate(int device, std::size_t bytes) override {
    const part& p = of(device);
    return p.driver->allocate(device - p.first, bytes);
  }
  void deallocate(int device, std::byte* data) noexcept override {
    const part& p = of(device);
    p.driver->deallocate(device - p.first, data);
  }
  /// The first driver gives it, all others come to reach it.
  [[nodiscard]] TAGMA_COLD std::byte* allocate_pinned(std::size_t bytes) override {
    std::byte* const data = parts_[0].driver->allocate_pinned(bytes);
    if (data == nullptr) return nullptr;
    std::size_t p = 1;
    try {
      while (p < parts_.size() && parts_[p].driver->pin(data, bytes)) ++p;
    } catch (...) {
      forget(p, data);
      throw;
    }
    if (p == parts_.size()) return data;
    forget(p, data);
    return nullptr;
  }
  TAGMA_COLD void deallocate_pinned(std::byte* data) noexcept override { forget(parts_.size(), data); }
  [[nodiscard]] TAGMA_COLD bool pin(std::byte* data, std::size_t bytes) override {
    std::size_t p = 0;
    while (p < parts_.size() && parts_[p].driver->pin(data, bytes)) ++p;
    if (p == parts_.size()) return true;
    while (p-- > 0) parts_[p].driver->unpin(data);
    return false;
  }
  TAGMA_COLD void unpin(std::byte* data) noexcept override {
    for (std::size_t p = parts_.size(); p-- > 0;) parts_[p].driver->unpin(data);
  }

  [[nodiscard]] stream_ref make_stream(int device) override {
    const part& p = of(device);
    return {p.driver->make_stream(device - p.first).native, device};
  }
  void destroy(stream_ref stream) noexcept override {
    const part& p = of(stream);
    p.driver->destroy(p.own(stream));
  }
  [[nodiscard]] event_ref make_event(int device) override {
    const part& p = of(device);
    return {p.driver->make_event(device - p.first).native, device};
  }
  [[nodiscard]] event_ref make_timer(int device) override {
    const part& p = of(device);
    return {p.driver->make_timer(device - p.first).native, device};
  }
  void destroy(event_ref event) noexcept override {
    const part& p = of(event);
    p.driver->destroy(p.own(event));
  }

  void record(event_ref event, stream_ref stream) override {
    const part& p = of(stream);
    p.driver->record(p.own(event), p.own(stream));
  }
  void wait(stream_ref stream, event_ref event) override {
    const part& p = of(stream);
    if (&p != &of(event)) fail(status_code::internal, "a stream waits for an event of another driver");
    p.driver->wait(p.own(stream), p.own(event));
  }
  [[nodiscard]] bool reached(event_ref event) override {
    const part& p = of(event);
    return p.driver->reached(p.own(event));
  }
  [[nodiscard]] bool host_wait(event_ref event, std::int64_t ns) override {
    const part& p = of(event);
    return p.driver->host_wait(p.own(event), ns);
  }
  [[nodiscard]] std::int64_t elapsed_ns(event_ref from, event_ref to) override {
    const part& p = of(from);
    return p.driver->elapsed_ns(p.own(from), p.own(to));
  }
  void drain(stream_ref stream) noexcept override {
    const part& p = of(stream);
    p.driver->drain(p.own(stream));
  }

  void copy(stream_ref stream, memory_place to, memory_place from, std::size_t bytes) override {
    const part& p = of(stream);
    p.driver->copy(p.own(stream), p.own(to), p.own(from), bytes);
  }
  void fill(stream_ref stream, std::byte* to, unsigned char value, std::size_t bytes) override {
    const part& p = of(stream);
    p.driver->fill(p.own(stream), to, value, bytes);
  }
  void call_host(stream_ref stream, void (*function)(void*), void* context) override {
    const part& p = of(stream);
    p.driver->call_host(p.own(stream), function, context);
  }

  void begin_capture(stream_ref origin) override {
    const part& p = of(origin);
    p.driver->begin_capture(p.own(origin));
  }
  [[nodiscard]] graph_ref end_capture(stream_ref origin) override {
    const part& p = of(origin);
    return {p.driver->end_capture(p.own(origin)).native, origin.device};
  }
  void abandon_capture(stream_ref origin) noexcept override {
    const part& p = of(origin);
    p.driver->abandon_capture(p.own(origin));
  }
  void launch(graph_ref graph, stream_ref stream) override {
    const part& p = of(stream);
    p.driver->launch({graph.native}, p.own(stream));
  }
  void destroy(graph_ref graph) noexcept override { of(graph).driver->destroy(graph_ref{graph.native}); }

 private:
  struct part {
    runtime::stream_driver* driver = nullptr;
    int first = 0;

    template <class Ref>
    [[nodiscard]] Ref own(Ref ref) const {
      return {ref.native, ref.device - first};
    }
    [[nodiscard]] memory_place own(memory_place place) const {
      return {place.data, place.device < 0 ? place.device : place.device - first};
    }
  };

  [[nodiscard]] const part& of(int device) const {
    std::size_t p = parts_.size() - 1;
    while (p > 0 && parts_[p].first > device) --p;
    return parts_[p];
  }
  template <class Ref>
  [[nodiscard]] const part& of(const Ref& ref) const {
    return of(ref.device);
  }
  /// Gives memory back that the drivers before `p` reach.
  TAGMA_COLD void forget(std::size_t p, std::byte* data) noexcept {
    while (--p > 0) parts_[p].driver->unpin(data);
    parts_[0].driver->deallocate_pinned(data);
  }

  heap_array<part> parts_;
  int count_ = 0;
};

}  // namespace tagma::device::stream
