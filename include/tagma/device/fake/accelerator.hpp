// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Makes GPUs of fake devices: the kernels are those of the CPU, put into fake streams.

#include "tagma/device/fake/driver.hpp"
#include "tagma/device/stream/joint_accelerator.hpp"

namespace tagma::device::fake {

/// Fake devices of one kind, and the sessions that use them.
class installation {
 public:
  /// @param type of the devices, as in their names
  installation(const driver_options& options, std::string_view type) : driver_(options), devices_(driver_, type) {}
  installation(const installation&) = delete;
  installation& operator=(const installation&) = delete;

  [[nodiscard]] fake::driver& driver() { return driver_; }
  [[nodiscard]] stream::shared_devices& devices() { return devices_; }

 private:
  fake::driver driver_;
  stream::shared_devices devices_;
};

/// Fake GPUs. A session uses the machine that is current in the thread that makes it; where there is none, one of the
/// process, with two devices.
class machine : public installation {
 public:
  explicit machine(const driver_options& options = {}) : installation(options, "GPU"), before_(current_) {
    current_ = this;
  }
  /// The machine that was current before is so again.
  ~machine() { current_ = before_; }

  [[nodiscard]] static installation& current() {
    if (current_ != nullptr) return *current_;
    static installation of_process({.devices = 2, .memory = std::int64_t{4} << 30, .pinned = std::int64_t{4} << 30},
                                   "GPU");
    return of_process;
  }

 private:
  machine* before_;
  static inline thread_local machine* current_ = nullptr;
};

class accelerator : public stream::accelerator {
 public:
  accelerator(installation& on, const gpu_options& options, std::string_view type = "GPU")
      : stream::accelerator(on.devices(), options),
        driver_(on.driver()),
        threads_(runtime::make_cpu_executor(1, 1)),
        type_(type) {}

  [[nodiscard]] std::string_view type() const override { return type_; }

  [[nodiscard]] owned<stream::stream_state> make_state(runtime::stream_ref, std::byte*, stream::memory_pool&) override {
    auto state = make_owned<stream::stream_state>();
    state->threads = threads_.get();
    return state;
  }
  /// The kernel reads the number of the run when it runs, also when it is replayed.
  void launch(const runtime::bound_plan& plan, std::size_t s, const runtime::run_context& context) override {
    const runtime::kernel_args& call = plan.call(s);
    const plan::plan_step& step = plan.plan().steps[s];
    const plan::plan_node& node = plan.plan().nodes[step.node];
    std::vector<access> accesses;
    for (int k = 0; k < step.operands; ++k) {
      if (!step.fused && node.op->ignores_elements(k)) continue;
      // The slots of an optimizer are operands of the update that writes them.
      const plan::plan_node& in = plan.plan().nodes[plan.plan().operands[step.first_operand + k]];
      const bool writes =
          node.op->is(ir::op_kind::update) && in.is_in(plan::storage_kind::variable) && !in.suffix.empty();
      add(accesses, call.in[k], writes);
    }
    add(accesses, call.out, true);
    for (const runtime::operand& o : call.outs) add(accesses, o, true);
    driver_.launch_kernel(
        {context.stream},
        [kernel = plan.device_kernel(s).run, given = arguments(call), &context] {
          runtime::kernel_args now = given.call;
          now.in = {given.in.data(), given.in.size()};
          now.outs = {given.outs.data(), given.outs.size()};
          kernel(now, context);
        },
        static_cast<std::vector<access>&&>(accesses), std::string(node.op->name));
  }
  [[nodiscard]] std::size_t words_size() const override { return 0; }
  void write_words(std::byte*, const runtime::run_context&) const override {}
  void check_words(const std::byte*, const runtime::bound_plan&) const override {}

 private:
  /// Arguments as they are when a kernel is launched: operands of loops move on meanwhile.
  struct arguments {
    explicit arguments(const runtime::kernel_args& c)
        : call(c), in(c.in.begin(), c.in.end()), outs(c.outs.begin(), c.outs.end()) {}
    runtime::kernel_args call;
    mutable std::vector<runtime::operand> in, outs;
  };
  static void add(std::vector<access>& to, const runtime::operand& o, bool writes) {
    const std::size_t bytes = o.bytes();
    if (bytes > 0) to.push_back({o.data, bytes, writes});
  }

  fake::driver& driver_;
  owned<runtime::executor> threads_;
  std::string_view type_;
};

}  // namespace tagma::device::fake
