// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a kernel is given, and the table of kernels that a device provides for a plan.

#include "tagma/base/owned.hpp"
#include "tagma/expr/carried.hpp"
#include "tagma/graph/local_devices.hpp"
#include "tagma/plan/plan.hpp"
#include "tagma/runtime/accelerator.hpp"
#include "tagma/runtime/completion.hpp"
#include "tagma/runtime/container.hpp"
#include "tagma/runtime/executor.hpp"

namespace tagma::runtime {

/// A tensor in the memory of a device, with the extents of this run.
struct operand {
  std::byte* data = nullptr;
  dtype type = dtype::none;
  shape dims;

  template <class T>
  [[nodiscard]] T* as() const {
    return reinterpret_cast<T*>(data);
  }
  /// The resource that this is instead of a tensor; its operation makes it sure that it is a `T`.
  template <class T>
  [[nodiscard]] T& resource() const {
    return static_cast<T&>(*reinterpret_cast<runtime::resource*>(data));
  }
  [[nodiscard]] extent elements() const { return dims.elements(); }
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(elements()) * size_of(type); }
};

/// What a kernel prepares once for given extents: strides, primitives of a vendor library, scratch memory.
class kernel_state {
 public:
  virtual ~kernel_state() = default;
};

class trace_sink;

/// What all kernels of one run share.
struct run_context {
  executor* threads = nullptr;
  std::uint64_t seed = 0;  ///< of the session
  std::uint64_t step = 0;  ///< counts the runs of the session
  trace_sink* trace = nullptr;
  int step_threads = 1;            ///< the most threads that share the steps of a run
  run_control* control = nullptr;  ///< of the run; none while kernels are prepared
  void* stream = nullptr;          ///< where a device puts the work of this run, in its own words
  void* library = nullptr;         ///< what a device keeps for its kernels: handles of libraries, working memory

  /// True if the run was cancelled, is late, or has failed elsewhere: a kernel that takes long asks now and then, and
  /// returns or throws. As cheap as a load; with limits, as looking at the clock.
  [[nodiscard]] bool cancelled() const { return control != nullptr && control->stopping(); }
};

/// Arguments of one kernel call.
struct kernel_args {
  array_view<operand> in;
  operand out;
  array_view<operand> outs{};  ///< instead, of an operation with several results; without data where nobody reads it
  ir::attribute_list attributes;
  std::int32_t source = 0;           ///< the node's position in the program: the stream of its random numbers
  array_view<const shape> declared;  ///< the static shapes of the inputs, `dyn` where they vary
  shape declared_out;
  const carried_value* value = nullptr;  ///< what the program carries for this node
  kernel_state* state = nullptr;
};

using kernel_function = void (*)(const kernel_args&, const run_context&);
using prepare_function = owned<kernel_state> (*)(const kernel_args&, const run_context&);
/// Begins an operation that may wait, and returns; `done` ends it, now or later. It throws instead if it cannot begin.
/// What it needs meanwhile is in the state of the kernel. An operation that may wait for long adds a hook to
/// `context.control` and ends when the hook is called.
using start_function = void (*)(const kernel_args&, const run_context&, completion done);

/// One entry of a kernel table: `run`, or `start` for an operation that may wait; `prepare` may be missing.
struct kernel_entry {
  kernel_function run = nullptr;
  prepare_function prepare = nullptr;
  start_function start = nullptr;
  bool reads_run = false;  ///< of a device with streams: it reads or writes what such a device is told of each run
};

class accelerated_steps;
class run_control;
class run_steps;
class session_pools;
class step_pool;
class step_runner;

/// Begins the steps of a bound plan that may wait.
class waiting_steps {
 public:
  virtual ~waiting_steps() = default;
  /// Begins step `s`; `done` ends it.
  virtual void start(std::size_t s, const run_context& context, completion done) = 0;
  /// What runs do about variables that they need before they wait; nullptr if they need none then.
  [[nodiscard]] virtual access_function access() const = 0;
};

/// The kernels of the steps of a plan, in their order.
struct kernel_tables {
  array_view<const kernel_entry> cpu;
  array_view<const kernel_entry> accelerator{};  ///< empty if the program knows of CPUs alone
  /// Makes what begins the steps that may wait; nullptr if there are none, so that a program without does not compile
  /// it.
  /// @param apart whether runs are kept apart as a whole
  owned<waiting_steps> (*waiting)(bound_plan& plan, step_runner* runner, bool apart) = nullptr;
  /// Does the steps of a plan with devices that are no CPUs; nullptr if the program knows of none.
  /// @param pool whose threads do them; nullptr: the thread that calls
  void (*run_on_devices)(accelerated_steps& steps, run_control& control, run_steps& host, const run_context& context,
                         const session_pools& pools, step_pool* pool) = nullptr;
};

/// True if one of the kernels may wait.
[[nodiscard]] constexpr bool starts_any(array_view<const kernel_entry> entries) {
  for (const kernel_entry& entry : entries)
    if (entry.start != nullptr) return true;
  return false;
}

/// The kernels of the CPU for the steps of a plan, in their order; defined by the device.
template <class Plan>
struct kernel_table;

/// The devices besides CPUs that a program has nodes on, or nothing where the machine has none.
/// @tparam Used whether it has such nodes
template <class Graph, bool Used>
[[nodiscard]] owned<accelerator> start_accelerator([[maybe_unused]] const gpu_options& options) {
  if constexpr (Used) {
    owned<accelerator> others = ir::accelerator_of<Graph>::start(options);
    if (others->devices() > 0) return others;
  }
  return {};
}

}  // namespace tagma::runtime
