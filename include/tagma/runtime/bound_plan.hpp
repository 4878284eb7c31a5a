// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A plan with the extents of a run: shapes inferred and checked, memory placed, kernels prepared. Made on the first
/// run with given extents and used again, so that later runs allocate nothing.

#include <string>

#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/expr/variable.hpp"
#include "tagma/plan/memory.hpp"
#include "tagma/plan/transfer.hpp"
#include "tagma/runtime/aligned_bytes.hpp"
#include "tagma/runtime/caught.hpp"
#include "tagma/runtime/device.hpp"
#include "tagma/runtime/plan_text.hpp"
#include "tagma/runtime/scalar.hpp"
#include "tagma/runtime/session_state.hpp"
#include "tagma/runtime/step_runner.hpp"
#include "tagma/runtime/trace.hpp"
#include "tagma/runtime/variable_access.hpp"
#include "tagma/runtime/variable_steps.hpp"
#include "tagma/tensor/view.hpp"

namespace tagma::runtime {

template <class Bound>
class late_steps;

/// One set of buffers and prepared kernels; used by one run at a time.
class bound_plan {
 public:
  /// @param others the devices that are no CPUs, or nullptr
  bound_plan(const plan::plan_view& plan, const kernel_tables& kernels, array_view<const raw_view> feeds,
             const session_state& state, const carried& values, const run_context& context, const device_table& devices,
             accelerator* others);

  bound_plan(const bound_plan&) = delete;
  bound_plan& operator=(const bound_plan&) = delete;
  TAGMA_COLD ~bound_plan() = default;

  /// True if the plan was bound for feeds of these extents.
  [[nodiscard]] bool matches(array_view<const raw_view> feeds) const;

  /// Points the operands at the feeds of this run.
  void patch(array_view<const raw_view> feeds);

  [[nodiscard]] std::size_t step_count() const { return calls_.size(); }
  /// What runs the steps in an order of its own, or nullptr where the order of the plan will do.
  [[nodiscard]] step_runner* shared_steps() { return runner_.shares() || asynchronous_ ? &runner_ : nullptr; }
  /// What runs the steps if some of them are done more than once, else nullptr.
  [[nodiscard]] loop_steps* loops() const { return loops_.get(); }
  /// What does some steps together, in blocks of rows, unless a run is recorded; or nullptr.
  [[nodiscard]] row_steps* rows() const { return rows_; }
  /// True if one CPU does all steps in the order of the plan, each once, and a run has all variables from its start.
  [[nodiscard]] bool is_in_order() const {
    return plain_ && !accelerated_ && !loops_ && !runner_.shares() && !asynchronous_ && !access_;
  }
  void set_rows(row_steps* rows) {
    states_[calls_.size()] = owned<kernel_state>(rows);
    rows_ = rows;
    plain_ = false;
  }
  /// What runs the steps if some of them are on devices that are no CPUs, else nullptr.
  [[nodiscard]] accelerated_steps* device_steps() const { return device_steps_.get(); }
  /// True if a step may wait without a thread, and `shared_steps` runs the steps.
  [[nodiscard]] bool asynchronous() const { return asynchronous_; }
  /// Whether results of some steps are kept from run to run.
  [[nodiscard]] bool keeps() const { return keeps_; }
  /// What begins such steps if devices do the others, else nullptr.
  [[nodiscard]] const waiting_steps* waits_on_devices() const { return asynchronous_ ? nullptr : waits_.get(); }
  /// True if a step or a fetch needs a variable.
  [[nodiscard]] bool uses_variables() const { return uses_variables_; }
  void run_step(std::size_t s, const run_context& context);
  /// True if step `s` is bound in each run, to extents that other steps find; if its kernel finds some itself.
  [[nodiscard]] bool is_late(std::size_t s) const { return late_ && late_->is_late(s); }
  [[nodiscard]] bool finds_extents(std::size_t s) const { return late_ && late_->finds(s); }
  /// Goes before a step, and behind one that finds extents.
  void begin_late(std::size_t s, const run_context& context);
  void end_late(std::size_t s) const { late_->end(s); }
  [[nodiscard]] late_extents* late() const { return late_.get(); }
  /// The first step that needs a variable; as many as there are steps if only a fetch does, or nothing.
  [[nodiscard]] std::size_t first_with_variable() const { return first_with_variable_; }
  /// What a run does about variables beside waiting its turn; nullptr where that is all.
  [[nodiscard]] variable_access* access() const { return access_.get(); }
  /// The same where each step is told of by itself.
  [[nodiscard]] variable_access* step_access() const { return by_plan_ ? nullptr : access_.get(); }
  /// Operands are where the current versions are. Only where nobody updates them meanwhile.
  void follow(array_view<const counted<stored_variable>> variables);
  /// Points the operands at variable `slot`.
  void move_variable(std::size_t slot, std::byte* data);
  /// Another number whenever an operand has moved that is no feed.
  [[nodiscard]] std::uint64_t moved() const { return moved_; }
  /// The variables that a run writes.
  [[nodiscard]] array_view<stored_variable* const> written() const { return {written_.data(), written_count_}; }
  /// Begins an asynchronous step.
  void start_step(std::size_t s, const run_context& context, completion done) { waits_->start(s, context, done); }
  // For whoever runs the steps of devices:

