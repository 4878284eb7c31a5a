// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Does steps one after the other on devices with streams: one stream for each device, and the host waits for what it
/// reads. So are loops done of which elements decide how often, and all steps around loops where some wait or find
/// extents.

#include <cstring>
#include <exception>

#include "tagma/base/config.hpp"
#include "tagma/device/stream/run_words.hpp"
#include "tagma/device/stream/steps.hpp"
#include "tagma/runtime/gate.hpp"

namespace tagma::device::stream {

/// One thread at a time.
class loop_body final : public runtime::run_steps {
 public:
  loop_body(kernel_sources& sources, local_devices& devices, runtime::bound_plan& plan)
      : sources_(sources), devices_(devices), plan_(plan) {}

  /// Prepares the kernels among steps `first` to `end` - 1 of the plan that are not bound in each run.
  TAGMA_COLD void prepare(std::size_t first, std::size_t end, const runtime::run_context& context,
                          const run_words& words) {
    if (streams_.size() == 0) streams_ = heap_array<used_stream>(devices_.count());
    for (std::size_t p = first; p < end; ++p) {
      for (const runtime::session_device* d : {&plan_.source_of(p), &plan_.device_of(p)})
        if (d->number >= 0 && !streams_[d->number].stream) make(d->number, words.on(driver_number(*d)));
      if (plan_.device_of(p).number < 0 || plan_.is_transfer(p)) continue;
      used_stream& on = streams_[plan_.device_of(p).number];
      on.take(context);
      if (plan_.is_late(p)) continue;
      const runtime::current_device current(devices_.driver(), on.stream.get().device);
      plan_.prepare(p, plan_.device_kernel(p), on.context);
    }
  }
  /// For the run that begins.
  void take(runtime::run_steps& host, const runtime::run_context& context) {
    host_ = &host;
    trace_ = context.trace;
    for (used_stream& s : streams_)
      if (s.stream) s.take(context);
  }
  /// Copies the words of the run to the devices, or back.
  void copy_words(const run_words& words, bool back) {
    for (std::size_t w = 0; w < words.size(); ++w)
      for (used_stream& s : streams_) {
        if (!s.stream || s.stream.get().device != words[w].device) continue;
        const runtime::memory_place there{words[w].block.data(), words[w].device},
            here{words[w].host.data(), runtime::on_host};
        devices_.driver().copy(s.stream.get(), back ? here : there, back ? there : here, words[w].size());
        s.busy = true;
      }
  }
  /// Loop `l` of the plan, until it ends or the run is stopped.
  void run(std::size_t l, runtime::loop_steps& loops, runtime::run_control& control) {
    alone([&] {
      loops.run_one(l, control, *this, {&copy_elements, &move_elements, this});
      settle();
    });
  }
  /// Step `p` of the plan, which is in no loop.
  void run_step(std::size_t p) {
    alone([&] { step(p); });
  }
  /// Waits until nothing is left to do.
  void settle() {
    for (used_stream& s : streams_) {
      if (!s.busy) continue;
      s.busy = false;
      devices_.driver().record(s.done.get(), s.stream.get());
      static_cast<void>(devices_.driver().host_wait(s.done.get(), -1));
    }
  }
  /// The same, whatever went wrong.
  TAGMA_COLD void drain() noexcept {
    for (used_stream& s : streams_)
      if (s.stream) devices_.driver().drain(s.stream.get()), s.busy = false;
  }

  void step(std::size_t p) override {
    const int from = plan_.source_of(p).number, to = plan_.device_of(p).number;
    if (from < 0 && to < 0) {
      settle();
      return host_->step(p);
    }
    if (plan_.step_access() != nullptr) return step_with_versions(p, from, to);
    step_of_device(p, from, to);
  }
  void start(std::size_t, runtime::completion) override {}
  [[nodiscard]] std::exception_ptr named(std::size_t p, std::exception_ptr error) noexcept override {
    return plan_.named(p, static_cast<std::exception_ptr&&>(error));
  }

 private:
  struct used_stream {
    runtime::owned_stream stream;
    runtime::owned_event done;
    kernel_source* source = nullptr;
    owned<stream_state> state;
    runtime::run_context context;
    bool busy = false;

    void take(const runtime::run_context& of_run) {
      context = of_run;
      context.stream = stream.get().native;
      context.library = state->library;
      if (state->threads != nullptr) context.threads = state->threads;
    }
  };

