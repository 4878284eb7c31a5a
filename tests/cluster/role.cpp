// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/role.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "support/errors.hpp"

using namespace tagma;
using tagma::test::code_of;
using tagma::test::text_of;

namespace {

const cluster two_jobs({{"ps", {"a:1"}}, {"worker", {"b:1", "c:1"}}});

bool has(const std::string& text, std::string_view part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a role is a task of a cluster") {
  const role r(two_jobs, {"worker", 1});
  CHECK(r.job() == "worker");
  CHECK(r.task() == 1);
  CHECK(r.id() == task_id{"worker", 1});
  CHECK(to_string(r) == "task 1 of job \"worker\"");
  CHECK(to_string(r.task_address()) == "c:1");
  CHECK(to_string(r.device()) == "/job:worker/replica:0/task:1");
  CHECK(r.cluster() == two_jobs);
  CHECK_FALSE(r.is_ps());
  CHECK(role(two_jobs, {"ps", 0}).is_ps());
  CHECK(role(two_jobs, {"ps", 0}) != r);
  CHECK(role(two_jobs, {.job = "worker", .task = 1}) == r);
}

TEST_CASE("a job or a task that is the only one need not be said") {
  CHECK(role(two_jobs, {.job = "ps"}).task() == 0);
  CHECK(role(cluster({{"solo", {{5, "a:1"}}}})).id() == task_id{"solo", 5});
  CHECK(role(cluster({{"worker", {"a:1", "b:1"}}}), {.task = 1}).id() == task_id{"worker", 1});
  CHECK(role().id() == task_id{"local", 0});
  const auto no_job = [] { (void)role(two_jobs); };
  CHECK(code_of(no_job) == status_code::invalid_argument);
  CHECK(has(text_of(no_job), "jobs ps and worker; say which one"));
  CHECK(has(text_of([] { (void)role(two_jobs, {"worker", -1}); }), "job \"worker\" has 2 tasks; say which one"));
  CHECK(has(text_of([] { (void)role(cluster()); }), "the cluster is empty"));
  CHECK(has(text_of([] { (void)role(cluster({{"ps", {}}})); }), "job \"ps\" has no tasks"));
}

TEST_CASE("a role that the cluster lacks is refused") {
  CHECK(code_of([] { (void)role(two_jobs, {"worker", 2}); }) == status_code::invalid_argument);
  CHECK(has(text_of([] { (void)role(two_jobs, {"worker", 2}); }), "no task 2 of job \"worker\""));
  CHECK(has(text_of([] { (void)role(two_jobs, {"master", 0}); }), "no job \"master\""));
}

TEST_CASE("an evaluator is in no cluster") {
  const role r(two_jobs, {"evaluator", -1});
  CHECK(r.is_evaluator());
  CHECK(r.task() == 0);
  CHECK_FALSE(r.is_chief());
  CHECK(code_of([&] { (void)r.task_address(); }) == status_code::failed_precondition);
  CHECK(has(text_of([&] { (void)r.task_address(); }), "task 0 of job \"evaluator\""));
  const cluster listed({{"evaluator", {"e:1"}}, {"worker", {"b:1"}}});
  CHECK(to_string(role(listed, {"evaluator", 0}).task_address()) == "e:1");
  CHECK(code_of([&] { (void)role(listed, {"evaluator", 1}); }) == status_code::invalid_argument);
}

TEST_CASE("the chief is that of job chief, master or worker") {
  const auto chief = [](std::initializer_list<job_addresses> jobs) {
    const auto found = chief_of(cluster(std::vector<job_addresses>(jobs)));
    return found ? found->job + " " + std::to_string(found->task) : "nobody";
  };
  CHECK(chief({{"chief", {"a:1"}}, {"master", {"b:1"}}, {"worker", {"c:1"}}}) == "chief 0");
  CHECK(chief({{"master", {"b:1"}}, {"ps", {"a:1"}}, {"worker", {"c:1"}}}) == "master 0");
  CHECK(chief({{"ps", {"a:1"}}, {"worker", {"c:1", "d:1"}}}) == "worker 0");
  CHECK(chief({{"worker", {{4, "c:1"}, {2, "d:1"}}}}) == "worker 2");
  CHECK(chief({{"chief", {}}, {"worker", {"c:1"}}}) == "worker 0");
  CHECK(chief({{"trainer", {"c:1", "d:1"}}}) == "trainer 0");
  CHECK(chief({{"ps", {"a:1"}}}) == "nobody");
  CHECK(chief({{"evaluator", {"a:1"}}}) == "nobody");
  CHECK(chief({{"a", {"a:1"}}, {"b", {"b:1"}}}) == "nobody");
  CHECK(chief({{"a", {}}}) == "nobody");
  CHECK(chief({}) == "nobody");
  CHECK(role(two_jobs, {"worker", 0}).is_chief());
  CHECK_FALSE(role(two_jobs, {"worker", 1}).is_chief());
  CHECK_FALSE(role(two_jobs, {"ps", 0}).is_chief());
  CHECK(role().is_chief());
}
