// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The steps of a bound plan on devices with streams: which part of a device does each, what is copied, and what goes
/// before and behind them.

#include "tagma/base/config.hpp"
#include "tagma/device/stream/dispatch.hpp"
#include "tagma/device/stream/kernel_source.hpp"
#include "tagma/device/stream/local_devices.hpp"
#include "tagma/device/stream/loop_body.hpp"
#include "tagma/device/stream/run_words.hpp"

namespace tagma::device::stream {

/// Before the steps of the plan go those that bring the words of a run to the devices whose kernels read them, behind
/// them those that fetch the words.
class plan_steps final : public runtime::accelerated_steps, step_functions, runtime::completion_target {
 public:
  TAGMA_COLD plan_steps(kernel_sources& sources, local_devices& devices, const gpu_options& options,
                        runtime::bound_plan& plan, const runtime::run_context& context)
      : sources_(sources),
        devices_(devices),
        plan_(plan),
        body_(sources, devices, plan),
        words_(sources, devices, plan) {
    find_order();
    unroll();
    list_steps();
    list_waits();
    const step_list list{steps_, first_wait_, waits_};
    dispatcher_ = make_owned<dispatcher>(
        devices_.driver(), list, dispatch_options{.compute_streams = options.streams, .capture = options.graphs});
    prepare(context);
  }

  void run(runtime::run_steps& host, const runtime::run_context& context) override {
    take(host, context);
    dispatcher_->run(*this, context.control->guard(), trace_ != nullptr);
    if (loops_ != nullptr) point(words_.size() + list_size());
    words_.check();
  }

  TAGMA_COLD void begin(runtime::run_steps& host, const runtime::run_context& context,
                        runtime::wake_target& target) override {
    take(host, context);
    target_ = &target;
    error_ = nullptr;
    failed_.store(false);
    has_last_ = looked_ = false;
    dispatcher_->begin(trace_ != nullptr);
  }
  [[nodiscard]] next advance() override {
    check();
    next_ = next::wait;
    if (!dispatcher_->advance(*this, control_->guard())) return next_;
    check();
    words_.check();
    return next::nothing;
  }
  TAGMA_COLD void serve() override {
    switch (hold_of(asked_)) {
      case hold::last:
        host_->begin_last();
        has_last_ = true;
        break;
      case hold::reads:
        host_->read_variables();
        looked_ = true;
        break;
      default:
        write(asked_);
        break;
    }
  }
  [[nodiscard]] bool waits() override { return pending_count_.load() > 0; }
  void end() override {
    const mutex_lock lock(mutex_);  // who completed a step from elsewhere is out of this object
    target_ = nullptr;
  }

 private:
  struct used_stream {
    runtime::stream_ref stream;
    kernel_source* source = nullptr;
    owned<stream_state> state;
    runtime::run_context context;

    void take(const runtime::run_context& of_run) {
      context = of_run;
      context.stream = stream.native;
      context.library = state->library;
      if (state->threads != nullptr) context.threads = state->threads;
    }
  };

  [[nodiscard]] std::size_t plan_size() const { return plan_.graph().size(); }
  [[nodiscard]] bool is_of_plan(std::size_t s) const { return s >= words_.size() && s - words_.size() < list_size(); }
  /// Steps of the plan in this list: those of a loop stand in it as often as they are done.
  [[nodiscard]] std::size_t list_size() const { return order_.size() == 0 ? plan_size() : order_.size(); }
  /// Of a step of this list, the step of the plan; only if it is one.
  [[nodiscard]] std::size_t in_plan(std::size_t s) const {
    return order_.size() == 0 ? s - words_.size() : order_[s - words_.size()];
  }
  /// Of a step of the plan, the step of this list; of one in a loop, the first.
  [[nodiscard]] std::size_t in_list(std::size_t p) const {
    return words_.size() + (place_.size() == 0 ? p : place_[p]);
  }
  [[nodiscard]] const device_words& words_of(std::size_t s) const {
    return words_[s < words_.size() ? s : s - words_.size() - list_size()];
  }
  [[nodiscard]] int driver_number(const runtime::session_device& device) const {
    return devices_.number(device.number);
  }

