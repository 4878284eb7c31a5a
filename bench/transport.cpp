// SPDX-License-Identifier: BSL-1.0
// What a connection costs beside the bare loop of Boost.Asio: bulk is pushed through TCP on loopback to where it is
// placed, and 64 bytes go there and back. Both run in turn; the ratio is of the medians. --benchmark_filter chooses.
// Through shared memory, pushes and pulls stand beside copies within a process, and beside TCP.
// Where gRPC is installed, the same through it.
// With OpenSSL also through TLS, beside the same without; the certificates are made by its command, openssl.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <boost/asio.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tagma/transport/asio/network.hpp"
#ifdef TAGMA_BENCH_GRPC
#include "grpc_peer.hpp"
#endif

namespace {

namespace transport = tagma::transport;
namespace net = boost::asio;
using net::ip::tcp;

/// Counts up to what somebody waits for.
class counter {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  void wait(std::int64_t wanted) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ >= wanted; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t count_ = 0;
};

transport::options task(const char* job, const transport::tls_files& tls, bool shares_memory) {
  transport::options o;
  o.shared_memory = shares_memory;
  o.self.job = job;
  o.tls = tls;
  return o;
}

/// Two networks, of which one pushes and asks.
class ours {
 public:
  explicit ours(std::size_t size, const transport::tls_files& tls = {}, bool shares_memory = false)
      : from_(size, std::byte{1}), to_(size) {
    const std::string address = server_.listen("127.0.0.1:0", task("ps", tls, shares_memory),
                                               [this] { return std::make_shared<taker>(*this); });
    asker_ = std::make_shared<asker>(*this);
    link_ = client_.connect(address, task("worker", tls, shares_memory), asker_, 10'000'000'000);
    asker_->ready.wait(1);
    while (link_->counters().shared_memory != shares_memory) std::this_thread::yield();
  }

  void push(int count) {
    for (int i = 0; i < count; ++i)
      while (!link_->send({.kind = 1, .bulk = from_})) std::this_thread::yield();
    came_.wait(wanted_ += count);
  }
  /// Each is asked for when the one before was there.
  void pull(int count) {
    asker_->bulk = true;
    ping(count);
    asker_->bulk = false;
  }
  /// Each question is asked when the one before was answered, on the thread of the network.
  void ping(int count) {
    asker_->left = count;
    client_.after(0, [this] { asker_->ask(); });
    asker_->done.wait(++pings_);
  }

 private:
  struct taker final : transport::handler {
    explicit taker(ours& o) : of(o) {}
    transport::placement place(transport::link&, const transport::incoming&) override {
      return transport::placement::at(of.to_.data());
    }
    void received(transport::link& from, transport::incoming& m) override {
      if (m.wants_reply && m.kind == 3)
        (void)from.reply(m.request, {.kind = m.kind, .bulk = of.from_});
      else if (m.wants_reply)
        (void)from.reply(m.request, {.kind = m.kind, .body = std::string(m.body)});
      else
        of.came_.add();
    }
    ours& of;
  };
  struct asker final : transport::handler, transport::call {
    explicit asker(ours& o) : of(o) {}
    void connected(transport::link&) override { ready.add(); }
    void received(transport::link&, transport::incoming&) override {}
    transport::placement place(const transport::incoming&) override { return transport::placement::at(of.to_.data()); }
    void ask() {
      if (bulk)
        (void)of.link_->start({.kind = 3}, 10'000'000'000, *this);
      else
        (void)of.link_->start({.kind = 2, .body = std::string(64, 'x')}, 10'000'000'000, *this);
    }
    void replied(transport::incoming&) noexcept override { --left > 0 ? ask() : done.add(); }
    void failed(const tagma::error&) noexcept override { done.add(); }
    ours& of;
    counter ready{}, done{};
    int left = 0;
    bool bulk = false;
  };

  std::vector<std::byte> from_, to_;
  counter came_{};
  std::int64_t wanted_ = 0, pings_ = 0;
  std::shared_ptr<asker> asker_;
  std::shared_ptr<transport::link> link_;
  transport::asio::network server_, client_;
};

/// The same with handlers of Boost.Asio and nothing else: a length, and bytes to where they belong.
class bare {
 public:
  explicit bare(std::size_t size) : from_(size, std::byte{1}), to_(size) {
    tcp::acceptor acceptor(server_, {net::ip::address_v4::loopback(), 0});
    out_.connect(acceptor.local_endpoint());
    acceptor.accept(in_);
    out_.set_option(tcp::no_delay(true));
    in_.set_option(tcp::no_delay(true));
    receive();
    threads_[0] = std::thread([this] { server_.run(); });
    threads_[1] = std::thread([this] { client_.run(); });
  }
  ~bare() {
    server_.stop();
    client_.stop();
    for (auto& t : threads_) t.join();
  }

  void push(int count) {
    net::post(client_, [this, count] { send(count); });
    came_.wait(wanted_ += count);
  }
  void ping(int count) {
    net::post(client_, [this, count] { ask(count); });
    done_.wait(++pings_);
  }

 private:
  struct header {
    std::uint64_t size = 0, small = 0;
  };
  void send(int left) {
    if (left == 0) return;
    out_header_ = {from_.size(), 0};
    const std::array buffers{net::buffer(&out_header_, sizeof out_header_), net::buffer(from_.data(), from_.size())};
    net::async_write(out_, buffers, [this, left](auto, std::size_t) { send(left - 1); });
  }
  void receive() {
    net::async_read(in_, net::buffer(&in_header_, sizeof in_header_), [this](auto e, std::size_t) {
      if (e) return;
      if (in_header_.small != 0)
        net::async_read(in_, net::buffer(small_), [this](auto, std::size_t) {
          net::async_write(in_, net::buffer(small_), [this](auto, std::size_t) { receive(); });
        });
      else
        net::async_read(in_, net::buffer(to_.data(), to_.size()), [this](auto, std::size_t) {
          came_.add();
          receive();
        });
    });
  }
  void ask(int left) {
    if (left == 0) return done_.add();
    out_header_ = {64, 1};
    const std::array buffers{net::buffer(&out_header_, sizeof out_header_), net::buffer(question_)};
    net::async_write(out_, buffers, [this, left](auto, std::size_t) {
      net::async_read(out_, net::buffer(question_), [this, left](auto, std::size_t) { ask(left - 1); });
    });
  }

  std::vector<std::byte> from_, to_;
  std::array<char, 64> question_{}, small_{};
  header out_header_{}, in_header_{};
  counter came_{}, done_{};
  std::int64_t wanted_ = 0, pings_ = 0;
  net::io_context server_{1}, client_{1};
  net::executor_work_guard<net::io_context::executor_type> work_{client_.get_executor()};
  tcp::socket in_{server_}, out_{client_};
  std::thread threads_[2];
};

/// What no process can do better that puts bytes elsewhere.
class copies {
 public:
  explicit copies(std::size_t size) : from_(size, std::byte{1}), to_(size) {}
  void push(int count) {
    for (int i = 0; i < count; ++i) {
      std::memcpy(to_.data(), from_.data(), from_.size());
      benchmark::ClobberMemory();
    }
  }
  void pull(int count) { push(count); }

 private:
  std::vector<std::byte> from_, to_;
};

template <class F>
double seconds(const F& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

/// @param f what is done with each
/// @param base what `mine` is compared with, and how counters call it
template <class Mine, class F, class... Theirs>
void in_turns(benchmark::State& state, Mine& mine, const F& f, std::pair<const char*, Theirs&>... base) {
  std::vector<double> own, others[sizeof...(base)], ratios[sizeof...(base)];
  f(mine), (f(base.second), ...);
  for (auto _ : state) {
    own.push_back(seconds([&] { f(mine); }));
    std::size_t i = 0;
    ((others[i].push_back(seconds([&] { f(base.second); })), ratios[i].push_back(others[i].back() / own.back()), ++i),
     ...);
  }
  state.counters["ours_s"] = median(own);
  std::size_t i = 0;
  ((state.counters[std::string(base.first) + "_s"] = median(others[i]),
    state.counters[std::string("rate_to_") + base.first] = median(ratios[i]), ++i),
   ...);
}

template <class T>
std::pair<const char*, T&> beside(const char* name, T& what) {
  return {name, what};
}

auto pushes(std::size_t size) {
  const int count = static_cast<int>(std::max<std::size_t>(1, 200'000'000 / size));
  return [count](auto& with) { with.push(count); };
}
auto pulls(std::size_t size) {
  const int count = static_cast<int>(std::max<std::size_t>(1, 200'000'000 / size));
  return [count](auto& with) { with.pull(count); };
}
constexpr auto pings = [](auto& with) { with.ping(2000); };

void push(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  ours mine(size);
  bare theirs(size);
  in_turns(state, mine, pushes(size), beside("bare", theirs));
}
BENCHMARK(push)->Arg(1'000'000)->Arg(16'000'000)->Arg(100'000'000)->Iterations(15)->Unit(benchmark::kMillisecond);

void round_trip(benchmark::State& state) {
  ours mine(1);
  bare theirs(1);
  in_turns(state, mine, pings, beside("bare", theirs));
}
BENCHMARK(round_trip)->Iterations(15)->Unit(benchmark::kMillisecond);

void push_memory(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  ours mine(size, {}, true), sockets(size);
  copies theirs(size);
  in_turns(state, mine, pushes(size), beside("memcpy", theirs), beside("tcp", sockets));
}
void pull_memory(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  ours mine(size, {}, true), sockets(size);
  copies theirs(size);
  in_turns(state, mine, pulls(size), beside("memcpy", theirs), beside("tcp", sockets));
}
BENCHMARK(push_memory)
    ->Arg(1'000'000)
    ->Arg(16'000'000)
    ->Arg(100'000'000)
    ->Iterations(15)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(pull_memory)
    ->Arg(1'000'000)
    ->Arg(16'000'000)
    ->Arg(100'000'000)
    ->Iterations(15)
    ->Unit(benchmark::kMillisecond);

void round_trip_memory(benchmark::State& state) {
  ours mine(1, {}, true);
  bare theirs(1);
  in_turns(state, mine, pings, beside("bare", theirs));
}
BENCHMARK(round_trip_memory)->Iterations(15)->Unit(benchmark::kMillisecond);

#ifdef TAGMA_BENCH_GRPC
void push_grpc(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  ours mine(size, {}, true), sockets(size);
  grpc_peer::peer theirs(size);
  in_turns(state, mine, pushes(size), beside("grpc", theirs), beside("tcp", sockets));
}
BENCHMARK(push_grpc)->Arg(1'000'000)->Arg(16'000'000)->Arg(100'000'000)->Iterations(15)->Unit(benchmark::kMillisecond);
void pull_grpc(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  ours mine(size, {}, true), sockets(size);
  grpc_peer::peer theirs(size);
  in_turns(state, mine, pulls(size), beside("grpc", theirs), beside("tcp", sockets));
}
BENCHMARK(pull_grpc)->Arg(1'000'000)->Arg(16'000'000)->Arg(100'000'000)->Iterations(15)->Unit(benchmark::kMillisecond);
#endif

#if defined(TAGMA_WITH_TLS) && TAGMA_WITH_TLS
/// A certificate of its own authority, which both ends have; in a directory that goes with the process.
const transport::tls_files& certificate() {
  struct made {
    made() {
      std::string name = (std::filesystem::temp_directory_path() / "tagma-bench-XXXXXX").string();
      if (::mkdtemp(name.data()) == nullptr) std::abort();
      directory = name;
      files = {name + "/own.pem", name + "/own.pem", name + "/own.key"};
      const std::string command =
          "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "
          "/CN=bench -addext 'subjectAltName=URI:tagma:/job:ps,URI:tagma:/job:worker' -out " +
          files.certificate + " -keyout " + files.key + " 2>/dev/null";
      if (std::system(command.c_str()) != 0) std::abort();
    }
    ~made() { std::filesystem::remove_all(directory); }
    std::filesystem::path directory;
    transport::tls_files files{};
  };
  static const made one;
  return one.files;
}

void push_tls(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  ours mine(size, certificate()), theirs(size);
  in_turns(state, mine, pushes(size), beside("plain", theirs));
}
BENCHMARK(push_tls)->Arg(1'000'000)->Arg(16'000'000)->Arg(100'000'000)->Iterations(15)->Unit(benchmark::kMillisecond);

void pull_tls(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  ours mine(size, certificate()), theirs(size);
  in_turns(state, mine, pulls(size), beside("plain", theirs));
}
BENCHMARK(pull_tls)->Arg(1'000'000)->Arg(16'000'000)->Arg(100'000'000)->Iterations(15)->Unit(benchmark::kMillisecond);

void round_trip_tls(benchmark::State& state) {
  ours mine(1, certificate()), theirs(1);
  in_turns(state, mine, pings, beside("plain", theirs));
}
BENCHMARK(round_trip_tls)->Iterations(15)->Unit(benchmark::kMillisecond);
#endif

}  // namespace

BENCHMARK_MAIN();
