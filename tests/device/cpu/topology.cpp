// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/topology.hpp"

#include <catch2/catch.hpp>
#include <string_view>

#include "support/temporary_directory.hpp"

namespace cpu = tagma::device::cpu;

using tagma::test::temporary_directory;

namespace {

std::int64_t cpu_limit(std::string_view groups, const temporary_directory& mounted) {
  return tagma::detail::tightest_limit("cpu", &cpu::detail::cpus_of_group, groups, mounted.path.string());
}

}  // namespace

TEST_CASE("there is a processor for this process", "[topology]") {
  CHECK(cpu::available_cpus() >= 1);
  CHECK(cpu::available_cpus() <= static_cast<int>(sysconf(_SC_NPROCESSORS_CONF)));
}

#if defined(__linux__)
TEST_CASE("the affinity mask limits the processors", "[topology]") {
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  std::size_t first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t single;
  CPU_ZERO(&single);
  CPU_SET(first, &single);
  REQUIRE(sched_setaffinity(0, sizeof single, &single) == 0);
  const int cpus = cpu::available_cpus();
  REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
  CHECK(cpus == 1);
  CHECK(cpu::detail::affinity_cpus() == CPU_COUNT(&before));
}
#endif

TEST_CASE("quotas are rounded up", "[topology]") {
  using cpu::detail::cpus_of_cpu_max;
  CHECK(cpus_of_cpu_max("max 100000\n") == 0);
  CHECK(cpus_of_cpu_max("") == 0);
  CHECK(cpus_of_cpu_max("200000 100000\n") == 2);
  CHECK(cpus_of_cpu_max("150000 100000\n") == 2);
  CHECK(cpus_of_cpu_max("1000 100000\n") == 1);
  CHECK(cpus_of_cpu_max("100000") == 0);
  CHECK(cpu::detail::cpus_of_quota(-1, 100000) == 0);
}

TEST_CASE("the tightest limit among a group and its ancestors holds", "[topology]") {
  const temporary_directory mounted;
  SECTION("version 2") {
    mounted.put("outer/cpu.max", "300000 100000\n");
    mounted.put("outer/inner/cpu.max", "max 100000\n");
    CHECK(cpu_limit("0::/outer/inner\n", mounted) == 3);
    CHECK(cpu_limit("0::/outer/missing\n", mounted) == 3);
    CHECK(cpu_limit("0::/\n", mounted) == 0);
    mounted.put("cpu.max", "50000 100000\n");
    CHECK(cpu_limit("0::/outer/inner\n", mounted) == 1);
    CHECK(cpu_limit("0::/\n", mounted) == 1);
  }
  SECTION("version 1") {
    mounted.put("cpu/cpu.cfs_quota_us", "-1\n");
    mounted.put("cpu/cpu.cfs_period_us", "100000\n");
    mounted.put("cpu/box/cpu.cfs_quota_us", "450000\n");
    mounted.put("cpu/box/cpu.cfs_period_us", "100000\n");
    CHECK(cpu_limit("4:cpu,cpuacct:/box\n", mounted) == 5);
    CHECK(cpu_limit("4:cpu,cpuacct:/\n", mounted) == 0);
  }
}
