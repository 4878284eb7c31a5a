// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Runs the steps of a plan on the streams of devices: issues them in order, waits only for what the host reads, and
/// launches recorded segments where nothing has changed since the last run.

#include <exception>
#include <string>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/device/stream/assign.hpp"
#include "tagma/runtime/caught.hpp"
#include "tagma/runtime/gate.hpp"
#include "tagma/runtime/stream_driver.hpp"

namespace tagma::device::stream {

/// A copy as a driver does it.
struct copy_request {
  runtime::memory_place to;
  runtime::memory_place from;
  std::size_t bytes = 0;
};

/// What the steps of a plan do, for whoever decides when they do it.
class step_functions {
 public:
  /// Puts the kernels of step `s` into a stream; its device is current. May throw.
  virtual void launch(std::size_t s, runtime::stream_ref stream) = 0;
  /// What step `s` copies. Memory of the host must be pinned.
  [[nodiscard]] virtual copy_request copy(std::size_t s) = 0;
  /// Does step `s` on the calling thread. May throw.
  virtual void run_host(std::size_t s) = 0;
  /// "matmul 'hidden/kernel' on /device:GPU:0".
  [[nodiscard]] virtual std::string describe(std::size_t s) const = 0;
  /// A number that is another one whenever an address or anything else has changed that the steps [first, end) have
  /// among their arguments.
  [[nodiscard]] virtual std::uint64_t arguments(std::size_t first, std::size_t end) const = 0;
  /// Told when step `s`, which is awaited, is done. May throw.
  virtual void ended(std::size_t /*s*/) {}
  /// False if one of the steps [first, end) waits for something that is no step of a device: for a step of the host
  /// that was begun and has not ended. Then `advance` returns, and is called again. Asked before they are issued.
  [[nodiscard]] virtual bool may_begin(std::size_t /*first*/, std::size_t /*end*/) { return true; }
  /// False if a step of the host that was begun has not ended. Asked when all were begun.
  [[nodiscard]] virtual bool may_end() { return true; }
  /// Told when a timed run is over: when step `s` of a device was done there, by the host's monotonic clock.
  virtual void timed(std::size_t /*s*/, const stream_place& /*where*/, std::int64_t /*begin_ns*/,
                     std::int64_t /*end_ns*/) {}

 protected:
  ~step_functions() = default;
};

struct dispatch_options {
  int compute_streams = 4;  ///< the most for kernels, of each device
  bool capture = true;      ///< whether segments are recorded and launched again
  int least_captured = 2;   ///< steps that a segment must have to be recorded
};

/// The streams, events and recorded segments of one plan; used by one run at a time.
///
/// With capture the plan is cut at the steps of the host, and at those that are not replayable, into segments. A
/// segment that meets the same arguments in a second run is recorded and launched, and from then on only launched. One
/// stream, the origin, has all segments in order, so that what a segment needs of earlier ones is done when it begins.
/// Without capture there is one part, in which every edge has an event of its own where it needs one.
///
/// Devices of several drivers have segments, and an origin, for each driver. Before a segment that needs one of another
/// driver, the host waits for that.
class dispatcher {
 public:
  /// @param steps  the list and what it points to must outlive the dispatcher
  TAGMA_COLD dispatcher(runtime::stream_driver& driver, const step_list& steps, const dispatch_options& options = {})
      : driver_(driver), steps_(steps), options_(options) {
    for (std::size_t s = 0; s < steps.size(); ++s)
      if (steps.steps[s].kind == step_kind::between) driver.connect(steps.steps[s].device, steps.steps[s].other);
    cut();
    for (std::size_t i = 0; i < parts_.size(); ++i) prepare(parts_[i]);
  }
  dispatcher(const dispatcher&) = delete;
  dispatcher& operator=(const dispatcher&) = delete;
  TAGMA_COLD ~dispatcher() = default;

