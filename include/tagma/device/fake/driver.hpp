// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Devices with streams that are none: memory and kernels are the host's. They do what real devices may do at worst,
/// and say so where a program relies on more.

#include <memory>

#include "tagma/base/heap_array.hpp"
#include "tagma/device/fake/work.hpp"

namespace tagma::device::fake {

/// What the fake devices are like.
struct driver_options {
  int devices = 1;
  std::int64_t memory = std::int64_t{64} << 20;  ///< bytes of each device
  std::int64_t taken = 0;                        ///< of them, bytes that other processes have
  std::int64_t pinned = std::int64_t{64} << 20;  ///< bytes that the host can pin
  std::uint64_t seed = 1;                        ///< of the order of operations
  int eager = 64;            ///< of 256 times that something is put into a stream, how often some work is done at once
  bool checks_order = true;  ///< tell when operations use the same memory and are not ordered
  std::int64_t operation_ns = 1000;  ///< simulated time of an operation
  double byte_ns = 0.1;              ///< and of each byte that it copies or sets
};

/// What can be made to fail.
enum class fault : std::uint8_t { allocation, pinned_allocation, launch, copy, record, capture, execution };

/// What a driver has done, and what there is of its objects.
struct driver_counts {
  std::int64_t kernels = 0;  ///< put into streams one by one
  std::int64_t copies = 0;
  std::int64_t records = 0;
  std::int64_t waits = 0;
  std::int64_t graphs_launched = 0;
  std::int64_t executed = 0;  ///< operations that have been done
  std::size_t pending = 0;    ///< operations that have not
  std::size_t streams = 0;    ///< at present
  std::size_t events = 0;
  std::size_t graphs = 0;
  std::size_t blocks = 0;
};

/// A driver whose thread does what is in the streams as late as possible and in a random order: only when somebody
/// waits for it, and now and then at once. Order is kept only within a stream, by events, and by what the host waited
/// for. So whatever is missing of these shows in the results for some seed; uses of the same memory that are not
/// ordered are errors for every seed. For one thread of the host, a seed gives the same order every time.
///
/// Errors also are: copies in the wrong direction or out of pageable memory, memory of another device or none, an event
/// of another device, what CUDA forbids while it captures.
///
/// Time is simulated: an operation ends its duration after what it waits for. No thread sleeps for that.
class driver final : public runtime::stream_driver {
 public:
  explicit driver(const driver_options& options = {})
      : options_(options), work_(mutex_, memory_, options.seed, options.eager) {}

  // What a test asks for.

  /// Puts a kernel into a stream.
  /// @param body     called by the driver's thread; what it throws is an error of the device
  /// @param accesses all that it reads and writes, in memory of the stream's device
  /// @param ns       how long it takes in simulated time; negative: as long as any operation
  void launch_kernel(runtime::stream_ref stream, std::function<void()> body, std::vector<access> accesses,
                     std::string name = "a kernel", std::int64_t ns = -1) {
    const mutex_lock lock(mutex_);
    ++counts_.kernels;
    inject(fault::launch, "a launch fails");
    stream_state& s = state(stream);
    if (current_ != s.device)
      fail(status_code::invalid_argument,
           {name, " is launched into a stream of device ", s.device, " while device ", current_, " is current"});
    for (const access& a : accesses) check_place(name, s.device, a);
    put(s, {static_cast<std::string&&>(name), static_cast<std::function<void()>&&>(body),
            static_cast<std::vector<access>&&>(accesses), ns < 0 ? options_.operation_ns : ns, true});
  }
  /// The n-th from now on, counted from 1, fails with `code`; allocations return nothing instead.
  void fail_at(fault what, int n, status_code code = status_code::internal) {
    const mutex_lock lock(mutex_);
    (what == fault::execution ? work_.fault : faults_[static_cast<std::size_t>(what)]) = {n, code};
  }
  /// No operation begins until `release`.
  void hold() {
    const mutex_lock lock(mutex_);
    work_.hold(true);
  }
  void release() {
    const mutex_lock lock(mutex_);
    work_.hold(false);
  }
  /// Throws Internal if the host may not yet read, or write, what streams use.
  void check_host_access(const access& a) const {
    const mutex_lock lock(mutex_);
    memory_.check(a, {"the host", 0, 0, &host_clock_});
  }
  /// The simulated time at which all that was put into streams is done.
  [[nodiscard]] std::int64_t simulated_ns() const {
    const mutex_lock lock(mutex_);
    return latest_ns_;
  }
  [[nodiscard]] driver_counts counts() const {
    const mutex_lock lock(mutex_);
    driver_counts c = counts_;
    c.streams = streams_.size();
    c.events = events_.size();
    c.graphs = graphs_.size();
    c.blocks = memory_.blocks();
    c.executed = work_.executed;
    c.pending = work_.pending();
    return c;
  }

