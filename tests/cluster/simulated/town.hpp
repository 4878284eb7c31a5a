// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A cluster and its clients in a world that is made up: servers that come and go, clients that count on them, and what
/// a cluster promises, looked at after every run. All of it is drawn from one number.

#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/simulated/disk.hpp"
#include "cluster/simulated/programs.hpp"
#include "cluster/simulated/queue_history.hpp"
#include "tagma/cluster/service/worker.hpp"
#include "tagma/cluster/session.hpp"
#include "tagma/cluster/session_checkpoints.hpp"
#include "tagma/transport/simulated/world.hpp"

namespace tagma::test {

inline constexpr std::int64_t ms = 1'000'000, s = 1'000'000'000;

/// What can go wrong in a town.
enum class fault : std::uint8_t { cut, part, stop, clock, server_ends, client_ends, splits, slow, disk, count };

/// What was seen of a town.
struct findings {
  std::vector<std::string> wrong{};
  std::string log{};
  std::uint64_t history = 0, events = 0, runs = 0, failures = 0, sessions = 0, restarts = 0;
  std::int64_t simulated_ns = 0;

  void check(bool good, const std::string& what) {
    if (!good && wrong.size() < 5) wrong.push_back(what);
  }
  void add(const findings& of) {
    runs += of.runs;
    failures += of.failures;
    sessions += of.sessions;
    restarts += of.restarts;
    simulated_ns += of.simulated_ns;
  }
};

class town {
 public:
  using dice = transport::simulated::dice;
  using process = transport::simulated::network;

  explicit town(std::uint64_t seed) : world_(seed), dice_(seed + (std::uint64_t{1} << 40)) {
    shape_.servers = 1 + static_cast<int>(dice_.below(3));
    shape_.workers = 1 + static_cast<int>(dice_.below(3));
    shape_.large = dice_.one_in(6);
    static constexpr std::int64_t paces[] = {1, 1, 20, 100};
    pace_ = paces[dice_.below(4)];
    static constexpr queue_kind kinds[] = {queue_kind::fifo, queue_kind::shuffle, queue_kind::priority};
    kind_ = kinds[dice_.below(3)];
    if (dice_.one_in(3)) disk_.emplace();
    containers_ = 1 + static_cast<int>(dice_.below(2));
    queues_.resize(static_cast<std::size_t>(shape_.servers * containers_));
    clients_.resize(1 + dice_.below(3));
    if (!dice_.one_in(4))
      for (int f = 0; f < static_cast<int>(fault::count); ++f)
        if (dice_.one_in(2)) faults_.insert(static_cast<fault>(f));
    servers_.resize(static_cast<std::size_t>(shape_.servers + shape_.workers));
  }
  town(const town&) = delete;
  town& operator=(const town&) = delete;
  ~town() = default;

  /// Everything that can be found out of a number.
  static findings of(std::uint64_t seed) {
    auto here = std::make_unique<town>(seed);
    here->live();
    findings found = here->found_;
    static auto* const kept = new std::vector<std::unique_ptr<town>>;  // what never ends never goes
    if (here->world_.threads_alive() > 0) kept->push_back(std::move(here));
    return found;
  }

 private:
  /// What a client did with the counters of a container.
  struct deed {
    std::int64_t begun = 0, ended = INT64_MAX;
    bool well = false;
    int container = 0;
    std::vector<int> counters{};
  };
  struct server {
    std::unique_ptr<service::worker> worker{};
    std::int64_t began = 0;  ///< with nothing
    std::int64_t back = 0;   ///< 0: it is there
  };
  struct client {
    int lives = 0;
    bool there = false;
    int well_since_calm = 0;
    std::string last_error{};
  };

  // ---- the servers ----

  [[nodiscard]] task_id id_of(std::size_t i) const {
    const int n = static_cast<int>(i);
    return n < shape_.servers ? task_id{"ps", n} : task_id{"worker", n - shape_.servers};
  }
  [[nodiscard]] static std::string name_of(const task_id& id) { return id.job + std::to_string(id.task); }
  [[nodiscard]] static std::string address_of(const task_id& id) {
    return name_of(id) + ":" + std::to_string(1 + id.task);
  }
  [[nodiscard]] static std::string name_of_client(std::size_t i) { return "client" + std::to_string(i); }

