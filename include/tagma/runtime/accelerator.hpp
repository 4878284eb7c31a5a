// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a session asks of devices that are no CPUs, such as GPUs: memory, and runs of the plans that have steps there.

#include <initializer_list>

#include "tagma/base/array_view.hpp"
#include "tagma/base/counted.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/runtime/memory_place.hpp"

namespace tagma {

struct raw_view;

/// Up to sixteen numbers of devices, by value: `{1, 0}`.
class device_list {
 public:
  static constexpr std::size_t most = 16;

  constexpr device_list() = default;
  /// Throws InvalidArgument for more than sixteen.
  constexpr device_list(std::initializer_list<int> numbers) {
    if (numbers.size() > most) fail(status_code::invalid_argument, "a list of devices has at most sixteen");
    for (const int n : numbers) numbers_[size_++] = n;
  }
  /// The devices.
  [[nodiscard]] constexpr array_view<const int> numbers() const { return {numbers_, size_}; }

 private:
  int numbers_[most]{};
  std::size_t size_ = 0;
};

/// How sessions use GPUs, or devices of another kind. The first session of a process decides about memory and numbers
/// for all that live at the same time.
struct gpu_options {
  double memory_fraction = 0;     ///< of each GPU's memory, for this process; 0: what is free, less a reserve
  std::int64_t memory_cap = 0;    ///< bytes of each GPU, at most; 0: no such bound
  bool allow_growth = false;      ///< true: memory is taken as it is needed, else at the first use
  device_list visible_devices{};  ///< entry i is the driver's number of /device:GPU:i; none: all, in order
  int streams = 4;                ///< on which the kernels of a run may go side by side, of each GPU
  bool graphs = true;             ///< steps that are the same in each run are recorded once and replayed
};

/// How sessions use the devices of one kind.
struct kind_options {
  std::string_view type{};  ///< "NPU"
  gpu_options options{};
};

/// Options of up to four kinds of devices, by value.
class kind_options_list {
 public:
  static constexpr std::size_t most = 4;

  constexpr kind_options_list() = default;
  /// Throws InvalidArgument for more than four.
  constexpr kind_options_list(std::initializer_list<kind_options> kinds) {
    if (kinds.size() > most) fail(status_code::invalid_argument, "a list of options of devices has at most four kinds");
    for (const kind_options& k : kinds) kinds_[size_++] = k;
  }
  /// All of them.
  [[nodiscard]] constexpr array_view<const kind_options> kinds() const { return {kinds_, size_}; }

 private:
  kind_options kinds_[most]{};
  std::size_t size_ = 0;
};

namespace runtime {

/// The options of a kind of devices.
/// @param others those of the kinds that are not named
[[nodiscard]] const gpu_options& options_of(std::string_view type, const gpu_options& others,
                                            const kind_options_list& kinds);

struct run_context;
class run_steps;
class session_pools;
class step_pool;
class bound_plan;

/// Memory of a device, in bytes, as far as this process has to do with it.
struct memory_use {
  std::int64_t used = 0;   ///< that variables and plans take
  std::int64_t limit = 0;  ///< that the process may take; 0 until it has taken some
};

/// Memory that an accelerator gave; destroyed, it is given back.
class memory_block {
 public:
  memory_block() = default;
  memory_block(const memory_block&) = delete;
  memory_block& operator=(const memory_block&) = delete;
  virtual ~memory_block() = default;