  void take(runtime::run_steps& host, const runtime::run_context& context) {
    host_ = &host;
    if (loops_ != nullptr) loops_->begin();
    step_ = context.step;
    for (std::size_t i = 0; i < stream_count_; ++i) streams_[i].take(context);
    words_.write(context);
    trace_ = context.trace;
    control_ = context.control;
    if (is_whole_.size() > 0) body_.take(host, context);
  }

  using hold = runtime::step_hold;
  [[nodiscard]] hold hold_of(std::size_t s) const {
    return holds_.empty() || !is_of_plan(s) ? hold::none : holds_[in_plan(s)];
  }
  /// The order of the plan, in which steps that come last go behind all others.
  TAGMA_COLD void find_order() {
    const runtime::waiting_steps* const waiting = plan_.waits_on_devices();
    if (waiting == nullptr) return;
    holds_ = waiting->holds();
    pending_ = heap_array<atomic<bool>>(plan_size());
    order_ = heap_array<std::size_t>(plan_size());
    place_ = heap_array<std::size_t>(plan_size());
    std::size_t count = 0;
    for (const bool last : {false, true})
      for (std::size_t p = 0; p < plan_size(); ++p) {
        if ((holds_[p] == hold::last) != last) continue;
        place_[p] = count;
        order_[count++] = p;
      }
  }

  /// The order of the plan, in which the bodies of loops stand once for each iteration.
  TAGMA_COLD void unroll() {
    loops_ = plan_.loops();
    if (loops_ == nullptr) return;
    const std::size_t loops = plan_.plan().loops.size();
    const heap_array<std::int32_t> now(loops);
    std::size_t count = 0;
    each_done(0, plan_size(), -1, 0, now, [&](std::size_t) { ++count; });
    order_ = heap_array<std::size_t>(count);
    place_ = heap_array<std::size_t>(plan_size());
    last_ = heap_array<std::size_t>(plan_size());
    iterations_ = heap_array<std::int32_t>((count + 1) * loops);
    if (is_decided()) is_whole_ = heap_array<bool>(count);
    for (std::size_t& first : place_) first = count;
    count = 0;
    for (std::int32_t& n : now) n = 0;
    const auto note = [&] {
      for (std::size_t l = 0; l < loops; ++l) iterations_[count * loops + l] = now[l];
    };
    each_done(0, plan_size(), -1, 0, now, [&](std::size_t p) {
      note();
      std::size_t end = p + 1;
      if (const std::int32_t whole = decided_at(p); whole >= 0) {
        is_whole_[count] = true;
        end = static_cast<std::size_t>(plan_.plan().loops[whole].end);
      }
      for (std::size_t q = p; q < end; ++q) {
        if (place_[q] == order_.size()) place_[q] = count;
        last_[q] = count;
      }
      order_[count++] = p;
    });
    note();
  }
  /// Calls `f(p)` for steps `first` to `end` - 1, as often as they are done; `now` has the iterations.
  template <class F>
  void each_done(std::size_t first, std::size_t end, std::int32_t inside, std::size_t from,
                 const heap_array<std::int32_t>& now, const F& f) {
    const array_view<const plan::plan_loop> loops = plan_.plan().loops;
    std::size_t child = from;
    for (std::size_t p = first; p < end;) {
      while (child < loops.size() &&
             (loops[child].parent != inside || static_cast<std::size_t>(loops[child].first) < p))
        ++child;
      if (child == loops.size() || static_cast<std::size_t>(loops[child].first) != p) {
        f(p++);
        continue;
      }
      const auto behind = static_cast<std::size_t>(loops[child].end);
      if (loops[child].ends != plan::loop_end::counted) {
        now[child] = 0;
        f(p);
        p = behind;
        continue;
      }
      const auto count = static_cast<std::int32_t>(loops_->iterations(child));
      for (now[child] = 0; now[child] < count; ++now[child])
        each_done(p, behind, static_cast<std::int32_t>(child), child + 1, now, f);
      p = behind;
    }
  }
  /// True if elements decide how often a loop is done.
  [[nodiscard]] bool is_decided() const {
    for (const plan::plan_loop& l : plan_.plan().loops)
      if (l.ends != plan::loop_end::counted) return true;
    return false;
  }
  /// The outermost such loop that begins with step `p` of the plan, or -1: it is one step of the list.
  [[nodiscard]] std::int32_t decided_at(std::size_t p) const {
    const array_view<const plan::plan_loop> loops = plan_.plan().loops;
    for (std::size_t l = 0; l < loops.size(); ++l)
      if (loops[l].ends != plan::loop_end::counted && static_cast<std::size_t>(loops[l].first) == p)
        return static_cast<std::int32_t>(l);
    return -1;
  }
  [[nodiscard]] bool is_whole(std::size_t s) const { return is_whole_.size() > 0 && is_whole_[s - words_.size()]; }
  /// Behind the last step of the plan that step `s` of the list does.
  [[nodiscard]] std::size_t end_in_plan(std::size_t s) const {
    const std::size_t p = in_plan(s);
    return is_whole(s) ? static_cast<std::size_t>(plan_.plan().loops[decided_at(p)].end) : p + 1;
  }
  /// The outermost loop of step `p` of the plan, or -1.
  [[nodiscard]] int loop_of(std::size_t p) const {
    const array_view<const plan::plan_loop> loops = plan_.plan().loops;
    for (std::size_t l = 0; l < loops.size(); ++l)
      if (loops[l].parent < 0 && static_cast<std::size_t>(loops[l].first) <= p &&
          p < static_cast<std::size_t>(loops[l].end))
        return static_cast<int>(l);
    return -1;
  }
  /// Points the operands of step `s` at the rows of its iteration.
  void point(std::size_t s) {
    if (loops_ == nullptr) return;
    const std::size_t loops = plan_.plan().loops.size();
    loops_->point(array_view<const std::int32_t>(iterations_.data() + (s - words_.size()) * loops, loops));
  }