  void begin_server(std::size_t i) {
    const task_id id = id_of(i);
    service::worker_options o;
    o.link.self = {.job = id.job, .task = id.task, .role = "server", .cluster = "test", .incarnation = ++started_};
    o.link.insecure = true;
    o.intra_op_threads = o.inter_op_threads = 1;
    o.peers_ns = 5 * s;
    if (disk_.has_value()) o.checkpoints = disk_->path();
    servers_[i].worker = std::make_unique<service::worker>(world_.process(name_of(id)), address_of(id), o);
    servers_[i].began = world_.now();
    servers_[i].back = 0;
    log(name_of(id), "begins");
  }
  /// On a thread of its process, since it waits for runs.
  void end_server(std::size_t i, process& home) {
    home.start([w = std::shared_ptr<service::worker>(std::move(servers_[i].worker))]() mutable { w.reset(); });
  }

  // ---- the clients ----

  [[nodiscard]] cluster_session_options options(const std::string& name, int container = 0) {
    static constexpr const char* names[] = {"", "beside", "saved"};
    cluster_session_options o;
    o.container = names[container];
    o.link.self = {.job = name, .role = "client", .cluster = "test", .incarnation = ++started_};
    o.link.insecure = true;
    o.connect_ns = 5 * s;
    o.run_ns = 10 * s;
    o.seed = 7;
    return o;
  }
  void begin_client(std::size_t i) {
    client& c = clients_[i];
    c.there = true;
    process& home = world_.process(name_of_client(i));
    home.start([this, i, &home, life = ++c.lives] { be_client(i, home, life); });
  }
  void be_client(std::size_t i, process& home, int life) {
    dice drawn(dice_.next());
    while (home.is_alive() && !(calm_ && clients_[i].well_since_calm >= 2)) {
      try {
        ++found_.sessions;
        switch (drawn.below(disk_.has_value() ? 4 : 3)) {
          case 0:
            count(i, home, drawn);
            break;
          case 1:
            carry(i, home, drawn);
            break;
          case 3:
            if (!is_saving_) save(i, home, drawn);
            break;
          default:
            compute(i, home, drawn);
        }
      } catch (const error& e) {
        failed(i, home, e);
      }
      pause(home, static_cast<std::int64_t>(drawn.below(200)) * ms * (calm_ ? 1 : pace_));
    }
    if (clients_[i].lives == life) clients_[i].there = false;
  }
  static void pause(const process& home, std::int64_t ns) {
    runtime::wait_word nobody;
    nobody.sleep_until(0, home.now() + ns);
  }
  void failed(std::size_t i, const process& home, const error& e) {
    if (!home.is_alive()) return;
    ++found_.failures;
    clients_[i].last_error = e.what();
    log(i, e.what());
    const status_code c = e.code();
    const bool expected = c == status_code::unavailable || c == status_code::aborted ||
                          c == status_code::deadline_exceeded || c == status_code::cancelled;
    found_.check(expected && !faults_.empty(), name_of_client(i) + ": " + e.what());
  }
  /// Where processes end and connections break, and nothing is merely slow, runs end before their time does, unless a
  /// process stays away: it is asked again until then.
  void ended_with(std::size_t i, const process& home, const error& e) {
    if (!home.is_alive() || e.code() != status_code::deadline_exceeded) return;
    bool away = false;
    for (const server& each : servers_) away = away || each.back != 0;
    found_.check(may(fault::part) || may(fault::stop) || may(fault::clock) || may(fault::slow) || away,
                 name_of_client(i) + " waited in vain: " + e.what());
  }
  void well(std::size_t i) {
    ++found_.runs;
    if (calm_) ++clients_[i].well_since_calm;
  }
  void log(std::size_t i, const std::string& what) { log(name_of_client(i), what); }
  void log(const std::string& who, const std::string& what) {
    found_.log += std::to_string(world_.now()) + " " + who + " " + what + "\n";
  }

