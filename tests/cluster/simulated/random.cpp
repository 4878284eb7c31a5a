// SPDX-License-Identifier: BSL-1.0
// Clusters and clients in worlds that are made up; see town.hpp for what they promise.
#include <sched.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "cluster/simulated/town.hpp"
#include "support/sanitizers.hpp"

namespace tagma::test {

namespace {

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* const set = std::getenv(variable);
  return set == nullptr ? otherwise : std::strtoull(set, nullptr, 10);
}

/// Seconds that the process has had a processor.
double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// Threads that take turns do so faster where they share a processor; a sanitizer has them instead of fibers.
class one_processor {
 public:
  one_processor() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  one_processor(const one_processor&) = delete;
  one_processor& operator=(const one_processor&) = delete;
  ~one_processor() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_{};
};

}  // namespace

TEST_CASE("clusters keep their promises in random worlds") {
  // TAGMA_TOWNS=100000 for a long look, at each town twice; TAGMA_FIRST_TOWN and TAGMA_LOG_TOWN=1 for one that was
  // found.
  const bool is_long = std::getenv("TAGMA_TOWNS") != nullptr;
  const std::uint64_t towns = number_of("TAGMA_TOWNS", is_sanitized ? 20 : 2500);
  const std::uint64_t begin = number_of("TAGMA_FIRST_TOWN", 1);
  const one_processor here;
  findings all;
  std::uint64_t lives = 0;
  const double before = processor_seconds();
  for (std::uint64_t seed = begin; seed < begin + towns; ++seed) {
    const findings found = town::of(seed);
    for (const std::string& wrong : found.wrong) FAIL_CHECK("town " << seed << ": " << wrong);
    if (std::getenv("TAGMA_LOG_TOWN") != nullptr) std::printf("%s", found.log.c_str());
    if (!found.wrong.empty()) return;
    ++lives;
    all.add(found);
    if (!is_long && seed % 8 != 0) continue;
    ++lives;
    const findings again = town::of(seed);
    all.add(again);
    INFO("town " << seed);
    REQUIRE(again.log == found.log);
    REQUIRE(again.history == found.history);
  }
  const double took = processor_seconds() - before;
  const double seconds = static_cast<double>(all.simulated_ns) * 1e-9;
  std::printf(
      "%llu lives of %llu towns: %llu sessions, %llu runs, %llu failures, %llu servers that ended; %.0f simulated "
      "seconds in %.1f s of a processor, %.0f a second\n",
      static_cast<unsigned long long>(lives), static_cast<unsigned long long>(towns),
      static_cast<unsigned long long>(all.sessions), static_cast<unsigned long long>(all.runs),
      static_cast<unsigned long long>(all.failures), static_cast<unsigned long long>(all.restarts), seconds, took,
      seconds / took);
  CHECK(all.runs > towns * 10);
}

}  // namespace tagma::test
