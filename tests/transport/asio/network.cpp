// SPDX-License-Identifier: BSL-1.0
#include "tagma/transport/asio/network.hpp"

#include <catch2/catch.hpp>

#if defined(TAGMA_WITH_ASIO) && TAGMA_WITH_ASIO

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "support/comes.hpp"
#include "support/temporary_directory.hpp"
#include "transport/services.hpp"

namespace tagma::transport::test {

using Catch::Matchers::Contains;
using tagma::test::comes;

namespace {

options without_secret(const std::string& job) {
  options o = patient(task(job));
  o.insecure = false;
  return o;
}

/// A socket that is connected to a port of this machine, and says nothing.
class stranger {
 public:
  explicit stranger(const std::string& address) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  }
  stranger(const stranger&) = delete;
  stranger& operator=(const stranger&) = delete;
  ~stranger() { ::close(socket_); }
  [[nodiscard]] bool connected() const { return connected_; }
  void say(std::string_view what) const { (void)!::send(socket_, what.data(), what.size(), MSG_NOSIGNAL); }
  /// What the other end says before it closes.
  [[nodiscard]] std::string heard() const {
    std::string all;
    char bytes[4096];
    for (ssize_t n; (n = ::recv(socket_, bytes, sizeof bytes, 0)) > 0;) all.append(bytes, static_cast<std::size_t>(n));
    return all;
  }
  /// Whether it closed already.
  [[nodiscard]] bool is_closed() const {
    char bytes[4096];
    ssize_t n = 0;
    while ((n = ::recv(socket_, bytes, sizeof bytes, MSG_DONTWAIT)) > 0) {
    }
    return n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
  }

 private:
  int socket_;
  bool connected_ = false;
};

/// The same, which others of this machine may share memory with.
options sharing_memory(const std::string& job) {
  options o = without_secret(job);
  o.shared_memory = true;
  return o;
}

/// How many mappings of this process are shared memory of connections, and how many descriptors are.
std::pair<int, int> shared_here() {
  std::pair<int, int> n;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) n.first += line.find("memfd:tagma") != std::string::npos ? 1 : 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    n.second += std::filesystem::read_symlink(entry.path(), gone).string().find("memfd:tagma") != std::string::npos;
  }
  return n;
}

/// A server that echoes, at a port of its own.
struct echo_server {
  explicit echo_server(asio::settings how = {}, options o = sharing_memory("ps")) : net(std::move(how)) {
    address = net.listen("127.0.0.1:0", o, [this] {
      auto made = std::make_shared<service>();
      made->receives = echo;
      const mutex_lock lock(guard);
      services.push_back(made);
      return made;
    });
  }
  ~echo_server() { net.stop_listening(address); }
  /// Whether a client of its own connects and has an answer.
  bool answers() {
    asio::network client;
    const auto told = std::make_shared<service>();
    options how = without_secret("worker");
    how.secret = secret;
    const auto l = client.connect(address, how, told, 60 * s);
    asked call;
    return l->start({.kind = 1, .body = "?"}, 60 * s, call) && comes([&] { return call.ends() == 1; }) &&
           call.body() == "?";
  }

  mutex guard{};
  std::vector<std::shared_ptr<service>> services{};
  std::string address, secret{};
  asio::network net;
};

}  // namespace

TEST_CASE("sockets: where others can connect, a secret is needed or the word") {
  asio::network net;
  const auto nobody = [] { return std::make_shared<service>(); };
  CHECK_THROWS_WITH(net.listen("0.0.0.0:0", without_secret("ps"), nobody),
                    Contains("PermissionDenied") && Contains("0.0.0.0:0") &&
                        Contains("go without (--insecure; in C++ `insecure = true`)"));
  CHECK_THROWS_WITH(net.listen("[::]:0", without_secret("ps"), nobody), Contains("PermissionDenied"));
  options with_word = without_secret("ps"), with_secret = without_secret("ps");
  with_word.insecure = true;
  with_secret.secret = "x";
  CHECK(net.listen("0.0.0.0:0", with_word, nobody) != "0.0.0.0:0");
  CHECK(net.listen("0.0.0.0:0", with_secret, nobody) != "0.0.0.0:0");
  CHECK(net.listen("127.0.0.1:0", without_secret("ps"), nobody).starts_with("127.0.0.1:"));
  CHECK(net.listen("localhost:0", without_secret("ps"), nobody).starts_with("localhost:"));
}

TEST_CASE("sockets: what is no address is named") {
  asio::network net;
  for (const char* wrong :
       {"", "host", "host:", ":80", "host:port", "host:65536", "host:-1", "unix:", "unix:relative", "[]"}) {
    INFO(wrong);
    CHECK_THROWS_WITH(net.listen(wrong, task("ps"), [] { return nullptr; }),
                      Contains("InvalidArgument") && Contains("'" + std::string(wrong) + "'"));
    CHECK_THROWS_WITH(net.connect(wrong, task("ps"), std::make_shared<service>(), s), Contains("InvalidArgument"));
  }
  CHECK_THROWS_WITH(net.listen("unix:/" + std::string(120, 'x'), task("ps"), [] { return nullptr; }), Contains("107"));
}