  /// Does every step once and returns when all are done. Whatever fails is thrown when nothing is left in the streams,
  /// with the name of the step; steps that were not issued by then are left out.
  /// @param timed the time of each step is taken, which a replayed segment does not tell: all are issued one by one
  void run(step_functions& functions, const runtime::run_guard& guard, bool timed = false) {
    begin(timed);
    static_cast<void>(advance(functions, guard));
  }
  /// Begins a run by pieces.
  void begin(bool timed) {
    for (driver_state& d : drivers_) d.waited = -1;
    timed_ = timed;
    began_ = false;
    next_part_ = next_step_ = 0;
  }
  /// Does steps, on the calling thread, until all are done: true; or until `functions` says that the next may not begin
  /// yet: false. Throws as `run`.
  [[nodiscard]] bool advance(step_functions& functions, const runtime::run_guard& guard) {
    for (driver_state& d : drivers_)
      if (d.device >= 0) d.before = driver_.make_current(d.device);
    current_ = -1;
    bool done = false;
    try {
      if (timed_ && !began_) start_timers();
      began_ = true;
      while (next_part_ < parts_.size() && run_part(next_part_, functions, guard)) ++next_part_;
      if (next_part_ == parts_.size() && functions.may_end()) {
        finish(functions, guard);
        if (timed_) tell_times(functions);
        done = true;
      }
    } catch (...) {
      drain();
      restore();
      throw;
    }
    restore();
    return done;
  }
  /// Waits until step `s`, which was issued, is done. Throws what went wrong on the way there.
  TAGMA_COLD void settle(std::size_t s) {
    if (steps_.steps[s].kind == step_kind::host) return;
    const runtime::owned_event done = make_event(steps_.steps[s].device);
    driver_.record(done.get(), stream_of(s));
    static_cast<void>(driver_.host_wait(done.get(), -1));
  }

  /// The stream of step `s`, which is not one of the host; the same in every run.
  [[nodiscard]] runtime::stream_ref stream_of(std::size_t s) const {
    std::size_t i = 0;
    while (parts_[i].end <= s) ++i;
    return stream_of(parts_[i], static_cast<step_id>(s));
  }
  /// Segments that are recorded at present.
  [[nodiscard]] std::size_t captured() const {
    std::size_t count = 0;
    for (const part& p : parts_) count += static_cast<bool>(p.graph);
    return count;
  }
  /// Streams that the steps share, the origin not counted.
  [[nodiscard]] std::size_t streams() const { return stream_count_; }

 private:
  struct part {
    std::size_t first = 0;
    std::size_t end = 0;
    bool host = false;        ///< one step of the host by itself
    bool capturable = false;  ///< false once it could not be recorded
    bool seen = false;        ///< `arguments` is that of a run
    std::uint8_t driver = 0;  ///< of a segment
    /// The last segment of each driver that the host waits for before: a segment needs no wait for its own.
    std::int32_t needs[most_drivers] = {-1, -1, -1, -1};
    std::uint64_t arguments = 0;
    assignment plan;
    heap_array<runtime::owned_event> events;
    heap_array<std::size_t> stream_of;  ///< from the streams of `plan` to those of the dispatcher
    runtime::owned_event ended;         ///< in the origin
    runtime::owned_graph graph;
  };
  struct used_stream {
    stream_place place;
    runtime::owned_stream stream;
  };

  /// What the devices of one driver have.
  struct driver_state {
    int device = -1;           ///< one of them; -1: no step is there
    std::int32_t waited = -1;  ///< the last segment that the host has waited for
    int before = 0;            ///< what was current before this run
    runtime::owned_stream origin;
    runtime::owned_event forked;
  };

  /// A point in the time of a device, and when the host came to it.
  struct start_of_device {
    runtime::owned_event timer;
    std::int64_t host_ns = 0;
  };

  /// Cuts the list into parts: all of it, or segments and the steps of the host between them.
  TAGMA_COLD void cut() {
    const std::size_t n = steps_.size();
    find_drivers();
    if (!options_.capture) {
      parts_ = heap_array<part>(n == 0 ? 0 : 1);
      if (n > 0) parts_[0].end = n;
      return;
    }
    const auto alone = [this](std::size_t s) {
      return steps_.steps[s].kind == step_kind::host || !steps_.steps[s].replayable;
    };
    std::size_t count = 0;
    const heap_array<std::int32_t> part_of(n);
    for (std::size_t s = 0; s < n; ++s) {
      if (s == 0 || alone(s) || alone(s - 1) || steps_.steps[s].begins || steps_.steps[s - 1].awaited ||
          steps_.steps[s].driver != steps_.steps[s - 1].driver)
        ++count;
      part_of[s] = static_cast<std::int32_t>(count) - 1;
    }
    parts_ = heap_array<part>(count);
    for (std::size_t s = 0; s < n; ++s) {
      part& p = parts_[part_of[s]];
      if (p.end == 0) p.first = s;
      p.end = s + 1;
      p.host = steps_.steps[s].kind == step_kind::host;
      p.capturable = !alone(s) && p.end - p.first >= static_cast<std::size_t>(options_.least_captured);
      p.driver = steps_.steps[s].driver;
      if (!p.host && drivers_.size() == 1) continue;
      for (const step_id w : steps_.waits_of(s)) {
        const step& before = steps_.steps[w];
        if (before.kind == step_kind::host || (!p.host && before.driver == p.driver)) continue;
        if (part_of[w] > p.needs[before.driver]) p.needs[before.driver] = part_of[w];
      }
    }
  }
  TAGMA_COLD void find_drivers() {
    std::size_t count = 0;
    for (const step& s : steps_.steps)
      if (s.kind != step_kind::host && s.driver >= count) count = s.driver + std::size_t{1};
    drivers_ = heap_array<driver_state>(count);
    for (const step& s : steps_.steps)
      if (s.kind != step_kind::host && drivers_[s.driver].device < 0) drivers_[s.driver].device = s.device;
  }
  void restore() noexcept {
    for (std::size_t d = drivers_.size(); d-- > 0;)
      if (drivers_[d].device >= 0) driver_.restore(drivers_[d].before);
  }

