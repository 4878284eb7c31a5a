// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/devices.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "support/errors.hpp"

using namespace tagma;
using tagma::test::text_of;

namespace {

/// Where a setter puts variables that nothing else is asked of.
std::string places(const replica_device_setter& setter, int variables) {
  device_counts counts;
  std::string text;
  for (int i = 0; i < variables; ++i) {
    int task = -1;
    op_info op{"variable", "v", true, false, {dtype::float32, {}}, {}};
    text += to_string(setter(op, counts, task)) + " ";
  }
  return text;
}

}  // namespace

TEST_CASE("tasks are parts of device names") {
  CHECK(to_string(task_device({"ps", 3})) == "/job:ps/replica:0/task:3");
  CHECK(to_string(task_device({"ps", 0}, "CPU", 0)) == "/job:ps/replica:0/task:0/device:CPU:0");
  CHECK(task_device({"ps", 0}, "GPU", 1).complete());
}

TEST_CASE("a setter has as many tasks as the cluster has parameter servers") {
  const cluster c({{"ps", {"a:1", "b:1"}}, {"worker", {"c:1"}}});
  CHECK(setter_of(c).ps_tasks == 2);
  CHECK(places(setter_of(c, {.strategy = ps_strategy::round_robin}), 3) ==
        "/job:ps/task:0 /job:ps/task:1 /job:ps/task:0 ");
  CHECK(setter_of(c, {.ps_device = "/job:worker/cpu:0"}).ps_tasks == 1);
  CHECK(setter_of(c, {.worker_device = "/job:worker/task:7"}).worker_device.spec == device_from("/job:worker/task:7"));
}

TEST_CASE("a setter asks for nothing where there are no parameter servers") {
  const cluster c({{"worker", {"c:1"}}});
  CHECK(setter_of(c).ps_tasks == 0);
  CHECK(places(setter_of(c), 1) == " ");
  CHECK(setter_of(c, {.ps_tasks = 3}).ps_tasks == 0);
  CHECK(setter_of(c, {.ps_device = "/cpu:0"}).ps_tasks == 0);
  CHECK(setter_of(cluster({{"ps", {}}, {"worker", {"c:1"}}})).ps_tasks == 0);
}

TEST_CASE("parameter servers have holes, or are too many") {
  const cluster sparse({{"ps", {{1, "a:1"}}}});
  CHECK(text_of([&] { (void)setter_of(sparse); }).find("job \"ps\", and the cluster lacks some") != std::string::npos);
  std::vector<std::string> many;
  for (int i = 0; i < device_counts::most_tasks; ++i) many.push_back("h" + std::to_string(i) + ":1");
  CHECK(setter_of(cluster({{"ps", many}})).ps_tasks == device_counts::most_tasks);
  many.push_back("h:1");
  CHECK(text_of([&] { (void)setter_of(cluster({{"ps", many}})); }).find("65 tasks") != std::string::npos);
}
