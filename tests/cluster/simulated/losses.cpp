// SPDX-License-Identifier: BSL-1.0
#include "cluster/simulated/losses.hpp"

namespace tagma::test {

using Catch::Matchers::Contains;

TEST_CASE("a run that waits for a tensor which went to the process before this one is told") {
  const village::outcome found = run_whose_edge_is_lost();
  CHECK_THAT(found.text, Contains("what was on its way from /job:ps/task:0 was lost"));
  CHECK(found.ns < 10 * village::s);
}

TEST_CASE("it is told as well if who sends has lost somebody else before") {
  const village::outcome found = run_whose_edge_is_lost_second();
  CHECK(found.ns < 10 * village::s);
}

TEST_CASE("servers that do not reach each other end the runs of both") {
  const village::outcome found = run_of_servers_that_are_parted();
  CHECK_THAT(found.text, Contains("was lost: nothing came for 3.0 s"));
  CHECK(found.ns < 10 * village::s);
}

TEST_CASE("a part that fails ends those that wait for it") {
  const village::outcome found = run_that_fails();
  CHECK_THAT(found.text, Contains("/job:ps/replica:0/task:0"));
  CHECK(found.ns < village::s);
}

TEST_CASE("a client that lost a connection goes on where it was") {
  CHECK(run_through_a_cut().text.empty());
  CHECK(run_after_a_cut(village::s).text.empty());
  CHECK(run_after_a_cut(70 * village::s).text.empty());
}

TEST_CASE("a session does not go on with a server that was started anew") {
  CHECK_THAT(run_on_a_new_server().text, Contains("started anew"));
}

TEST_CASE("a session whose container was reset is told") {
  CHECK_THAT(run_after_a_reset().text, Contains("was reset"));
}

TEST_CASE("graphs go when their client says so, or is gone") {
  CHECK_THAT(run_of_graph_that_went(true), Contains("graph 5 is not known here"));
  CHECK_THAT(run_of_graph_that_went(false), Contains("graph 5 is not known here"));
}

}  // namespace tagma::test