  /// Assigns streams within a part, and makes what it needs that does not exist yet.
  TAGMA_COLD void prepare(part& p) {
    if (p.host) return;
    p.plan = assign_streams(steps_, p.first, p.end, options_.compute_streams);
    p.stream_of = heap_array<std::size_t>(p.plan.stream_count);
    for (std::size_t i = 0; i < p.plan.stream_count; ++i) p.stream_of[i] = stream_at(p.plan.streams[i]);
    p.events = heap_array<runtime::owned_event>(p.plan.events);
    for (std::size_t s = p.first; s < p.end; ++s)
      if (const std::int32_t e = p.plan.event_at(static_cast<step_id>(s)); e >= 0)
        p.events[e] = make_event(steps_.steps[s].device);
    if (!options_.capture) return prepare_awaited(p);
    driver_state& d = drivers_[p.driver];
    if (!d.origin) {
      d.origin = {driver_, driver_.make_stream(steps_.steps[p.first].device)};
      d.forked = make_event(d.origin.get().device);
    }
    p.ended = make_event(d.origin.get().device);
  }
  /// Events for the steps that are awaited by themselves.
  TAGMA_COLD void prepare_awaited(const part& p) {
    for (std::size_t s = p.first; s < p.end; ++s) {
      if (!steps_.steps[s].awaited) continue;
      if (awaited_.size() == 0) awaited_ = heap_array<runtime::owned_event>(steps_.size());
      awaited_[s] = make_event(steps_.steps[s].device);
    }
  }
  TAGMA_COLD runtime::owned_event make_event(int device) { return {driver_, driver_.make_event(device)}; }

  /// The stream of the dispatcher for a place, made when it is asked for first.
  TAGMA_COLD std::size_t stream_at(const stream_place& place) {
    for (std::size_t i = 0; i < stream_count_; ++i)
      if (streams_[i].place == place) return i;
    if (stream_count_ == streams_.size()) {
      heap_array<used_stream> more(2 * stream_count_ + 8);
      for (std::size_t i = 0; i < stream_count_; ++i) more[i] = static_cast<used_stream&&>(streams_[i]);
      streams_ = static_cast<heap_array<used_stream>&&>(more);
    }
    streams_[stream_count_] = {place, {driver_, driver_.make_stream(place.device)}};
    return stream_count_++;
  }

  [[nodiscard]] runtime::stream_ref stream_of(const part& p, step_id s) const {
    return streams_[p.stream_of[p.plan.stream_at(s)]].stream.get();
  }
  [[nodiscard]] runtime::stream_ref origin_of(const part& p) const { return drivers_[p.driver].origin.get(); }
  [[nodiscard]] runtime::event_ref event_of(const part& p, step_id s) const {
    return p.events[p.plan.event_at(s)].get();
  }

  /// False if not all of it may begin yet.
  bool run_part(std::size_t i, step_functions& functions, const runtime::run_guard& guard) {
    part& p = parts_[i];
    if (!options_.capture) return issue(p, functions, guard);
    next_step_ = p.first;
    if (guard.limited()) guard.check();
    if (!functions.may_begin(p.first, p.end)) return false;
    for (std::size_t d = 0; d < drivers_.size(); ++d)
      if (p.needs[d] > drivers_[d].waited) wait_for(p.needs[d], functions, guard);
    if (p.host) {
      run_host(p.first, functions);
      return true;
    }
    if (p.capturable && !timed_) {
      const std::uint64_t arguments = functions.arguments(p.first, p.end);
      const bool same = p.seen && p.arguments == arguments;
      p.arguments = arguments;
      p.seen = true;
      if (!same) p.graph = {};
      if (same && !p.graph) capture(p, functions);
    }
    if (p.graph && !timed_) {
      in_part(p, functions, [&] { driver_.launch(p.graph.get(), origin_of(p)); });
    } else {
      in_part(p, functions, [&] { fork(p); });
      const bool limited = guard.limited();
      for (std::size_t s = p.first; s < p.end; ++s) {
        if (limited) guard.check();
        issue_step(p, s, functions, guard);
      }
      in_part(p, functions, [&] { join(p); });
    }
    in_part(p, functions, [&] { driver_.record(p.ended.get(), origin_of(p)); });
    if (steps_.steps[p.end - 1].awaited) {
      wait_for(static_cast<std::int32_t>(i), functions, guard);
      end(p.end - 1, functions);
    }
    return true;
  }
  template <class Call>
  static void in_part(const part& p, step_functions& functions, const Call& call) {
    try {
      call();
    } catch (...) {
      explain(functions, p.first, "with the steps behind it");
    }
  }

