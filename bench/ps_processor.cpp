// SPDX-License-Identifier: BSL-1.0
// What bulk takes of a processor where it is served: seconds per gigabyte of a process to which another one pushes, or
// from which it pulls, through this library (shared memory and sockets, both with checksums) and through gRPC, in
// turns. The servers are this program once more.
#include <benchmark/benchmark.h>
#include <grpcpp/grpcpp.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "grpc_peer.hpp"
#include "tagma/transport/asio/network.hpp"

namespace {

namespace transport = tagma::transport;

constexpr std::int64_t patience_ns = 60'000'000'000;
constexpr std::uint16_t pull_kind = 3, push_kind = 4;

transport::options task(const char* job, bool shares_memory) {
  transport::options o;
  o.shared_memory = shares_memory;
  o.self.job = job;
  return o;
}

/// Takes what is pushed, and gives what is pulled.
class server {
 public:
  server(std::size_t size, bool shares_memory) : from_(size, std::byte{1}), to_(size) {
    address_ =
        network_.listen("127.0.0.1:0", task("ps", shares_memory), [this] { return std::make_shared<taker>(*this); });
  }
  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  struct taker final : transport::handler {
    explicit taker(server& s) : of(s) {}
    transport::placement place(transport::link&, const transport::incoming&) override {
      return transport::placement::at(of.to_.data());
    }
    void received(transport::link& from, transport::incoming& m) override {
      if (m.kind == pull_kind)
        (void)from.reply(m.request, {.kind = m.kind, .bulk = of.from_});
      else
        (void)from.reply(m.request, {.kind = m.kind});
    }
    server& of;
  };

  std::vector<std::byte> from_, to_;
  transport::asio::network network_;
  std::string address_;
};

/// Pushes four at a time and pulls one behind the other, as the client of gRPC.
class client {
 public:
  client(std::size_t size, const std::string& address, bool shares_memory)
      : from_(size, std::byte{1}), to_(size), asker_(std::make_shared<asker>(*this)) {
    link_ = network_.connect(address, task("worker", shares_memory), asker_, patience_ns);
    until([&] { return connected_; });
    by_asking(1000, [&] { return link_->counters().shared_memory == shares_memory; });
  }
  void push(int count) { ask(push_kind, count, 4); }
  void pull(int count) { ask(pull_kind, count, 1); }

 private:
  struct asker final : transport::handler, transport::call {
    explicit asker(client& c) : of(c) {}
    void connected(transport::link&) override {
      of.change([&] { of.connected_ = true; });
    }
    void received(transport::link&, transport::incoming&) override {}
    transport::placement place(const transport::incoming&) override { return transport::placement::at(of.to_.data()); }
    void replied(transport::incoming&) noexcept override {
      of.change([&] { --of.open_; });
    }
    void failed(const tagma::error& e) noexcept override {
      std::fprintf(stderr, "%s\n", e.what());
      std::abort();
    }
    client& of;
  };

  template <class F>
  void change(const F& f) {
    const std::lock_guard lock(mutex_);
    f();
    changed_.notify_all();
  }
  /// Waits for what another thread changes; ends the program if the server lets it wait for too long.
  template <class Predicate>
  std::unique_lock<std::mutex> until(const Predicate& holds) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::nanoseconds(patience_ns), holds)) give_up();
    return lock;
  }
  template <class Predicate>
  static void by_asking(unsigned microseconds, const Predicate& holds) {
    for (std::int64_t waited = 0; !holds(); waited += std::int64_t{1000} * microseconds) {
      if (waited > patience_ns) give_up();
      ::usleep(microseconds);
    }
  }
  [[noreturn]] static void give_up() {
    std::fprintf(stderr, "the server does not answer\n");
    std::abort();
  }
  void ask(std::uint16_t kind, int count, int at_once) {
    for (int i = 0; i < count; ++i) {
      {
        const auto lock = until([&] { return open_ < at_once; });
        ++open_;
      }
      const transport::outgoing said{
          .kind = kind, .bulk = kind == push_kind ? std::span<const std::byte>(from_) : std::span<const std::byte>()};
      by_asking(100, [&] { return link_->start(said, patience_ns, *asker_); });
    }
    until([&] { return open_ == 0; });
  }

  std::vector<std::byte> from_, to_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool connected_ = false;
  int open_ = 0;
  std::shared_ptr<asker> asker_;
  std::shared_ptr<transport::link> link_;
  transport::asio::network network_;
};

