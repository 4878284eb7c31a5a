// SPDX-License-Identifier: BSL-1.0
#include "tagma/transport/certificate_names.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace tagma::transport::test {

using Catch::Matchers::Contains;

namespace {

identity who(const std::string& job, std::int32_t task) {
  identity i;
  i.job = job, i.task = task;
  return i;
}

bool good(const std::vector<std::string>& uris, const std::string& job, std::int32_t task, bool connects = false) {
  return !certificate_names(uris).contradict(who(job, task), connects);
}

}  // namespace

TEST_CASE("certificates name tasks, or all tasks of a job") {
  CHECK(good({"tagma:/job:ps/task:3"}, "ps", 3));
  CHECK(!good({"tagma:/job:ps/task:3"}, "ps", 4));
  CHECK(!good({"tagma:/job:ps/task:3"}, "worker", 3));
  CHECK(good({"tagma:/job:ps"}, "ps", 70));
  CHECK(!good({"tagma:/job:ps"}, "ps2", 0));
  CHECK(good({"tagma:/job:a/task:1", "tagma:/job:b/task:2"}, "b", 2));
  CHECK(!good({"tagma:/job:a/task:1", "tagma:/job:b/task:2"}, "a", 2));
}

TEST_CASE("names that are not as they should be name nobody") {
  for (const char* wrong : {"",
                            "tagma:",
                            "tagma:/",
                            "tagma:/job:",
                            "tagma:/job:/task:0",
                            "tagma:/job:ps/",
                            "tagma:/job:ps/task:",
                            "tagma:/job:ps/task:-1",
                            "tagma:/job:ps/task:-0",
                            "tagma:/job:ps/task:00",
                            "tagma:/job:ps/task:+0",
                            "tagma:/job:ps/task:0x",
                            "tagma:/job:ps/task:99999999999",
                            "tagma:/job:ps/task:0/",
                            "tagma:/job:ps/host:0",
                            "TAGMA:/job:ps",
                            "tagma://job:ps",
                            "spiffe://tagma:/job:ps",
                            "tagma:/role:",
                            "tagma:/role:root"}) {
    INFO(wrong);
    CHECK(!good({wrong}, "ps", 0));
    CHECK(!good({wrong}, "client", 0, true));
    CHECK(certificate_names({wrong}).is_empty());
    CHECK(certificate_names({wrong}).may() == authority::worker);
  }
}

TEST_CASE("clients have roles, and tasks are workers") {
  CHECK(good({"tagma:/role:worker"}, "client", 0, true));
  CHECK(good({"tagma:/job:worker/task:2"}, "client", 0, true));
  CHECK(!good({"tagma:/role:chief"}, "client", 0, false));  // who listens is a task
  CHECK(!good({"tagma:/role:chief"}, "worker", 0, true));
  CHECK(!good({}, "client", 0, true));
  CHECK(certificate_names({"tagma:/role:worker"}).may() == authority::worker);
  CHECK(certificate_names({"tagma:/job:chief/task:0"}).may() == authority::worker);
  CHECK(certificate_names({"tagma:/role:worker", "tagma:/role:chief"}).may() == authority::chief);
  CHECK(certificate_names({"tagma:/role:admin"}).may() == authority::chief);
}

TEST_CASE("who is not whom a certificate names is told for whom it is") {
  const auto why = certificate_names({"tagma:/job:ps/task:1", "https://x", "tagma:/role:\x01worker"})
                       .contradict(who("ps", 0), false);
  REQUIRE(why);
  CHECK(why->code() == status_code::permission_denied);
  CHECK_THAT(why->what(),
             Contains("/job:ps/task:0, and its certificate is for tagma:/job:ps/task:1, tagma:/role:?worker"));
  CHECK_THAT(certificate_names().contradict(who("ps", 0), false)->what(), Contains("for nobody"));
}

}  // namespace tagma::transport::test