  TAGMA_COLD void list_steps() {
    const std::size_t before = words_.size();
    steps_ = heap_array<step>(list_size() + 2 * before);
    for (std::size_t w = 0; w < before; ++w) {
      const auto device = static_cast<std::int16_t>(words_[w].device);
      steps_[w] = {.kind = step_kind::to_device, .device = device};
      steps_[before + list_size() + w] = {.kind = step_kind::to_host, .device = device};
    }
    for (std::size_t at = before; at < before + list_size(); ++at) {
      const std::size_t s = in_plan(at);
      const int from = driver_number(plan_.source_of(s)), to = driver_number(plan_.device_of(s));
      step& made = steps_[at];
      made.cost = static_cast<float>(plan_.cost_of(s));
      made.device = static_cast<std::int16_t>(from >= 0 ? from : to);
      made.other = static_cast<std::int16_t>(to);
      if (is_whole(at) || (from < 0 && to < 0))
        made.kind = step_kind::host, made.device = made.other = 0;
      else if (!plan_.is_transfer(s))
        made.kind = step_kind::kernel, made.awaited = plan_.finds_extents(s),
        made.first_stream = loops_ != nullptr && loop_of(s) >= 0;
      else
        made.kind = from < 0 ? step_kind::to_device : to < 0 ? step_kind::to_host : step_kind::between;
    }
    for (step& s : steps_)
      if (s.kind != step_kind::host) s.driver = static_cast<std::uint8_t>(devices_.driver().driver_of(s.device));
    // What is done before may wait, or other runs may have to.
    for (std::size_t s = 1; s < steps_.size() && !holds_.empty(); ++s)
      steps_[s].begins = hold_of(s) == hold::writes || hold_of(s - 1) == hold::writes ||
                         (hold_of(s) == hold::last) != (hold_of(s - 1) == hold::last);
  }