  // What a runtime asks for.

  [[nodiscard]] int devices() override { return options_.devices; }
  [[nodiscard]] std::string name(int device) override {
    check_device(device);
    return sentence({"fake device ", device});
  }
  [[nodiscard]] runtime::device_memory memory(int device) override {
    check_device(device);
    const mutex_lock lock(mutex_);
    return {options_.memory - options_.taken - memory_.used(device), options_.memory};
  }
  int make_current(int device) override {
    check_device(device);
    const int before = current_;
    current_ = device;
    return before;
  }
  void restore(int before) noexcept override { current_ = before; }
  void connect(int from, int to) override {
    check_device(from);
    check_device(to);
  }

  [[nodiscard]] std::byte* allocate(int device, std::size_t bytes) override {
    check_device(device);
    const mutex_lock lock(mutex_);
    return allocate_within(device, bytes, options_.memory - options_.taken, fault::allocation);
  }
  void deallocate(int device, std::byte* data) noexcept override {
    const mutex_lock lock(mutex_);
    memory_.deallocate(device, data);
  }
  [[nodiscard]] std::byte* allocate_pinned(std::size_t bytes) override {
    const mutex_lock lock(mutex_);
    return allocate_within(runtime::on_host, bytes, options_.pinned, fault::pinned_allocation);
  }
  void deallocate_pinned(std::byte* data) noexcept override {
    const mutex_lock lock(mutex_);
    memory_.deallocate(runtime::on_host, data);
  }
  /// Memory of others is none of the bytes that the host can pin here, but fails like those.
  [[nodiscard]] bool pin(std::byte* data, std::size_t bytes) override {
    const mutex_lock lock(mutex_);
    if (faults_[static_cast<std::size_t>(fault::pinned_allocation)].strikes()) return false;
    memory_.borrow(data, bytes);
    return true;
  }
  void unpin(std::byte* data) noexcept override {
    const mutex_lock lock(mutex_);
    memory_.give_back(data);
  }

  [[nodiscard]] runtime::stream_ref make_stream(int device) override {
    check_device(device);
    const mutex_lock lock(mutex_);
    streams_.push_back(std::make_unique<stream_state>());
    streams_.back()->device = device;
    streams_.back()->lane = lanes_++;
    return {streams_.back().get(), device};
  }
  void destroy(runtime::stream_ref stream) noexcept override { forget(streams_, stream.native); }
  [[nodiscard]] runtime::event_ref make_event(int device) override {
    check_device(device);
    const mutex_lock lock(mutex_);
    events_.push_back(std::make_unique<event_state>());
    events_.back()->device = device;
    return {events_.back().get(), device};
  }
  /// Every event tells its simulated time.
  [[nodiscard]] runtime::event_ref make_timer(int device) override { return make_event(device); }
  void destroy(runtime::event_ref event) noexcept override { forget(events_, event.native); }

