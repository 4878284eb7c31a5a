// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A network that is made up: processes, connections and a clock that are all drawn from one number, without a thread
/// but those that processes start, which take turns. It delays, splits what is read, stops and cuts, and does the same
/// again for the same number.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/runtime/turns.hpp"
#include "tagma/runtime/wait_word.hpp"
#include "tagma/transport/driven_link.hpp"
#include "tagma/transport/network.hpp"
#include "tagma/transport/simulated/threads.hpp"

namespace tagma::transport::simulated {

/// Random numbers of a world.
class dice {
 public:
  explicit dice(std::uint64_t seed) : seed_(seed) {}
  [[nodiscard]] std::uint64_t next();
  /// In [0, bound), bound above 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  [[nodiscard]] bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::uint64_t seed_, drawn_ = 0;
};

/// What connections are like. Times are nanoseconds.
struct weather {
  std::int64_t delay_ns = 50'000;       ///< of every byte
  std::int64_t jitter_ns = 0;           ///< and up to so much more, drawn for each write; bytes stay in order
  std::int64_t bytes_per_second = 0;    ///< 0: any number
  std::size_t pipe_bytes = 256 * 1024;  ///< on their way and not read, before a writer has to wait
  bool splits = false;                  ///< reads and writes end at random places
  std::int64_t turn_ns = 0;             ///< how long a thread that could go on may have to wait for that
  std::uint64_t passes = 0;             ///< one in so many times, a thread that takes a lock lets others go first
};

class world;
class stream;

/// The network of one process of a world, and who lets its threads go on. After a restart, the process of that name is
/// another one.
class network final : public transport::network, public runtime::turns {
 public:
  network(world& of, threads& with, std::string name) : world_(of), threads_(with), name_(std::move(name)) {}
  ~network() override = default;

  std::shared_ptr<link> connect(const std::string& address, const options& how, std::shared_ptr<handler> with,
                                std::int64_t within_ns) override;
  std::string listen(const std::string& address, const options& how, acceptor accept) override;
  void stop_listening(const std::string& address) override;
  void after(std::int64_t ns, std::function<void()> what) override;
  [[nodiscard]] std::int64_t now() const override;

  [[nodiscard]] const std::string& name() const { return name_; }
  /// False once it was restarted or killed: then nothing that it does reaches anybody.
  [[nodiscard]] bool is_alive() const { return alive_; }
  /// Begins a thread of the process. What it calls may wait for what handlers do.
  void start(std::function<void()> what) { threads_.start(*this, stopped_until_ns_, std::move(what)); }

  /// @name Of threads and handlers, by way of `runtime::wait_word`
  /// @{
  void sleep(const runtime::wait_word& at, std::int64_t end_ns) override;
  void wake(const runtime::wait_word& at, int count) override { threads_.wake(at, count); }
  void pass() override { threads_.pass(); }
  void start(void (*what)(void*), void* with) override {
    start([what, with] { what(with); });
  }
  [[nodiscard]] std::uint64_t draw() override;
  /// @}

 private:
  friend class world;
  friend class stream;

  world& world_;
  threads& threads_;
  std::string name_;
  bool alive_ = true;
  bool ends_ = false;  // killed: its threads come to their ends, and what they wait for comes
  std::int64_t clock_ahead_ns_ = 0;
  std::int64_t stopped_until_ns_ = 0;
};

/// Everything that happens. Handlers and functions are called by `step` alone, threads go on within it alone.
class world final : private stage {
 public:
  explicit world(std::uint64_t seed) : dice_(seed), threads_(*this) {}
  world(const world&) = delete;
  world& operator=(const world&) = delete;
  ~world();

  simulated::weather weather{};  ///< of writes from now on

  /// The process of a name, which is there from when it is asked for first.
  [[nodiscard]] network& process(const std::string& name);

  /// Time, in nanoseconds from the beginning.
  [[nodiscard]] std::int64_t now() const { return now_; }
  /// Lets the next thing happen. False if there is none.
  bool step();
  /// Lets things happen until then.
  void run_until(std::int64_t ns);
  void run_for(std::int64_t ns) { run_until(runtime::later(now_, ns)); }
  /// Lets things happen until it is so; false if it is not before `within_ns` have passed.
  bool comes(const std::function<bool()>& so, std::int64_t within_ns);

