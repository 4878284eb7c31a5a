// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/sources/json.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <string>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"

using namespace tagma;
using tagma::test::code_of;

namespace {

std::string refusal(const std::string& text) {
  const auto read = [&] { (void)cluster_from_json(text, "c.json"); };
  CHECK(code_of(read) == status_code::invalid_argument);
  return tagma::test::text_of(read);
}

bool has(const std::string& text, std::string_view part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a cluster is an object of lists and objects") {
  CHECK(cluster_from_json(R"( {"ps": ["a:1"], "worker": ["b:1", "c:1"]} )") ==
        cluster({{"ps", {"a:1"}}, {"worker", {"b:1", "c:1"}}}));
  CHECK(cluster_from_json(R"({"worker": {"7": "b:1", "0": "c:1"}})") ==
        cluster({{"worker", {{0, "c:1"}, {7, "b:1"}}}}));
  CHECK(cluster_from_json(R"({"worker": {"0": "c:1"}})") == cluster({{"worker", {"c:1"}}}));
  CHECK(cluster_from_json(R"({"ps": []})") == cluster({{"ps", {}}}));
  CHECK(cluster_from_json("{}").empty());
}

TEST_CASE("what is wrong has its path") {
  CHECK(has(refusal(R"({"worker": ["a:1", "b"]})"), "c.json: worker[1]: address \"b\", position 1: expected ':'"));
  CHECK(has(refusal(R"({"worker": {"3": "b"}})"), "c.json: worker[\"3\"]: address \"b\""));
  CHECK(has(refusal(R"({"ps": ["a:1"], "worker": ["b:1", "a:1"]})"),
            "c.json: worker[1] and c.json: ps[0] have the same address, a:1"));
  CHECK(has(refusal(R"({"worker": ["a:1", 7]})"), "c.json: worker[1]: an address is a string"));
  CHECK(has(refusal(R"({"worker": ["a:1", null]})"), "and not null"));
  CHECK(has(refusal(R"({"worker": "a:1"})"), "c.json: worker: a job is a list of addresses"));
  CHECK(has(refusal(R"({"worker": {"x": "a:1"}})"), "c.json: worker[\"x\"]: the index of a task is a decimal number"));
  CHECK(has(refusal(R"({"worker": {"65536": "a:1"}})"), "0 to 65535"));
  CHECK(has(refusal(R"({"worker": {"-1": "a:1"}})"), "decimal number"));
  CHECK(
      has(refusal(R"({"worker": {"1": "a:1", "01": "b:1"}})"), "c.json: worker[\"01\"]: this task has two addresses"));
  CHECK(has(refusal(R"({"wor ker": ["a:1"]})"), "c.json: [\"wor ker\"]: \"wor ker\" is no name of a job"));
  CHECK(has(refusal(R"({"": ["a:1"]})"), "name of a job is empty"));
}

TEST_CASE("text that is no JSON has the byte") {
  CHECK(has(refusal(R"(["a:1"])"), "c.json, byte 0:"));
  CHECK(has(refusal(R"({"worker": ["a:1",]})"), "c.json: worker[1], byte 18:"));
  CHECK(has(refusal(R"({"worker": ["a:1"]} x)"), "c.json, byte 20:"));
  CHECK(has(refusal(R"({"worker": ["a:1"], "worker": ["b:1"]})"), "twice"));
  CHECK(has(refusal(R"({"worker": )"), "c.json: worker, byte"));
  CHECK(has(refusal(""), "byte 0"));
  CHECK(has(refusal(std::string(cluster_limits::text + 1, ' ')), "16777216 at most"));
}

TEST_CASE("a cluster has as many jobs as tasks may need") {
  std::string text = "{";
  for (int i = 0; i <= cluster_limits::jobs; ++i) text += (i > 0 ? ",\"j" : "\"j") + std::to_string(i) + "\":[]";
  CHECK(has(refusal(text + "}"), "at most 1024 jobs"));
}

TEST_CASE("a cluster in a file") {
  const tagma::test::temporary_directory directory;
  const std::string path = directory / "cluster.json";
  std::ofstream(path) << R"({"ps": ["a:1"]})";
  CHECK(cluster_from_file(path) == cluster({{"ps", {"a:1"}}}));
  CHECK(cluster_from_text_or_file(path, "--cluster") == cluster({{"ps", {"a:1"}}}));
  CHECK(cluster_from_text_or_file(R"( {"ps": ["a:1"]})", "--cluster") == cluster({{"ps", {"a:1"}}}));
  CHECK(code_of([&] { (void)cluster_from_file(directory / "gone.json"); }) == status_code::not_found);
  const auto gone = [&] { (void)cluster_from_text_or_file(directory / "gone.json", "--cluster"); };
  CHECK(code_of(gone) == status_code::not_found);
  CHECK(
      has(tagma::test::text_of(gone), "NotFound: --cluster: " + (directory / "gone.json") + ": cannot be opened: No"));
  CHECK(code_of([&] { (void)cluster_from_text_or_file(" ", "--cluster"); }) == status_code::invalid_argument);
  std::ofstream(path) << R"({"ps": ["a"]})";
  CHECK(has(tagma::test::text_of([&] { (void)cluster_from_file(path); }), path + ": ps[0]:"));
  CHECK(has(tagma::test::text_of([&] { (void)cluster_from_text_or_file(path, "--cluster"); }),
            "--cluster: " + path + ": ps[0]:"));
  std::ofstream(path) << std::string(cluster_limits::text + 1, ' ');
  CHECK(has(tagma::test::text_of([&] { (void)cluster_from_file(path); }), "16777217 bytes"));
}