  /// Issues the steps of the only part, each on its stream; false if the next may not begin yet.
  bool issue(part& p, step_functions& functions, const runtime::run_guard& guard) {
    const bool limited = guard.limited();
    for (; next_step_ < p.end; ++next_step_) {
      if (limited) guard.check();
      if (!functions.may_begin(next_step_, next_step_ + 1)) return false;
      issue_step(p, next_step_, functions, guard);
    }
    return true;
  }
  void issue_step(const part& p, std::size_t s, step_functions& functions, const runtime::run_guard& guard) {
    const auto id = static_cast<step_id>(s);
    const step& what = steps_.steps[s];
    if (what.kind == step_kind::host) {
      for (const step_id w : p.plan.waits_of(id))
        wait_for(event_of(p, w), static_cast<std::size_t>(w), functions, guard);
      return run_host(s, functions);
    }
    const runtime::stream_ref stream = stream_of(p, id);
    for (const step_id w : p.plan.waits_of(id))
      if (steps_.steps[w].driver != what.driver)
        wait_for(event_of(p, w), static_cast<std::size_t>(w), functions, guard);
    try {
      for (const step_id w : p.plan.waits_of(id))
        if (steps_.steps[w].driver == what.driver) driver_.wait(stream, event_of(p, w));
      if (timed_) driver_.record(timers_[2 * s].get(), stream);
      if (what.kind == step_kind::kernel) {
        if (current_ != what.device) static_cast<void>(driver_.make_current(current_ = what.device));
        functions.launch(s, stream);
      } else {
        const copy_request c = functions.copy(s);
        driver_.copy(stream, c.to, c.from, c.bytes);
      }
      if (timed_) driver_.record(timers_[2 * s + 1].get(), stream);
      if (p.plan.event_at(id) >= 0) driver_.record(event_of(p, id), stream);
      if (!what.awaited || options_.capture) return;
      driver_.record(awaited_[s].get(), stream);
    } catch (...) {
      explain(functions, s, "");
    }
    wait_for(awaited_[s].get(), s, functions, guard);
    end(s, functions);
  }
  TAGMA_COLD static void end(std::size_t s, step_functions& functions) {
    try {
      functions.ended(s);
    } catch (...) {
      explain(functions, s, "");
    }
  }
  static void run_host(std::size_t s, step_functions& functions) {
    try {
      functions.run_host(s);
    } catch (...) {
      explain(functions, s, "");
    }
  }

  /// Streams that begin with a step that waits for nothing begin behind what is in the origin.
  void fork(const part& p) {
    const runtime::event_ref forked = drivers_[p.driver].forked.get();
    driver_.record(forked, origin_of(p));
    for (std::size_t i = 0; i < p.plan.stream_count; ++i)
      if (p.plan.roots[i] >= 0) driver_.wait(streams_[p.stream_of[i]].stream.get(), forked);
  }
  /// The origin goes on when the part is done.
  void join(const part& p) {
    for (const step_id s : p.plan.final_waits()) driver_.wait(origin_of(p), event_of(p, s));
  }

  /// Records a segment. What cannot be recorded is run step by step, now and later.
  TAGMA_COLD void capture(part& p, step_functions& functions) {
    try {
      driver_.begin_capture(origin_of(p));
      fork(p);
      for (std::size_t s = p.first; s < p.end; ++s) issue_step(p, s, functions, runtime::run_guard({}));
      join(p);
      p.graph = {driver_, driver_.end_capture(origin_of(p))};
    } catch (...) {
      driver_.abandon_capture(origin_of(p));
      p.capturable = false;
    }
  }