  [[nodiscard]] const kernel_args& call(std::size_t s) const { return calls_[s]; }
  [[nodiscard]] kernel_args& call(std::size_t s) { return calls_[s]; }
  [[nodiscard]] const shape& dims_of(ir::node_id id) const { return dims_[id]; }
  [[nodiscard]] std::byte* block_address(std::int32_t b) const { return block_address_[b]; }
  [[nodiscard]] const kernel_entry& device_kernel(std::size_t s) const { return device_kernels_[s]; }
  [[nodiscard]] const session_device& device_of(std::size_t s) const;
  [[nodiscard]] bool is_transfer(std::size_t s) const;
  /// Where a transfer comes from; of any other step, its own device.
  [[nodiscard]] const session_device& source_of(std::size_t s) const;
  [[nodiscard]] const session_device& device_at(std::int16_t d) const { return devices_[d]; }
  [[nodiscard]] const kernel_entry& kernel(std::size_t s) const { return kernels_[s]; }
  [[nodiscard]] bool is_asynchronous(std::size_t s) const { return kernels_[s].start != nullptr; }
  /// Which step waits for which.
  [[nodiscard]] const plan::step_graph& graph() const { return runner_.graph(); }
  [[nodiscard]] double cost_of(std::size_t s) const { return cost(plan_.steps[s]); }
  void prepare(std::size_t s, const kernel_entry& kernel, const run_context& context);
  /// `kernel_args::lasting` of a step.
  [[nodiscard]] std::uint64_t lasting(const plan::plan_step& step) const;
  void add_to_trace(std::size_t s, trace_sink& trace, const device_spec& device, std::uint64_t run,
                    std::string_view queue, std::int64_t begin_ns, std::int64_t end_ns) const;
  /// "matmul 'hidden/kernel' on /device:GPU:0 of float32 [2, 3] and float32 [3, 4]".
  [[nodiscard]] std::string step_text(std::size_t s) const;

  /// The error of a step in words that name it: operation, device, what it was given.
  [[nodiscard]] std::exception_ptr named(std::size_t s, std::exception_ptr error_of_kernel) const noexcept;

  /// Where the value of fetch `f` is after a run.
  [[nodiscard]] raw_view fetched(std::size_t f) const;
  /// Bytes of the value of a node.
  [[nodiscard]] std::int64_t bytes_of(ir::node_id id) const;
  [[nodiscard]] std::int64_t block_bytes(const plan::plan_block& b) const;
  /// " (its largest tensors: matmul #5 float32 [64, 10] 2560 bytes, ...)", for the error where there is no room.
  [[nodiscard]] std::string largest_tensors(std::int16_t d) const;
  /// Bytes of the arenas of all devices.
  [[nodiscard]] std::size_t arena_bytes() const { return late_ ? arena_bytes_ + late_->bytes() : arena_bytes_; }
  [[nodiscard]] std::size_t feeds() const { return feed_dims_.size(); }
  [[nodiscard]] const plan::plan_view& plan() const { return plan_; }

  owned<bound_plan> next;  ///< for lists of idle plans

  /// Records a run of step `s`, which began then and ended now.
  void add_to_trace(std::size_t s, const run_context& context, std::int64_t begin) const;

 private:
  template <class Bound>
  friend class late_steps;
  // A function of its own, so that `run_step` is a part of its caller.
  void run_late_or_traced(std::size_t s, const run_context& context);

  // What throws behind it is cleaned up by the destructor, not by code of its own for each member.
  bound_plan(const plan::plan_view& plan, const kernel_tables& kernels, const device_table& devices,
             accelerator* others);