  void record(runtime::event_ref event, runtime::stream_ref stream) override {
    const mutex_lock lock(mutex_);
    ++counts_.records;
    inject(fault::record, "an event is not recorded");
    event_state& e = state(event);
    stream_state& s = state(stream);
    if (e.device != s.device)
      fail(status_code::invalid_argument,
           {"an event of device ", e.device, " is recorded by a stream of device ", s.device});
    e.capture = s.capture;
    e.nodes = s.tail;
    if (s.capture != 0) return;
    // A wait that no operation has taken along yet is part of the point, too.
    if (s.tail.size() > 1) append(s, {"a wait", {}, {}, 0, false});
    e.nodes = s.tail;
    e.clock = s.clock;
    e.ns = s.ns;
  }
  void wait(runtime::stream_ref stream, runtime::event_ref event) override {
    const mutex_lock lock(mutex_);
    ++counts_.waits;
    stream_state& s = state(stream);
    const event_state& e = state(event);
    if (e.capture != 0) {
      if (capture_ == nullptr || capture_->id != e.capture)
        fail(status_code::failed_precondition, "a stream waits for an event of a capture that has ended");
      if (s.capture == 0) {
        s.capture = e.capture;
        s.before_capture = static_cast<std::vector<operation_id>&&>(s.tail);
        s.tail.clear();
      }
    } else if (s.capture != 0) {
      fail(status_code::failed_precondition, "a stream that captures waits for an event from before");
    }
    for (const std::int64_t n : e.nodes) {
      bool listed = false;
      for (const std::int64_t t : s.tail) listed = listed || t == n;
      if (!listed) s.tail.push_back(n);
    }
    if (s.capture != 0) return;
    s.clock.join(e.clock);
    if (e.ns > s.ns) s.ns = e.ns;
  }
  [[nodiscard]] bool reached(runtime::event_ref event) override {
    const mutex_lock lock(mutex_);
    const event_state& e = waitable(event);
    if (!work_.all_done(e.nodes)) work_.do_some();  // so that whoever asks again and again comes to an end
    return finished(e);
  }
  [[nodiscard]] bool host_wait(runtime::event_ref event, std::int64_t ns) override {
    const mutex_lock lock(mutex_);
    const event_state& e = waitable(event);
    work_.run_until(e.nodes, ns);
    return finished(e);
  }
  [[nodiscard]] std::int64_t elapsed_ns(runtime::event_ref from, runtime::event_ref to) override {
    const mutex_lock lock(mutex_);
    const event_state &a = waitable(from), &b = waitable(to);
    if (a.device != b.device) fail(status_code::invalid_argument, "the time between events of two devices");
    if (!work_.all_done(a.nodes) || !work_.all_done(b.nodes))
      fail(status_code::failed_precondition, "the time of an event that was not reached");
    return b.ns - a.ns;
  }
  void drain(runtime::stream_ref stream) noexcept override {
    const mutex_lock lock(mutex_);
    for (auto& s : streams_) {
      if (s.get() != stream.native || s->capture != 0) continue;
      work_.run_until(s->tail, -1);
      s->tail.clear();
      host_clock_.join(s->clock);
    }
    tidy();
  }

  void copy(runtime::stream_ref stream, runtime::memory_place to, runtime::memory_place from,
            std::size_t bytes) override {
    const mutex_lock lock(mutex_);
    ++counts_.copies;
    inject(fault::copy, "a copy fails");
    stream_state& s = state(stream);
    if (to.device != s.device && from.device != s.device)
      fail(status_code::invalid_argument, {"a stream of device ", s.device, " copies between others"});
    if (bytes == 0) return;
    const access read{from.data, bytes, false}, write{to.data, bytes, true};
    check_place("a copy", from.device, read);
    check_place("a copy", to.device, write);
    put(s, {sentence({"a copy from ", from.device == runtime::on_host ? "the host to device " : "device ",
                      from.device == runtime::on_host ? to.device : from.device}),
            [to = to.data, from = from.data, bytes] { std::memmove(to, from, bytes); },
            {read, write},
            options_.operation_ns + static_cast<std::int64_t>(options_.byte_ns * static_cast<double>(bytes)),
            false});
  }
  void fill(runtime::stream_ref stream, std::byte* to, unsigned char value, std::size_t bytes) override {
    const mutex_lock lock(mutex_);
    stream_state& s = state(stream);
    if (bytes == 0) return;
    const access write{to, bytes, true};
    check_place("a fill", s.device, write);
    put(s, {"a fill",
            [to, value, bytes] { std::memset(to, value, bytes); },
            {write},
            options_.operation_ns + static_cast<std::int64_t>(options_.byte_ns * static_cast<double>(bytes)),
            false});
  }
  void call_host(runtime::stream_ref stream, void (*function)(void*), void* context) override {
    const mutex_lock lock(mutex_);
    put(state(stream), {"a call of the host", [function, context] { function(context); }, {}, 0, false});
  }

