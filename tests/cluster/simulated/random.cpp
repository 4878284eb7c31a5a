// SPDX-License-Identifier: BSL-1.0
// Clusters and clients in worlds that are made up; see town.hpp for what they promise.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cluster/simulated/town.hpp"
#include "support/sanitizers.hpp"

namespace tagma::test {

namespace {

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* const set = std::getenv(variable);
  return set == nullptr ? otherwise : std::strtoull(set, nullptr, 10);
}

}  // namespace

TEST_CASE("clusters keep their promises in random worlds") {
  // TAGMA_TOWNS=100000 for a long look, TAGMA_FIRST_TOWN for one that was found.
  const std::uint64_t towns = number_of("TAGMA_TOWNS", HAS_ADDRESS_SANITIZER || HAS_THREAD_SANITIZER ? 40 : 500);
  const std::uint64_t begin = number_of("TAGMA_FIRST_TOWN", 1);
  findings all;
  const auto before = std::chrono::steady_clock::now();
  for (std::uint64_t seed = begin; seed < begin + towns; ++seed) {
    const findings found = town::of(seed);
    for (const std::string& wrong : found.wrong) FAIL_CHECK("town " << seed << ": " << wrong);
    if (!found.wrong.empty()) {
      if (std::getenv("TAGMA_LOG_TOWN") != nullptr) std::printf("%s", found.log.c_str());
      return;
    }
    all.runs += found.runs;
    all.failures += found.failures;
    all.restarts += found.restarts;
    all.sessions += found.sessions;
    all.simulated_ns += found.simulated_ns;
    const findings again = town::of(seed);
    INFO("town " << seed);
    REQUIRE(again.log == found.log);
    REQUIRE(again.history == found.history);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
  std::printf("%llu towns, twice: %llu sessions, %llu runs, %llu failures, %llu restarts of servers; %.0f simulated "
              "seconds in %.1f s\n",
              static_cast<unsigned long long>(towns), static_cast<unsigned long long>(all.sessions),
              static_cast<unsigned long long>(all.runs), static_cast<unsigned long long>(all.failures),
              static_cast<unsigned long long>(all.restarts), static_cast<double>(2 * all.simulated_ns) * 1e-9,
              took.count());
  CHECK(all.runs > towns * 10);
}

}  // namespace tagma::test