  std::byte* data = nullptr;
};

/// What a bound plan has where accelerators reach it. Devices are counted as the program does, the client's first.
class accelerated_memory {
 public:
  virtual ~accelerated_memory() = default;
  /// Memory of device `d` for the tensors of a run. Asked for once.
  [[nodiscard]] virtual std::byte* arena(std::int16_t d, std::int64_t bytes) = 0;
  /// A copy on accelerator `d` of the scalars of the program.
  [[nodiscard]] virtual std::byte* scalars(std::int16_t d, array_view<std::byte> values) = 0;
  /// Where a copy to a device finds what is fed to node `id`.
  [[nodiscard]] virtual std::byte* feed(std::int32_t id) = 0;
  /// Writes what a run is fed there.
  virtual void stage(array_view<const raw_view> feeds) = 0;
};

/// Somebody who is told that a run can go on.
class wake_target {
 public:
  /// Called by any thread, with locks held: runs nothing.
  virtual void wake() noexcept = 0;

 protected:
  ~wake_target() = default;
};

/// Does the steps of a bound plan, for one run at a time.
class accelerated_steps {
 public:
  virtual ~accelerated_steps() = default;
  /// Does every step and returns when all are done: those of devices in their streams, those of the host by `host`, on
  /// the calling thread. Throws what goes wrong first, with the name of the step. No step of the plan waits.
  virtual void run(run_steps& /*host*/, const run_context& /*context*/) {}

  // Of a plan with steps that wait, instead:

  /// Before the first step.
  /// @param target told whenever a step that waited has ended
  virtual void begin(run_steps& /*host*/, const run_context& /*context*/, wake_target& /*target*/) {}
  /// What comes next.
  enum class next : unsigned char {
    nothing,  ///< all steps are done
    wait,     ///< what comes next waits for a step that holds no thread
    serve,    ///< the thread that asked for the run has to `serve`
  };
  /// Does steps until that is known. Any thread may call it, one at a time. Throws as `run`; neither it nor `serve` may
  /// be called any more then.
  [[nodiscard]] virtual next advance() { return next::nothing; }
  /// Does about variables what the next step waits for, which may be other runs.
  virtual void serve() {}
  /// True while a step that was begun has not ended.
  [[nodiscard]] virtual bool waits() { return false; }
  /// Returns when nobody tells the target any more. No step waits by then.
  virtual void end() {}

  // Of a plan with loops, and with steps that wait or extents that are found late, instead:

  /// Does every step, each loop as one, and returns when all have ended. What goes wrong is told to the control of the
  /// run.
  /// @param pool whose threads do them; nullptr: the thread that calls
  virtual void run_around_loops(run_steps& /*host*/, const run_context& /*context*/, const session_pools& /*pools*/,
                                step_pool* /*pool*/) {}
};

/// The devices of a session besides CPUs, of one kind or of several. They are numbered from 0. No device is touched
/// before memory is asked for.
class accelerator : public counted_object {
 public:
  /// As in names of devices: "GPU". Of several kinds, only what `kind_of` returns has one.
  [[nodiscard]] virtual std::string_view type() const = 0;
  /// What has the devices of the kind of one.
  /// @param device becomes the number that it has there
  [[nodiscard]] virtual accelerator& kind_of(int& /*device*/) { return *this; }
  [[nodiscard]] virtual int devices() = 0;
  /// Touches no device.
  [[nodiscard]] virtual memory_use memory(int /*device*/) { return {}; }
  /// Memory of a device, or for `on_host`, of the host where devices reach it. Throws ResourceExhausted.
  /// @param purpose what it is for, as errors tell it
  [[nodiscard]] virtual owned<memory_block> allocate(int device, std::int64_t bytes,
                                                     std::initializer_list<text_part> purpose) = 0;
  /// @param plan outlives the result
  [[nodiscard]] virtual owned<accelerated_memory> memory_of(const bound_plan& plan) = 0;
  /// Copies between a device and the host, any memory of it, and waits until it is done.
  virtual void copy(memory_place to, memory_place from, std::size_t bytes) = 0;
  /// Makes what the runs of a plan need, and prepares its kernels of devices.
  /// @param plan outlives the result
  [[nodiscard]] virtual owned<accelerated_steps> bind(bound_plan& plan, const run_context& context) = 0;
};

}  // namespace runtime
}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/runtime/accelerator.ipp"
#endif
