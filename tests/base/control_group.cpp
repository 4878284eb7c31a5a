// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/control_group.hpp"

#include <catch2/catch.hpp>

#include "support/temporary_directory.hpp"

using namespace tagma::detail;
using tagma::test::temporary_directory;

namespace {

std::int64_t memory_limit(std::string_view groups, const temporary_directory& mounted) {
  return tightest_limit("memory", &memory_of_group, groups, mounted.path.string());
}

}  // namespace

TEST_CASE("the group with a controller is found in both versions") {
  bool version1 = true;
  CHECK(group_with("cpu", "0::/user.slice/app\n", version1) == "/user.slice/app");
  CHECK_FALSE(version1);
  CHECK(group_with("cpu", "12:cpuset:/sets\n4:cpu,cpuacct:/box:1\n0::/unified\n", version1) == "/box:1");
  CHECK(version1);
  CHECK(group_with("cpuacct", "12:cpuset:/sets\n4:cpu,cpuacct:/box:1\n0::/unified\n", version1) == "/box:1");
  CHECK(version1);
  CHECK(group_with("memory", "12:cpuset:/sets\n0::/unified", version1) == "/unified");
  CHECK_FALSE(version1);
  CHECK(group_with("cpu", "nonsense", version1).empty());
}

TEST_CASE("the memory of a process is the least that its group and those above it allow") {
  const temporary_directory mounted;
  SECTION("version 2") {
    mounted.put("outer/memory.max", "3000000\n");
    mounted.put("outer/inner/memory.max", "max\n");
    CHECK(memory_limit("0::/outer/inner\n", mounted) == 3000000);
    CHECK(memory_limit("0::/outer/missing\n", mounted) == 3000000);
    CHECK(memory_limit("0::/\n", mounted) == 0);
    mounted.put("memory.max", "2000000\n");
    CHECK(memory_limit("0::/outer/inner\n", mounted) == 2000000);
    CHECK(memory_limit("0::/not/there\n", mounted) == 2000000);
    mounted.put("outer/inner/memory.max", "1000000\n");
    CHECK(memory_limit("0::/outer/inner/\n", mounted) == 1000000);
  }
  SECTION("version 1") {
    mounted.put("memory/memory.limit_in_bytes", "9223372036854771712\n");  // what it says where there is no limit
    mounted.put("memory/box/memory.limit_in_bytes", "5000000\n");
    mounted.put("memory.max", "1\n");
    CHECK(memory_limit("4:memory:/box\n0::/\n", mounted) == 5000000);
    CHECK(memory_limit("4:memory:/\n0::/\n", mounted) == 9223372036854771712);
  }
  SECTION("nonsense is no limit") {
    mounted.put("memory.max", "much\n");
    CHECK(memory_limit("0::/\n", mounted) == 0);
    CHECK(memory_limit("", mounted) == 0);
    mounted.put("memory.max", "-1\n");
    CHECK(memory_limit("0::/\n", mounted) == 0);
    mounted.put("memory.max", "99999999999999999999\n");
    CHECK(memory_limit("0::/\n", mounted) == INT64_MAX);
  }
}

TEST_CASE("the limit of this process is no number below 0") {
  CHECK(tagma::control_group_limit("memory", &memory_of_group) >= 0);
}
