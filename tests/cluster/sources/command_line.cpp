// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/sources/command_line.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "support/errors.hpp"

using namespace tagma;
using sources::arguments;
using sources::command_line;
using tagma::test::code_of;

namespace {

std::string refusal(const arguments& options) {
  const auto read = [&] { (void)command_line(options); };
  CHECK(code_of(read) == status_code::invalid_argument);
  return tagma::test::text_of(read);
}

bool has(const std::string& text, std::string_view part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

const cluster small({{"ps", {"a:1"}}, {"worker", {"b:1", "c:1"}}});

}  // namespace

TEST_CASE("options describe a cluster and a role") {
  const auto said =
      command_line({"--cluster", R"({"ps": ["a:1"], "worker": ["b:1", "c:1"]})", "--job", "worker", "--task", "1"});
  REQUIRE(said.members);
  CHECK(*said.members == small);
  CHECK(said.options.job == "worker");
  CHECK(said.options.task == 1);
}

TEST_CASE("options have several spellings") {
  for (const arguments& options :
       {arguments{"--ps_hosts", "a:1", "--worker_hosts", "b:1,c:1", "--job_name", "worker", "--task_index", "1"},
        arguments{"--ps_hosts=a:1", "--worker_hosts=b:1, c:1", "--job_name=worker", "--task_index=1"},
        arguments{"--steps", "5", "--ps-hosts=a:1", "x", "--worker-hosts=b:1,c:1", "--job=worker", "--task=1", "-v"}}) {
    const auto said = command_line(options);
    REQUIRE(said.members);
    CHECK(*said.members == small);
    CHECK(said.options.job == "worker");
    CHECK(said.options.task == 1);
    CHECK(sources::has_command_line(options));
  }
  CHECK(command_line({"--ps_hosts=", "--worker_hosts=b:1"}).members->num_tasks("ps") == 0);
}

TEST_CASE("other options are the program's") {
  for (const arguments& options : {arguments{}, arguments{"--allowed_hosts=a,b", "--tasks", "3", "-job", "x", "job"},
                                   arguments{"--", "--job", "ps"}, arguments{"--jobs=ps=1", "--port=7"}})
    CHECK_FALSE(sources::has_command_line(options));
  CHECK(command_line({"--", "--job", "ps"}).options.job.empty());
}

TEST_CASE("mistakes name the option") {
  CHECK(has(refusal({"--cluster"}), "--cluster: this option has a value"));
  CHECK(has(refusal({"--job", "ps", "--job_name=ps"}), "--job_name: this was said before, by --job"));
  CHECK(has(refusal({"--ps_hosts=a:1,a"}), "--ps_hosts, entry 1: address \"a\", position 1"));
  CHECK(has(refusal({"--ps-hosts=a:1,,"}), "--ps-hosts: entry 1"));
  CHECK(has(refusal({"--ps_hosts=a:1", "--worker_hosts=a:1"}), "--worker_hosts, entry 0 and --ps_hosts, entry 0"));
  CHECK(has(refusal({"--ps_hosts=a:1", "--cluster={}"}), "both describe a cluster"));
  CHECK(has(refusal({"--cluster={\"ps\": [\"a\"]}"}), "--cluster: ps[0]: address"));
  CHECK(has(refusal({"--cluster="}), "--cluster: expected"));
  CHECK(has(refusal({"--task=x"}), "--task: \"x\""));
  CHECK(has(refusal({"--task_index=65536"}), "--task_index: \"65536\""));
  CHECK(has(refusal({"--job="}), "--job: the name of a job is empty"));
  CHECK(has(refusal({"--job=a b"}), "--job: \"a b\" is no name of a job"));
  CHECK(code_of([] { (void)command_line({"--cluster=/nowhere/cluster.json"}); }) == status_code::not_found);
}

TEST_CASE("variables say the same") {
  const environment set{{"TAGMA_CLUSTER", R"({"ps": ["a:1"]})"}, {"TAGMA_JOB", "ps"}, {"TAGMA_TASK", "0"}};
  CHECK(sources::has_own_variables(set));
  CHECK(sources::own_variables_there(set) == "TAGMA_CLUSTER");
  CHECK(sources::own_variables_there(environment{{"TAGMA_TASK", "0"}}) == "TAGMA_TASK");
  CHECK_FALSE(sources::has_own_variables(environment{{"TAGMA_PORT", "7"}}));
  const auto said = sources::own_variables(set);
  CHECK(*said.members == cluster({{"ps", {"a:1"}}}));
  CHECK(said.options.job == "ps");
  CHECK(said.options.task == 0);
  CHECK(sources::own_variables(environment{{"TAGMA_JOB", "ps"}}).options.task == -1);
  CHECK(has(tagma::test::text_of([] {
              (void)sources::own_variables(environment{{"TAGMA_TASK", "x"}});
            }),
            "TAGMA_TASK: \"x\""));
  CHECK(has(tagma::test::text_of([] {
              (void)sources::own_variables(environment{{"TAGMA_JOB", "1"}});
            }),
            "TAGMA_JOB: \"1\""));
}

TEST_CASE("a file that is not there is named behind the option or the variable") {
  CHECK(has(tagma::test::text_of([] {
              (void)command_line({"--cluster", "/nowhere/cluster.json"});
            }),
            "--cluster: /nowhere/cluster.json: cannot be opened"));
  CHECK(has(tagma::test::text_of([] {
              (void)sources::own_variables(environment{{"TAGMA_CLUSTER", "/nowhere/cluster.json"}});
            }),
            "TAGMA_CLUSTER: /nowhere/cluster.json: cannot be opened"));
}

TEST_CASE("what is said of launched processes") {
  const environment set{{"TAGMA_JOBS", "ps=1"}, {"TAGMA_PORT", "7"}};
  CHECK(sources::launch_settings_from({}, set).jobs == job_counts{{"ps", 1}});
  CHECK(sources::launch_settings_from({}, set).port == 7);
  CHECK(sources::launch_settings_from({"--jobs=ps=2", "--port=8"}, set).jobs == job_counts{{"ps", 2}});
  CHECK(sources::launch_settings_from({"--jobs=ps=2", "--port=8"}, set).port == 8);
  CHECK(sources::launch_settings_from({}, environment()).jobs.empty());
  CHECK_FALSE(sources::launch_settings_from({}, environment()).port);
  for (const char* bad : {"--port=0", "--port=65536", "--jobs=ps"})
    CHECK(code_of([&] { (void)sources::launch_settings_from({bad}, {}); }) == status_code::invalid_argument);
  CHECK(code_of([&] {
          (void)sources::launch_settings_from({}, environment{{"TAGMA_PORT", "x"}});
        }) == status_code::invalid_argument);
}