  /// Makes the timers if there are none, and relates those of each device to the clock of the host.
  TAGMA_COLD void start_timers() {
    if (timers_.size() == 0) {
      timers_ = heap_array<runtime::owned_event>(2 * steps_.size());
      for (std::size_t i = 0; i < timers_.size(); ++i)
        if (const step& what = steps_.steps[i / 2]; what.kind != step_kind::host)
          timers_[i] = {driver_, driver_.make_timer(what.device)};
      starts_ = heap_array<start_of_device>(stream_count_);
    }
    for (std::size_t i = 0; i < stream_count_; ++i) {
      start_of_device& start = starts_[i];  // of the streams of a device, the first has one
      const int device = streams_[i].place.device;
      bool first = true;
      for (std::size_t k = 0; k < i; ++k) first = first && streams_[k].place.device != device;
      if (!first) continue;
      if (!start.timer) start.timer = {driver_, driver_.make_timer(device)};
      driver_.record(start.timer.get(), streams_[i].stream.get());
      static_cast<void>(driver_.host_wait(start.timer.get(), -1));
      start.host_ns = runtime::now_ns();
    }
  }
  TAGMA_COLD void tell_times(step_functions& functions) {
    for (const part& p : parts_)
      for (std::size_t s = p.first; s < p.end && !p.host; ++s) {
        if (steps_.steps[s].kind == step_kind::host) continue;
        std::size_t d = 0;
        while (streams_[d].place.device != steps_.steps[s].device) ++d;
        const auto at = [&](std::size_t timer) {
          return starts_[d].host_ns + driver_.elapsed_ns(starts_[d].timer.get(), timers_[timer].get());
        };
        functions.timed(s, p.plan.streams[p.plan.stream_at(static_cast<step_id>(s))], at(2 * s), at(2 * s + 1));
      }
  }

  void finish(step_functions& functions, const runtime::run_guard& guard) {
    if (!options_.capture) {
      for (const part& p : parts_)
        for (const step_id s : p.plan.final_waits())
          wait_for(event_of(p, s), static_cast<std::size_t>(s), functions, guard);
      return;
    }
    for (std::size_t d = 0; d < drivers_.size(); ++d)
      for (auto i = static_cast<std::int32_t>(parts_.size()) - 1; i > drivers_[d].waited; --i)
        if (!parts_[i].host && parts_[i].driver == d) wait_for(i, functions, guard);
  }

  /// Waits until a segment is done, and with it all before of its driver.
  void wait_for(std::int32_t segment, step_functions& functions, const runtime::run_guard& guard) {
    const part& p = parts_[segment];
    wait_for(p.ended.get(), p.end - 1, functions, guard);
    drivers_[p.driver].waited = segment;
  }
  void wait_for(runtime::event_ref event, std::size_t s, step_functions& functions, const runtime::run_guard& guard) {
    try {
      if (!guard.limited()) {
        static_cast<void>(driver_.host_wait(event, -1));
        return;
      }
      while (!driver_.host_wait(event, 1'000'000)) guard.check();  // then look at the limits again
    } catch (...) {
      explain(functions, s, "waiting until it is done");
    }
  }

  /// Throws the exception at hand again, with the step in its text.
  [[noreturn]] TAGMA_COLD static void explain(const step_functions& functions, std::size_t s, std::string_view when) {
    const std::exception_ptr current = std::current_exception();
    const runtime::caught seen(current);
    if (!seen.is_known) std::rethrow_exception(current);
    fail(seen.code, {functions.describe(s), when.empty() ? "" : ", ", when, ": ",
                     seen.is_error ? runtime::without_code(seen.what) : seen.what});
  }

  /// Returns when nothing is left in the streams. Recorded segments are good for later runs.
  TAGMA_COLD void drain() noexcept {
    for (std::size_t i = 0; i < stream_count_; ++i) driver_.drain(streams_[i].stream.get());
    for (const driver_state& d : drivers_)
      if (d.origin) driver_.drain(d.origin.get());
  }

  runtime::stream_driver& driver_;
  step_list steps_;
  dispatch_options options_;
  heap_array<driver_state> drivers_;
  heap_array<used_stream> streams_;
  std::size_t stream_count_ = 0;
  heap_array<part> parts_;
  bool timed_ = false;
  heap_array<runtime::owned_event> awaited_;  // of steps that the host waits for, without capture
  bool began_ = false;
  std::size_t next_part_ = 0, next_step_ = 0;
  heap_array<runtime::owned_event> timers_;  // before and behind each step of a device, once a run was timed
  heap_array<start_of_device> starts_;
  int current_ = -1;  // the device that is current
};

}  // namespace tagma::device::stream