TEST_CASE("sockets: a name that nobody knows is an error in time") {
  asio::network net;
  const auto told = std::make_shared<service>();
  const auto l = net.connect("no-such-host.invalid:80", task("worker"), told, 10 * ms);
  REQUIRE(comes([&] { return told->has("lost"); }));
  CHECK_THAT(told->last(), Contains("no-such-host.invalid:80 cannot be reached: the host was not found"));
}

TEST_CASE("sockets: a Unix socket is for its user, and what a dead server left is in nobody's way") {
  const tagma::test::temporary_directory directory;
  const std::string path = directory / "socket", address = "unix:" + path;
  const auto at_server = std::make_shared<service>();
  {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    path.copy(to.sun_path, sizeof to.sun_path - 1);
    const int left = ::socket(AF_UNIX, SOCK_STREAM, 0);
    REQUIRE(::bind(left, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
    ::close(left);
  }
  asio::network net;
  CHECK(net.listen(address, without_secret("ps"), [&] { return at_server; }) == address);
  struct stat seen {};
  REQUIRE(::stat(path.c_str(), &seen) == 0);
  CHECK((seen.st_mode & 0777) == 0600);
  const auto told = std::make_shared<service>();
  const auto l = net.connect("unix://" + path, without_secret("worker"), told, 60 * s);
  REQUIRE(comes([&] { return told->has("connected"); }));
  net.stop_listening(address);
  CHECK(::stat(path.c_str(), &seen) != 0);
}

TEST_CASE("sockets: strangers who say nothing keep nobody out") {
  echo_server server({.strangers = 8});
  std::vector<std::unique_ptr<stranger>> many;
  for (int i = 0; i < 200; ++i) {
    many.push_back(std::make_unique<stranger>(server.address));
    REQUIRE(many.back()->connected());
    if (i % 2 == 0) many.back()->say("t");
  }
  CHECK(server.answers());
  REQUIRE(comes([&] {
    int closed = 0;
    for (const auto& one : many) closed += one->is_closed() ? 1 : 0;
    return closed >= 192;
  }));
  CHECK(server.answers());
}

TEST_CASE("sockets: a stranger who is slow is told to go") {
  options o = without_secret("ps");
  o.patience.handshake_ns = 50 * ms;
  echo_server server({}, o);
  const stranger slow(server.address);
  REQUIRE(slow.connected());
  slow.say("t");
  CHECK_THAT(slow.heard(), Contains("did not finish the handshake"));
}

TEST_CASE("sockets: who speaks another protocol is told, and then it is closed") {
  echo_server server;
  const stranger browser(server.address);
  browser.say("GET / HTTP/1.1\r\nHost: here\r\n\r\n" + std::string(100'000, 'x'));
  CHECK_THAT(browser.heard(), Contains("no frame of tagma"));
  CHECK(server.answers());
}

TEST_CASE("sockets: without descriptors nobody is taken, which is said, and later somebody is") {
  std::vector<std::string> reports;
  mutex guard;
  echo_server server({.report = [&](const error& why) {
    const mutex_lock lock(guard);
    reports.emplace_back(why.what());
  }});
  asio::network client;
  const auto told = std::make_shared<service>();
  const auto before = client.connect(server.address, without_secret("worker"), told, 60 * s);
  REQUIRE(comes([&] { return told->has("connected"); }));
  std::unique_ptr<stranger> late;
  std::vector<int> all;
  {
    // The socket of who connects, and then all that there are.
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    const int highest = ::dup(0);
    ::close(highest);
    rlimit few = limit;
    few.rlim_cur = static_cast<rlim_t>(highest) + 20;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    for (int d; (d = ::dup(0)) >= 0;) all.push_back(d);
    REQUIRE(!all.empty());
    ::close(all.back());
    all.pop_back();
    late = std::make_unique<stranger>(server.address);
    CHECK(late->connected());
    CHECK(comes([&] {
      const mutex_lock lock(guard);
      return !reports.empty();
    }));
    for (const int d : all) ::close(d);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  }
  {
    const mutex_lock lock(guard);
    REQUIRE(!reports.empty());
    CHECK_THAT(reports[0], Contains("ResourceExhausted") && Contains(server.address));
  }
  CHECK(server.answers());
}

namespace {

/// A process of its own, in which a server echoes.
class other_process {
 public:
  other_process() {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    child_ = ::fork();
    REQUIRE(child_ >= 0);
    if (child_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const echo_server server;
      const std::string line = server.address + "\n";
      (void)!::write(ends[1], line.data(), line.size());
      for (;;) ::pause();
    }
    ::close(ends[1]);
    for (char c; ::read(ends[0], &c, 1) == 1 && c != '\n';) address += c;
    ::close(ends[0]);
  }
  other_process(const other_process&) = delete;
  other_process& operator=(const other_process&) = delete;
  ~other_process() {
    ::kill(child_, SIGKILL);
    int status = 0;
    ::waitpid(child_, &status, 0);
  }
  void stop() const { REQUIRE(::kill(child_, SIGSTOP) == 0); }
  void kill() const { REQUIRE(::kill(child_, SIGKILL) == 0); }

  std::string address{};

 private:
  pid_t child_ = -1;
};

}  // namespace

TEST_CASE("sockets: a process that is stopped is lost, and what waits for it ends") {
  // A machine that is busy may keep the process from answering for a while by itself: then more time is given.
  const bool seen = tagma::test::given_time([](std::chrono::nanoseconds limit) {
    asked first, second;  // which end with the network at the latest
    const other_process other;
    options how = without_secret("worker");
    how.patience.lost_ns = 10 * limit.count();
    how.patience.heartbeat_ns = 2 * limit.count();
    asio::network net;
    const auto told = std::make_shared<service>();
    const auto l = net.connect(other.address, how, told, 60 * s);
    if (!l->start({.kind = 1, .body = "?"}, 60 * s, first) || !comes([&] { return first.ends() == 1; })) return false;
    if (first.body() != "?") return false;
    other.stop();
    (void)l->start({.kind = 1, .body = "?"}, 3600 * s, second);
    REQUIRE(comes([&] { return told->has("lost"); }));  // nothing closes the socket: heartbeats fail
    CHECK_THAT(told->last(), Contains("Unavailable: /job:ps/task:0 was lost: nothing came for"));
    REQUIRE(comes([&] { return second.ends() == 1 || l->counters().open_calls == 0; }));
    return true;
  });
  CHECK(seen);
}

TEST_CASE("sockets: a process that is killed is lost, and no memory that was shared with it is left") {
  const std::vector<std::byte> bulk = pattern(3'000'000);
  for (const bool busy : {false, true}) {
    INFO(busy);
    asked first, second;
    watched w;
    const other_process other;  // before there are threads, which it would not have
    asio::network net;
    const auto told = std::make_shared<service>();
    {
      const auto l = net.connect(other.address, patient(sharing_memory("worker")), told, 60 * s);
      REQUIRE(l->start({.kind = 1, .bulk = bulk}, 60 * s, first));
      REQUIRE(comes([&] { return first.ends() == 1 && l->counters().shared_memory; }));
      CHECK(first.bulk() == bulk);
      CHECK(comes([] { return shared_here() == std::pair(1, 0); }));
      if (busy) other.stop();  // then the ring is full
      REQUIRE(l->start({.kind = 1, .bulk = bulk, .attempt = &w}, 3600 * s, second));
      if (!busy) REQUIRE(comes([&] { return second.ends() == 1; }));
      other.kill();
      REQUIRE(comes([&] { return told->has("lost"); }));
    }
    CHECK_THAT(told->last(), Contains("Unavailable: /job:ps/task:0 was lost: ") && !Contains("nothing came"));
    CHECK(second.ends() == 1);
    CHECK(w.ends() == 1);
    CHECK(comes([] { return shared_here() == std::pair(0, 0); }));
  }
}

TEST_CASE("sockets: where one end wants no shared memory, there is none") {
  for (const bool at_server : {false, true}) {
    echo_server server({}, at_server ? sharing_memory("ps") : without_secret("ps"));
    asio::network client;
    const auto told = std::make_shared<service>();
    const auto l =
        client.connect(server.address, at_server ? without_secret("worker") : sharing_memory("worker"), told, 60 * s);
    asked call;
    REQUIRE(l->start({.kind = 1, .body = "?"}, 60 * s, call));
    REQUIRE(comes([&] { return call.ends() == 1; }));
    CHECK(call.body() == "?");
    CHECK(!l->counters().shared_memory);
    CHECK(shared_here() == std::pair(0, 0));
  }
}

#if defined(TAGMA_PYTHON) && defined(TAGMA_WIRE_PEER)
TEST_CASE("sockets: the protocol of the page is the protocol, as another program has it") {
  options o = without_secret("ps");
  o.secret = "a secret";
  echo_server server({}, o);
  server.secret = "a secret";
  const std::string port = server.address.substr(server.address.rfind(':') + 1), run = TAGMA_PYTHON " " TAGMA_WIRE_PEER;
  CHECK(std::system((run + " --talk 127.0.0.1 " + port + " 'a secret'").c_str()) == 0);
  CHECK(std::system((run + " --wrong 127.0.0.1 " + port).c_str()) == 0);
  const mutex_lock lock(server.guard);
  REQUIRE(server.services.size() == 2);
  CHECK(comes([&] { return server.services[0]->has("closed"); }));
  CHECK_THAT(server.services[1]->last(), Contains("does not know the secret"));
}
#endif

}  // namespace tagma::transport::test

#else

TEST_CASE("without Boost.Asio there are no sockets, which is said") {
  CHECK_THROWS_WITH(tagma::transport::asio::network(),
                    Catch::Matchers::Contains("Unimplemented: sockets need Boost.Asio"));
}

#endif
