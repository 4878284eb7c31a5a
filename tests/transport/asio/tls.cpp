// SPDX-License-Identifier: BSL-1.0
#include "tagma/transport/asio/tls_channel.hpp"

#include <catch2/catch.hpp>

#include "tagma/transport/asio/network.hpp"
#include "transport/services.hpp"

#if defined(TAGMA_WITH_ASIO) && TAGMA_WITH_ASIO && defined(TAGMA_WITH_TLS) && TAGMA_WITH_TLS

#include <sys/socket.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "support/certificates.hpp"
#include "support/comes.hpp"

namespace tagma::transport::test {

using Catch::Matchers::Contains;
using tagma::test::authority;
using tagma::test::certificate_of;
using tagma::test::comes;

namespace {

options with(const std::string& job, const tls_files& files, std::int32_t number = 0) {
  options o = patient(task(job, number));
  o.insecure = false;
  o.tls = files;
  return o;
}

/// What both ends say when they meet.
struct told_of {
  std::string client{}, server{};
  std::optional<identity> seen{};  // by the server
};

told_of meet(const options& server, const options& client) {
  const auto at_server = std::make_shared<service>(), at_client = std::make_shared<service>();
  at_server->receives = echo;
  asio::network one, other;
  told_of t;
  mutex guard;
  at_server->admits = [&](const identity& who) -> std::optional<error> {
    const mutex_lock lock(guard);
    t.seen = who;
    return std::nullopt;
  };
  const std::string address = one.listen("127.0.0.1:0", server, [&] { return at_server; });
  const auto l = other.connect(address, client, at_client, 60 * s);
  const auto said = [](const service& of) { return of.has("connected") || of.has("lost"); };
  REQUIRE(comes([&] { return said(*at_client) && said(*at_server); }));
  t.client = at_client->last();
  t.server = at_server->last();
  one.stop_listening(address);
  const mutex_lock lock(guard);
  // The port is another one each time.
  for (std::size_t at; (at = t.client.find(address)) != std::string::npos;)
    t.client.replace(at, address.size(), "THERE");
  return t;
}

/// Moves what two channels say to each other, until both have no more to say.
void exchange(asio::tls_channel& a, asio::tls_channel& b) {
  const auto move = [](asio::tls_channel& from, asio::tls_channel& to) {
    const std::span<const std::byte> all = from.to_send();
    const std::span<std::byte> room = to.receive_into();
    const std::size_t n = std::min(all.size(), room.size());
    std::copy_n(all.begin(), n, room.begin());
    from.sent(n);
    to.received(n);
    to.meet();
    return n;
  };
  a.meet();
  while (move(a, b) + move(b, a) > 0) {
  }
}

}  // namespace

TEST_CASE("TLS: certificates say who both ends are, and what they may") {
  authority us;
  const options server = with("ps", us.of_task("ps", 3), 3);
  told_of t = meet(server, with("worker", us.of_task("worker", 0)));
  CHECK(t.client == "connected");
  CHECK(t.server == "connected");
  CHECK((t.seen && t.seen->may == transport::authority::worker));
  t = meet(server, with("worker", us.give({{"tagma:/job:worker/task:0", "tagma:/role:chief"}})));
  CHECK((t.seen && t.seen->may == transport::authority::chief));
  t = meet(server, with("client", us.give({{"tagma:/role:worker"}})));
  CHECK((t.seen && t.seen->may == transport::authority::worker));
  t = meet(server, with("client", us.give({{"https://else.example", "tagma:/role:admin"}})));
  CHECK((t.seen && t.seen->may == transport::authority::chief));
  t = meet(server, with("client", us.of_task("worker", 5), 1));
  CHECK((t.seen && t.seen->may == transport::authority::worker));
  t = meet(with("ps", us.give({{"tagma:/job:ps"}}), 11), with("worker", us.give({{"tagma:/job:worker"}}), 7));
  CHECK(t.server == "connected");
}

TEST_CASE("TLS: who is not whom its certificate names is refused") {
  authority us;
  const tls_files files = us.of_task("ps", 0);
  told_of t = meet(with("ps", files), with("worker", us.of_task("worker", 1)));
  CHECK_THAT(t.client, Contains("PermissionDenied") && Contains("THERE") && Contains("/job:worker/task:0") &&
                           Contains("its certificate is for tagma:/job:worker/task:1"));
  t = meet(with("ps", files), with("worker", us.give({{"tagma:/role:chief"}})));
  CHECK_THAT(t.client, Contains("says that it is /job:worker/task:0, and its certificate is for tagma:/role:chief"));
  t = meet(with("ps", files), with("client", us.give({{"https://else.example"}})));
  CHECK_THAT(t.client, Contains("its certificate is for nobody (it has no URI that begins with tagma:/)"));
}

TEST_CASE("TLS: a server that is not whom it says is refused by who connects") {
  authority us;
  options server = with("ps", us.of_task("ps", 0));
  const tls_files other = us.of_task("ps", 1);
  const auto nobody = [] { return std::make_shared<service>(); };
  asio::network net;
  server.tls = other;
  CHECK_THROWS_WITH(net.listen("127.0.0.1:0", server, nobody),
                    Contains("InvalidArgument: TLS: '" + other.certificate + "'") && Contains("/job:ps/task:0") &&
                        Contains("tagma:/job:ps/task:1"));
  // Certificates are changed under it: a listener reads files anew.
  server.tls = us.of_task("ps", 0);
  const auto at_server = std::make_shared<service>(), at_client = std::make_shared<service>(),
             again = std::make_shared<service>();
  const std::string address = net.listen("127.0.0.1:0", server, [&] { return at_server; });
  const auto l = net.connect(address, with("worker", us.of_task("worker", 0)), at_client, 60 * s);
  REQUIRE(comes([&] { return at_client->has("connected"); }));
  std::filesystem::copy_file(other.key, server.tls.key, std::filesystem::copy_options::overwrite_existing);
  const auto m = net.connect(address, with("worker", us.of_task("worker", 0)), again, 60 * s);
  REQUIRE(comes([&] { return again->has("connected"); }));  // half of a change is none
  std::filesystem::copy_file(other.certificate, server.tls.certificate,
                             std::filesystem::copy_options::overwrite_existing);
  const auto last = std::make_shared<service>();
  const auto n = net.connect(address, with("worker", us.of_task("worker", 0)), last, 60 * s);
  REQUIRE(comes([&] { return last->has("lost"); }));
  CHECK_THAT(last->last(), Contains("PermissionDenied: " + address +
                                    " is not trusted: it says that it is "
                                    "/job:ps/task:0, and its certificate is for tagma:/job:ps/task:1"));
  net.stop_listening(address);
}

TEST_CASE("TLS: certificates that are not good are refused, with the reason") {
  authority us, others("another authority");
  const options server = with("ps", us.of_task("ps", 0)), client = with("worker", us.of_task("worker", 0));
  const std::string denied = "lost: PermissionDenied: ";

  options old = with("ps", us.give({{"tagma:/job:ps/task:0"}, -7200, -3600}));
  told_of t = meet(old, client);
  CHECK_THAT(t.client, Contains(denied + "THERE: its certificate has expired; it is good from"));
  CHECK_THAT(t.server, Contains(denied) && Contains("certificate of this end, '" + old.tls.certificate + "'") &&
                           Contains("certificate expired"));
  options future = with("ps", us.give({{"tagma:/job:ps/task:0"}, 3600, 7200}));
  t = meet(future, client);
  CHECK_THAT(t.client, Contains(denied + "THERE: its certificate is not good yet; it is good from"));
  options foreign = with("ps", others.of_task("ps", 0));
  foreign.tls.authorities = us.path("ca.pem");
  t = meet(foreign, client);
  CHECK_THAT(t.client,
             Contains(denied + "THERE: its certificate is from no authority that '" + us.path("ca.pem") + "' has"));
  CHECK_THAT(t.server, Contains("unknown CA"));
  options for_clients = with("ps", us.give({{"tagma:/job:ps/task:0"}, -3600, 3600, "clientAuth"}));
  t = meet(for_clients, client);
  CHECK_THAT(t.client, Contains(denied + "THERE: its certificate is not for this use"));

  old = with("worker", us.give({{"tagma:/job:worker/task:0"}, -7200, -3600}));
  t = meet(server, old);
  CHECK_THAT(t.server, Contains(denied) && Contains("its certificate has expired"));
  CHECK_THAT(t.client, Contains(denied + "THERE: it does not take the certificate of this end, '" +
                                old.tls.certificate + "': it says \"certificate expired\""));
  foreign = with("worker", others.of_task("worker", 0));
  foreign.tls.authorities = us.path("ca.pem");
  t = meet(server, foreign);
  CHECK_THAT(t.server, Contains("its certificate is from no authority"));
  CHECK_THAT(t.client, Contains("it does not take the certificate of this end"));
}

TEST_CASE("TLS: who speaks with certificates and who speaks without are told") {
  authority us;
  const options server = with("ps", us.of_task("ps", 0)), client = with("worker", us.of_task("worker", 0));
  options plain = with("worker", {}), plain_server = with("ps", {});
  told_of t = meet(server, plain);
  CHECK_THAT(t.client, Contains("lost: PermissionDenied: THERE refused the connection: who connects to THERE") &&
                           Contains("it speaks without TLS, which is needed here") && Contains("--tls-cert"));
  CHECK_THAT(t.server, Contains("it speaks without TLS, which is needed here"));
  plain.secret = "a secret";
  t = meet(server, plain);
  CHECK_THAT(t.client, Contains("it speaks without TLS, which is needed here"));
  t = meet(plain_server, client);
  CHECK_THAT(t.client, Contains("lost: PermissionDenied: THERE: it speaks without TLS, and this end has certificates"));
  CHECK_THAT(t.server, Contains("sent the beginning of TLS, which this end has no certificate for"));
}

TEST_CASE("TLS: who says nothing is told to go in time, and whoever says something else is told") {
  authority us;
  asio::network net;
  options server = with("ps", us.of_task("ps", 0));
  server.patience.handshake_ns = 50 * ms;
  const auto at_server = std::make_shared<service>();
  const std::string address = net.listen("127.0.0.1:0", server, [&] { return at_server; });
  namespace bio = boost::asio;
  bio::io_context context;
  const auto port = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  bio::ip::tcp::socket silent(context);
  silent.connect({bio::ip::address_v4::loopback(), port});
  REQUIRE(comes([&] { return at_server->has("lost"); }));
  CHECK_THAT(at_server->last(), Contains("did not finish the handshake within"));
  net.stop_listening(address);

  server.patience.handshake_ns = 300 * s;
  const auto at_other = std::make_shared<service>();
  const std::string other = net.listen("127.0.0.1:0", server, [&] { return at_other; });
  bio::ip::tcp::socket browser(context);
  browser.connect({bio::ip::address_v4::loopback(), static_cast<std::uint16_t>(std::stoi(other.substr(10)))});
  bio::write(browser, bio::buffer(std::string("GET / HTTP/1.1\r\nHost: here\r\n\r\n")));
  REQUIRE(comes([&] { return at_other->has("lost"); }));
  CHECK_THAT(at_other->last(), Contains("PermissionDenied") && Contains("there is no TLS with it: http request"));
  net.stop_listening(other);
}

TEST_CASE("TLS: files that are none are named") {
  authority us;
  asio::network net;
  const tls_files good = us.of_task("ps", 0), other = us.of_task("ps", 0);
  const auto listen = [&](const tls_files& files) {
    return net.listen("127.0.0.1:0", with("ps", files), [] { return nullptr; });
  };
  CHECK_THROWS_WITH(
      listen({us.path("none"), good.certificate, good.key}),
      Contains("InvalidArgument: TLS: '" + us.path("none") + "' cannot be read: No such file or directory"));
  CHECK_THROWS_WITH(listen({us.path(""), good.certificate, good.key}), Contains("' cannot be read: Is a directory"));
  CHECK_THROWS_WITH(listen({good.key, good.certificate, good.key}),
                    Contains("TLS: '" + good.key + "' has no certificates of authorities"));
  CHECK_THROWS_WITH(listen({good.authorities, good.key, good.key}), Contains("'" + good.key + "' has no certificate"));
  CHECK_THROWS_WITH(listen({good.authorities, good.certificate, other.key}), Contains("'" + other.key + "'"));
  CHECK_THROWS_WITH(listen({good.authorities, good.certificate, us.path("none")}), Contains("none' cannot be read"));
  CHECK_THROWS_WITH(listen({good.authorities, good.certificate, good.authorities}), Contains("has no key"));
  CHECK_THROWS_WITH(listen({good.authorities, "", ""}), Contains("TLS needs three files"));
  CHECK_THROWS_WITH(net.connect("127.0.0.1:1", with("ps", {good.authorities, "", ""}), std::make_shared<service>(), s),
                    Contains("TLS needs three files"));
  CHECK_NOTHROW(net.stop_listening(net.listen("0.0.0.0:0", with("ps", good), [] { return nullptr; })));
}

TEST_CASE("TLS: a channel takes what is written at once, and gives it in any pieces") {
  authority us;
  asio::tls_identities files;
  asio::tls_channel a(side::connects, files.read(us.of_task("worker", 0))),
      b(side::accepts, files.read(us.of_task("ps", 0)));
  exchange(a, b);
  REQUIRE(a.is_open());
  REQUIRE(b.is_open());
  CHECK(!a.names().contradict(task("ps").self, false));
  CHECK(!b.names().contradict(task("worker").self, true));
  for (const std::size_t size : {1u, 47u, 16'383u, 16'384u, 16'385u, 100'000u}) {
    INFO(size);
    const std::vector<std::byte> bulk = pattern(size);
    const std::span<const std::byte> all(bulk);
    const std::size_t half = size / 2;
    const std::vector<std::span<const std::byte>> pieces{all.first(half / 3), all.subspan(half / 3, half - half / 3),
                                                         all.subspan(half)};
    REQUIRE(a.write(pieces) == size);
    std::vector<std::byte> came;
    while (!a.to_send().empty()) {
      const std::size_t n = std::min<std::size_t>({a.to_send().size(), b.receive_into().size(), 1000 + size % 7});
      std::copy_n(a.to_send().begin(), n, b.receive_into().begin());
      a.sent(n);
      b.received(n);
      std::array<std::byte, 333> some;
      for (std::size_t k; (k = b.read(some)) > 0;)
        came.insert(came.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(k));
    }
    CHECK(came == bulk);
  }
  // Much that waits stops the rest.
  const std::vector<std::byte> much = pattern(5'000'000);
  const std::vector<std::span<const std::byte>> one{much};
  const std::size_t taken = a.write(one);
  CHECK(taken < 400'000);
  CHECK(taken > 100'000);
}

TEST_CASE("TLS: a record with any byte flipped ends the stream") {
  authority us;
  asio::tls_identities files;
  const auto mine = files.read(us.of_task("worker", 0)), theirs = files.read(us.of_task("ps", 0));
  for (const std::size_t at : {5u, 20u, 60u}) {
    asio::tls_channel a(side::connects, mine), b(side::accepts, theirs);
    exchange(a, b);
    const std::vector<std::byte> bulk = pattern(50);
    const std::vector<std::span<const std::byte>> pieces{bulk};
    REQUIRE(a.write(pieces) == 50);
    std::copy(a.to_send().begin(), a.to_send().end(), b.receive_into().begin());
    b.receive_into()[at] ^= std::byte{1};
    b.received(a.to_send().size());
    std::array<std::byte, 100> some;
    CHECK(b.read(some) == 0);
    REQUIRE(b.failure());
    CHECK_THAT(b.failure()->what(), Contains("DataLoss: TLS broke"));
  }
}

#if defined(TAGMA_PYTHON) && defined(TAGMA_WIRE_PEER)
TEST_CASE("TLS: the protocol is the protocol, as another program has it, within TLS as well") {
  authority us;
  options server = with("ps", us.of_task("ps", 0));
  server.secret = "a secret";  // beside certificates
  const auto at_server = std::make_shared<service>();
  at_server->receives = echo;
  asio::network net;
  const std::string address = net.listen("127.0.0.1:0", server, [&] { return at_server; });
  const tls_files peer = us.of_task("worker", 0);
  const std::string command = TAGMA_PYTHON " " TAGMA_WIRE_PEER " --tls " + peer.authorities + " " + peer.certificate +
                              " " + peer.key + " --talk 127.0.0.1 " + address.substr(address.rfind(':') + 1) +
                              " 'a secret'";
  CHECK(std::system(command.c_str()) == 0);
  CHECK(comes([&] { return at_server->has("closed"); }));
  net.stop_listening(address);
}
#endif

}  // namespace tagma::transport::test

#else

TEST_CASE("without OpenSSL there is no TLS, which is said") {
  tagma::transport::asio::tls_identities files;
  CHECK_THROWS_WITH(files.read({"a", "b", "c"}), Catch::Matchers::Contains("Unimplemented: TLS needs OpenSSL") &&
                                                     Catch::Matchers::Contains("TAGMA_WITH_TLS=1"));
}

#endif