  void begin_capture(runtime::stream_ref origin) override {
    const mutex_lock lock(mutex_);
    stream_state& s = state(origin);
    if (capture_ != nullptr) fail(status_code::failed_precondition, "a capture begins while another one is going on");
    capture_ = std::make_unique<capture_state>();
    capture_->id = s.capture = ++captures_;
    capture_->origin = &s;
    capture_->thread = pthread_self();
    s.before_capture = static_cast<std::vector<operation_id>&&>(s.tail);
    s.tail.clear();
  }
  [[nodiscard]] runtime::graph_ref end_capture(runtime::stream_ref origin) override {
    const mutex_lock lock(mutex_);
    stream_state& s = state(origin);
    if (capture_ == nullptr || capture_->origin != &s)
      fail(status_code::failed_precondition, "a capture ends that did not begin in this stream");
    const std::vector<operation_id> last = s.tail;
    auto graph = std::make_unique<graph_state>();
    graph->nodes = static_cast<std::vector<operation>&&>(capture_->nodes);
    stop_capture();
    inject(fault::capture, "what was captured makes no graph");
    const heap_array<bool> joined(graph->nodes.size());
    for (const std::int64_t n : last) joined[n] = true;
    for (std::size_t n = graph->nodes.size(); n-- > 0;) {
      if (!joined[n])
        fail(status_code::failed_precondition, {graph->nodes[n].name, " was captured in a stream that was not joined"});
      for (const std::int64_t before : graph->nodes[n].after) joined[before] = true;
    }
    graph->lane = lanes_;
    lanes_ += graph->nodes.size();
    graph->last = last;
    graphs_.push_back(std::move(graph));
    return {graphs_.back().get()};
  }
  void abandon_capture(runtime::stream_ref origin) noexcept override {
    const mutex_lock lock(mutex_);
    if (capture_ != nullptr && capture_->origin == origin.native) stop_capture();
  }
  void launch(runtime::graph_ref graph, runtime::stream_ref stream) override {
    const mutex_lock lock(mutex_);
    inject(fault::launch, "a graph is not launched");
    stream_state& s = state(stream);
    if (s.capture != 0) fail(status_code::failed_precondition, "a graph is launched into a stream that captures");
    graph_state* g = nullptr;
    for (const auto& known : graphs_)
      if (known.get() == graph.native) g = known.get();
    if (g == nullptr) fail(status_code::invalid_argument, "a graph is launched that does not exist");
    ++counts_.graphs_launched;
    const std::vector<operation_id> before = s.tail;
    const vector_clock begin = at_host(s);
    const std::int64_t begin_ns = s.ns > host_ns_ ? s.ns : host_ns_, first = work_.end();
    const heap_array<vector_clock> clocks(g->nodes.size());
    const heap_array<operation_id> times(g->nodes.size());
    for (std::size_t n = 0; n < g->nodes.size(); ++n) {
      operation o = g->nodes[n];
      clocks[n] = begin;
      std::int64_t ns = begin_ns;
      for (std::int64_t& p : o.after) {
        clocks[n].join(clocks[p]);
        if (times[p] > ns) ns = times[p];
        p += first;
      }
      if (o.after.empty()) o.after = before;
      note(o, g->lane + n, clocks[n]);
      times[n] = ns + o.ns;
      work_.push(std::move(o));
      s.clock.join(clocks[n]);
      if (times[n] > s.ns) s.ns = times[n];
    }
    s.clock.join(begin);
    if (s.ns < begin_ns) s.ns = begin_ns;
    if (s.ns > latest_ns_) latest_ns_ = s.ns;
    if (!g->nodes.empty()) s.tail.clear();
    for (const std::int64_t n : g->last) s.tail.push_back(first + n);
    work_.maybe_do_some();
  }
  void destroy(runtime::graph_ref graph) noexcept override { forget(graphs_, graph.native); }

 private:
  struct stream_state {
    int device = 0;
    std::size_t lane = 0;
    std::vector<operation_id> tail;  ///< what the next operation waits for
    std::vector<operation_id> before_capture;
    vector_clock clock;
    std::int64_t ns = 0;
    std::uint64_t capture = 0;  ///< 0: none
  };
  struct event_state {
    int device = 0;
    std::vector<operation_id> nodes;
    vector_clock clock;
    std::int64_t ns = 0;
    std::uint64_t capture = 0;
  };
  struct capture_state {
    std::uint64_t id = 0;
    stream_state* origin = nullptr;
    pthread_t thread{};
    std::vector<operation> nodes;
  };
  struct graph_state {
    std::vector<operation> nodes;
    std::vector<operation_id> last;
    std::size_t lane = 0;  ///< each node has a lane of its own, from here on
  };

  // Objects and their checks.

