// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a kernel is given, and the table of kernels that a device provides for a plan.

#include "tagma/base/config.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/expr/carried.hpp"
#include "tagma/graph/local_devices.hpp"
#include "tagma/plan/plan.hpp"
#include "tagma/runtime/accelerator.hpp"
#include "tagma/runtime/completion.hpp"
#include "tagma/runtime/container.hpp"
#include "tagma/runtime/executor.hpp"
#include "tagma/runtime/variable_access.hpp"

namespace tagma {
namespace plan {
class step_graph;
}  // namespace plan
namespace runtime {

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

/// Where a kernel says what it has found, of an operation that is late. Extents that `infer` left dynamic it sets, each
/// once; the others are there already.
class late_results {
 public:
  virtual ~late_results() = default;
  /// Memory for result `r`, where its operation knows no bound for its extents: sets all of them. nullptr where nobody
  /// reads it. Kernels of the host only; throws ResourceExhausted.
  [[nodiscard]] virtual std::byte* allocate(int r, const shape& dims) = 0;
  void set(int axis, extent found, int r = 0) { extents[r * max_rank + axis] = found; }

  extent* extents = nullptr;  ///< `max_rank` for each result; devices write there, too
};

class rendezvous;
class trace_sink;

/// What all kernels of one run share.
struct run_context {
  executor* threads = nullptr;
  std::uint64_t seed = 0;    ///< of the session
  std::uint64_t step = 0;    ///< counts the runs of the session
  std::uint64_t writes = 0;  ///< how often a variable was written before the run began, or more
  trace_sink* trace = nullptr;
  int step_threads = 1;            ///< the most threads that share the steps of a run
  run_control* control = nullptr;  ///< of the run; none while kernels are prepared
  rendezvous* meeting = nullptr;   ///< with the other parts of a run that was cut; none of one that was not
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
  bool repeated = false;             ///< part of a loop of the plan: calls follow each other closely
  bool continued = false;            ///< of a sum: adds to what is there
  std::int64_t all = 0;              ///< rows of the step, of a kernel that has `rows`, if these are some of them
  std::int64_t first = 0;            ///< and rows before these
  std::int64_t worker = 0;           ///< and a number that no other call has at once, of those up to threads
  std::uint64_t lasting = 0;         ///< bit i: operand i is the same until `writes` of the context is another number
  array_view<const shape> declared;  ///< the static shapes of the inputs, `dyn` where they vary
  shape declared_out;
  const carried_value* value = nullptr;  ///< what the program carries for this node
  kernel_state* state = nullptr;
  const void* recipe = nullptr;  ///< of the entry
  late_results* late = nullptr;  ///< of an operation that is late; its results have the largest extents, 0 if unknown
};

using kernel_function = void (*)(const kernel_args&, const run_context&);
using prepare_function = owned<kernel_state> (*)(const kernel_args&, const run_context&);
/// Begins an operation that may wait, and returns; `done` ends it, now or later. It throws instead if it cannot begin.
/// What it needs meanwhile is in the state of the kernel. An operation that may wait for long adds a hook to
/// `context.control` and ends when the hook is called.
using start_function = void (*)(const kernel_args&, const run_context&, completion done);

/// How a step may be done on some rows, those of its first axis, with the state of the whole step and the same bytes.
struct step_rows {
  std::int64_t together = 0;  ///< how many at a time, or a multiple of it; 0: all
  std::size_t operands = 1;   ///< the first so many have these rows, what is behind them is the same for all
};
/// @param now null before a run; else what the rows have in common is made ready for it
using rows_function = step_rows (*)(const kernel_args&, const run_context* now);

/// One entry of a kernel table: `run`, or `start` for an operation that may wait; `prepare` may be missing.
struct kernel_entry {
  kernel_function run = nullptr;
  prepare_function prepare = nullptr;
  start_function start = nullptr;
  bool reads_run = false;  ///< of a device with streams: it reads or writes what such a device is told of each run
  const void* recipe = nullptr;  ///< of a kernel that is one for many steps: what this one does
  bool keeps = false;            ///< its result from run to run, until a variable is written
  rows_function rows = nullptr;
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
  /// Of each step, what it waits for, where devices do the steps; else nothing.
  [[nodiscard]] virtual array_view<const step_hold> holds() const = 0;
};

/// Reads elements of a node of a plan wherever they are.
struct element_reader {
  void (*copy)(void* self, ir::node_id node, const std::byte* from, std::byte* to, std::size_t bytes) = nullptr;
  /// The same to a place beside them.
  void (*move)(void* self, ir::node_id node, const std::byte* from, std::byte* to, std::size_t bytes) = nullptr;
  void* self = nullptr;
};

/// Does the steps of a bound plan with loops.
class loop_steps {
 public:
  virtual ~loop_steps() = default;
  /// Keeps `where` at the address of row node `row` in the iteration under way.
  virtual void follow(std::int32_t row, std::byte** where) = 0;
  /// Where the rows of a row node are, to be filled in.
  virtual operand& base(std::size_t row) = 0;
  /// All rows have their bases, and all that follow them are known.
  virtual void finish() = 0;
  /// Makes each loop one step. Virtual, so that programs without loops do not compile what that takes.
  virtual void join(plan::step_graph& steps) const = 0;
  /// Does all steps, those of loops as often as they iterate, until something goes wrong.
  virtual void run(run_control& control, run_steps& steps) = 0;
  /// The memory of a block is elsewhere. Any thread may say so, for a block that no loop under way uses.
  virtual void rebase(std::int32_t block) = 0;
  /// For whoever does the steps in another way.
  /// @{

