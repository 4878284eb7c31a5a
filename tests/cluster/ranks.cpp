// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/ranks.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "support/errors.hpp"

using namespace tagma;
using tagma::test::code_of;
using tagma::test::text_of;

namespace {

launch of_hosts(std::vector<std::string> hosts) {
  launch l;
  l.launcher = "Open MPI";
  l.size = static_cast<int>(hosts.size());
  l.hosts = std::move(hosts);
  return l;
}

bool has(const std::string& text, std::string_view part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("counts of jobs") {
  CHECK(job_counts_from("ps=1,worker=3", "--jobs") == job_counts{{"ps", 1}, {"worker", 3}});
  CHECK(job_counts_from(" worker = 3 , ps = 0 ", "--jobs") == job_counts{{"ps", 0}, {"worker", 3}});
  CHECK(job_counts_from("", "--jobs").empty());
  CHECK(has(text_of([] { (void)job_counts_from("ps", "--jobs"); }), "--jobs: \"ps\" is no job and its number"));
  CHECK(
      has(text_of([] { (void)job_counts_from("ps=x", "--jobs"); }), "--jobs, job \"ps\": \"x\" is not a whole number"));
  CHECK(has(text_of([] { (void)job_counts_from("ps=65537", "--jobs"); }), "0 to 65536"));
  CHECK(has(text_of([] { (void)job_counts_from("ps=1,ps=2", "--jobs"); }), "twice"));
  CHECK(has(text_of([] { (void)job_counts_from("p s=1", "--jobs"); }), "no name of a job"));
}

TEST_CASE("ranks are dealt out to jobs in the order of their names") {
  const job_counts jobs{{"worker", 2}, {"chief", 1}, {"ps", 2}, {"none", 0}};
  CHECK(task_of_rank(jobs, 0) == task_id{"chief", 0});
  CHECK(task_of_rank(jobs, 1) == task_id{"ps", 0});
  CHECK(task_of_rank(jobs, 2) == task_id{"ps", 1});
  CHECK(task_of_rank(jobs, 3) == task_id{"worker", 0});
  CHECK(task_of_rank(jobs, 4) == task_id{"worker", 1});
  for (const int bad : {-1, 5}) CHECK(code_of([&] { (void)task_of_rank(jobs, bad); }) == status_code::invalid_argument);
}

TEST_CASE("a launch is a cluster where its hosts are known") {
  const launch l = of_hosts({"a", "a", "b"});
  CHECK(cluster_of(l, {}) == cluster({{"worker", {"a:2222", "a:2223", "b:2222"}}}));
  CHECK(cluster_of(l, {{"worker", 2}, {"ps", 1}}) == cluster({{"ps", {"a:2222"}}, {"worker", {"a:2223", "b:2222"}}}));
  CHECK(cluster_of(l, {}, 7) == cluster({{"worker", {"a:7", "a:8", "b:7"}}}));
  launch suggested = l;
  suggested.base_port = std::uint16_t{100};
  CHECK(cluster_of(suggested, {}) == cluster({{"worker", {"a:100", "a:101", "b:100"}}}));
  CHECK(cluster_of(suggested, {}, 7) == cluster({{"worker", {"a:7", "a:8", "b:7"}}}));
  // Ranks that alternate between hosts have ports by host, too.
  CHECK(cluster_of(of_hosts({"a", "b", "a"}), {}) == cluster({{"worker", {"a:2222", "b:2222", "a:2223"}}}));
  CHECK(cluster_of(of_hosts({"localhost"}), {}) == cluster({{"worker", {"localhost:0"}}}));
}

TEST_CASE("a launch that is no cluster") {
  const auto counts = [] { (void)cluster_of(of_hosts({"a", "b"}), {{"worker", 3}}); };
  CHECK(code_of(counts) == status_code::invalid_argument);
  CHECK(has(text_of(counts), "Open MPI started 2 processes, and the jobs have 3 tasks"));
  CHECK(has(text_of([] {
              (void)cluster_of(of_hosts({"a", "a"}), {}, 65535);
            }),
            "host \"a\" has more processes than ports"));
  launch unknown = of_hosts({});
  unknown.rank = 3;
  unknown.lacking = "not which hosts the others are on";
  CHECK(code_of([&] { (void)cluster_of(unknown, {}); }) == status_code::failed_precondition);
  CHECK(has(text_of([&] { (void)cluster_of(unknown, {}); }), "says that this is rank 3, and not which hosts"));
}

TEST_CASE("processes of one host") {
  launch l;
  l.size = 3;
  fill_hosts_of_one(l);
  CHECK(l.hosts.empty());
  l.local_size = 2;
  fill_hosts_of_one(l);
  CHECK(l.hosts.empty());
  l.local_size = 3;
  fill_hosts_of_one(l);
  CHECK(l.hosts == std::vector<std::string>(3, "localhost"));
  launch alone;
  alone.size = 1;
  fill_hosts_of_one(alone);
  CHECK(alone.hosts.size() == 1);
  launch unknown;
  fill_hosts_of_one(unknown);
  CHECK(unknown.hosts.empty());
}
