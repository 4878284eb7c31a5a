// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/cluster.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <string>

#include "support/errors.hpp"
#include "tagma/cluster/sources/json.hpp"

using namespace tagma;
using tagma::test::code_of;
using tagma::test::text_of;

namespace {

using by_index = std::map<int, std::string>;
using lists = std::map<std::string, std::vector<std::string>>;

/// What speaks against a cluster of these jobs.
std::string refusal(std::initializer_list<job_addresses> jobs) {
  const std::vector<job_addresses> list(jobs);
  CHECK(code_of([&] { (void)cluster(list); }) == status_code::invalid_argument);
  return text_of([&] { (void)cluster(list); });
}

bool mentions(const std::string& text, std::initializer_list<std::string_view> parts) {
  INFO(text);
  bool all = true;
  for (const std::string_view part : parts) {
    INFO(part);
    CHECK(text.find(part) != std::string::npos);
    all = all && text.find(part) != std::string::npos;
  }
  return all;
}

}  // namespace

TEST_CASE("a cluster is written in several ways") {
  const cluster written({{"ps", {"127.0.0.1:2221"}}, {"worker", {"127.0.0.1:2222", "127.0.0.1:2223"}}});
  CHECK(written.jobs() == std::vector<std::string>{"ps", "worker"});
  CHECK(written.num_tasks() == 3);
  CHECK(to_string(written) == R"({"ps": ["127.0.0.1:2221"], "worker": ["127.0.0.1:2222", "127.0.0.1:2223"]})");

  const std::vector<std::string> workers{"127.0.0.1:2222", "127.0.0.1:2223"};
  CHECK(cluster({{"worker", workers}, {"ps", {"127.0.0.1:2221"}}}) == written);
  CHECK(cluster(lists{{"ps", {"127.0.0.1:2221"}}, {"worker", workers}}) == written);
  CHECK(cluster(std::map<std::string, by_index>{{"ps", {{0, "127.0.0.1:2221"}}},
                                                {"worker", {{1, workers[1]}, {0, workers[0]}}}}) == written);
  CHECK(cluster({{"ps", {address_from("127.0.0.1:2221")}}, {"worker", {{0, workers[0]}, {1, workers[1]}}}}) == written);
  CHECK(cluster(written) == written);
  CHECK(cluster({{"ps", written.as_map().at("ps")}, {"worker", written.as_map().at("worker")}}) == written);
  CHECK(cluster(written.as_map()) == written);
}

TEST_CASE("addresses by index equal a list") {
  CHECK(cluster({{"worker", {{0, "x:1"}}}}) == cluster({{"worker", {"x:1"}}}));
  CHECK(cluster({{"worker", {{1, "x:1"}}}}) != cluster({{"worker", {"x:1"}}}));
  CHECK(cluster({{"worker", {"x:1"}}}) != cluster({{"worker", {"x:2"}}}));
  CHECK(cluster({{"worker", {"x:1"}}}) != cluster({{"ps", {"x:1"}}}));
  CHECK(cluster({{"worker", {"X:1"}}}) == cluster({{"worker", {"x:1"}}}));
}

TEST_CASE("jobs may be sparse") {
  const cluster sparse({{"local", {{37, "a:1"}}}, {"worker", {{2, "b:1"}, {0, "c:1"}}}});
  CHECK(sparse.task_indices("local") == std::vector<int>{37});
  CHECK(sparse.task_indices("worker") == std::vector<int>{0, 2});
  CHECK(sparse.num_tasks("worker") == 2);
  CHECK_FALSE(sparse.is_dense("worker"));
  CHECK(sparse.task_address("local", 37) == address_from("a:1"));
  const auto tasks = sparse.job_tasks("worker");
  REQUIRE(tasks.size() == 3);
  CHECK(tasks[0] == address_from("c:1"));
  CHECK_FALSE(tasks[1]);
  CHECK(tasks[2] == address_from("b:1"));
  CHECK(to_string(sparse) == R"({"local": {"37": "a:1"}, "worker": {"0": "c:1", "2": "b:1"}})");
}

TEST_CASE("an empty cluster, and jobs without tasks") {
  CHECK(cluster().empty());
  CHECK(cluster().num_tasks() == 0);
  CHECK(to_string(cluster()) == "{}");
  CHECK(cluster(std::vector<job_addresses>()) == cluster());
  const cluster none({{"ps", {}}, {"worker", {"a:1"}}});
  CHECK(none.num_tasks("ps") == 0);
  CHECK(none.job_tasks("ps").empty());
  CHECK(none.is_dense("ps"));
  CHECK(mentions(text_of([&] { (void)none.task_address("ps", 0); }), {"no task 0 of job \"ps\"", "none"}));
}

TEST_CASE("a cluster of one has a port that the system chooses") {
  CHECK(to_string(cluster::local()) == R"({"local": ["localhost:0"]})");
  CHECK(mentions(refusal({{"local", {"localhost:0", "localhost:1"}}}), {"task 0 of job \"local\"", "port 0"}));
}

