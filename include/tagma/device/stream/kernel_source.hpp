// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What devices with streams differ in: how a kernel gets onto a stream, and what kernels must be told of a run.

#include "tagma/device/stream/memory_pool.hpp"
#include "tagma/runtime/bound_plan.hpp"
#include "tagma/runtime/stream_driver.hpp"

namespace tagma::device::stream {

/// What the kernels of one plan share on one stream.
class stream_state {
 public:
  stream_state() = default;
  stream_state(const stream_state&) = delete;
  stream_state& operator=(const stream_state&) = delete;
  virtual ~stream_state() = default;

  void* library = nullptr;               ///< for `run_context::library`
  runtime::executor* threads = nullptr;  ///< for `run_context::threads`
};

class kernel_source;

/// The kernels of all devices of a session that are no CPUs.
class kernel_sources {
 public:
  /// Those of the kind of a device, as the session numbers it.
  [[nodiscard]] virtual kernel_source& kernels_of(int device) = 0;

 protected:
  ~kernel_sources() = default;
};

/// The kernels of one kind of device.
///
/// Recorded steps are replayed with the arguments that they had. So what differs from run to run, and kernels know, is
/// in memory of the device, the words of a run: they are written before each run and read after it.
class kernel_source : public kernel_sources {
 public:
  [[nodiscard]] kernel_source& kernels_of(int) override { return *this; }
  /// @param stream as the driver of these devices numbers them
  /// @param words where on the device the words of a run are, or nullptr if no kernel of the plan reads them
  /// @param pool the memory of the device
  [[nodiscard]] virtual owned<stream_state> make_state(runtime::stream_ref stream, std::byte* words,
                                                       memory_pool& pool) = 0;
  /// Puts the kernel of step `s` into the stream of the context, whose device is current.
  /// @param context at the same address in each run of the plan, with what is true of that run
  virtual void launch(const runtime::bound_plan& plan, std::size_t s, const runtime::run_context& context) = 0;
  /// Bytes of the words of a run.
  [[nodiscard]] virtual std::size_t words_size() const = 0;
  virtual void write_words(std::byte* words, const runtime::run_context& context) const = 0;
  /// Throws if the words tell that something went wrong in a run.
  virtual void check_words(const std::byte* words, const runtime::bound_plan& plan) const = 0;

 protected:
  ~kernel_source() = default;
};

}  // namespace tagma::device::stream
