// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a runtime asks of devices that work through queues of their own: memory, streams, events, copies, and graphs of
/// work that are recorded once and launched many times. The terms are those of CUDA.

#include <cstddef>
#include <cstdint>
#include <string>

#include "tagma/runtime/memory_place.hpp"

namespace tagma::runtime {

/// A queue of a device: its work is done in the order in which it was put there.
struct stream_ref {
  void* native = nullptr;  ///< of the driver, such as a cudaStream_t
  int device = 0;
};

/// A point in the work of a stream.
struct event_ref {
  void* native = nullptr;
  int device = 0;  ///< the one whose streams may record it; any stream may wait for it
};

/// Recorded work, ready to be launched.
struct graph_ref {
  void* native = nullptr;
  int device = 0;  ///< of several drivers that are used as one, tells whose it is
};

/// Bytes of a device.
struct device_memory {
  std::int64_t free = 0;   ///< not taken by any process
  std::int64_t total = 0;  ///< what the device has
};

/// The devices of one kind. Devices are numbered from 0. Whatever fails throws `tagma::error`; what gives something
/// back throws nothing, and may be called when the driver has shut down already. Functions may be called from several
/// threads, those that concern one stream from one at a time.
class stream_driver {
 public:
  stream_driver() = default;
  stream_driver(const stream_driver&) = delete;
  stream_driver& operator=(const stream_driver&) = delete;
  virtual ~stream_driver() = default;

  /// How many devices there are.
  [[nodiscard]] virtual int devices() = 0;
  /// What the vendor calls the device.
  [[nodiscard]] virtual std::string name(int device) = 0;
  [[nodiscard]] virtual device_memory memory(int device) = 0;

  /// Of several drivers that are used as one, whose device it is, counted from 0. Streams and events of different ones
  /// know nothing of each other.
  [[nodiscard]] virtual int driver_of(int /*device*/) const { return 0; }

  /// Kernels that the calling thread launches from now on go to `device`. Returns what `restore` takes.
  virtual int make_current(int device) = 0;
  virtual void restore(int before) noexcept = 0;
  /// Prepares copies from one device to another to take the shortest way that there is.
  virtual void connect(int from, int to) = 0;

  /// Memory of a device, on a boundary of 256 bytes; nullptr where there is not so much.
  [[nodiscard]] virtual std::byte* allocate(int device, std::size_t bytes) = 0;
  virtual void deallocate(int device, std::byte* data) noexcept = 0;
  /// Memory of the host that devices reach by themselves; nullptr where there is not so much.
  [[nodiscard]] virtual std::byte* allocate_pinned(std::size_t bytes) = 0;
  virtual void deallocate_pinned(std::byte* data) noexcept = 0;
  /// Makes memory of the host, which another driver gave, memory that devices reach, until `unpin`; false where that is
  /// not possible.
  [[nodiscard]] virtual bool pin(std::byte* data, std::size_t bytes) = 0;
  virtual void unpin(std::byte* data) noexcept = 0;

  [[nodiscard]] virtual stream_ref make_stream(int device) = 0;
  virtual void destroy(stream_ref stream) noexcept = 0;
  [[nodiscard]] virtual event_ref make_event(int device) = 0;
  /// An event that notes when it is reached, which takes longer.
  [[nodiscard]] virtual event_ref make_timer(int device) = 0;
  virtual void destroy(event_ref event) noexcept = 0;

  /// `event` is from now on the point that `stream` reaches when all that was put there so far is done.
  virtual void record(event_ref event, stream_ref stream) = 0;
  /// What is put into `stream` later begins after the point that `event` is now.
  virtual void wait(stream_ref stream, event_ref event) = 0;
  /// True if the point was reached. Throws what went wrong on the way there.
  [[nodiscard]] virtual bool reached(event_ref event) = 0;
  /// Waits until the point is reached, for `ns` nanoseconds at most if that is not negative; false if it was not.
  /// Throws what went wrong on the way there.
  [[nodiscard]] virtual bool host_wait(event_ref event, std::int64_t ns) = 0;
  /// Nanoseconds between the points of two timers of one device. Both have been reached.
  [[nodiscard]] virtual std::int64_t elapsed_ns(event_ref from, event_ref to) = 0;
  /// Returns when nothing is left to do in the stream, whether it went well or not.
  virtual void drain(stream_ref stream) noexcept = 0;

  /// Copies between a device and the host, within a device, or from one device to another.
  virtual void copy(stream_ref stream, memory_place to, memory_place from, std::size_t bytes) = 0;
  /// Sets bytes of the stream's device to `value`.
  virtual void fill(stream_ref stream, std::byte* to, unsigned char value, std::size_t bytes) = 0;
  /// Calls `function(context)` on a thread of the driver when the stream comes to it. The function must not throw, nor
  /// call the driver.
  virtual void call_host(stream_ref stream, void (*function)(void*), void* context) = 0;

  /// What the calling thread puts into `origin` from now on is recorded and not done; the same for other streams once
  /// they wait for an event that was recorded so. Meanwhile the thread may neither wait for these streams nor allocate.
  virtual void begin_capture(stream_ref origin) = 0;
  /// Ends it. The other streams must have been joined: `origin` waits for events behind all that was put there.
  [[nodiscard]] virtual graph_ref end_capture(stream_ref origin) = 0;
  /// Ends it and forgets what was recorded.
  virtual void abandon_capture(stream_ref origin) noexcept = 0;
  /// Puts the recorded work into a stream, as one piece: it begins after what is there, and what comes later waits for
  /// all of it.
  virtual void launch(graph_ref graph, stream_ref stream) = 0;
  virtual void destroy(graph_ref graph) noexcept = 0;
};

/// A device is the current one of the calling thread while this lives.
class current_device {
 public:
  current_device(stream_driver& driver, int device) : driver_(driver), before_(driver.make_current(device)) {}
  current_device(const current_device&) = delete;
  current_device& operator=(const current_device&) = delete;
  ~current_device() { driver_.restore(before_); }

 private:
  stream_driver& driver_;
  int before_;
};

/// A stream, event or graph that is destroyed with this object. The driver must outlive it.
template <class Ref>
class driver_object {
 public:
  driver_object() = default;
  driver_object(stream_driver& driver, Ref ref) : driver_(&driver), ref_(ref) {}
  driver_object(driver_object&& other) noexcept : driver_(other.driver_), ref_(other.ref_) { other.ref_ = {}; }
  driver_object& operator=(driver_object&& other) noexcept {
    driver_object before(static_cast<driver_object&&>(*this));
    driver_ = other.driver_;
    ref_ = other.ref_;
    other.ref_ = {};
    return *this;
  }
  driver_object(const driver_object&) = delete;
  driver_object& operator=(const driver_object&) = delete;
  ~driver_object() {
    if (ref_.native != nullptr) driver_->destroy(ref_);
  }

  [[nodiscard]] Ref get() const { return ref_; }
  [[nodiscard]] explicit operator bool() const { return ref_.native != nullptr; }

 private:
  stream_driver* driver_ = nullptr;
  Ref ref_{};
};

using owned_stream = driver_object<stream_ref>;
using owned_event = driver_object<event_ref>;
using owned_graph = driver_object<graph_ref>;

}  // namespace tagma::runtime