TEST_CASE("what is not in a cluster is named, beside what is") {
  const cluster c({{"ps", {"a:1"}}, {"worker", {"b:1", "c:1"}}, {"odd", {{1, "d:1"}, {3, "e:1"}}}});
  CHECK(code_of([&] { (void)c.num_tasks("master"); }) == status_code::invalid_argument);
  for (const auto& text :
       {text_of([&] { (void)c.num_tasks("master"); }), text_of([&] { (void)c.task_indices("master"); }),
        text_of([&] { (void)c.job_tasks("master"); }), text_of([&] { (void)c.task_address("master", 0); })})
    CHECK(text == "InvalidArgument: there is no job \"master\" in the cluster, which has jobs odd, ps and worker");
  CHECK(text_of([&] { (void)c.task_address("worker", 2); }) ==
        "InvalidArgument: there is no task 2 of job \"worker\", whose tasks are 0 to 1");
  CHECK(text_of([&] { (void)c.task_address("odd", 0); }) ==
        "InvalidArgument: there is no task 0 of job \"odd\", which has 1 and 3");
  CHECK(mentions(text_of([&] { (void)c.task_address("worker", -1); }), {"no task -1"}));
  CHECK(mentions(text_of([] { (void)cluster().num_tasks("ps"); }), {"\"ps\"", "empty"}));
  CHECK(c.has_task("odd", 3));
  CHECK_FALSE(c.has_task("odd", 2));
  CHECK_FALSE(c.has_task("even", 2));
}

TEST_CASE("what no cluster has is named") {
  // Scenario: the address "localhost" lacks a port.
  CHECK(mentions(refusal({{"worker", {"a:1", "localhost"}}}), {"task 1 of job \"worker\"", "\"localhost\"", "port"}));
  CHECK(mentions(refusal({{"worker", {"a:1", "a:99999"}}}), {"task 1 of job \"worker\"", "position 2", "65535"}));
  CHECK(mentions(refusal({{"worker", {"0.0.0.0:1"}}}), {"task 0 of job \"worker\"", "all interfaces"}));
  CHECK(mentions(refusal({{"worker", {""}}}), {"task 0 of job \"worker\"", "empty"}));
  CHECK(mentions(refusal({{"ps", {"a:1"}}, {"worker", {"b:1", "A:1"}}}),
                 {"task 1 of job \"worker\" and task 0 of job \"ps\"", "same address, a:1"}));
  CHECK(mentions(refusal({{"worker", {{3, "a:1"}, {3, "b:1"}}}}), {"task 3 of job \"worker\"", "two addresses"}));
  CHECK(mentions(refusal({{"worker", {{-1, "a:1"}}}}), {"task -1 of job \"worker\"", "0 to 65535"}));
  CHECK(mentions(refusal({{"worker", {{65536, "a:1"}}}}), {"task 65536 of job \"worker\"", "0 to 65535"}));
  CHECK(mentions(refusal({{"ps", {"a:1"}}, {"ps", {"b:1"}}}), {"\"ps\"", "twice"}));
  for (const char* bad : {"1a", "a b", "a-b", "a/task:1", "*", "ps/", "\x1b[0m", "abcdefghijklmnopqrstuvwxyz0123456"})
    CHECK(mentions(refusal({{bad, {"a:1"}}}), {"no name of a job"}));
  CHECK(mentions(refusal({{"", {"a:1"}}}), {"name of a job is empty"}));
  CHECK(cluster({{"abcdefghijklmnopqrstuvwxyz01234", {"a:1"}}}).num_tasks() == 1);
  CHECK(refusal({{"\x1b[0m", {"a:1"}}}).find('\x1b') == std::string::npos);
}

TEST_CASE("loopback addresses are no addresses of several hosts") {
  CHECK(mentions(refusal({{"ps", {"127.0.0.1:1"}}, {"worker", {"10.0.0.2:1"}}}),
                 {"task 0 of job \"ps\", 127.0.0.1:1", "task 0 of job \"worker\", 10.0.0.2:1"}));
  CHECK(mentions(refusal({{"ps", {"a:1"}}, {"worker", {"unix:/run/a"}}}), {"unix:/run/a"}));
  CHECK(cluster({{"ps", {"127.0.0.1:1"}}, {"worker", {"localhost:1", "[::1]:1", "unix:/run/a"}}}).num_tasks() == 4);
}

TEST_CASE("a cluster has a limit") {
  std::vector<std::string> list;
  for (int i = 0; i < cluster_limits::tasks; ++i) list.push_back("h" + std::to_string(i) + ":1");
  const cluster most({{"worker", list}});
  CHECK(most.num_tasks() == cluster_limits::tasks);
  CHECK(mentions(text_of([&] { (void)most.num_tasks("ps"); }), {"job worker"}));
  CHECK(mentions(refusal({{"worker", list}, {"ps", {"a:1"}}}), {"task 0 of job \"ps\"", "at most 65536 tasks"}));
}

TEST_CASE("a printed cluster is read as the same") {
  constexpr unsigned seed = 30;
  std::mt19937 random(seed);
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  for (int i = 0; i < 500; ++i) {
    std::map<std::string, by_index> jobs;
    int next = 0;
    for (int job = below(4); job >= 0; --job) {
      by_index& tasks = jobs["job_" + std::to_string(below(100))];
      for (int task = below(6); task > 0; --task)
        tasks[below(2) == 0 ? below(8) : below(cluster_limits::tasks)] =
            below(2) == 0 ? "10.0.0.7:" + std::to_string(++next) : "[2001:db8::" + std::to_string(++next) + "]:7";
    }
    const cluster c(jobs);
    INFO("seed " << seed << ", cluster " << i << ": " << to_string(c));
    const cluster again = cluster_from_json(to_string(c));
    REQUIRE(again == c);
    REQUIRE(to_string(again) == to_string(c));
    for (const std::string& job : c.jobs()) {
      const auto tasks = c.job_tasks(job);
      int found = 0;
      for (std::size_t k = 0; k < tasks.size(); ++k) {
        if (!tasks[k]) continue;
        ++found;
        REQUIRE(c.task_address(job, static_cast<int>(k)) == *tasks[k]);
      }
      REQUIRE(found == c.num_tasks(job));
    }
  }
}