  /// Counts on the servers, as all others do.
  void count(std::size_t i, process& home, dice& drawn) {
    const any_program program = counters(shape_);
    const int container = container_of(drawn);
    cluster_session session(home, cluster_of(shape_), home_of(drawn), program, options(name_of_client(i), container));
    for (std::uint64_t n = 1 + drawn.below(6); n > 0 && home.is_alive(); --n) {
      std::vector<output_name> wanted;
      std::vector<int> adds;
      for (int k = 0; k < shape_.servers; ++k) {
        if (drawn.one_in(2)) wanted.emplace_back(counter_names[k].add), adds.push_back(k);
        if (drawn.one_in(3)) wanted.emplace_back(counter_names[k].get);
        if (drawn.one_in(4)) wanted.emplace_back(counter_names[k].set);
        if (drawn.one_in(4)) wanted.emplace_back(counter_names[k].look);
      }
      if (wanted.empty()) continue;
      tensor<float> mark(shape{});
      mark[0] = static_cast<float>(++marks_);
      const std::size_t mine = deeds_.size();
      deeds_.push_back({world_.now(), INT64_MAX, false, container, adds});
      std::vector<any_tensor> got;
      try {
        got = session.run(wanted, {feed_to("mark", mark)});
      } catch (const error& e) {
        deeds_[mine].ended = world_.now();
        ended_with(i, home, e);
        throw;
      }
      deeds_[mine].ended = world_.now();
      deeds_[mine].well = true;
      well(i);
      std::string what = "counts";
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        what += std::string(" ") + std::string(wanted[k].name());
        if (got[k].type() != dtype::none) look(got[k], wanted[k].name(), deeds_[mine], what);
      }
      log(i, what);
    }
  }
  /// What was read of a variable is one version of it, and one that can be.
  void look(const any_tensor& t, std::string_view name, const deed& at, std::string& what) {
    const auto* const v = static_cast<const float*>(t.view().data);
    const auto size = static_cast<std::size_t>(t.dims().elements());
    for (std::size_t k = 1; k < size; ++k)
      if (v[k] != v[0]) {
        found_.check(false, std::string(name) + " has elements of two versions");
        break;
      }
    what += "=" + std::to_string(static_cast<long>(-v[0]));
    for (int k = 0; k < shape_.servers; ++k)
      if (name == counter_names[k].get) check_count(at.container, k, -v[0], at.begun, at.ended);
    if (name.starts_with("look")) found_.check(-v[0] >= 0 && -v[0] <= static_cast<float>(marks_), "a mark of nobody");
  }
  /// @param begun,ended of the run that read it
  void check_count(int container, int k, float value, std::int64_t begun, std::int64_t ended) {
    const std::int64_t since = servers_[static_cast<std::size_t>(k)].began;
    if (since > begun) return;
    int least = 0, most = 0;
    for (const deed& d : deeds_) {
      bool concerns = false;
      for (const int c : d.counters) concerns = concerns || (c == k && d.container == container);
      if (!concerns) continue;
      least += d.well && d.begun >= since && d.ended < begun ? 1 : 0;
      most += d.ended >= since && d.begun <= ended ? 1 : 0;
    }
    found_.check(value >= static_cast<float>(least) && value <= static_cast<float>(most),
                 "counter " + std::to_string(k) + " is " + std::to_string(value) + ", not between " +
                     std::to_string(least) + " and " + std::to_string(most));
  }

