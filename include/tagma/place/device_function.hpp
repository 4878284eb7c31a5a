// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Functions that decide for each node where it shall run. The compiler calls them while it builds the graph.

#include <type_traits>

#include "tagma/base/hash.hpp"
#include "tagma/place/device.hpp"
#include "tagma/tensor/size.hpp"

namespace tagma {

/// What a device function is told of a node.
struct op_info {
  std::string_view op;       ///< "matmul", "variable", "apply_adam"
  std::string_view name;     ///< of a variable or placeholder, else empty
  bool is_variable = false;  ///< slots of optimizers are no business of device functions: they follow their variable
  bool is_placeholder = false;
  tensor_spec spec;    ///< type and shape of its value
  device_spec device;  ///< what the scopes inside ask for
};

/// What a node is asked for, or the text that is no device name.
struct device_answer {
  device_spec spec;
  bool malformed = false;
  std::string_view text;
};

/// What a scope that counts remembers from node to node.
struct device_counts {
  static constexpr int most_tasks = 64;
  int next = 0;
  std::int64_t load[most_tasks]{};
};

/// A device function as the graph compiler calls it. `task` is the one that the node was given before, or -1; a
/// function that hands out tasks stores it there.
using device_function = device_answer (*)(const op_info& op, device_counts& counts, int& task);

namespace detail {

[[nodiscard]] constexpr device_answer answer_of(const device_spec& spec) { return {spec, false, {}}; }
[[nodiscard]] constexpr device_answer answer_of(std::string_view text) {
  const parsed_device parsed = parse_device(text);
  return {parsed.spec, !parsed, text};
}

}  // namespace detail

/// How a `replica_device_setter` shares the variables among the tasks.
enum class ps_strategy : std::uint8_t {
  hash,         ///< by the name: the same in every program that has the variable; parts of one are spread
  round_robin,  ///< in the order in which the graph compiler meets them, which depends on what is fetched
  greedy,       ///< each to the task with the fewest bytes so far, the first of equals; depends on that order, too
};

/// Variables to the parameter servers, everything else to the worker, as TensorFlow's function of that name. What
/// scopes inside ask for wins, component by component. A variable is given a task if `ps_device` names a job and the
/// scopes inside name none or that one; only then does the strategy count it. With no tasks, nothing is asked for, and
/// outer scopes still hold. Equal setters are one setter and count together.
struct replica_device_setter {
  int ps_tasks = 0;  ///< at most 64
  device_name ps_device = "/job:ps";
  device_name worker_device = "/job:worker";
  bool merge_devices = true;  ///< false: a node that is asked for anywhere is left alone
  ps_strategy strategy = ps_strategy::hash;

  /// The device of one node, as device functions answer.
  [[nodiscard]] constexpr device_spec operator()(const op_info& op, device_counts& counts, int& task) const {
    if (ps_tasks == 0 || (!merge_devices && !op.device.empty())) return op.device;
    if (!op.is_variable) return fill_from(op.device, worker_device.spec);
    device_spec asked = ps_device.spec;
    if (!asked.job.empty() && (op.device.job.empty() || op.device.job == asked.job)) {
      if (task < 0) task = next_task(op, counts);
      asked.task = task;
    }
    return fill_from(op.device, asked);
  }

 private:
  /// Parts of a variable, "w/part_2", go to the tasks one after the other, from where the variable itself would be.
  [[nodiscard]] constexpr int task_of_name(std::string_view name) const {
    constexpr std::string_view mark = "/part_";
    std::size_t digits = name.size();
    std::uint64_t part = 0;
    for (std::uint64_t ten = 1; digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9'; ten *= 10)
      part += ten * static_cast<std::uint64_t>(name[--digits] - '0');
    const std::string_view before = name.substr(0, digits);
    if (digits == name.size() || !before.ends_with(mark))
      part = 0;
    else
      name = before.substr(0, before.size() - mark.size());
    return static_cast<int>((hash_text(name) + part) % static_cast<std::uint64_t>(ps_tasks));
  }
  [[nodiscard]] constexpr int next_task(const op_info& op, device_counts& counts) const {
    if (strategy == ps_strategy::round_robin) return counts.next++ % ps_tasks;
    if (strategy == ps_strategy::hash) return task_of_name(op.name);
    int least = 0;
    for (int t = 1; t < ps_tasks; ++t)
      if (counts.load[t] < counts.load[least]) least = t;
    counts.load[least] = bounded_sum(counts.load[least], bytes_of(op.spec));
    return least;
  }
};

namespace detail {

[[nodiscard]] constexpr auto ask_device_function(const auto& function, const op_info& op, device_counts&, int&)
    -> decltype(answer_of(function(op))) {
  return answer_of(function(op));
}
[[nodiscard]] constexpr device_answer ask_device_function(const replica_device_setter& setter, const op_info& op,
                                                          device_counts& counts, int& task) {
  return answer_of(setter(op, counts, task));
}

/// Calls a captureless function object of the user's, or a setter.
template <auto Function>
constexpr device_answer call_device_function(const op_info& op, device_counts& counts, int& task) {
  using type = std::remove_cv_t<decltype(Function)>;
  if constexpr (std::is_empty_v<type> && std::is_default_constructible_v<type>)
    return ask_device_function(type{}, op, counts, task);  // clang loses the argument itself where two files have some
  else
    return ask_device_function(Function, op, counts, task);
}

}  // namespace detail
}  // namespace tagma
