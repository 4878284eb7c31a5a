// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The steps of a bound plan on devices with streams: which part of a device does each, what is copied, and what goes
/// before and behind them.

#include "tagma/base/config.hpp"
#include "tagma/device/stream/dispatch.hpp"
#include "tagma/device/stream/kernel_source.hpp"
#include "tagma/device/stream/local_devices.hpp"

namespace tagma::device::stream {

/// Before the steps of the plan go those that bring the words of a run to the devices whose kernels read them, behind
/// them those that fetch the words.
class plan_steps final : public runtime::accelerated_steps, step_functions {
 public:
  TAGMA_COLD plan_steps(kernel_source& source, local_devices& devices, const gpu_options& options,
                        runtime::bound_plan& plan, const runtime::run_context& context)
      : source_(source), devices_(devices), plan_(plan) {
    find_words();
    list_steps();
    list_waits();
    const step_list list{steps_, first_wait_, waits_};
    dispatcher_ = make_owned<dispatcher>(
        devices_.driver(), list, dispatch_options{.compute_streams = options.streams, .capture = options.graphs});
    prepare(context);
  }

  void run(runtime::run_steps& host, const runtime::run_context& context) override {
    host_ = &host;
    control_ = context.control;
    step_ = context.step;
    for (std::size_t i = 0; i < stream_count_; ++i) streams_[i].take(context);
    for (const device_words& w : words_) source_.write_words(w.host.data(), context);
    trace_ = context.trace;
    dispatcher_->run(*this, context.control->guard(), trace_ != nullptr);
    for (const device_words& w : words_) source_.check_words(w.host.data(), plan_);
  }

 private:
  struct used_stream {
    runtime::stream_ref stream;
    owned<stream_state> state;
    runtime::run_context context;

    void take(const runtime::run_context& of_run) {
      context = of_run;
      context.stream = stream.native;
      context.library = state->library;
      if (state->threads != nullptr) context.threads = state->threads;
    }
  };
  struct device_words {
    int device = 0;  ///< of the driver
    device_block block;
    pinned_buffer host;
  };

  [[nodiscard]] std::size_t plan_size() const { return plan_.graph().size(); }
  [[nodiscard]] bool is_of_plan(std::size_t s) const { return s >= words_.size() && s - words_.size() < plan_size(); }
  /// Of a step of this list, the step of the plan; only if it is one.
  [[nodiscard]] std::size_t in_plan(std::size_t s) const { return s - words_.size(); }
  [[nodiscard]] const device_words& words_of(std::size_t s) const {
    return words_[s < words_.size() ? s : s - words_.size() - plan_size()];
  }
  [[nodiscard]] bool reads_run(std::size_t s) const {
    return plan_.device_of(s).number >= 0 && plan_.device_kernel(s).reads_run;
  }
  [[nodiscard]] int driver_number(const runtime::session_device& device) const {
    return devices_.number(device.number);
  }

  /// Memory for the words of a run, on every device that has a kernel which reads them.
  TAGMA_COLD void find_words() {
    const std::size_t size = source_.words_size();
    if (size == 0) return;
    const heap_array<bool> reads(devices_.count());
    std::size_t count = 0;
    for (std::size_t s = 0; s < plan_size(); ++s) {
      if (!reads_run(s)) continue;
      bool& known = reads[plan_.device_of(s).number];
      count += !known;
      known = true;
    }
    words_ = heap_array<device_words>(count);
    for (std::size_t d = 0, w = 0; d < reads.size(); ++d) {
      if (!reads[d]) continue;
      const auto number = static_cast<int>(d);
      words_[w++] = {devices_.number(number),
                     devices_.pool(number).allocate(static_cast<std::int64_t>(size), "the words of a run"),
                     devices_.pinned().allocate(size)};
    }
  }