  /// Puts numbers into queues and takes some out, waiting for a while where there are none or too many.
  void carry(std::size_t i, process& home, dice& drawn) {
    const int container = container_of(drawn);
    cluster_session session(home, cluster_of(shape_), home_of(drawn), queues(shape_, kind_),
                            options(name_of_client(i), container));
    for (std::uint64_t n = 1 + drawn.below(8); n > 0 && home.is_alive(); --n) {
      const int k = static_cast<int>(drawn.below(static_cast<std::uint64_t>(shape_.servers)));
      const std::uint64_t what = drawn.below(6);
      const auto ns = static_cast<std::int64_t>(1 + drawn.below(drawn.one_in(2) ? 50 : 2000)) * ms;
      const bool is_known = use_queue(i, home, session, container, k, what < 3 ? 0 : static_cast<int>(what) - 2, ns);
      if (!is_known && home.is_alive()) log(i, "waited for a queue");
    }
  }
  /// @param what 0: put, 1: take, 2: move, 3: take two
  /// @returns false if the time has gone by
  bool use_queue(std::size_t i, process& home, cluster_session& session, int container, int k, int what,
                 std::int64_t ns) {
    const names_of_queue& n = queue_names[k];
    const char* const names[] = {n.put, n.take, n.move, n.pair};
    tensor<float> item(shape{});
    item[0] = -static_cast<float>(++items_);
    tensor<std::int64_t> priority(shape{});
    priority[0] = static_cast<std::int64_t>(items_ * 7 % 5) - 2;
    std::vector<named_feed> feeds{feed_to("item", item)};
    if (kind_ == queue_kind::priority) feeds.push_back(feed_to("priority", priority));
    queue_history& all = queues_[static_cast<std::size_t>(container * shape_.servers + k)];
    const std::size_t mine =
        all.begin({what == 0, what == 3 ? 2 : 1, priority[0], what == 2, world_.now(), INT64_MAX, false, {-item[0]}});
    std::vector<any_tensor> got;
    try {
      got =
          session.run(std::vector<output_name>{output_name(names[what])}, feeds, timeout(std::chrono::nanoseconds(ns)));
    } catch (const error& e) {
      if (home.is_alive()) all.end(mine, world_.now(), false);
      if (e.code() != status_code::deadline_exceeded) throw;
      well(i);
      return false;
    }
    std::vector<float> numbers;
    if (what != 0 && got[0].type() == dtype::none) fail(status_code::internal, "what was taken has no value");
    for (extent at = 0; what != 0 && at < got[0].dims().elements(); ++at)
      numbers.push_back(static_cast<const float*>(got[0].view().data)[at]);
    all.end(mine, world_.now(), true, numbers);
    well(i);
    std::string text = names[what];
    for (const float number : numbers) text += " " + std::to_string(static_cast<int>(number));
    log(i, text);
    return true;
  }