  /// Iterations of loop `l` of the plan; where elements decide, of the last time.
  [[nodiscard]] virtual std::int64_t iterations(std::size_t l) const = 0;
  /// A run begins: feeds and variables may be elsewhere.
  virtual void begin() = 0;
  /// Points operands at the rows of these iterations, one of each loop; as many as there are stand for its end.
  virtual void point(array_view<const std::int32_t> iterations) = 0;
  /// Does loop `l`, of which elements tell how often; those around it are pointed at their iterations. Throws what went
  /// wrong.
  virtual void run_one(std::size_t l, run_control& control, run_steps& steps, element_reader reader) = 0;
  /// @}

  bool joined = false;  ///< each loop is one step of the graph of steps, also where devices do them
};

/// Binds the steps of a plan whose extents other steps find, in each run when it comes to them.
class late_extents {
 public:
  virtual ~late_extents() = default;
  /// Before memory is placed: true if node `i` depends on what is found. Its extents are the largest then.
  [[nodiscard]] virtual bool infer(ir::node_id i) = 0;
  /// Behind that: finds out which steps are bound late.
  virtual void bind() = 0;
  /// True if step `s` is bound in each run; if its kernel finds extents.
  [[nodiscard]] virtual bool is_late(std::size_t s) const = 0;
  [[nodiscard]] virtual bool finds(std::size_t s) const = 0;
  /// Binds step `s` to the extents that were found before it. Throws what does not fit.
  virtual void begin(std::size_t s, const run_context& context) = 0;
  /// Before the first iteration of loop `l`, which is in no other: finds the extents of all that is in it, and room.
  /// True if anything is not as it was the last time.
  [[nodiscard]] virtual bool enter_loop(std::size_t l) = 0;
  /// Takes what the kernel of step `s` has found. Throws if it cannot be.
  virtual void end(std::size_t s) = 0;
  /// Where fetch `f` is, behind the steps before it.
  [[nodiscard]] virtual raw_view fetched(std::size_t f) = 0;
  /// A number that is another one whenever a late step in [first, end) is bound otherwise.
  [[nodiscard]] virtual std::uint64_t bound_as(std::size_t first, std::size_t end) const = 0;
  /// Bytes beside the arenas.
  [[nodiscard]] virtual std::size_t bytes() const = 0;