  TAGMA_COLD void list_steps() {
    const std::size_t before = words_.size();
    steps_ = heap_array<step>(plan_size() + 2 * before);
    for (std::size_t w = 0; w < before; ++w) {
      const auto device = static_cast<std::int16_t>(words_[w].device);
      steps_[w] = {.kind = step_kind::to_device, .device = device};
      steps_[before + plan_size() + w] = {.kind = step_kind::to_host, .device = device};
    }
    for (std::size_t s = 0; s < plan_size(); ++s) {
      const int from = driver_number(plan_.source_of(s)), to = driver_number(plan_.device_of(s));
      step& made = steps_[before + s];
      made.cost = static_cast<float>(plan_.cost_of(s));
      made.device = static_cast<std::int16_t>(from >= 0 ? from : to);
      made.other = static_cast<std::int16_t>(to);
      if (from < 0 && to < 0)
        made.kind = step_kind::host, made.device = made.other = 0;
      else if (!plan_.is_transfer(s))
        made.kind = step_kind::kernel;
      else
        made.kind = from < 0 ? step_kind::to_device : to < 0 ? step_kind::to_host : step_kind::between;
    }
  }

  /// The waits of the plan; kernels that read the words wait for them, and who fetches the words waits for those.
  TAGMA_COLD void list_waits() {
    const wait_lists of_plan(plan_.graph());
    const std::size_t before = words_.size(), n = plan_size();
    std::size_t readers = 0;
    for (std::size_t s = 0; s < n; ++s) readers += reads_run(s);
    first_wait_ = heap_array<std::int32_t>(steps_.size() + 1);
    waits_ = heap_array<step_id>(of_plan.waits.size() + 2 * readers);
    std::size_t count = 0;
    const auto wait_for = [&](std::size_t s) { waits_[count++] = static_cast<step_id>(s); };
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      first_wait_[s] = static_cast<std::int32_t>(count);
      if (is_of_plan(s)) {
        const std::size_t p = in_plan(s);
        for (std::int32_t w = of_plan.first_wait[p]; w < of_plan.first_wait[p + 1]; ++w)
          wait_for(before + static_cast<std::size_t>(of_plan.waits[w]));
        for (std::size_t w = 0; w < before && reads_run(p); ++w)
          if (words_[w].device == steps_[s].device) wait_for(w);
      } else if (s >= before) {
        for (std::size_t p = 0; p < n; ++p)
          if (reads_run(p) && steps_[before + p].device == steps_[s].device) wait_for(before + p);
      }
    }
    first_wait_[steps_.size()] = static_cast<std::int32_t>(count);
  }

  /// Prepares the kernels, each with the stream that its runs will have.
  TAGMA_COLD void prepare(const runtime::run_context& context) {
    streams_ = heap_array<used_stream>(dispatcher_->streams());
    stream_of_ = heap_array<used_stream*>(plan_size());
    runtime::stream_driver& driver = devices_.driver();
    int before = -1;
    try {
      for (std::size_t p = 0; p < plan_size(); ++p) {
        const std::size_t s = words_.size() + p;
        if (steps_[s].kind != step_kind::kernel) continue;
        const int current = driver.make_current(steps_[s].device);
        if (before < 0) before = current;
        used_stream& on = find_stream(dispatcher_->stream_of(s), plan_.device_of(p).number);
        on.take(context);
        stream_of_[p] = &on;
        plan_.prepare(p, plan_.device_kernel(p), on.context);
      }
    } catch (...) {
      if (before >= 0) driver.restore(before);
      throw;
    }
    if (before >= 0) driver.restore(before);
  }
  TAGMA_COLD used_stream& find_stream(runtime::stream_ref stream, int device) {
    for (std::size_t i = 0; i < stream_count_; ++i)
      if (streams_[i].stream.native == stream.native) return streams_[i];
    std::byte* words = nullptr;
    for (const device_words& w : words_)
      if (w.device == stream.device) words = w.block.data();
    used_stream& made = streams_[stream_count_++];
    made.stream = stream;
    made.state = source_.make_state(stream, words, devices_.pool(device));
    return made;
  }

