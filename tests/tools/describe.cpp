// SPDX-License-Identifier: BSL-1.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tools/programs.hpp"

namespace {

using nlohmann::json;
using tagma::test::has;
using tagma::test::workplace;

TEST_CASE("tagma-run says what a program holds") {
  const workplace here;
  const auto said = here.with_network({});
  CHECK(said.status == 0);
  CHECK(said.err.empty());
  CHECK(has(said.out, "network.tagma: format version 1, fingerprint 0x"));
  CHECK(has(said.out, "inputs\n  x       float32 [?, 8]\n  labels  int32 [?]\noutputs\n"));
  CHECK(has(said.out, "  train   nothing         updates  needs x, labels\n"));
  CHECK(has(said.out, "  logits  float32 [?, 4]           needs x\n"));
  CHECK(has(said.out, "  hidden/kernel         float32 [8, 16]  512 bytes  trainable\n"));
  CHECK(has(said.out, "  hidden/kernel/adam_m  float32 [8, 16]  512 bytes\n"));
  CHECK(has(said.out, "  13  variable\n"));
  CHECK(has(said.out, "memory: 2552 bytes of variables, "));
  CHECK(has(said.out, "open extents of 1\n"));
  CHECK(has(here.with_network({"--batch", "32"}).out, "open extents of 32\n"));
}

TEST_CASE("tagma-run says it as JSON") {
  const workplace here;
  const auto said = here.with_network({"--json", "--batch=4"});
  REQUIRE(said.status == 0);
  const json j = json::parse(said.out);
  CHECK(j["file"] == here.network);
  CHECK(j["format_version"] == 1);
  CHECK(j["fingerprint"].get<std::string>().size() == 18);
  CHECK(j["inputs"] == json::parse(R"([{"name": "x", "dtype": "float32", "shape": [null, 8]},
                                       {"name": "labels", "dtype": "int32", "shape": [null]}])"));
  REQUIRE(j["outputs"].size() == 3);
  CHECK(j["outputs"][1] == json::parse(R"({"name": "train", "dtype": null, "shape": null, "updates": true,
                                           "needs": ["x", "labels"]})"));
  CHECK(j["outputs"][2]["shape"] == json::parse("[null, 4]"));
  CHECK(j["variables"][0] == json::parse(R"({"name": "hidden/kernel", "dtype": "float32", "shape": [8, 16],
                                             "bytes": 512, "trainable": true})"));
  int nodes = 0;
  for (const auto& [name, count] : j["operations"].items()) nodes += count.get<int>();
  CHECK(nodes == j["nodes"]);
  CHECK(j["operations"]["matmul"].get<int>() >= 4);
  CHECK(j["resources"].empty());
  CHECK(j["variable_bytes"] == 2552);
  CHECK(j["batch"] == 4);
  const auto larger = json::parse(here.with_network({"--json", "--batch=400"}).out);
  CHECK(larger["arena_bytes"].get<int>() > j["arena_bytes"].get<int>());
}

TEST_CASE("tagma-run explains and draws") {
  const workplace here;
  const auto all = here.with_network({"--explain", "--batch", "10"});
  CHECK(all.status == 0);
  CHECK(has(all.out, "apply_adam"));
  CHECK(has(all.out, "dynamic extents of 10;"));
  const auto some = here.with_network({"--explain", "--fetch", "logits"});
  CHECK(some.status == 0);
  CHECK(has(some.out, "matmul"));
  CHECK_FALSE(has(some.out, "apply_adam"));
  const auto unknown = here.with_network({"--explain", "--fetch", "logit"});
  CHECK(unknown.status == 2);
  CHECK(unknown.err == "tagma-run: --fetch logit: the program has no such output; outputs: loss, train, logits\n");
  const auto drawn = here.with_network({"--dot"});
  CHECK(drawn.status == 0);
  CHECK(drawn.out.starts_with("digraph tagma {\n"));
  CHECK(has(drawn.out, "hidden/kernel"));
}

TEST_CASE("tagma-run verifies") {
  const workplace here;
  const auto good = here.with_network({"--verify"});
  CHECK(good.status == 0);
  CHECK(has(good.out, "network.tagma: ok, 46 nodes, 3 outputs\n"));
  std::string bytes = tagma::test::content_of(here.network);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  here.files.put("damaged.tagma", bytes);
  const std::string damaged = here.files / "damaged.tagma";
  const auto bad = here.run({damaged, "--verify"});
  CHECK(bad.status == 3);
  CHECK(bad.out.empty());
  CHECK(bad.err.starts_with("tagma-run: " + damaged + ": read_program: "));
  CHECK(has(bad.err, "the checksum is another: bytes were changed\n"));
  const auto for_scripts = here.run({damaged, "--verify", "--json"});
  CHECK(for_scripts.status == 3);
  CHECK(json::parse(for_scripts.out)["ok"] == false);
  CHECK(has(json::parse(for_scripts.out)["error"], "checksum"));
  CHECK(json::parse(here.with_network({"--verify", "--json"}).out)["ok"] == true);
  // Whatever is asked for, a program is refused in the same way.
  CHECK(here.run({damaged}).status == 3);
  CHECK(here.run({damaged, "--run"}).status == 3);
  CHECK(here.run({damaged, "--dot"}).status == 3);
  const std::string missing = here.files / "missing.tagma";
  const auto none = here.run({missing});
  CHECK(none.status == 3);
  CHECK(none.err.starts_with("tagma-run: " + missing + ": cannot be "));
}

TEST_CASE("tagma-run spells out what a terminal would obey") {
  const workplace here;
  const std::string path = here.files / "named.tagma";
  tagma::test::write_named(path, "red\x1b[31m\nline");
  for (const char* option : {"--run", "--explain"}) {
    const auto said = here.run({path, option});
    CHECK(said.status == 0);
    CHECK_FALSE(has(said.out, "\x1b"));
  }
  CHECK(has(here.run({path}).out, "red\\x1b[31m"));
  CHECK(json::parse(here.run({path, "--json"}).out)["outputs"][0]["name"] == "red\x1b[31m\nline");
  tagma::test::write_named(path, "\xff");
  CHECK(json::parse(here.run({path, "--json"}).out)["outputs"][0]["name"] == "\\xff");
}

TEST_CASE("tagma-run says what it is") {
  const workplace here;
  const auto version = here.run({"--version"});
  CHECK(version.status == 0);
  CHECK(version.out.starts_with("tagma-run "));
  CHECK(has(version.out, "format version 1\n"));
  CHECK(has(version.out, "matrix products by"));
  const auto help = here.run({"--help"});
  CHECK(help.status == 0);
  for (const char* option :
       {"--explain", "--dot", "--json", "--verify", "--run", "--train", "--benchmark", "--fetch", "--feed", "--size",
        "--batch", "--seed", "--threads", "--gpus", "--fake-gpus", "--weights", "--save", "--output", "--trace", "--version"})
    CHECK(has(help.out, "\n  " + std::string(option) + " "));
  CHECK(has(help.out, "Exit status: 0 done; 1 "));
  CHECK(has(help.out, "matrix products by"));
}

}  // namespace
