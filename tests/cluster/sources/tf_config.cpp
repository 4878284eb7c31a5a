// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/sources/tf_config.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "support/errors.hpp"

using namespace tagma;
using sources::tf_config_from;
using tagma::test::code_of;

namespace {

std::string refusal(const std::string& text) {
  const auto read = [&] { (void)tf_config_from(text); };
  CHECK(code_of(read) == status_code::invalid_argument);
  return tagma::test::text_of(read);
}

bool has(const std::string& text, std::string_view part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("TF_CONFIG has a cluster and a task") {
  const auto found = tf_config_from(R"({
    "cluster": {"chief": ["10.0.0.1:2222"], "ps": ["10.0.0.2:2222", "10.0.0.3:2222"],
                "worker": ["10.0.0.4:2222", "10.0.0.5:2222"]},
    "task": {"type": "worker", "index": 1},
    "environment": "cloud", "rpc_layer": "grpc"})");
  REQUIRE(found.members);
  CHECK(*found.members == cluster({{"chief", {"10.0.0.1:2222"}},
                                   {"ps", {"10.0.0.2:2222", "10.0.0.3:2222"}},
                                   {"worker", {"10.0.0.4:2222", "10.0.0.5:2222"}}}));
  CHECK(found.options.job == "worker");
  CHECK(found.options.task == 1);
  CHECK(sources::has_tf_config(environment{{"TF_CONFIG", "{}"}}));
  CHECK_FALSE(sources::has_tf_config(environment{{"TF_CONFIG", ""}}));
  CHECK(sources::tf_config(environment{{"TF_CONFIG", R"({"task": {"index": 4}})"}}).options.task == 4);
}

TEST_CASE("TF_CONFIG in its lenient forms") {
  // The task may stand before the cluster, its index may be a string, and a job an object by index.
  const auto found = tf_config_from(
      R"({"task": {"index": "3", "type": "worker", "trial": {"x": [1]}}, "cluster": {"worker": {"3": "[::1]:2222"}}})");
  CHECK(*found.members == cluster({{"worker", {{3, "[::1]:2222"}}}}));
  CHECK(found.options.task == 3);
  CHECK(tf_config_from(R"({"cluster": {"worker": ["a:1"]}, "task": {"type": "evaluator", "index": 0}})").options.job ==
        "evaluator");
  CHECK_FALSE(tf_config_from("{}").members);
  CHECK_FALSE(tf_config_from(R"({"cluster": {}})").members);
  CHECK_FALSE(tf_config_from(R"({"cluster": null, "task": null})").members);
  CHECK(tf_config_from(R"({"cluster": {"worker": ["a:1"]}, "task": {"type": null, "index": null}})").options.task ==
        -1);
  CHECK(tf_config_from(R"({"cluster": {"worker": ["a:1"]}})").options.job.empty());
}

TEST_CASE("TF_CONFIG with mistakes tells their path") {
  CHECK(has(refusal(R"({"cluster": {"worker": ["a:1", "localhost"]}})"),
            "TF_CONFIG: cluster.worker[1]: address \"localhost\", position 9: expected ':' and a port"));
  CHECK(has(refusal(R"({"cluster": {"ps": ["a:1"], "worker": ["a:1"]}})"),
            "TF_CONFIG: cluster.worker[0] and TF_CONFIG: cluster.ps[0] have the same address"));
  CHECK(has(refusal(R"({"cluster": ["a:1"]})"), "TF_CONFIG: cluster, byte 12:"));
  CHECK(has(refusal(R"({"cluster": {"worker": ["a:1"]}, "task": {"type": "ps", "index": 0}})"),
            "TF_CONFIG: task.type: there is no job \"ps\" in the cluster, which has worker"));
  CHECK(has(refusal(R"({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 1}})"),
            "TF_CONFIG: task.index: job \"worker\" has no task 1"));
  CHECK(has(refusal(R"({"task": {"index": "x"}})"), "TF_CONFIG: task.index: \"x\" is not a whole number"));
  CHECK(has(refusal(R"({"task": {"index": -1}})"), "TF_CONFIG: task.index: \"-1\""));
  CHECK(has(refusal(R"({"task": {"index": 1.5}})"), "TF_CONFIG: task.index: \"1.5\""));
  CHECK(has(refusal(R"({"task": {"index": true}})"), "TF_CONFIG: task.index, byte 19:"));
  CHECK(has(refusal(R"({"task": {"type": 1}})"), "TF_CONFIG: task.type, byte"));
  CHECK(has(refusal(R"({"task": "worker"})"), "TF_CONFIG: task, byte"));
  CHECK(has(refusal("worker"), "TF_CONFIG, byte 0:"));
  CHECK(has(refusal("{} {}"), "TF_CONFIG, byte 3:"));
}