  /// Runs a program of its own, and beside it the same in one session.
  void compute(std::size_t i, process& home, dice& drawn) {
    const std::uint64_t seed = drawn.next();
    const bool large = drawn.one_in(6);
    const any_program whole = random_program(seed, shape_, false, large);
    const any_program apart = random_program(seed, shape_, true, large);
    cluster_session_options how = options(name_of_client(i));
    how.variable_prefix = name_of_client(i) + "_" + std::to_string(++prefixes_);
    cluster_session session(home, cluster_of(shape_), home_of(drawn), apart, how);
    tagma::session<any_program> alone(
        whole, {.seed = 7, .intra_op_threads = 1, .inter_op_threads = 1, .variable_prefix = how.variable_prefix});
    tensor<float> in({rows_of(large), width});
    for (std::uint64_t n = 1 + drawn.below(4); n > 0 && home.is_alive(); --n) {
      const auto first = static_cast<extent>(drawn.below(1000));
      for (extent e = 0; e < in.dims().elements(); ++e) in[e] = static_cast<float>((first + 7 * e) % 1000) * 0.002f - 1;
      std::vector<output_name> wanted;
      for (const std::string& name : whole.outputs())
        if (!drawn.one_in(3)) wanted.emplace_back(name);
      if (wanted.empty()) wanted.emplace_back("y0");
      const std::vector<named_feed> feeds{feed_to("x", in)};
      std::vector<any_tensor> found;
      try {
        found = session.run(wanted, feeds);
      } catch (const error& e) {
        ended_with(i, home, e);
        throw;
      }
      well(i);
      const auto expected = alone.run(wanted, feeds);
      std::uint64_t bytes = 0;
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        const raw_view a = found[k].view(), b = expected[k].view();
        const bool same = a.type == b.type && (a.type == dtype::none || (a.dims == b.dims && a.bytes() == b.bytes() &&
                                                                         std::memcmp(a.data, b.data, a.bytes()) == 0));
        found_.check(same, std::string(wanted[k].name()) + " differs from that of one session");
        bytes += a.type == dtype::none ? 0 : a.bytes();
      }
      log(i, "computes " + std::to_string(bytes) + " bytes");
    }
  }
  /// Gives all marks one value, and saves them; one client at a time.
  void save(std::size_t i, process& home, dice& drawn) {
    struct mark_of_saving {
      explicit mark_of_saving(bool& at) : at_(at) { at_ = true; }
      mark_of_saving(const mark_of_saving&) = delete;
      mark_of_saving& operator=(const mark_of_saving&) = delete;
      ~mark_of_saving() { at_ = false; }
      bool& at_;
    };
    const mark_of_saving mine(is_saving_);
    cluster_session session(home, cluster_of(shape_), home_of(drawn), counters(shape_),
                            options(name_of_client(i), saved_container));
    for (std::uint64_t n = 1 + drawn.below(3); n > 0 && home.is_alive(); --n) {
      std::vector<output_name> all;
      for (int k = 0; k < shape_.servers; ++k) all.emplace_back(counter_names[k].set);
      tensor<float> mark(shape{});
      mark[0] = static_cast<float>(++marks_);
      const int value = static_cast<int>(marks_);
      try {
        (void)session.run(all, {feed_to("mark", mark)});
      } catch (const error&) {
        saved_.doubt(value);
        throw;
      }
      const int number = saved_.begin(value);
      save_options how;
      how.keep = 1 + static_cast<std::uint32_t>(drawn.below(3));
      how.full = drawn.one_in(3);
      // Often, some of the files find room, and others do not.
      if (may(fault::disk) && drawn.one_in(2)) disk_->limit(64 * (3 + drawn.below(9)));
      std::string what = "saves " + std::to_string(number);
      try {
        (void)session.save("model-" + std::to_string(number), how);
        if (!home.is_alive()) return;
        saved_.end(number);
      } catch (const error& e) {
        if (e.code() == status_code::failed_precondition)  // where a server was started anew
          throw error(status_code::aborted, e.what());
        if (!home.is_alive() || e.code() != status_code::resource_exhausted || !may(fault::disk)) throw;
        what += ", without success";
      }
      if (drawn.one_in(2)) disk_->mend();
      if (drawn.one_in(2)) what += ", finds " + restore_last(session);
      if (!home.is_alive()) return;
      well(i);
      log(i, what);
    }
  }
  [[nodiscard]] int container_of(dice& drawn) const {
    return static_cast<int>(drawn.below(static_cast<std::uint64_t>(containers_)));
  }
  [[nodiscard]] task_id home_of(dice& drawn) const {
    return id_of(static_cast<std::size_t>(shape_.servers) + drawn.below(static_cast<std::uint64_t>(shape_.workers)));
  }

  // ---- what goes wrong ----

  [[nodiscard]] bool may(fault f) const { return faults_.count(f) != 0; }
  [[nodiscard]] std::string draw_name() {
    const std::uint64_t n = dice_.below(servers_.size() + clients_.size());
    return n < servers_.size() ? name_of(id_of(n)) : name_of_client(n - servers_.size());
  }
  void draw_weather() {
    transport::simulated::weather& w = world_.weather;
    w.delay_ns = static_cast<std::int64_t>(1 + dice_.below(20)) * ms / 10;
    w.jitter_ns = dice_.one_in(2) ? 5 * ms : 0;
    w.passes = dice_.one_in(2) ? 4 + dice_.below(28) : 0;
    w.turn_ns = dice_.one_in(2) ? static_cast<std::int64_t>(1 + dice_.below(3000)) * 1000 : 0;
    w.bytes_per_second = may(fault::slow) && dice_.one_in(2) ? 5'000'000 : 0;
    w.pipe_bytes = may(fault::slow) ? 1000u << dice_.below(10) : 256 * 1024;
    w.splits = may(fault::splits) && dice_.one_in(2);
  }
  void draw_fault() {
    if (faults_.empty()) return;
    const auto f = *std::next(faults_.begin(), static_cast<std::ptrdiff_t>(dice_.below(faults_.size())));
    const std::string a = draw_name(), b = name_of(id_of(dice_.below(servers_.size())));
    log("fault " + std::to_string(static_cast<int>(f)), a + " " + b);
    switch (f) {
      case fault::cut:
        return world_.cut(a, b);
      case fault::part:
        if (a != b) parted_.emplace_back(a, b), world_.part(a, b);
        return;
      case fault::stop:
        return world_.stop(a, static_cast<std::int64_t>(dice_.below(5000)) * ms);
      case fault::clock:
        return world_.advance_clock(a, static_cast<std::int64_t>(dice_.below(2000)) * ms);
      case fault::disk:
        if (disk_.has_value()) disk_->limit(dice_.one_in(4) ? 0 : 1u << dice_.below(14));
        return;
      case fault::server_ends: {
        const std::size_t i = dice_.below(servers_.size());
        if (servers_[i].back == 0) kill_server(i);
        return;
      }
      case fault::client_ends: {
        const std::size_t i = dice_.below(clients_.size());
        world_.kill(name_of_client(i), dice_.one_in(2));
        log(i, "ends");
        begin_client(i);
        return;
      }
      default:
        return;
    }
  }
  void kill_server(std::size_t i) {
    ++found_.restarts;
    process& home = world_.process(name_of(id_of(i)));
    const bool silently = dice_.one_in(2);
    log(name_of(id_of(i)), silently ? "ends silently" : "ends");
    world_.kill(name_of(id_of(i)), silently);
    end_server(i, home);
    servers_[i].began = world_.now();
    servers_[i].back = world_.now() + 1 + static_cast<std::int64_t>(dice_.below(4000)) * ms;
  }
  void bring_back(bool all) {
    if (disk_.has_value() && (all || dice_.one_in(3))) disk_->mend();
    for (std::size_t i = 0; i < servers_.size(); ++i)
      if (servers_[i].back != 0 && (all || servers_[i].back <= world_.now())) begin_server(i);
    while (!parted_.empty() && (all || dice_.one_in(3))) {
      world_.join(parted_.back().first, parted_.back().second);
      parted_.pop_back();
    }
  }

  // ---- a life ----

  void live() {
    draw_weather();
    for (std::size_t i = 0; i < servers_.size(); ++i) begin_server(i);
    for (std::size_t i = 0; i < clients_.size(); ++i) begin_client(i);
    for (std::uint64_t rounds = 1 + dice_.below(dice_.one_in(4) ? 9 : 3); rounds > 0; --rounds) {
      draw_weather();
      for (std::uint64_t n = dice_.below(6); n > 0; --n) {
        draw_fault();
        // Some come while much is under way, and some when nothing is.
        if (dice_.one_in(2)) world_.run_for(static_cast<std::int64_t>(dice_.below(20'000)) * 1000);
      }
      world_.run_for(static_cast<std::int64_t>(dice_.below(500)) * ms * pace_);
      bring_back(false);
    }
    bring_back(true);
    calm_ = true;
    world_.weather = {};
    const bool all_end = world_.comes([&] { return nobody_there(); }, 120 * s);
    for (std::size_t i = 0; i < clients_.size(); ++i)
      found_.check(!clients_[i].there, name_of_client(i) + " comes to no end: " + clients_[i].last_error);
    if (all_end) judge();
    for (std::size_t i = 0; i < servers_.size(); ++i) end_server(i, world_.process(name_of(id_of(i))));
    (void)world_.comes([&] { return world_.threads_alive() == 0; }, 60 * s);
    found_.check(world_.threads_alive() == 0, std::to_string(world_.threads_alive()) + " threads come to no end");
    found_.history = world_.history();
    found_.events = world_.events();
    found_.simulated_ns = world_.now();
  }
  [[nodiscard]] bool nobody_there() const {
    for (const client& c : clients_)
      if (c.there) return false;
    return true;
  }
  /// Reads all counters when all is over. Somebody may still have to see that a connection is over.
  void judge() {
    process& home = world_.process("judge");
    home.start([this, &home] {
      for (int n = 0; n < 5 && !judged_; ++n) {
        try {
          for (int c = 0; c < containers_; ++c) {
            judge_counters(home, c);
            empty_queues(home, c);
          }
          if (saved_.any()) {
            cluster_session session(home, cluster_of(shape_), {"worker", 0}, counters(shape_),
                                    options("judge", saved_container));
            log("judge", "finds " + restore_last(session));
          }
          judged_ = true;
        } catch (const error& e) {
          judge_error_ = e.what();
          found_.check(!faults_.empty(), "when all is over: " + judge_error_);
          pause(home, 3 * s);
        }
      }
    });
    found_.check(world_.comes([&] { return judged_; }, 60 * s),
                 "the counters cannot be read when all is over: " + judge_error_);
  }

  /// The last checkpoint that was made is there, and each variable has what was saved. Its name.
  std::string restore_last(cluster_session& session) {
    std::string name;
    try {
      name = session.restore("model-*").name;
    } catch (const error& e) {
      const status_code c = e.code();
      if (c != status_code::not_found && c != status_code::data_loss && c != status_code::invalid_argument) throw;
      const auto says = [&](const char* text) {
        return std::string_view(e.what()).find(text) != std::string_view::npos;
      };
      if (says("there is no container") || says("there is no variable"))  // where a server was started anew
        throw error(status_code::aborted, e.what());
      const bool is_none = says("there is no checkpoint");
      found_.check(c == status_code::not_found && is_none, std::string("the last checkpoint: ") + e.what());
    }
    for (int k = 0; k < shape_.servers; ++k) {
      const any_tensor t = session.run(output_name(counter_names[k].look));
      if (t.type() == dtype::none) fail(status_code::internal, "a mark that was read has no value");
      saved_.judge(name, -static_cast<int>(static_cast<const float*>(t.view().data)[0]),
                   [this](const std::string& what) { found_.check(false, what); });
    }
    return name.empty() ? "none" : name;
  }
  void judge_counters(process& home, int container) {
    cluster_session session(home, cluster_of(shape_), {"worker", 0}, counters(shape_), options("judge", container));
    for (int k = 0; k < shape_.servers; ++k) {
      const std::int64_t begun = world_.now();
      const any_tensor t = session.run(output_name(counter_names[k].get));
      if (t.type() == dtype::none) fail(status_code::internal, "a counter that was read has no value");
      check_count(container, k, -static_cast<const float*>(t.view().data)[0], begun, world_.now());
    }
  }

  /// Takes what is left in the queues of a container, and looks at all that was done with them.
  void empty_queues(process& home, int container) {
    using order = queue_history::order;
    {
      cluster_session session(home, cluster_of(shape_), {"worker", 0}, queues(shape_, kind_),
                              options("judge", container));
      for (int k = 0; k < shape_.servers; ++k)
        while (use_queue(0, home, session, container, k, 1, s)) continue;
    }
    for (int k = 0; k < shape_.servers; ++k)
      queues_[static_cast<std::size_t>(container * shape_.servers + k)].judge(
          servers_[static_cast<std::size_t>(k)].began,
          kind_ == queue_kind::fifo       ? order::as_put
          : kind_ == queue_kind::priority ? order::by_priority
                                          : order::any,
          faults_.empty(), 3,
          [this, k](const std::string& what) { found_.check(false, "queue " + std::to_string(k) + ": " + what); });
  }

  transport::simulated::world world_;
  dice dice_;
  town_shape shape_{};
  std::int64_t pace_ = 1;  ///< how many times as long nothing is done
  std::set<fault> faults_;
  std::vector<server> servers_;
  std::vector<client> clients_;
  std::vector<std::pair<std::string, std::string>> parted_;
  std::vector<deed> deeds_;
  queue_kind kind_ = queue_kind::fifo;
  int containers_ = 1;                 // the default one, and one beside it
  std::vector<queue_history> queues_;  // of each container, of each server
  static constexpr int saved_container = 2;
  std::optional<disk> disk_;  // clients save there, if they do
  saved_marks saved_;
  bool is_saving_ = false;
  std::uint64_t started_ = 0, prefixes_ = 0, marks_ = 0, items_ = 0;
  bool calm_ = false, judged_ = false;
  std::string judge_error_;  // of the last attempt to judge
  findings found_;
};

}  // namespace tagma::test