/// Says where it listens, and ends when nobody holds its input any more.
template <class Server>
int serve(const Server& with) {
  std::printf("%s\n", std::string(with.address()).c_str());
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  return 0;
}

int serve(const std::string& whose, std::size_t size) {
  return whose == "grpc" ? serve(grpc_peer::server(size)) : serve(server(size, whose == "memory"));
}

/// This program once more, as a server.
class process {
 public:
  process(const char* whose, std::size_t size) {
    int input[2], output[2];
    if (::pipe2(input, O_CLOEXEC) != 0 || ::pipe2(output, O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, input[0], 0);
    posix_spawn_file_actions_adddup2(&files, output[1], 1);
    std::string program = "/proc/self/exe", word = "--serve", name = whose, bytes = std::to_string(size);
    char* const words[] = {program.data(), word.data(), name.data(), bytes.data(), nullptr};
    if (::posix_spawn(&id_, words[0], &files, nullptr, words, environ) != 0) std::abort();
    posix_spawn_file_actions_destroy(&files);
    ::close(input[0]);
    ::close(output[1]);
    input_ = input[1];
    for (char c = 0; ::read(output[0], &c, 1) == 1 && c != '\n';) address_ += c;
    ::close(output[0]);
    if (address_.empty() || ::clock_getcpuclockid(id_, &clock_) != 0) std::abort();
  }
  process(const process&) = delete;
  process& operator=(const process&) = delete;
  ~process() {
    ::close(input_);
    ::waitpid(id_, nullptr, 0);
  }
  [[nodiscard]] const std::string& address() const { return address_; }
  /// What all of its threads have had of processors.
  [[nodiscard]] double seconds() const {
    timespec t{};
    ::clock_gettime(clock_, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  }

 private:
  pid_t id_ = 0;
  clockid_t clock_ = 0;
  int input_ = -1;
  std::string address_;
};

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

/// @param f what is done with each client, some number of times
template <class F>
void in_turns(benchmark::State& state, const F& f) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const int count = static_cast<int>(std::max<std::size_t>(1, 200'000'000 / size));
  const process memory("memory", size), sockets("sockets", size), peer("grpc", size);
  client by_memory(size, memory.address(), true), by_sockets(size, sockets.address(), false);
  grpc_peer::client by_grpc(size, peer.address());
  constexpr const char* names[] = {"memory", "sockets", "grpc"};
  std::array<std::vector<double>, 3> per_gigabyte;
  const auto one = [&](std::size_t which, const process& server, auto& with) {
    const double before = server.seconds();
    f(with, count);
    per_gigabyte[which].push_back((server.seconds() - before) * 1e9 / (static_cast<double>(size) * count));
  };
  f(by_memory, count), f(by_sockets, count), f(by_grpc, count);
  for (auto _ : state) {
    one(0, memory, by_memory);
    one(1, sockets, by_sockets);
    one(2, peer, by_grpc);
  }
  for (std::size_t i = 0; i < 3; ++i) state.counters[std::string(names[i]) + "_s_per_GB"] = median(per_gigabyte[i]);
}

void push(benchmark::State& state) {
  in_turns(state, [](auto& with, int count) { with.push(count); });
}
void pull(benchmark::State& state) {
  in_turns(state, [](auto& with, int count) { with.pull(count); });
}
BENCHMARK(push)->Arg(1'000'000)->Arg(16'000'000)->Arg(100'000'000)->Iterations(15)->Unit(benchmark::kMillisecond);
BENCHMARK(pull)->Arg(1'000'000)->Arg(16'000'000)->Arg(100'000'000)->Iterations(15)->Unit(benchmark::kMillisecond);

}  // namespace

int main(int count, char** words) {
  if (count == 4 && std::strcmp(words[1], "--serve") == 0) return serve(words[2], std::strtoull(words[3], nullptr, 10));
  benchmark::Initialize(&count, words);
  if (benchmark::ReportUnrecognizedArguments(count, words)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