  /// @name What goes wrong
  /// @{
  /// All connections between two processes break; what is on its way is lost.
  void cut(const std::string& a, const std::string& b);
  /// Nothing arrives between two processes until they are `joined`; nothing is lost.
  void part(const std::string& a, const std::string& b);
  void join(const std::string& a, const std::string& b);
  /// A process does nothing for a while.
  void stop(const std::string& name, std::int64_t ns);
  /// A process ends, and is there again without connections, listeners and what it had put off. Its handlers are not
  /// told.
  /// @param silently the other ends are not told either, as when a machine loses its power
  void restart(const std::string& name, bool silently);
  /// The same, but its handlers are told that all is lost, so that its threads come to their end.
  void kill(const std::string& name, bool silently);
  /// The clock of a process jumps, which no clock that is monotonic does backwards.
  void advance_clock(const std::string& name, std::int64_t ns);
  /// @}

  /// A number of all that has happened: when, where, and how many bytes.
  [[nodiscard]] std::uint64_t history() const { return history_; }
  [[nodiscard]] std::uint64_t events() const { return happened_; }
  [[nodiscard]] dice& chance() { return dice_; }
  /// Threads that have not come to their end.
  [[nodiscard]] std::size_t threads_alive() const { return threads_.alive(); }

 private:
  friend class network;
  friend class stream;

  struct listener {
    network* at = nullptr;
    options how{};
    acceptor accept{};
  };

  [[nodiscard]] std::int64_t time() const override { return now_; }
  void plan(std::int64_t when, std::function<void()> what) override { at(when, std::move(what)); }
  [[nodiscard]] std::int64_t draw_turn() override;
  [[nodiscard]] std::uint64_t draw_below(std::uint64_t bound) override { return dice_.below(bound); }
  [[nodiscard]] bool draw_pass() override { return weather.passes != 0 && dice_.one_in(weather.passes); }
  void goes_on(std::uint64_t n) override { note("thread", n); }

  void end(const std::string& name, bool silently, bool told);
  void at(std::int64_t ns, std::function<void()> what);
  void note(std::string_view what, std::uint64_t number);
  struct event {
    std::int64_t when;
    std::uint64_t number;  // of those at the same time, in the order in which they were planned
    std::function<void()> what;

    [[nodiscard]] bool operator<(const event& o) const {  // as heaps want it: the next one is the largest
      return when != o.when ? when > o.when : number > o.number;
    }
  };
  [[nodiscard]] bool is_due(std::int64_t ns) const { return !events_.empty() && events_.front().when <= ns; }
  void try_connect(const std::shared_ptr<stream>& from, std::int64_t until);
  [[nodiscard]] bool is_parted(const network& a, const network& b) const;
  [[nodiscard]] digest draw_nonce();
  [[nodiscard]] std::int64_t draw_delay();

  dice dice_;
  std::int64_t now_ = 0;
  std::uint64_t planned_ = 0, happened_ = 0, history_ = 0xcbf29ce484222325u;
  std::vector<event> events_;  // a heap
  threads threads_;
  std::map<std::string, std::unique_ptr<network>> processes_;
  std::vector<std::unique_ptr<network>> gone_;
  std::map<std::string, listener> listeners_;
  std::set<std::pair<std::string, std::string>> parted_;
  std::vector<std::shared_ptr<stream>> streams_;
};

/// One end of a connection in a world that is made up.
class stream final : public driven_link, public std::enable_shared_from_this<stream> {
 public:
  stream(network& home, connection::setting s, std::shared_ptr<handler> with);
  ~stream() override = default;

  std::string address{};  ///< of who connects
  void meet(const std::shared_ptr<stream>& other);
  /// Nobody is there.
  void fails(std::string_view how);
  /// Bytes come, or the end of them if there are none.
  void comes(std::string bytes, std::int64_t when);
  /// What came while the processes were parted.
  void release();
  /// The connection breaks.
  void breaks(std::string_view how);
  /// The process is no more.
  void dies();
  void drive();
  [[nodiscard]] network& home() const { return home_; }
  [[nodiscard]] stream* other() const { return other_.lock().get(); }
  [[nodiscard]] bool is_dead() const { return dead_; }

 protected:
  void wake() override;
  [[nodiscard]] bool is_here() const override { return !home_.threads_.in_one(); }
  [[nodiscard]] std::int64_t clock() const override { return home_.now(); }

 private:
  void arrive();
  void read();
  void write();
  void plan_timer();
  void plan_drive(std::int64_t when);
  [[nodiscard]] std::size_t some_of(std::size_t n);

  network& home_;
  world& world_;
  std::weak_ptr<stream> other_;
  std::deque<std::string> coming_;  // in order; an empty one is the end
  std::string unread_;
  std::size_t held_ = 0, pipe_ = 0;  // arrivals while parted; bytes coming and unread
  std::int64_t last_arrival_ = 0, timer_ = INT64_MAX;
  bool planned_ = false, ended_ = false, dead_ = false, told_end_ = false;
};

}  // namespace tagma::transport::simulated

#ifndef TAGMA_COMPILED
#include "tagma/transport/simulated/world.ipp"
#endif
