// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/topology.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

namespace cpu = tagma::device::cpu;

namespace {

// A folder that looks like a mount of control groups.
class mount {
 public:
  mount() {
    char name[] = "/tmp/tagma-cgroup-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    root_ = name;
  }
  ~mount() {
    for (auto it = made_.rbegin(); it != made_.rend(); ++it) std::remove(it->c_str());
    std::remove(root_.c_str());
  }
  mount(const mount&) = delete;
  mount& operator=(const mount&) = delete;

  void folder(const std::string& path) {
    REQUIRE(mkdir((root_ + path).c_str(), 0700) == 0);
    made_.push_back(root_ + path);
  }
  void file(const std::string& path, const std::string& content) {
    std::ofstream(root_ + path) << content;
    made_.push_back(root_ + path);
  }
  [[nodiscard]] const std::string& root() const { return root_; }

 private:
  std::string root_;
  std::vector<std::string> made_;
};

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

TEST_CASE("the group with the cpu controller is found in both versions", "[topology]") {
  bool version1 = true;
  CHECK(cpu::detail::cpu_cgroup("0::/user.slice/app\n", version1) == "/user.slice/app");
  CHECK_FALSE(version1);
  CHECK(cpu::detail::cpu_cgroup("12:cpuset:/sets\n4:cpu,cpuacct:/box:1\n0::/unified\n", version1) == "/box:1");
  CHECK(version1);
  CHECK(cpu::detail::cpu_cgroup("12:cpuset:/sets\n0::/unified", version1) == "/unified");
  CHECK_FALSE(version1);
  CHECK(cpu::detail::cpu_cgroup("nonsense", version1).empty());
}

TEST_CASE("the tightest limit among a group and its ancestors holds", "[topology]") {
  SECTION("version 2") {
    mount groups;
    groups.folder("/outer");
    groups.folder("/outer/inner");
    groups.file("/outer/cpu.max", "300000 100000\n");
    groups.file("/outer/inner/cpu.max", "max 100000\n");
    CHECK(cpu::detail::cgroup_cpus("0::/outer/inner\n", groups.root()) == 3);
    CHECK(cpu::detail::cgroup_cpus("0::/outer/missing\n", groups.root()) == 3);
    CHECK(cpu::detail::cgroup_cpus("0::/\n", groups.root()) == 0);
    groups.file("/cpu.max", "50000 100000\n");
    CHECK(cpu::detail::cgroup_cpus("0::/outer/inner\n", groups.root()) == 1);
    CHECK(cpu::detail::cgroup_cpus("0::/\n", groups.root()) == 1);
  }
  SECTION("version 1") {
    mount groups;
    groups.folder("/cpu");
    groups.folder("/cpu/box");
    groups.file("/cpu/cpu.cfs_quota_us", "-1\n");
    groups.file("/cpu/cpu.cfs_period_us", "100000\n");
    groups.file("/cpu/box/cpu.cfs_quota_us", "450000\n");
    groups.file("/cpu/box/cpu.cfs_period_us", "100000\n");
    CHECK(cpu::detail::cgroup_cpus("4:cpu,cpuacct:/box\n", groups.root()) == 5);
    CHECK(cpu::detail::cgroup_cpus("4:cpu,cpuacct:/\n", groups.root()) == 0);
  }
}