  /// The waits of the plan; kernels that read the words wait for them, and who fetches the words waits for those.
  TAGMA_COLD void list_waits() {
    const wait_lists of_plan(plan_.graph());
    const std::size_t before = words_.size(), n = plan_size();
    std::size_t most = 0;
    for (std::size_t s = before; s < before + list_size(); ++s)
      for (std::size_t p = in_plan(s); p < end_in_plan(s); ++p) most += 1 + 2 * before * words_.reads_them(p);
    first_wait_ = heap_array<std::int32_t>(steps_.size() + 1);
    waits_ = heap_array<step_id>(of_plan.waits.size() + most);
    std::size_t count = 0;
    const auto wait_for = [&](std::size_t s) { waits_[count++] = static_cast<step_id>(s); };
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      first_wait_[s] = static_cast<std::int32_t>(count);
      if (is_of_plan(s)) {
        const std::size_t p = in_plan(s);
        const int loop = loops_ == nullptr ? -1 : loop_of(p);
        if (loop < 0)
          wait_for_plan(of_plan, p, wait_for);
        else if (s > before && loop_of(in_plan(s - 1)) == loop)
          wait_for(s - 1);  // the steps of a loop go one after the other
        else
          for (auto q = static_cast<std::size_t>(plan_.plan().loops[loop].first);
               q < static_cast<std::size_t>(plan_.plan().loops[loop].end); ++q)
            wait_for_plan(of_plan, q, wait_for, loop);
        for (std::size_t q = p; q < end_in_plan(s); ++q)
          for (std::size_t w = 0; w < before && words_.reads_them(q); ++w)
            if (words_[w].device == driver_number(plan_.device_of(q))) wait_for(w);
      } else if (s >= before) {
        for (std::size_t p = 0; p < n; ++p)
          if (words_.reads_them(p) && in_list(p) < before + list_size() &&
              driver_number(plan_.device_of(p)) == steps_[s].device)
            wait_for(last_in_list(p));
      }
    }
    first_wait_[steps_.size()] = static_cast<std::int32_t>(count);
  }

  /// What step `p` of the plan waits for, but those in loop `but`.
  template <class WaitFor>
  void wait_for_plan(const wait_lists& of_plan, std::size_t p, const WaitFor& wait_for, int but = -1) {
    for (std::int32_t w = of_plan.first_wait[p]; w < of_plan.first_wait[p + 1]; ++w) {
      const auto q = static_cast<std::size_t>(of_plan.waits[w]);
      if (but >= 0 && loop_of(q) == but) continue;
      if (last_in_list(q) < words_.size() + list_size()) wait_for(last_in_list(q));
    }
  }
  /// Of a step of the plan, the last step of this list; of one in a loop, the last of the loop, or behind all where it
  /// is never done.
  [[nodiscard]] std::size_t last_in_list(std::size_t p) const {
    if (loops_ == nullptr) return in_list(p);
    const int loop = loop_of(p);
    if (loop < 0) return in_list(p);
    std::size_t last = 0;
    bool done = false;
    for (auto q = static_cast<std::size_t>(plan_.plan().loops[loop].first);
         q < static_cast<std::size_t>(plan_.plan().loops[loop].end); ++q) {
      if (place_[q] == order_.size()) continue;
      done = true;
      if (last_[q] > last) last = last_[q];
    }
    return words_.size() + (done ? last : order_.size());
  }

  /// Prepares the kernels, each with the stream that its runs will have.
  TAGMA_COLD void prepare(const runtime::run_context& context) {
    streams_ = heap_array<used_stream>(dispatcher_->streams());
    stream_of_ = heap_array<used_stream*>(plan_size());
    for (std::size_t p = 0; p < plan_size(); ++p) {
      const std::size_t s = in_list(p);
      if (is_of_plan(s) && is_whole(s)) {
        if (in_plan(s) == p) body_.prepare(p, end_in_plan(s), context, words_);
        continue;
      }
      if (!is_of_plan(s) || steps_[s].kind != step_kind::kernel) continue;
      const runtime::current_device current(devices_.driver(), steps_[s].device);
      used_stream& on = find_stream(dispatcher_->stream_of(s), plan_.device_of(p).number);
      on.take(context);
      stream_of_[p] = &on;
      if (!plan_.is_late(p)) plan_.prepare(p, plan_.device_kernel(p), on.context);
    }
  }
  TAGMA_COLD used_stream& find_stream(runtime::stream_ref stream, int device) {
    for (std::size_t i = 0; i < stream_count_; ++i)
      if (streams_[i].stream.native == stream.native && streams_[i].stream.device == stream.device) return streams_[i];
    used_stream& made = streams_[stream_count_++];
    made.stream = stream;
    made.source = &sources_.kernels_of(device);
    memory_pool& pool = devices_.pool(device);
    made.state = made.source->make_state({stream.native, pool.device()}, words_.on(stream.device), pool);
    return made;
  }