  void launch(std::size_t s, runtime::stream_ref) override {
    source_.launch(plan_, in_plan(s), stream_of_[in_plan(s)]->context);
  }
  [[nodiscard]] copy_request copy(std::size_t s) override {
    if (!is_of_plan(s)) {
      const device_words& w = words_of(s);
      const runtime::memory_place there{w.block.data(), w.device}, here{w.host.data(), runtime::on_host};
      return s < words_.size() ? copy_request{there, here, source_.words_size()}
                               : copy_request{here, there, source_.words_size()};
    }
    const std::size_t p = in_plan(s);
    const runtime::kernel_args& call = plan_.call(p);
    return {{call.out.data, driver_number(plan_.device_of(p))},
            {call.in[0].data, driver_number(plan_.source_of(p))},
            call.out.bytes()};
  }
  void run_host(std::size_t s) override {
    const std::size_t p = in_plan(s);
    if (!plan_.is_asynchronous(p)) return host_->step(p);
    waiting_step waiting;
    host_->start(p, runtime::completion(waiting, static_cast<std::int32_t>(p)));
    waiting.wait(*control_);
  }
  [[nodiscard]] TAGMA_COLD std::string describe(std::size_t s) const override {
    return is_of_plan(s) ? plan_.step_text(in_plan(s)) : "the numbers of the run";
  }
  void timed(std::size_t s, const stream_place& where, std::int64_t begin_ns, std::int64_t end_ns) override {
    if (!is_of_plan(s)) return;
    const std::string queue = where.role == stream_role::compute     ? sentence({"kernels ", where.index})
                              : where.role == stream_role::to_device ? "copies from the host"
                              : where.role == stream_role::to_host   ? "copies to the host"
                                                                     : "copies to other devices";
    const std::size_t p = in_plan(s);
    const runtime::session_device& device = where.role == stream_role::to_device || where.role == stream_role::compute
                                                ? plan_.device_of(p)
                                                : plan_.source_of(p);
    plan_.add_to_trace(p, *trace_, device.name, step_, queue, begin_ns, end_ns);
  }
  /// Addresses are those of the plan, except of variables that moved: feeds are copied to where copies to devices find
  /// them.
  [[nodiscard]] std::uint64_t arguments(std::size_t, std::size_t) const override { return plan_.moved() + 1; }

  /// An asynchronous step of the host, for which the thread that runs the plan waits.
  class waiting_step final : public runtime::completion_target {
   public:
    void complete(std::int32_t, std::exception_ptr error) noexcept override {
      error_ = static_cast<std::exception_ptr&&>(error);
      const mutex_lock lock(mutex_);  // once it is done, the waiting thread may leave
      done_.store(true, memory_order::release);
      word_.change(true);
    }
    void wait(runtime::run_control& control) {
      for (;;) {
        const std::uint32_t seen = word_.load(memory_order::acquire);
        if (done_.load(memory_order::acquire)) break;
        if (control.stopping()) control.tell();
        control.wait(word_, seen);
      }
      const mutex_lock lock(mutex_);
      if (error_ != nullptr) std::rethrow_exception(error_);
    }

   private:
    atomic<bool> done_{false};
    runtime::wait_word word_;
    mutex mutex_;
    std::exception_ptr error_;
  };

  kernel_source& source_;
  local_devices& devices_;
  runtime::bound_plan& plan_;
  heap_array<device_words> words_;  // one for each device that has some
  heap_array<step> steps_;
  heap_array<std::int32_t> first_wait_;
  heap_array<step_id> waits_;
  owned<dispatcher> dispatcher_;
  heap_array<used_stream> streams_;
  std::size_t stream_count_ = 0;
  heap_array<used_stream*> stream_of_;  // of each step of the plan that is a kernel
  runtime::run_steps* host_ = nullptr;
  runtime::run_control* control_ = nullptr;
  runtime::trace_sink* trace_ = nullptr;
  std::uint64_t step_ = 0;
};

}  // namespace tagma::device::stream
