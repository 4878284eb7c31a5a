// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What processes of a cluster say to one another: parts of graphs, runs of them, and tensors that lead from part to
/// part.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/cluster/cluster.hpp"
#include "tagma/cluster/devices.hpp"
#include "tagma/runtime/container.hpp"
#include "tagma/tensor/spec.hpp"

namespace tagma::service {

/// Kinds of messages.
enum class message : std::uint16_t {
  add_part = 1,    ///< a call; its bulk is a program file
  run_part,        ///< a call; its bulk are elements of what is fed, its answer's those of what was fetched
  tensor,          ///< its bulk are the elements of an edge
  wanted,          ///< who takes an edge waits for it
  end_run,         ///< nobody needs a run any more, or it has failed
  forget_graph,    ///< a client is gone
  list_variables,  ///< a call
  list_tasks,      ///< a call
  keep_graph,      ///< a call: a client has come back
  hold_runs,       ///< a call: runs that have not begun wait
  save_shard,      ///< a call
  commit_save,     ///< a call
  end_hold,        ///< nobody holds runs any more, and no save goes on
  restore_shard,   ///< a call
  open_session,    ///< a call; its bulk is a program file, which the server drives for its client
  // Those of reports.hpp: calls that look into a server.
  status = 16,      ///< how it is
  list_containers,  ///< its containers
  list_resources,   ///< what a container has
  read_variable,    ///< norms of a variable, perhaps with its elements
  list_runs,        ///< runs that are under way, and what they wait for
  reset_container,  ///< empties a container, which ends the sessions that use it
  probe,            ///< whether it reaches another task
  // Of its own.
  stop = 23,  ///< a call: the server ends
  // Those of master_messages.hpp, beside open_session.
  save_session,     ///< a call
  restore_session,  ///< a call
  // Those of reports.hpp, again.
  begin_trace,  ///< a call: steps are recorded from now on
  end_trace,    ///< a call: those that have been
  // Of its own, beside list_variables.
  list_devices  ///< a call
};

/// A task, and where it is.
struct placed_task {
  task_id id;
  std::string address;
};

/// The tasks of a cluster.
[[nodiscard]] std::vector<placed_task> tasks_of(const cluster& c);

class word_reader;
class word_writer;

namespace detail {
void write(word_writer& to, const std::vector<placed_task>& tasks);
[[nodiscard]] std::vector<placed_task> read_tasks(word_reader& from);
[[nodiscard]] status_code read_code(word_reader& from, const char* what);
}  // namespace detail

/// A part of a graph for the task that gets it.
struct add_part {
  std::uint64_t graph = 0;      ///< random; a client draws it
  std::int32_t part = 0;        ///< which of `tasks` it is for
  std::string container;        ///< where its state is; empty: the default one of the server
  std::string variable_prefix;  ///< in front of the names of variables
  isolation kept_apart = isolation::variables;
  std::uint64_t seed = 0;
  std::vector<placed_task> tasks;  ///< of the edges, by their numbers
  std::uint64_t first_step = 0;    ///< runs before it do not begin: the server may have forgotten what they came to

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static add_part read(std::string_view body);
};

/// A value that is fed, to nodes of a part.
struct fed_tensor {
  std::vector<std::int32_t> nodes;
  tensor_spec spec;
};

/// The answer to `add_part`.
struct added_part {
  std::uint64_t server = 0;  ///< its incarnation

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static added_part read(std::string_view body);
};

/// `graph` and `step` are the number of the request: what has it is done once, however often it is asked for.
struct run_part {
  std::uint64_t graph = 0;
  std::uint64_t step = 0;
  std::uint64_t answered = 0;         ///< the client has the answers of all runs before this one
  std::uint64_t server = 0;           ///< the incarnation that may do it; 0: any
  std::vector<std::int32_t> outputs;  ///< positions among the outputs of the part
  std::vector<fed_tensor> feeds;

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static run_part read(std::string_view body);
};

/// The answer: what the outputs are, or why there are none. Type `none` for one that has no value, such as an update.
struct part_results {
  std::vector<tensor_spec> specs;
  status_code code = status_code::ok;  ///< else the run has failed: that is remembered, too
  std::string why{};

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static part_results read(std::string_view body);
};

/// An edge of a run: `tensor` with a spec, `wanted` without.
struct edge_of_run {
  std::uint64_t graph = 0;
  std::uint64_t step = 0;
  std::int32_t edge = 0;
  tensor_spec spec{};

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static edge_of_run read(std::string_view body);
};

struct end_run {
  std::uint64_t graph = 0;
  std::uint64_t step = 0;
  status_code code = status_code::ok;  ///< ok: it is over, and was well
  std::string why;

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static end_run read(std::string_view body);
};

/// The answer to `list_variables`, whose body is the name of a container.
struct variable_list {
  struct variable {
    std::string name;
    tensor_spec spec;
    std::string device_type = "CPU";  ///< of the device of the task where it is,
    std::int32_t device = 0;          ///< and its number
  };
  std::vector<variable> variables;

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static variable_list read(std::string_view body);
};

/// The answer to `list_devices`: what a task has besides CPUs.
struct device_offers {
  std::vector<device_offer> others;  ///< of different types

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static device_offers read(std::string_view body);
};

/// The answer to `list_tasks`: the cluster as a server knows it, and which task of it the server is.
struct task_list {
  task_id self;
  std::vector<placed_task> tasks;

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static task_list read(std::string_view body);
};

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/messages.ipp"
#endif