  void launch(std::size_t s, runtime::stream_ref) override {
    const std::size_t p = in_plan(s);
    point(s);
    const used_stream& on = *stream_of_[p];
    plan_.begin_late(p, on.context);
    on.source->launch(plan_, p, on.context);
  }
  void ended(std::size_t s) override { plan_.end_late(in_plan(s)); }
  [[nodiscard]] copy_request copy(std::size_t s) override {
    if (!is_of_plan(s)) {
      const device_words& w = words_of(s);
      const runtime::memory_place there{w.block.data(), w.device}, here{w.host.data(), runtime::on_host};
      return s < words_.size() ? copy_request{there, here, w.size()} : copy_request{here, there, w.size()};
    }
    point(s);
    const std::size_t p = in_plan(s);
    plan_.begin_late(p, {});
    const runtime::kernel_args& call = plan_.call(p);
    return {{call.out.data, driver_number(plan_.device_of(p))},
            {call.in[0].data, driver_number(plan_.source_of(p))},
            call.out.bytes()};
  }
  void run_host(std::size_t s) override {
    point(s);
    const std::size_t p = in_plan(s);
    if (is_whole(s)) {
      body_.run(static_cast<std::size_t>(decided_at(p)), *loops_, *control_);
      return control_->guard().check();
    }
    if (!plan_.is_asynchronous(p)) return host_->step(p);
    pending_[p].store(true);
    pending_count_.fetch_add(1);
    try {
      host_->start(p, runtime::completion(*this, static_cast<std::int32_t>(p)));
    } catch (...) {
      pending_[p].store(false);
      pending_count_.fetch_sub(1);
      throw;
    }
  }
  /// An asynchronous step of the host has ended.
  void complete(std::int32_t p, std::exception_ptr error) noexcept override {
    if (error != nullptr) error = plan_.named(static_cast<std::size_t>(p), static_cast<std::exception_ptr&&>(error));
    const mutex_lock lock(mutex_);  // once nothing is pending, the run may end
    if (error != nullptr && error_ == nullptr) {
      error_ = static_cast<std::exception_ptr&&>(error);
      failed_.store(true);
    }
    pending_[p].store(false);
    pending_count_.fetch_sub(1);
    target_->wake();
  }
  void check() {
    if (!failed_.load()) return;
    const mutex_lock lock(mutex_);
    std::rethrow_exception(error_);
  }
  [[nodiscard]] bool may_end() override { return holds_.empty() || (pending_count_.load() == 0 && !writing_); }
  [[nodiscard]] bool may_begin(std::size_t first, std::size_t end) override {
    return holds_.empty() || may_begin_now(first, end);
  }
  [[nodiscard]] TAGMA_COLD bool may_begin_now(std::size_t first, std::size_t end) {
    if (failed_.load()) return false;
    for (std::size_t s = first; s < end; ++s)
      for (std::int32_t w = first_wait_[s]; w < first_wait_[s + 1]; ++w) {
        const auto before = static_cast<std::size_t>(waits_[w]);
        if (is_of_plan(before) && pending_[in_plan(before)].load()) return false;
      }
    if (writing_) return first == asked_;
    for (std::size_t s = first; s < end; ++s) {
      const hold held = hold_of(s);
      if (held == hold::last && !has_last_ && pending_count_.load() > 0) return false;
      if ((held == hold::last && !has_last_) || (held == hold::reads && !looked_) || held == hold::writes) {
        asked_ = s;
        next_ = next::serve;
        return false;
      }
      if (held == hold::reads) plan_.access()->begin(in_plan(s));
    }
    return true;
  }
  /// Does step `s`, which writes variables before a step that waits, by itself.
  TAGMA_COLD void write(std::size_t s) {
    host_->enter();
    const std::size_t p = in_plan(s);
    plan_.access()->begin(p);
    writing_ = true;
    try {
      static_cast<void>(dispatcher_->advance(*this, control_->guard()));
      dispatcher_->settle(s);
    } catch (...) {
      writing_ = false;
      plan_.access()->end(p, false);
      host_->leave();
      throw;
    }
    writing_ = false;
    plan_.access()->end(p, true);
    host_->leave();
  }
  [[nodiscard]] TAGMA_COLD std::string describe(std::size_t s) const override {
    return !is_of_plan(s) ? "the numbers of the run" : is_whole(s) ? "a loop" : plan_.step_text(in_plan(s));
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
  [[nodiscard]] std::uint64_t arguments(std::size_t first, std::size_t end) const override {
    if (is_whole_.size() > 0) return hash_combine(plan_.moved() + 1, iterations_before(first));
    return plan_.late() == nullptr ? plan_.moved() + 1 : late_arguments(first, end);
  }
  /// Where loops have put their results: how often those in front of step `s` were done.
  [[nodiscard]] TAGMA_COLD std::uint64_t iterations_before(std::size_t s) const {
    const array_view<const plan::plan_loop> loops = plan_.plan().loops;
    std::uint64_t done = 0;
    for (std::size_t l = 0; l < loops.size(); ++l)
      if (loops[l].ends != plan::loop_end::counted && is_of_plan(s) &&
          static_cast<std::size_t>(loops[l].end) <= in_plan(s))
        done = hash_combine(done, static_cast<std::uint64_t>(loops_->iterations(l)));
    return done;
  }
  /// Steps are bound late before it is known whether they are replayed.
  [[nodiscard]] TAGMA_COLD std::uint64_t late_arguments(std::size_t first, std::size_t end) const {
    if (first < words_.size()) first = words_.size();
    if (end > words_.size() + plan_size()) end = words_.size() + plan_size();
    for (std::size_t s = first; s < end; ++s) {
      const used_stream* const on = stream_of_[in_plan(s)];
      plan_.begin_late(in_plan(s), on == nullptr ? runtime::run_context{} : on->context);
    }
    std::uint64_t all = plan_.moved() + 1;
    for (std::size_t s = first; s < end; ++s)  // in the order of the list, which need not be that of the plan
      all = hash_combine(all, plan_.late()->bound_as(in_plan(s), in_plan(s) + 1));
    return all;
  }

  kernel_sources& sources_;
  local_devices& devices_;
  runtime::bound_plan& plan_;
  loop_body body_;
  run_words words_;
  heap_array<step> steps_;
  heap_array<std::int32_t> first_wait_;
  heap_array<step_id> waits_;
  owned<dispatcher> dispatcher_;
  heap_array<used_stream> streams_;
  std::size_t stream_count_ = 0;
  heap_array<used_stream*> stream_of_;  // of each step of the plan that is a kernel
  runtime::run_steps* host_ = nullptr;
  // Of a plan with steps that wait:
  array_view<const hold> holds_;
  runtime::loop_steps* loops_ = nullptr;
  heap_array<std::size_t> last_;           // of each step of a plan with loops, where it is done last
  heap_array<std::int32_t> iterations_;    // of each step of the list, one of each loop; and behind all
  heap_array<bool> is_whole_;              // of each step of the list: it is a loop of which elements decide
  heap_array<std::size_t> order_, place_;  // steps of the plan in the order of the list, and the other way around
  runtime::run_control* control_ = nullptr;
  runtime::wake_target* target_ = nullptr;
  heap_array<atomic<bool>> pending_;  // of each step of the plan: it was begun and has not ended
  atomic<std::int32_t> pending_count_{0};
  atomic<bool> failed_{false};
  std::exception_ptr error_;
  mutex mutex_;
  next next_ = next::wait;
  std::size_t asked_ = 0;  // the step for which `serve` is asked
  bool has_last_ = false;  // those that come last have begun
  bool looked_ = false;    // at the variables that are read before a step waits
  bool writing_ = false;
  runtime::trace_sink* trace_ = nullptr;
  std::uint64_t step_ = 0;
};

}  // namespace tagma::device::stream