  /// Asked where there is no memory for what was found: true if something was given back.
  bool (*let_one_go)(void* from) = nullptr;
  void* from = nullptr;
};

/// Does some steps of a bound plan together, in blocks of their rows.
class row_steps : public kernel_state {
 public:
  /// False if step `s` is done by itself. Else it is done with others, when the first of them is asked for.
  virtual bool run(std::size_t s, const run_context& context) = 0;
};

/// The kernels of the steps of a plan, in their order.
struct kernel_tables {
  array_view<const kernel_entry> cpu;
  array_view<const kernel_entry> accelerator{};  ///< empty if the program knows of CPUs alone
  /// Makes what begins the steps that may wait; nullptr if there are none, so that a program without does not compile
  /// it.
  /// @param apart whether runs are kept apart as a whole
  owned<waiting_steps> (*waiting)(bound_plan& plan, step_runner* runner, bool apart) = nullptr;
  /// Makes what binds steps late; nullptr if no kernel finds extents.
  owned<late_extents> (*late)(bound_plan& plan) = nullptr;
  /// Does the steps of a plan with devices that are no CPUs; nullptr if the program knows of none.
  /// @param pool whose threads do them; nullptr: the thread that calls
  void (*run_on_devices)(accelerated_steps& steps, run_control& control, run_steps& host, const run_context& context,
                         const session_pools& pools, step_pool* pool) = nullptr;
  /// Makes what does loops; nullptr if there are none.
  owned<loop_steps> (*loops)(bound_plan& plan) = nullptr;
  /// Does the steps of a plan with loops, on the thread that calls or, if there is one, on one of `pool`.
  void (*run_loops)(loop_steps& loops, run_control& control, run_steps& steps, const session_pools& pools,
                    step_pool* pool) = nullptr;
  /// Finds the steps that are done in blocks of rows; nullptr if the program has no operations on rows.
  void (*rows)(bound_plan& plan, const run_context& context) = nullptr;
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

/// Starts the devices of a program that is on several kinds; device/stream/joint_accelerator.hpp has it.
template <class Graph, class Placed>
struct joined_accelerators;

}  // namespace runtime

namespace diagnose {
/// Nodes are on one kind of devices besides CPUs, or on kinds that a session can use together.
template <class Graph, class Placed>
inline constexpr bool joins_devices = [] {
  if constexpr (Placed::kind != -2)
    return true;
  else if constexpr (requires { runtime::joined_accelerators<Graph, Placed>::value; })
    return runtime::joined_accelerators<Graph, Placed>::value;
  else
    return false;
}();
}  // namespace diagnose

namespace runtime {

/// Throws InvalidArgument that names a kind of devices with options of its own that no program of the file has.
/// @param types of the devices of a program
void check_kinds(const kind_options_list& kinds, array_view<const device_text> types);

/// The devices besides CPUs that a program has nodes on, or nothing where the machine has none.
/// @tparam Placed where its nodes are
/// @param options of the kinds that `kinds` does not name
template <class Graph, class Placed>
[[nodiscard]] owned<accelerator> start_accelerators([[maybe_unused]] const gpu_options& options,
                                                    [[maybe_unused]] const kind_options_list& kinds) {
  if constexpr (Placed::is_accelerated) {
    check_kinds(kinds, ir::detail::local_types<Graph>::types);
    if constexpr (Placed::kind >= 0) {
      using kind = ir::accelerator_of<Graph, Placed::kind>;
      owned<accelerator> others = kind::start(options_of(kind::type, options, kinds));
      if (others->devices() > 0) return others;
    } else if constexpr (diagnose::joins_devices<Graph, Placed>) {
      return joined_accelerators<Graph, Placed>::start(options, kinds,
                                                       std::make_integer_sequence<int, ir::most_kinds>{});
    }
  }
  return {};
}

}  // namespace runtime
}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/runtime/kernel.ipp"
#endif
