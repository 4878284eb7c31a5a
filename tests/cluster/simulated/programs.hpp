// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Programs for clusters that are drawn: counters on servers, and graphs whose nodes are on any task.

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tagma/cluster/cluster.hpp"
#include "tagma/graph_builder.hpp"
#include "tagma/parts.hpp"
#include "tagma/program_files.hpp"
#include "tagma/programs.hpp"
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace tagma::test {

struct town_shape {
  int servers = 1, workers = 1;
  bool large = false;  ///< counters are longer than what leaves before it is wanted
};

/// Outputs of the program of counters, for each server.
struct names_of_counter {
  const char *add, *get, *set, *look;
};
inline constexpr names_of_counter counter_names[] = {
    {"add0", "get0", "set0", "look0"}, {"add1", "get1", "set1", "look1"}, {"add2", "get2", "set2", "look2"}};

[[nodiscard]] inline std::string scope_of(const char* job, int task) {
  return "/job:" + std::string(job) + "/task:" + std::to_string(task);
}
[[nodiscard]] inline cluster cluster_of(const town_shape& of) {
  std::map<std::string, std::map<int, std::string>> jobs;
  for (int i = 0; i < of.servers; ++i) jobs["ps"][i] = "ps" + std::to_string(i) + ":" + std::to_string(1 + i);
  for (int i = 0; i < of.workers; ++i) jobs["worker"][i] = "worker" + std::to_string(i) + ":" + std::to_string(1 + i);
  return cluster(jobs);
}

/// On each server a number that is counted up and one that is set, as elements of variables that are all equal: what is
/// added is made on a worker, and what is read is negated on another one.
[[nodiscard]] inline any_program counters(const town_shape& of) {
  graph_builder b;
  const extent size = of.large ? 8200 : 3;
  std::vector<named_output> outputs;
  const graph_node mark = b.placeholder("mark", dtype::float32, {});
  for (int k = 0; k < of.servers; ++k) {
    const std::string server = scope_of("ps", k), worker = scope_of("worker", k % of.workers);
    const auto variable = [&](const char* name) {
      const auto there = b.on(server);
      return b.variable(name + std::to_string(k), dtype::float32, {size}, zeros);
    };
    const graph_node count = variable("count"), set = variable("set");
    const auto made = [&](const graph_node& number) {
      const auto there = b.on(worker);
      return b.add("broadcast_like", {number, count});
    };
    const auto update = [&](const char* op, const graph_node& v, const graph_node& by) {
      const auto there = b.on(server);
      return b.add(op, {v, by});
    };
    const auto read = [&](const graph_node& v) {
      const auto there = b.on(scope_of("worker", (k + 1) % of.workers));
      return b.add("negate", {v});
    };
    const names_of_counter& n = counter_names[k];
    outputs.push_back({n.get, read(count)});
    outputs.push_back({n.look, read(set)});
    outputs.push_back({n.add, update("assign_add", count, made(b.number(dtype::float32, 1)))});
    outputs.push_back({n.set, update("assign", set, made(mark))});
  }
  return b.build(outputs);
}

/// Outputs of the program of queues, for each server.
struct names_of_queue {
  const char *put, *take, *move, *pair;
};
inline constexpr names_of_queue queue_names[] = {
    {"put0", "take0", "move0", "pair0"}, {"put1", "take1", "move1", "pair1"}, {"put2", "take2", "move2", "pair2"}};

/// On each server a queue of numbers: what is put in comes from a worker; one number is taken as it is, or moved to a
/// worker and read there, or two are taken at once.
[[nodiscard]] inline any_program queues(const town_shape& of, queue_kind kind) {
  graph_builder b;
  std::vector<named_output> outputs;
  const graph_node item = b.placeholder("item", dtype::float32, {});
  const bool by_priority = kind == queue_kind::priority;
  const graph_node priority = by_priority ? b.placeholder("priority", dtype::int64, {}) : graph_node();
  std::vector<attribute_value> options{static_cast<int>(kind), 3, 0, 5};
  ir::attribute component[ir::queue_component_words];
  ir::write_component(component, {dtype::float32, {}});
  options.insert(options.end(), std::begin(component), std::end(component));
  for (int k = 0; k < of.servers; ++k) {
    const std::string server = scope_of("ps", k), worker = scope_of("worker", k % of.workers);
    const auto at = [&](const std::string& where, const auto& make) {
      const auto there = b.on(where);
      return make();
    };
    const graph_node q = at(server, [&] { return b.resource("queue", "line" + std::to_string(k), options); });
    const auto taken = [&](extent count) {
      std::vector<attribute_value> words{count};
      words.insert(words.end(), std::begin(component), std::end(component));
      words.emplace_back(false);
      return at(server, [&] { return b.result(b.add("dequeue", {q}, words), 0); });
    };
    const graph_node made = at(worker, [&] { return b.add("negate", {item}); });
    const names_of_queue& n = queue_names[k];
    outputs.push_back({n.put, at(server, [&] {
                         return by_priority ? b.add("enqueue", {q, priority, made}, {false, true})
                                            : b.add("enqueue", {q, made}, {false, false});
                       })});
    outputs.push_back({n.take, taken(-1)});
    const graph_node moved = taken(-1);
    outputs.push_back({n.move, at(worker, [&] { return b.add("add", {moved, b.number(dtype::float32, 0)}); })});
    outputs.push_back({n.pair, taken(2)});
  }
  return b.build(outputs);
}

inline constexpr extent width = 5;
[[nodiscard]] inline extent rows_of(bool large) { return large ? 1650 : 3; }

/// The same graph for the same seed, with each node on a random task or without a scope.
/// @param large columns are many, so that edges wait until they are wanted
[[nodiscard]] inline any_program random_program(std::uint64_t seed, const town_shape& of, bool placed, bool large) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const extent rows = rows_of(large);
  graph_builder b;
  std::vector<graph_node> values, state;
  const auto on_random_task = [&](const auto& add) {
    const auto t = static_cast<int>(below(static_cast<std::size_t>(of.servers + of.workers)));
    if (!placed) return add();
    const auto scope = b.on(t < of.servers ? scope_of("ps", t) : scope_of("worker", t - of.servers));
    return add();
  };
  values.push_back(on_random_task([&] { return b.placeholder("x", dtype::float32, {rows, width}); }));
  for (std::size_t i = 0, n = 1 + below(3); i < n; ++i) {
    state.push_back(on_random_task([&] {
      return b.variable("v" + std::to_string(i), dtype::float32, {rows, width}, random_uniform(-1, 1));
    }));
    values.push_back(state.back());
  }
  static constexpr const char* two[] = {"add", "multiply", "subtract"};
  static constexpr const char* one[] = {"tanh", "negate", "relu"};
  for (std::size_t i = 0, n = 3 + below(10); i < n; ++i) {
    const graph_node a = values[below(values.size())], c = values[below(values.size())];
    const std::size_t what = below(6);
    values.push_back(on_random_task([&] { return what < 3 ? b.add(two[what], {a, c}) : b.add(one[what - 3], {a}); }));
  }
  static constexpr const char* changes[] = {"u0", "u1", "u2"};
  std::vector<named_output> outputs;
  outputs.push_back({"y0", on_random_task([&] { return b.add("add", {values.back(), values[0]}); })});
  outputs.push_back({"y1", values[below(values.size())]});
  for (std::size_t i = 0; i < state.size(); ++i) {
    const graph_node by = values[below(values.size())];
    outputs.push_back({changes[i], on_random_task([&] {
                         return b.add("assign_add", {state[i], b.add("tanh", {by})});
                       })});
  }
  return b.build(outputs);
}

}  // namespace tagma::test