  struct patch_place {
    std::byte** where = nullptr;
    std::int32_t index = 0;  ///< of the feed; of a variable, of the next place that has it
  };

  [[nodiscard]] array_view<const ir::node_id> inputs_of(const plan::plan_node& n) const;
  [[nodiscard]] ir::attribute_list attributes_of(const plan::plan_node& n) const;

  /// What kinds of step there are.
  void look_at_steps(array_view<const counted<stored_variable>> variables);

  void infer_extents(array_view<const raw_view> feeds);

  [[nodiscard]] bool has_dynamic_input(const plan::plan_node& n) const;

  /// Of the inputs of a node in this run.
  [[nodiscard]] heap_array<tensor_spec> input_specs(const plan::plan_node& n) const;

  /// The extents of a node in this run; they must fit what the compiler knew.
  [[nodiscard]] shape infer(const plan::plan_node& n) const;

  [[noreturn]] void fail_size(const plan::plan_node& n, const shape& dims) const;

  /// An extent that varies never stretches, even if it happens to be 1: the loops are made for the declared shapes.
  void check_stretching(const plan::plan_node& n, const shape& out);

  [[nodiscard]] std::string extents_text(const plan::plan_node& n, std::string_view problem) const;

  /// The context with the threads of the device of step `s`.
  [[nodiscard]] run_context on_device(std::size_t s, run_context context) const;
  /// Nanoseconds that a step takes on one thread, roughly: 8 bytes a nanosecond move, 20 products are formed.
  [[nodiscard]] double cost(const plan::plan_step& step) const;

  /// Makes a runner where threads that take a step each are quicker than all at one, or where a step may wait.
  void share_steps(const executor& e, int threads, bool apart);
  static constexpr std::size_t most_shared_steps = 4096;  // the order of steps takes a bit for each pair of them
  static constexpr double start_of_sharing = 10e3;        // ns, until another thread is awake
  static constexpr double shared_kernel = 40e3;           // ns, from which a kernel is split among threads

  void place_memory();
  [[nodiscard]] std::byte* allocate_arena(std::int16_t device, std::int64_t size);
  [[noreturn]] void fail_arena(std::int16_t device, std::int64_t size) const;
  void store_scalars(const carried& values);

  /// @param d the device that reads or writes it
  [[nodiscard]] std::byte* address(const plan::plan_node& n, const session_state& state, std::int16_t d);

  void make_calls(const session_state& state, const carried& values);

  const plan::plan_view& plan_;
  array_view<const kernel_entry> kernels_;
  array_view<const kernel_entry> device_kernels_;
  const device_table& devices_;
  accelerator* others_;
  owned<waiting_steps> (*waiting_)(bound_plan&, step_runner*, bool);
  owned<loop_steps> (*loops_of_)(bound_plan&);
  heap_array<shape> feed_dims_;
  heap_array<shape> dims_;
  step_runner runner_;
  owned<accelerated_memory> memory_;  // instead of arenas, if there are steps on devices that are no CPUs
  heap_array<aligned_bytes> arenas_;  // one a device
  std::size_t arena_bytes_ = 0;
  heap_array<std::byte*> block_address_;
  aligned_bytes scalars_;
  heap_array<operand> operands_;
  heap_array<shape> declared_;
  heap_array<kernel_args> calls_;
  heap_array<owned<kernel_state>> states_;  // of the steps, and of what does some of them in blocks
  row_steps* rows_ = nullptr;
  owned<late_extents> late_;    // where kernels find extents
  bool plain_ = false;          // one device, and nothing is bound late
  owned<waiting_steps> waits_;  // where there are asynchronous ones
  bool asynchronous_ = false, accelerated_ = false, uses_variables_ = false, by_plan_ = false, keeps_ = false;
  heap_array<std::byte*> fetch_address_;
  heap_array<patch_place> patches_;
  std::size_t feed_patches_ = 0;             // from the second on
  heap_array<std::int32_t> variable_patch_;  // the first of each variable, or 0
  heap_array<stored_variable*> written_;
  std::size_t written_count_ = 0;
  std::size_t first_with_variable_ = 0;
  std::uint64_t seen_moves_ = ~std::uint64_t{0};
  std::uint64_t moved_ = 0;
  owned<variable_access> access_;
  owned<accelerated_steps> device_steps_;
  owned<loop_steps> loops_;
};

}  // namespace tagma::runtime

#ifndef TAGMA_COMPILED
#include "tagma/runtime/bound_plan.ipp"
#endif
