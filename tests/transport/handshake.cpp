// SPDX-License-Identifier: BSL-1.0
#include "tagma/transport/handshake.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tagma/base/version.hpp"
#include "transport/pair.hpp"

namespace tagma::transport::test {

using Catch::Matchers::Contains;

namespace {

/// How a meeting ends, at both ends.
std::pair<std::string, std::string> ends(const options& client, const options& server) {
  both p(client, server);
  p.run();
  CHECK(p.a.is_over() == p.b.is_over());
  return {p.at_a->last(), p.at_b->last()};
}

options with_secret(options o, const std::string& secret) {
  o.secret = secret;
  o.insecure = false;
  return o;
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    text += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    text += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

/// A greeting with a change.
std::string changed(const std::function<void(greeting&)>& f) {
  greeting g = greeting_of(task("worker"), end::nonce_of(side::connects, 1));
  f(g);
  return encode(g);
}

/// What who accepts makes of a hello.
std::string accepts(const std::string& hello, const options& own = task("ps")) {
  both p(task("worker"), own);
  p.b.in(frame_of({.type = frame_type::hello}, hello));
  const std::vector<std::pair<frame, std::string>> said = frames_in(p.b.out());
  REQUIRE(said.size() == 1);
  return said[0].first.type == frame_type::refusal ? said[0].second : "";
}

}  // namespace

TEST_CASE("a greeting is read as it was written") {
  options o = task("worker", 12);
  o.self.library = "1.2.3";
  o.wanted_job = "ps";
  o.wanted_task = 4;
  o.checksums = false;
  o.limits.window_bytes = 12'345'678;
  const greeting g = greeting_of(o, end::nonce_of(side::connects, 9));
  const std::string bytes = encode(g);
  const std::optional<greeting> read = decode_greeting(bytes + "what a later version adds");
  REQUIRE(read);
  CHECK(read->who == g.who);
  CHECK(read->wanted_job == "ps");
  CHECK(read->wanted_task == 4);
  CHECK(read->insecure);
  CHECK(!read->has_secret);
  CHECK(!read->checksums);
  CHECK(read->limits.window_bytes == 12'345'678);
  CHECK(read->nonce == g.nonce);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    REQUIRE(!decode_greeting(std::string_view(bytes).substr(0, size)));
}

TEST_CASE("a greeting that nobody can keep is refused") {
  CHECK(decode_greeting(changed([](greeting&) {})));
  CHECK(!decode_greeting(changed([](greeting& g) { g.who.job = "a\nb"; })));
  CHECK(!decode_greeting(changed([](greeting& g) { g.who.job = std::string(65, 'x'); })));
  CHECK(!decode_greeting(changed([](greeting& g) { g.who.cluster = std::string(256, 'x'); })));
  CHECK(!decode_greeting(changed([](greeting& g) { g.who.task = -1; })));
  CHECK(!decode_greeting(changed([](greeting& g) { g.wanted_task = -2; })));
  CHECK(!decode_greeting(changed([](greeting& g) { g.oldest = 0; })));
  CHECK(!decode_greeting(changed([](greeting& g) { g.oldest = 3; })));
  CHECK(!decode_greeting(changed([](greeting& g) { g.limits.body_bytes = 1023; })));
  CHECK(!decode_greeting(changed([](greeting& g) { g.limits.chunk_bytes = 0; })));
  CHECK(!decode_greeting(changed([](greeting& g) { g.limits.transfers = 0; })));
  CHECK(!decode_greeting(changed([](greeting& g) { g.limits.window_bytes = 2 * g.limits.body_bytes; })));
  CHECK(!decode_greeting(changed([](greeting& g) { g.limits.window_bytes = ~0ull; })));
  CHECK_THAT(accepts("short"), Contains("damaged greeting"));
}

TEST_CASE("each mismatch is refused by name, and the other end is told") {
  const options worker = task("worker"), ps = task("ps");
  CHECK(ends(worker, ps) == std::pair<std::string, std::string>("connected", "connected"));

  options other = ps;
  other.self.cluster = "another";
  CHECK_THAT(ends(worker, other).first,
             Contains("FailedPrecondition") && Contains("'a cluster'") && Contains("'another'"));
  CHECK_THAT(ends(worker, other).second, Contains("'a cluster'") && Contains("'another'"));

  other = ps;
  other.self.library = "0.7.0";
  CHECK_THAT(ends(worker, other).first, Contains("0.7.0") && Contains(TAGMA_VERSION));
  other.same_library = false;
  CHECK_THAT(ends(worker, other).first, Contains("0.7.0"));  // the worker minds
  options tolerant = worker;
  tolerant.same_library = false;
  CHECK(ends(tolerant, other).first == "connected");

  options picky = worker;
  picky.wanted_job = "ps";
  picky.wanted_task = 2;
  CHECK_THAT(ends(picky, ps).first, Contains("/job:ps/task:2 was expected, and /job:ps/task:0 is there"));
  CHECK(ends(picky, task("ps", 2)).first == "connected");

  CHECK_THAT(accepts(changed([](greeting& g) { g.oldest = 2, g.newest = 9; })), Contains("versions 2 to 9"));
  CHECK(accepts(changed([](greeting& g) { g.newest = 9; })).empty());
}

TEST_CASE("greetings and proofs are what docs/wire.md says") {
  options worker = task("worker", 3), ps = task("ps");
  worker.secret = ps.secret = "a secret";
  worker.insecure = ps.insecure = false;
  worker.self.incarnation = 0x0123456789abcdef;
  ps.self.incarnation = 42;
  worker.self.library = ps.self.library = "0.1.0";
  digest first{}, second{};
  for (std::uint8_t i = 0; i < 32; ++i) first[i] = i, second[i] = static_cast<std::uint8_t>(32 + i);
  const std::string hello = encode(greeting_of(worker, first)), answer = encode(greeting_of(ps, second));
  CHECK(hello.size() == 0x72);
  CHECK(hex(hello).substr(0, 96) ==
        "0101010003000000efcdab8967452301000001000000040000010000ffffffff00004000000000000000000000010000");
  CHECK(hex(hello).substr(160) == "0600776f726b657204007465737409006120636c75737465720500302e312e300000");
  CHECK(answer.size() == 0x6e);
  CHECK(hex(bytes_of(proof_of(side::connects, "a secret", hello, answer))) ==
        "72fa9e58eeea97b521583f4a703e2f5c205f66a73fd438a5d9b727d482b0af5a");
  CHECK(hex(bytes_of(proof_of(side::accepts, "a secret", hello, answer))) ==
        "b19c2b3b782e06af268be50cf0dfa11a1aa1752cca01679ce482ab314f60df14");
}

TEST_CASE("without a secret, both ends must say that they go without") {
  options worker = task("worker"), ps = task("ps");
  worker.insecure = false;
  CHECK_THAT(ends(worker, ps).first,
             Contains("PermissionDenied") && Contains("no secret") && Contains("--insecure; in C++ `insecure = true`"));
  worker.insecure = true;
  ps.insecure = false;
  CHECK_THAT(ends(worker, ps).second, Contains("PermissionDenied") && Contains("no secret"));
}

TEST_CASE("a secret must be known to both ends") {
  const options worker = task("worker"), ps = task("ps");
  CHECK(ends(with_secret(worker, "x"), with_secret(ps, "x")).first == "connected");
  const auto [first, second] = ends(with_secret(worker, "x"), with_secret(ps, "y"));
  CHECK_THAT(second, Contains("PermissionDenied") && Contains("does not know the secret"));
  CHECK_THAT(first, Contains("PermissionDenied") && Contains("does not know the secret"));
  // The same sentence is right at both ends.
  const auto [only_client, server_without] = ends(with_secret(worker, "x"), ps);
  for (const std::string& said : {only_client, server_without})
    CHECK_THAT(said, Contains("the end that connects has a secret, and the one that listens has none"));
  const auto [client_without, only_server] = ends(worker, with_secret(ps, "x"));
  for (const std::string& said : {client_without, only_server})
    CHECK_THAT(said, Contains("the end that connects has no secret, and the one that listens has one"));
}

TEST_CASE("who accepts must know the secret as well") {
  both p(with_secret(task("worker"), "x"), with_secret(task("ps"), "x"));
  const std::string hello = p.a.out();
  p.b.in(hello);
  p.a.in(p.b.out());
  (void)p.a.out();
  p.a.in(frame_of({.type = frame_type::accepted}, std::string(32, 'x')));
  CHECK_THAT(p.at_a->last(), Contains("does not know the secret"));
  both q(with_secret(task("worker"), "x"), with_secret(task("ps"), "x"));
  q.b.in(q.a.out());
  q.a.in(q.b.out());
  (void)q.a.out();
  q.a.in(frame_of({.type = frame_type::accepted}));
  CHECK_THAT(q.at_a->last(), Contains("does not know the secret"));
}

TEST_CASE("what was said at another meeting proves nothing") {
  const options worker = with_secret(task("worker"), "x"), ps = with_secret(task("ps"), "x");
  both p(worker, ps, 1);
  std::string said;
  for (int i = 0; i < 3; ++i) {
    const std::string now = p.a.out();
    said += now;
    p.b.in(now);
    p.a.in(p.b.out());
  }
  REQUIRE(p.at_b->last() == "connected");
  both q(worker, ps, 2);  // who accepts has another nonce
  q.b.in(said);
  CHECK_THAT(q.at_b->last(), Contains("does not know the secret"));
}

TEST_CASE("a proof that is sent back proves nothing") {
  const options ps = with_secret(task("ps"), "x");
  // A stranger connects to two ends, or twice to one, and says to each what the other says.
  both p(with_secret(task("worker"), "x"), ps);
  p.b.in(p.a.out());
  p.a.in(p.b.out());
  const std::vector<std::pair<frame, std::string>> proof = frames_in(p.a.out());
  REQUIRE(proof.at(0).first.type == frame_type::proof);
  p.a.in(frame_of({.type = frame_type::accepted}, proof[0].second));
  CHECK_THAT(p.at_a->last(), Contains("does not know the secret"));
}

TEST_CASE("who is not admitted is told why") {
  both p;
  p.at_b->admits = [](const identity& who) {
    return error(status_code::already_exists, to_string(who) + " is there already");
  };
  p.run();
  CHECK(p.at_a->last() == "lost: AlreadyExists: there refused the connection: /job:worker/task:0 is there already");
  CHECK(!p.at_a->has("connected"));
  both q;
  q.at_a->admits = [](const identity&) -> std::optional<error> { fail(status_code::internal, "no"); };
  q.run();
  CHECK_THAT(q.at_a->last(), Contains("threw: Internal: no"));
  CHECK(q.b.is_over());
}

TEST_CASE("a handshake that does not end is ended") {
  both p;
  p.now = 4999 * ms;
  p.a.advance();
  p.b.advance();
  CHECK(!p.a.is_over());
  p.b.in(p.a.out().substr(0, 20));  // a byte now and then does not help
  p.now = 5 * s;
  p.a.advance();
  p.b.advance();
  CHECK(p.at_a->last() == "lost: Unavailable: there did not finish the handshake within 5.0 s");
  CHECK(p.at_b->last() == "lost: Unavailable: a stranger did not finish the handshake within 5.0 s");
}

TEST_CASE("only what belongs into a handshake is taken there, in its order") {
  for (const frame& f :
       {frame{.type = frame_type::ping}, frame{.type = frame_type::message}, frame{.type = frame_type::proof},
        frame{.type = frame_type::accepted}, frame{.type = frame_type::answer}, frame{.type = frame_type::goodbye}}) {
    both p;
    p.b.in(frame_of(f));
    CHECK_THAT(p.at_b->last(), Contains("DataLoss") && Contains("handshake"));
    CHECK(p.b.is_over());
  }
  both chunk;
  chunk.b.in(frame_of({.type = frame_type::chunk, .transfer = 1}, "x"));
  CHECK(chunk.b.is_over());
  both late;
  late.run();
  late.b.in(frame_of({.type = frame_type::hello}, changed([](greeting&) {})));
  CHECK_THAT(late.at_b->last(), Contains("handshake"));
}

TEST_CASE("a stranger is given little memory") {
  both p;
  std::size_t most = 0;
  const std::string hello =
      frame_of({.type = frame_type::hello},
               changed([](greeting& g) { g.who.cluster.resize(255, 'x'); }) + std::string(1200, 'x'));
  for (const char c : hello) {
    p.b.in({&c, 1});
    p.b.with([&](connection& n) { most = std::max(most, n.buffer_bytes()); });
  }
  CHECK(most <= handshake_bytes);
  CHECK(frames_in(p.b.out()).at(0).first.type == frame_type::answer);
  // More than a handshake may have is refused when it is announced.
  both q;
  frame f{.type = frame_type::hello};
  f.length = 1u << 31;
  const frame_bytes header = encode(f);
  q.b.in({reinterpret_cast<const char*>(header.data()), header.size()});
  CHECK(q.b.is_over());
  q.b.with([&](connection& n) { CHECK(n.buffer_bytes() <= 1024); });
}

TEST_CASE("who knows the secret of chiefs is a chief, and who knows the other one is a worker") {
  struct meeting {
    const char *server, *chiefs, *client;
    std::optional<authority> made;  // nothing: it is refused
  };
  for (const meeting& m : {meeting{"one", "", "one", authority::chief}, meeting{"one", "two", "one", authority::worker},
                           meeting{"one", "two", "two", authority::chief}, meeting{"one", "two", "three", std::nullopt},
                           meeting{"one", "", "two", std::nullopt}, meeting{"", "two", "two", std::nullopt},
                           meeting{"", "", "", authority::chief}}) {
    INFO(m.server << ", " << m.chiefs << ", " << m.client);
    options server = with_secret(task("ps"), m.server), client = with_secret(task("worker"), m.client);
    server.chief_secret = m.chiefs;
    client.self.may = authority::chief;  // which nobody is told
    server.insecure = client.insecure = *m.client == '\0';
    both p(client, server);
    p.run();
    CHECK(p.at_b->has("connected") == m.made.has_value());
    CHECK(p.at_a->has("connected") == m.made.has_value());
    if (m.made) CHECK(p.b.peer().may == *m.made);
  }
}

TEST_CASE("a certificate has to be of whom a greeting says, and has the last word on what one may") {
  const auto meet = [](const std::vector<std::string>& uris, const std::string& secret) {
    options server = task("ps"), client = with_secret(task("worker"), secret);
    server.secret = "one";
    server.chief_secret = "two";
    meeting a(side::connects, client, digest{}), b(side::accepts, server, digest{});
    b.certified(certificate_names(uris));
    transport::meeting::step next = b.take(frame_type::hello, a.hello(), "somebody");
    if (next.refused) return std::string(next.refused->what());
    next = a.take(frame_type::answer, next.payload, "the server");
    next = b.take(frame_type::proof, next.payload, "somebody");
    if (!next.proven) return std::string("not proven");
    return std::string(b.other().who.may == authority::chief ? "chief" : "worker");
  };
  CHECK(meet({"tagma:/job:worker/task:0"}, "one") == "worker");
  CHECK(meet({"tagma:/job:worker/task:0"}, "two") == "worker");
  CHECK(meet({"tagma:/job:worker", "tagma:/role:chief"}, "one") == "chief");
  CHECK_THAT(meet({"tagma:/job:ps/task:0"}, "one"), Contains("PermissionDenied: somebody is not trusted"));
  CHECK_THAT(meet({}, "one"), Contains("PermissionDenied: somebody is not trusted"));
  CHECK(meet({"tagma:/job:worker"}, "three") == "not proven");
}

}  // namespace tagma::transport::test
