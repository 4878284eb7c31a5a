// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/address.hpp"

#include <catch2/catch.hpp>

#include <arpa/inet.h>

#include <random>
#include <string>

#include "support/errors.hpp"

using namespace tagma;
using tagma::test::code_of;
using tagma::test::text_of;

namespace {

constexpr address_rules for_bind{.use = address_use::bind};

std::string spelled(std::string_view text, const address_rules& rules = {}) {
  const parsed_address parsed = parse_address(text, rules);
  return parsed ? to_string(*parsed) : "at " + std::to_string(parsed.position) + ": " + std::string(parsed.reason);
}

/// True if a text is refused at this byte, for a reason that mentions `why`.
bool refused(std::string_view text, std::size_t position, std::string_view why, const address_rules& rules = {}) {
  const parsed_address parsed = parse_address(text, rules);
  INFO(spelled(text, rules));
  CHECK(!parsed);
  CHECK(parsed.position == position);
  CHECK(parsed.reason.find(why) != std::string_view::npos);
  return !parsed && parsed.position == position;
}

/// Texts that look like addresses.
class generator {
 public:
  explicit generator(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

  std::string ipv6() {
    std::string text;
    const std::size_t groups = 1 + below(9);
    for (std::size_t i = 0; i < groups; ++i) {
      if (i > 0) text += ':';
      if (below(4) == 0)
        text += below(2) == 0 ? "" : "0";
      else
        for (std::size_t n = 1 + below(4); n > 0; --n) text += "0123456789abcdefABCDEF"[below(22)];
    }
    if (below(3) == 0) text.insert(below(text.size() + 1), "::");
    if (below(6) == 0) text += (text.empty() || text.back() == ':' ? "" : ":") + ipv4();
    return text;
  }
  std::string ipv4() {
    std::string text;
    for (int i = 0; i < 4; ++i) text += (i > 0 ? "." : "") + std::to_string(below(i == 3 ? 300 : 256));
    return text;
  }
  std::string name() {
    std::string text;
    for (std::size_t n = 1 + below(20); n > 0; --n) text += "abcXYZ019-_."[below(12)];
    return text;
  }
  std::string any() {
    std::string text;
    switch (below(5)) {
      case 0:
        text = "[" + ipv6() + "]";
        break;
      case 1:
        text = ipv4();
        break;
      case 2:
        return "unix:" + std::string(below(2) * 2, '/') + "/" + name();
      default:
        text = name();
    }
    return text + ":" + std::to_string(below(2) == 0 ? below(70000) : below(10));
  }

 private:
  std::mt19937 random_;
};

}  // namespace

TEST_CASE("an address is a host and a port") {
  CHECK(spelled("localhost:2222") == "localhost:2222");
  CHECK(spelled("PS0.Example.COM:1") == "ps0.example.com:1");
  CHECK(spelled("trainer-ps-0.trainer:65535") == "trainer-ps-0.trainer:65535");
  CHECK(spelled("ps_0:80") == "ps_0:80");
  CHECK(spelled("host.:80") == "host.:80");
  CHECK(spelled("3com.net:80") == "3com.net:80");
  CHECK(spelled("10.0.0.1:2222") == "10.0.0.1:2222");
  CHECK(parse_address("10.0.0.1:2222")->kind == address_kind::ipv4);
  CHECK(parse_address("ps0:2222")->kind == address_kind::name);
  CHECK(parse_address("ps0:2222")->port == 2222);
}

TEST_CASE("an address without a port is refused, unless there is a default") {
  CHECK(refused("localhost", 9, "port"));
  CHECK(refused("10.0.0.1", 8, "port"));
  CHECK(refused("[::1]", 5, "port"));
  CHECK(refused("localhost:", 10, "port"));
  CHECK(spelled("localhost", {.default_port = 2222}) == "localhost:2222");
  CHECK(spelled("[::1]", {.default_port = 2222}) == "[::1]:2222");
  CHECK(spelled("localhost:1", {.default_port = 2222}) == "localhost:1");
  CHECK(refused("localhost:", 10, "port", {.default_port = 2222}));
  CHECK(code_of([] { (void)address_from("localhost"); }) == status_code::invalid_argument);
  CHECK(text_of([] { (void)address_from("localhost"); }) ==
        "InvalidArgument: address \"localhost\", position 9: expected ':' and a port, as in localhost:2222");
}

TEST_CASE("ports are from 1 to 65535, and 0 is one to bind") {
  for (const char* bad :
       {"h:65536", "h:99999999999999999999", "h:-1", "h:+1", "h: 1", "h:1 ", "h:0x10", "h:022", "h:00"})
    CHECK(refused(bad, 2, "from 1 to 65535"));
  CHECK(refused("h:0", 2, "port 0"));
  CHECK(spelled("h:0", for_bind) == "h:0");
  CHECK(refused("h:00", 2, "from 1 to 65535", for_bind));
}

TEST_CASE("hosts that are none") {
  CHECK(refused("", 0, "empty"));
  CHECK(refused(":2222", 0, "host"));
  CHECK(refused("a b:1", 1, "letters"));
  CHECK(refused("a..b:1", 2, "empty"));
  CHECK(refused(".b:1", 0, "empty"));
  CHECK(refused("-a:1", 0, "'-'"));
  CHECK(refused("b.a-:1", 2, "'-'"));
  CHECK(refused("http://a:1", 4, "scheme"));
  CHECK(refused("a/b:1", 1, "letters"));
  CHECK(refused("::1:2222", 0, "brackets"));
  CHECK(refused("a:1:2", 0, "brackets"));
  CHECK(refused(std::string("a\0b:1", 5), 1, "letters"));
  CHECK(refused(std::string(64, 'a') + ":1", 0, "63"));
  CHECK(spelled(std::string(63, 'a') + ":1") == std::string(63, 'a') + ":1");
  std::string longest;
  for (int i = 0; i < 63; ++i) longest += "abc.";
  CHECK(spelled(longest + "a:1") == longest + "a:1");
  CHECK(spelled(longest + "a.:1") == longest + "a.:1");
  CHECK(refused(longest + "ab:1", 253, "253"));
  // What ends in a number is an IPv4 address or a mistake.
  for (const char* bad : {"10.0.0:1", "256.0.0.1:1", "1.2.3.4.5:1", "01.2.3.4:1", "10.0.0.1.:1", "7:1", "a.7:1"})
    CHECK(refused(bad, 0, "IPv4"));
}

TEST_CASE("IPv6 addresses stand in brackets and have one spelling") {
  CHECK(spelled("[::1]:2222") == "[::1]:2222");
  CHECK(spelled("[2001:DB8:0:0:0:0:2:1]:1") == "[2001:db8::2:1]:1");
  CHECK(spelled("[2001:db8:0:1:1:1:1:1]:1") == "[2001:db8:0:1:1:1:1:1]:1");
  CHECK(spelled("[2001:0:0:1:0:0:0:1]:1") == "[2001:0:0:1::1]:1");
  CHECK(spelled("[2001:db8:0:0:1:0:0:1]:1") == "[2001:db8::1:0:0:1]:1");
  CHECK(spelled("[::ffff:10.0.0.1]:1") == "[::ffff:10.0.0.1]:1");
  CHECK(spelled("[::FFFF:0a00:0001]:1") == "[::ffff:10.0.0.1]:1");
  CHECK(spelled("[fe80::1%eth0]:1") == "[fe80::1%eth0]:1");
  for (const char* bad : {"[]:1", "[:]:1", "[:::]:1", "[1:2:3:4:5:6:7]:1", "[1:2:3:4:5:6:7:8:9]:1", "[1::2::3]:1",
                          "[12345::]:1", "[g::]:1", "[1:2:3:4:5:6:7::8]:1", "[1.2.3.4::]:1", "[::1.2.3]:1", "[1:]:1",
                          "[:1]:1", "[::1:]:1", "[::01.2.3.4]:1"})
    CHECK(refused(bad, 1, "IPv6"));
  CHECK(refused("[::1:1", 6, "']'"));
  CHECK(refused("[::1]1", 5, "port"));
  CHECK(refused("[fe80::1%]:1", 9, "zone"));
  CHECK(refused("[fe80::1%e/0]:1", 9, "zone"));
}

TEST_CASE("addresses of all interfaces are to bind") {
  CHECK(spelled("0.0.0.0:2222", for_bind) == "0.0.0.0:2222");
  CHECK(spelled("[::]:0", for_bind) == "[::]:0");
  CHECK(refused("0.0.0.0:2222", 0, "interfaces"));
  CHECK(refused("[::]:2222", 0, "interfaces"));
  CHECK(refused("[0::0]:2222", 0, "interfaces"));
}

TEST_CASE("Unix sockets have an absolute path and no port") {
  CHECK(spelled("unix:/run/ps0") == "unix:/run/ps0");
  CHECK(spelled("unix:///run/ps0") == "unix:/run/ps0");
  CHECK(parse_address("unix:/run/ps0")->host == "/run/ps0");
  CHECK(refused("unix:run", 5, "absolute"));
  CHECK(refused("unix:", 5, "absolute"));
  CHECK(refused("unix://run", 5, "absolute"));
  CHECK(refused("unix:////run", 7, "absolute"));
  CHECK(refused("UNIX:2222", 0, "no host is called unix"));
  CHECK(refused("unix", 0, "no host is called unix", {.default_port = 2222}));
  CHECK(refused("unix:/run/", 9, "folder"));
  CHECK(refused("unix:/a\nb", 7, "control"));
  CHECK(refused("unix:/a\xff", 5, "UTF-8"));
  CHECK(spelled("unix:/" + std::string(106, 'a')) == "unix:/" + std::string(106, 'a'));
  CHECK(refused("unix:/" + std::string(107, 'a'), 112, "107"));
}

TEST_CASE("what no other host reaches") {
  for (const char* local : {"localhost:1", "LOCALHOST:1", "localhost.:1", "a.localhost:1", "127.0.0.1:1", "127.9.9.9:1",
                            "[::1]:1", "[::ffff:127.0.0.1]:1", "unix:/run/a"})
    CHECK(address_from(local).is_local());
  CHECK_FALSE(address_from("unix:/run/a").is_loopback());
  for (const char* other : {"localhost.example:1", "mylocalhost:1", "12.7.0.1:1", "[::2]:1", "[::ffff:10.0.0.1]:1"})
    CHECK_FALSE(address_from(other).is_local());
}

TEST_CASE("targets name servers") {
  CHECK(to_string(target_address("tagma://localhost:2222")) == "localhost:2222");
  CHECK(to_string(target_address("tagma://[::1]:2222")) == "[::1]:2222");
  CHECK(to_string(target_address("tagma://unix:/run/a")) == "unix:/run/a");
  CHECK(target_of(address_from("ps0:1")) == "tagma://ps0:1");
  CHECK(code_of([] { (void)target_address("grpc://localhost:2222"); }) == status_code::not_found);
  CHECK(code_of([] { (void)target_address("localhost:2222"); }) == status_code::not_found);
  CHECK(code_of([] { (void)target_address(""); }) == status_code::not_found);
  CHECK(text_of([] { (void)target_address("tagma://localhost"); }).find("position 17: expected ':' and a port") !=
        std::string::npos);
}

TEST_CASE("where a server listens and what it advertises") {
  const auto at = [](std::string_view text) { return address_from(text, for_bind); };
  CHECK(listen_at(at("ps0:1")).bind == at("ps0:1"));
  CHECK(listen_at(at("ps0:1"), at("0.0.0.0:1")).bind == at("0.0.0.0:1"));
  CHECK(listen_at(at("ps0:32222"), at("[::]:2222")).advertise == at("ps0:32222"));
  CHECK(listen_at(at("localhost:1"), at("[::]:1")).advertise == at("localhost:1"));
  CHECK(listen_at(at("unix:/run/a")).bind == at("unix:/run/a"));
  const auto refuses = [&](std::string_view advertise, std::string_view bind, std::string_view why) {
    const std::string text = text_of([&] { (void)listen_at(at(advertise), at(bind)); });
    return text.find(why) != std::string::npos && text.find(advertise) != std::string::npos;
  };
  CHECK(refuses("0.0.0.0:1", "0.0.0.0:1", "all interfaces"));
  CHECK(refuses("10.0.0.1:1", "127.0.0.1:1", "loopback"));
  CHECK(refuses("ps0:1", "localhost:1", "loopback"));
  CHECK(refuses("ps0:0", "[::]:1", "port 0"));
  CHECK(refuses("unix:/run/a", "unix:/run/b", "path"));
  CHECK(refuses("ps0:1", "unix:/run/b", "path"));
  CHECK(refuses("unix:/run/b", "ps0:1", "path"));

  const listen_addresses chosen = with_port(listen_at(at("ps0:0"), at("0.0.0.0:0")), 40000);
  CHECK(to_string(chosen.bind) == "0.0.0.0:40000");
  CHECK(to_string(chosen.advertise) == "ps0:40000");
  CHECK(with_port(listen_at(at("unix:/run/a")), 40000).bind.port == 0);
}

TEST_CASE("IPv6 addresses are read and spelled as the system does") {
  constexpr unsigned seed = 20;
  generator random(seed);
  int good = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = random.ipv6();
    in6_addr bytes{};
    const bool system = inet_pton(AF_INET6, text.c_str(), &bytes) == 1;
    const parsed_address parsed = parse_address("[" + text + "]:1", for_bind);
    INFO("seed " << seed << ", text " << i << ": " << text);
    REQUIRE(static_cast<bool>(parsed) == system);
    if (!system) continue;
    ++good;
    in6_addr again{};
    REQUIRE(inet_pton(AF_INET6, parsed->host.c_str(), &again) == 1);
    CHECK(std::equal(std::begin(bytes.s6_addr), std::end(bytes.s6_addr), std::begin(again.s6_addr)));
    // The C library also spells ::1.2.3.4 so, which RFC 5952 leaves open.
    char spelling[INET6_ADDRSTRLEN]{};
    inet_ntop(AF_INET6, &bytes, spelling, sizeof spelling);
    const std::string_view theirs = spelling;
    if (theirs.find('.') == theirs.npos || theirs.substr(0, 7) == "::ffff:") CHECK(parsed->host == theirs);
  }
  CHECK(good > 1000);
}

TEST_CASE("what is printed is read as the same address") {
  constexpr unsigned seed = 21;
  generator random(seed);
  int good = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = random.any();
    INFO("seed " << seed << ", text " << i << ": " << text);
    const parsed_address parsed = parse_address(text, for_bind);
    if (!parsed) {
      REQUIRE(parsed.position <= text.size());
      continue;
    }
    ++good;
    const std::string printed = to_string(*parsed);
    const parsed_address again = parse_address(printed, for_bind);
    REQUIRE(again);
    REQUIRE(*again == *parsed);
    REQUIRE(to_string(*again) == printed);
  }
  CHECK(good > 2000);
}
