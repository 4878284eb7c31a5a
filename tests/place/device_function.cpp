// SPDX-License-Identifier: BSL-1.0
#include "tagma/place/device_function.hpp"

namespace {

using namespace tagma;

constexpr op_info variable(std::string_view name, std::string_view asked, shape dims = {}) {
  return {"variable", name, true, false, {dtype::float32, dims}, *parse_device(asked)};
}
constexpr op_info compute(std::string_view asked) {
  return {"matmul", {}, false, false, {dtype::float32, {}}, *parse_device(asked)};
}

/// Asks a setter for variables one after another, and compares.
template <replica_device_setter Setter, std::size_t N>
constexpr bool gives(const op_info (&ops)[N], const std::string_view (&expected)[N]) {
  device_counts counts;
  for (std::size_t i = 0; i < N; ++i) {
    int task = -1;
    if (Setter(ops[i], counts, task) != *parse_device(expected[i])) return false;
  }
  return true;
}

// A variable that is asked for in another job takes no task, and does not count.
static_assert(gives<replica_device_setter{.ps_tasks = 2, .strategy = ps_strategy::round_robin}>(
    {variable("v", ""), variable("w", "/job:moon"), variable("x", "/job:ps"), compute("")},
    {"/job:ps/task:0", "/job:moon", "/job:ps/task:1", "/job:worker"}));
// Without merging, whatever is asked for anywhere stays as it is.
static_assert(gives<replica_device_setter{.ps_tasks = 2, .merge_devices = false, .strategy = ps_strategy::round_robin}>(
    {variable("v", ""), variable("w", "/job:ps"), variable("x", ""), compute("/gpu:0")},
    {"/job:ps/task:0", "/job:ps", "/job:ps/task:1", "/gpu:0"}));
// A device without a job takes no tasks.
static_assert(gives<replica_device_setter{.ps_tasks = 1, .ps_device = "/cpu:0"}>({variable("v", ""),
                                                                                  variable("w", "/job:moon")},
                                                                                 {"/cpu:0", "/job:moon/cpu:0"}));
// What is asked for inside wins, component by component.
static_assert(gives<replica_device_setter{
                  .ps_tasks = 3, .worker_device = "/job:worker/task:4", .strategy = ps_strategy::round_robin}>(
    {compute("/gpu:1"), compute("/job:other"), variable("v", "/gpu:2")},
    {"/job:worker/task:4/gpu:1", "/job:other/task:4", "/job:ps/task:0/gpu:2"}));
// Round-robin wraps around.
static_assert(gives<replica_device_setter{.ps_tasks = 2, .strategy = ps_strategy::round_robin}>(
    {variable("a", ""), variable("b", ""), variable("c", "")}, {"/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0"}));
// By bytes, the first of equals.
static_assert(gives<replica_device_setter{.ps_tasks = 2, .strategy = ps_strategy::greedy}>(
    {variable("a", "", {2, 2}), variable("b", "", {2, 1}), variable("c", "", {2, 2}), variable("d", "", {1, 3})},
    {"/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:1", "/job:ps/task:0"}));
// Without tasks, nothing is asked for.
static_assert(gives<replica_device_setter{}>({variable("v", ""), compute("/gpu:0")}, {"", "/gpu:0"}));

/// By the name: the same task whatever else there is, and every task gets some.
constexpr bool hashes_names() {
  constexpr replica_device_setter setter{.ps_tasks = 4};
  bool seen[4]{};
  for (const std::string_view name : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"}) {
    device_counts fresh, used{.next = 3};
    int first = -1, second = -1;
    static_cast<void>(setter(variable(name, ""), fresh, first));
    static_cast<void>(setter(variable(name, ""), used, second));
    if (first != second || first < 0 || first > 3) return false;
    seen[first] = true;
  }
  return seen[0] && seen[1] && seen[2] && seen[3];
}
static_assert(hashes_names());

/// Parts of one variable are on as many tasks as there are, each where it is in every program.
constexpr bool spreads_parts() {
  constexpr replica_device_setter setter{.ps_tasks = 3};
  const auto task_of = [&](std::string_view name) {
    device_counts counts;
    int task = -1;
    static_cast<void>(setter(variable(name, ""), counts, task));
    return task;
  };
  const int first = task_of("w/part_0");
  return first == task_of("w") && task_of("w/part_1") == (first + 1) % 3 && task_of("w/part_2") == (first + 2) % 3 &&
         task_of("w/part_12") == first && task_of("7") == task_of("7") && task_of("w/part_") >= 0;
}
static_assert(spreads_parts());

/// A task that was handed out stays, and is not counted twice.
constexpr bool keeps_tasks() {
  constexpr replica_device_setter setter{.ps_tasks = 2, .strategy = ps_strategy::round_robin};
  device_counts counts;
  int task = 1;
  return setter(variable("v", ""), counts, task).task == 1 && counts.next == 0;
}
static_assert(keeps_tasks());

// Texts are parsed; what does not parse is kept for the message.
static_assert(detail::answer_of(std::string_view("/cpu:1")).spec.id == 1);
static_assert(detail::answer_of(std::string_view("/foo:bar")).malformed &&
              detail::answer_of(std::string_view("/foo:bar")).text == "/foo:bar");
static_assert(!detail::answer_of(cpu<0>::spec).malformed);

}  // namespace