  void check_device(int device) const {
    if (device < 0 || device >= options_.devices)
      fail(status_code::invalid_argument, {"device ", device, " of ", options_.devices, " fake devices"});
  }
  template <class State>
  [[nodiscard]] static State& find(const std::vector<std::unique_ptr<State>>& all, const void* native,
                                   std::string_view what) {
    for (const auto& s : all)
      if (s.get() == native) return *s;
    fail(status_code::invalid_argument, {"there is no such ", what});
  }
  template <class State>
  void forget(std::vector<std::unique_ptr<State>>& all, const void* native) noexcept {
    const mutex_lock lock(mutex_);
    for (auto& s : all)
      if (s.get() == native) {
        s.swap(all.back());
        all.pop_back();
        return;
      }
  }
  [[nodiscard]] stream_state& state(runtime::stream_ref s) const { return find(streams_, s.native, "stream"); }
  [[nodiscard]] event_state& state(runtime::event_ref e) const { return find(events_, e.native, "event"); }
  [[nodiscard]] const event_state& waitable(runtime::event_ref event) const {
    const event_state& e = state(event);
    if (e.capture != 0) fail(status_code::failed_precondition, "the host waits for an event of a capture");
    return e;
  }
  void check_place(std::string_view name, int device, const access& a) const {
    if (const std::string wrong = memory_.complaint(device, a); !wrong.empty())
      fail(status_code::invalid_argument, {name, a.writes ? " writes " : " reads ", wrong});
  }
  void inject(fault what, std::string_view text) {
    if (faults_[static_cast<std::size_t>(what)].strikes()) fail(faults_[static_cast<std::size_t>(what)].code, text);
  }
  [[nodiscard]] std::byte* allocate_within(int device, std::size_t bytes, std::int64_t most, fault what) {
    if (capture_ != nullptr && pthread_equal(capture_->thread, pthread_self()))
      fail(status_code::failed_precondition, "memory is allocated while streams are captured");
    if (faults_[static_cast<std::size_t>(what)].strikes() ||
        static_cast<std::int64_t>(bytes) > most - memory_.used(device))
      return nullptr;
    return memory_.allocate(device, bytes);
  }
  void stop_capture() noexcept {
    for (auto& s : streams_) {
      if (s->capture != capture_->id) continue;
      s->capture = 0;
      s->tail = static_cast<std::vector<operation_id>&&>(s->before_capture);
      s->before_capture.clear();
    }
    capture_.reset();
  }

  // Streams.

  [[nodiscard]] vector_clock at_host(const stream_state& s) const {
    vector_clock clock = s.clock;
    clock.join(host_clock_);
    return clock;
  }
  /// Orders an operation behind `clock`, which then covers it.
  void note(const operation& o, std::size_t lane, vector_clock& clock) {
    const std::int64_t position = ++positions_;
    if (options_.checks_order) memory_.note(o.accesses, {o.name, lane, position, &clock});
    clock.set(lane, position);
  }
  void put(stream_state& s, operation o) {
    append(s, static_cast<operation&&>(o));
    if (s.capture == 0) work_.maybe_do_some();
  }
  void append(stream_state& s, operation o) {
    o.after = s.tail;
    if (s.capture != 0) {
      s.tail.assign(1, static_cast<std::int64_t>(capture_->nodes.size()));
      capture_->nodes.push_back(static_cast<operation&&>(o));
      return;
    }
    vector_clock clock = at_host(s);
    note(o, s.lane, clock);
    s.clock = static_cast<vector_clock&&>(clock);
    s.ns = (s.ns > host_ns_ ? s.ns : host_ns_) + o.ns;
    if (s.ns > latest_ns_) latest_ns_ = s.ns;
    s.tail.assign(1, work_.end());
    work_.push(static_cast<operation&&>(o));
  }

  /// Whether the point was reached; the host then knows what is done.
  [[nodiscard]] bool finished(const event_state& e) {
    if (!work_.all_done(e.nodes)) return false;
    if (const operation* o = work_.failed(e.nodes)) fail(o->code, o->what);
    host_clock_.join(e.clock);
    if (e.ns > host_ns_) host_ns_ = e.ns;
    tidy();
    return true;
  }
  /// Forgets what is done, once all is and no stream has a failure that nobody has heard of.
  void tidy() noexcept {
    if (work_.pending() > 0) return;
    for (const auto& s : streams_)
      if (work_.failed(s->capture != 0 ? s->before_capture : s->tail) != nullptr) return;
    work_.forget();
  }

  const driver_options options_;
  mutable mutex mutex_;
  memory_table memory_;
  std::vector<std::unique_ptr<stream_state>> streams_;
  std::vector<std::unique_ptr<event_state>> events_;
  std::vector<std::unique_ptr<graph_state>> graphs_;
  std::unique_ptr<capture_state> capture_;
  std::uint64_t captures_ = 0;
  std::size_t lanes_ = 1;  // 0 is the host
  std::int64_t positions_ = 0;
  vector_clock host_clock_;
  std::int64_t host_ns_ = 0;
  std::int64_t latest_ns_ = 0;
  planned_fault faults_[6];
  driver_counts counts_;
  work_queue work_;  // last, since its thread uses the others
  static inline thread_local int current_ = 0;
};

}  // namespace tagma::device::fake
