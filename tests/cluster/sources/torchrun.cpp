// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/sources/torchrun.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "support/errors.hpp"

using namespace tagma;
using tagma::test::text_of;

TEST_CASE("torchrun says ranks") {
  const environment one_host{
      {"RANK", "1"},       {"WORLD_SIZE", "2"},       {"LOCAL_RANK", "1"},     {"LOCAL_WORLD_SIZE", "2"},
      {"GROUP_RANK", "0"}, {"MASTER_ADDR", "host-0"}, {"MASTER_PORT", "29500"}};
  REQUIRE(sources::has_torchrun(one_host));
  const auto found = sources::torchrun(one_host);
  CHECK(found.ranks->rank == 1);
  CHECK(cluster_of(*found.ranks, {}, 4000) == cluster({{"worker", {"localhost:4000", "localhost:4001"}}}));

  const environment two_hosts{
      {"RANK", "1"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "0"}, {"LOCAL_WORLD_SIZE", "1"}, {"TORCHELASTIC_RUN_ID", "x"}};
  REQUIRE(sources::has_torchrun(two_hosts));
  const launch far = *sources::torchrun(two_hosts).ranks;
  CHECK(text_of([&] { (void)cluster_of(far, {}); }).find("MASTER_ADDR names the host of rank 0 alone") !=
        std::string::npos);
}

TEST_CASE("RANK alone is not torchrun's") {
  CHECK_FALSE(sources::has_torchrun({{"RANK", "1"}, {"WORLD_SIZE", "2"}}));
  CHECK_FALSE(sources::has_torchrun({{"RANK", "1"}, {"MASTER_ADDR", "a"}}));
}

TEST_CASE("mistakes in torchrun's variables name them") {
  const auto refusal = [](const char* name, const char* value) {
    return text_of([&] {
      (void)sources::torchrun(environment([=](std::string_view asked) -> std::optional<std::string> {
        if (asked == name) return value;
        if (asked == "RANK" || asked == "LOCAL_RANK") return "0";
        if (asked == "WORLD_SIZE" || asked == "LOCAL_WORLD_SIZE") return "2";
        return std::nullopt;
      }));
    });
  };
  CHECK(refusal("RANK", "2").find("RANK: \"2\"") != std::string::npos);
  CHECK(refusal("WORLD_SIZE", "x").find("WORLD_SIZE: \"x\"") != std::string::npos);
  CHECK(refusal("LOCAL_WORLD_SIZE", "3").find("LOCAL_WORLD_SIZE: \"3\"") != std::string::npos);
  CHECK(refusal("LOCAL_RANK", "2").find("LOCAL_RANK: \"2\"") != std::string::npos);
}