  [[nodiscard]] int driver_number(const runtime::session_device& device) const {
    return devices_.number(device.number);
  }
  TAGMA_COLD void make(int device, std::byte* words) {
    used_stream& made = streams_[device];
    runtime::stream_driver& driver = devices_.driver();
    const int number = devices_.number(device);
    made.stream = {driver, driver.make_stream(number)};
    made.done = {driver, driver.make_event(number)};
    made.source = &sources_.kernels_of(device);
    memory_pool& pool = devices_.pool(device);
    made.state = made.source->make_state({made.stream.get().native, pool.device()}, words, pool);
  }
  /// Calls `f`, which may make any device current. If it throws, nothing is left to do by then.
  template <class F>
  void alone(const F& f) {
    const array_view<const int> some = devices_.one_of_each_driver();
    int before[most_drivers];
    for (std::size_t d = 0; d < some.size(); ++d) before[d] = devices_.driver().make_current(current_ = some[d]);
    const auto restore = [&] {
      for (std::size_t d = some.size(); d-- > 0;) devices_.driver().restore(before[d]);
    };
    try {
      f();
    } catch (...) {
      drain();
      restore();
      throw;
    }
    restore();
  }
  void make_current(int device) {
    if (current_ != device) static_cast<void>(devices_.driver().make_current(current_ = device));
  }

  void step_of_device(std::size_t p, int from, int to) {
    const std::int64_t begin = trace_ == nullptr ? 0 : runtime::now_ns();
    const bool transfer = plan_.is_transfer(p);
    used_stream& on = streams_[transfer && from >= 0 ? from : to];
    if (transfer) {
      settle();
      plan_.begin_late(p, {});
      const runtime::kernel_args& call = plan_.call(p);
      devices_.driver().copy(on.stream.get(), {call.out.data, driver_number(plan_.device_of(p))},
                             {call.in[0].data, driver_number(plan_.source_of(p))}, call.out.bytes());
    } else {
      make_current(on.stream.get().device);
      plan_.begin_late(p, on.context);
      on.source->launch(plan_, p, on.context);
    }
    on.busy = true;
    const bool finds = plan_.finds_extents(p);
    if (transfer || finds || trace_ != nullptr) settle();
    if (finds) plan_.end_late(p);
    if (trace_ != nullptr)
      plan_.add_to_trace(p, *trace_, (from < 0 || !transfer ? plan_.device_of(p) : plan_.source_of(p)).name,
                         on.context.step,
                         !transfer  ? "kernels 0"
                         : from < 0 ? "copies from the host"
                         : to < 0   ? "copies to the host"
                                    : "copies to other devices",
                         begin, runtime::now_ns());
  }
  /// Somebody else may change the versions of variables that a step has read, once it is done.
  TAGMA_COLD void step_with_versions(std::size_t p, int from, int to) {
    runtime::variable_access& access = *plan_.step_access();
    access.begin(p);
    try {
      step_of_device(p, from, to);
      if (runtime::needs_variable(plan_.plan(), plan_.plan().steps[p])) settle();
    } catch (...) {
      access.end(p, false);
      throw;
    }
    access.end(p, true);
  }

  /// Elements of a node of the plan, wherever it is.
  static void copy_elements(void* self, ir::node_id node, const std::byte* from, std::byte* to, std::size_t bytes) {
    static_cast<loop_body*>(self)->copy(node, from, to, bytes);
  }
  static void move_elements(void* self, ir::node_id node, const std::byte* from, std::byte* to, std::size_t bytes) {
    static_cast<loop_body*>(self)->move(node, from, to, bytes);
  }
  [[nodiscard]] used_stream& stream_on(int device) {
    used_stream& on = streams_[device];
    if (!on.stream) make(device, nullptr);
    return on;
  }
  void copy(ir::node_id node, const std::byte* from, std::byte* to, std::size_t bytes) {
    settle();
    const runtime::session_device& device = plan_.device_at(plan_.plan().nodes[node].device);
    if (device.number < 0) {
      std::memcpy(to, from, bytes);
      return;
    }
    used_stream& on = stream_on(device.number);
    if (!landed_.data()) landed_ = devices_.pinned().allocate(sizeof(std::int64_t));
    devices_.driver().copy(on.stream.get(), {landed_.data(), runtime::on_host},
                           {const_cast<std::byte*>(from), driver_number(device)}, bytes);
    on.busy = true;
    settle();
    std::memcpy(to, landed_.data(), bytes);
  }
  void move(ir::node_id node, const std::byte* from, std::byte* to, std::size_t bytes) {
    const runtime::session_device& device = plan_.device_at(plan_.plan().nodes[node].device);
    if (device.number < 0) {
      std::memcpy(to, from, bytes);
      return;
    }
    used_stream& on = stream_on(device.number);
    const int number = driver_number(device);
    devices_.driver().copy(on.stream.get(), {to, number}, {const_cast<std::byte*>(from), number}, bytes);
    on.busy = true;
  }

  kernel_sources& sources_;
  local_devices& devices_;
  runtime::bound_plan& plan_;
  heap_array<used_stream> streams_;  // of each device, where something is done there
  pinned_buffer landed_;
  runtime::run_steps* host_ = nullptr;
  runtime::trace_sink* trace_ = nullptr;
  int current_ = 0;
};

}  // namespace tagma::device::stream
