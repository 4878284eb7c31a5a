// SPDX-License-Identifier: BSL-1.0
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "support/sanitizers.hpp"
#include "transport/simulated/random_worlds.hpp"

namespace tagma::transport::test {

TEST_CASE("connections keep their promises in random worlds") {
  // TAGMA_WORLDS=100000 for a long look.
  const char* const wanted = std::getenv("TAGMA_WORLDS");
  const std::uint64_t worlds = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : tagma::test::is_sanitized ? 25 : 1000;
  const char* const first = std::getenv("TAGMA_FIRST_WORLD");
  const std::uint64_t begin = first != nullptr ? std::strtoull(first, nullptr, 10) : 1;
  findings all;
  for (std::uint64_t seed = begin; seed < begin + worlds; ++seed) {
    const findings found = random_world(seed).run();
    for (const std::string& wrong : found.wrong) FAIL_CHECK("world " << seed << ": " << wrong);
    if (!found.wrong.empty()) return;
    all.messages += found.messages;
    all.answers += found.answers;
    all.losses += found.losses;
    if (seed % 10 == 0) REQUIRE(random_world(seed).run().history == found.history);
  }
  INFO(all.messages << " messages, " << all.answers << " answers, " << all.losses << " connections lost");
  CHECK(all.messages > worlds * 100);
  CHECK(all.answers > worlds * 20);
  CHECK(all.losses > worlds);
}

}  // namespace tagma::transport::test
