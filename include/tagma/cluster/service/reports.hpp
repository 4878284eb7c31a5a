// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a server says of itself when somebody looks into it: messages 16 and up, byte by byte in docs/wire.md. Times
/// are nanoseconds on the clock of the server.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/cluster.hpp"
#include "tagma/runtime/container.hpp"
#include "tagma/tensor/spec.hpp"

namespace tagma::service {

/// The answer to `status`, as bulk.
struct server_status {
  /// Memory of a device.
  struct device {
    std::string name;                  ///< the complete one
    std::uint64_t variable_bytes = 0;  ///< of the current values of variables
    std::uint64_t used_bytes = 0;      ///< of memory of its own, that variables and plans take; 0 of a CPU
    std::uint64_t limit_bytes = 0;     ///< that the process may take of that; 0: none has been taken yet
  };
  /// A connection to another process.
  struct connection {
    bool incoming = false;  ///< the other process made it
    task_id peer;           ///< who it says it is
    std::string role;       ///< such as "client"
    std::uint64_t incarnation = 0;
    std::uint64_t bytes_sent = 0, bytes_received = 0;
    std::uint64_t messages_sent = 0, messages_received = 0;
    std::uint64_t queued = 0;        ///< messages that wait to be sent
    std::uint64_t open_calls = 0;    ///< questions of this end without an answer
    std::int64_t round_trip_ns = 0;  ///< 0: not known yet
    std::int64_t silent_ns = 0;      ///< since the last byte came
    bool shared_memory = false;      ///< its bytes go through memory that both processes share
  };

  task_id self;
  std::uint64_t incarnation = 0;  ///< 0: it has none
  std::string build;              ///< the line of `build_info`
  std::int64_t uptime_ns = 0;
  std::uint64_t resident_bytes = 0;  ///< of the process; 0: the system does not say
  std::uint32_t graphs = 0;          ///< parts of graphs that it has
  std::uint32_t runs = 0;            ///< runs of them that are under way
  std::uint64_t runs_begun = 0;      ///< since it started, those under way included
  std::uint64_t runs_failed = 0;     ///< of them, those that ended with an error
  std::vector<device> devices;
  std::vector<connection> connections;

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static server_status read(std::string_view body);
};

/// The answer to `list_containers`, as bulk; in the order of the names.
struct container_list {
  struct entry {
    std::string name;  ///< empty: the default one
    isolation kept_apart = isolation::variables;
    std::uint64_t variables = 0;
    std::uint64_t variable_bytes = 0;  ///< of the current values
    std::uint64_t others = 0;          ///< queues, readers, iterators and so on
    std::uint32_t graphs = 0;          ///< parts of graphs that use it
  };
  std::vector<entry> containers;

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static container_list read(std::string_view body);
};

/// The answer to `list_resources`, whose body is the name of a container, as bulk; in the order of kinds and names.
struct resource_list {
  struct entry {
    std::string kind;  ///< "variable", "queue", "reader", "iterator", or one of somebody's own
    std::string name;
    std::string detail;          ///< what it is, for people
    tensor_spec spec{};          ///< of a variable; of type `none` for all others
    bool initialized = false;    ///< a variable that has a value
    bool closed = false;         ///< a queue that takes no more
    std::int64_t size = 0;       ///< elements in a queue; bytes of the current value of a variable
    std::int64_t capacity = -1;  ///< of a queue; -1: no limit
    std::uint32_t adding = 0;    ///< who waits to add something to a queue
    std::uint32_t taking = 0;    ///< who waits for something from a queue, a reader or an iterator
    std::string device{};        ///< of the task, which has a variable: "/device:GPU:1"
  };
  std::vector<entry> resources;

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static resource_list read(std::string_view body);
};

/// What a thing of a container has, and who waits there: "FIFO queue 'q' of int32 [], 3 elements of 8: 0 wait to add, 2
/// to take".
[[nodiscard]] std::string waits_text(const resource_list::entry& e);

/// A question for the value of a variable.
struct read_variable {
  std::string container;
  std::string name;
  bool elements = false;  ///< the answer has them as bulk; otherwise only what is computed of them

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static read_variable read(std::string_view body);
};

/// What the elements of a tensor are like, computed as doubles; those that are not finite are counted and left out.
struct element_norms {
  std::uint64_t not_finite = 0;
  double least = 0, most = 0;  ///< 0 without finite elements, as all that follows
  double mean = 0;
  double l1 = 0;  ///< the sum of absolute values
  double l2 = 0;  ///< the root of the sum of squares
};

/// The answer to `read_variable`: its body, beside elements that were asked for.
struct variable_value {
  tensor_spec spec{};
  element_norms norms{};

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static variable_value read(std::string_view body);
};

/// The answer to `list_runs`, as bulk.
struct run_list {
  /// What an edge of a part waits for.
  enum class wait : std::uint8_t {
    comes = 0,  ///< for the tensor, of which nothing is here
    arrives,    ///< for the rest of the tensor
    wanted      ///< to be asked for the tensor, which is here
  };
  struct edge {
    std::int32_t number = 0;  ///< of the graph
    wait waits = wait::comes;
    task_id peer;  ///< the other end
  };
  struct run {
    std::uint64_t graph = 0;
    std::uint64_t step = 0;
    std::string container;
    bool asked = false;       ///< false: only others have said something of it
    std::int64_t age_ns = 0;  ///< since it was asked for
    std::vector<edge> edges;  ///< those that wait
    std::string note{};       ///< what else is known, in a sentence
  };
  std::vector<run> runs;

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static run_list read(std::string_view body);
};

/// Steps of all runs are recorded from now on.
struct begin_trace {
  std::int64_t most_ns = 0;  ///< then it ends by itself

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static begin_trace read(std::string_view body);
};
/// Ends that. The bulk of the answer are events
/// as Chrome's tracing has them, with a ',' and a line between them.
struct end_trace {
  std::int64_t origin_ns = 0;       ///< of their times, on the clock of the server
  std::uint32_t first_process = 0;  ///< as of `trace::part`
  std::string task;                 ///< likewise

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static end_trace read(std::string_view body);
};
struct ended_trace {
  std::uint64_t left_out = 0;  ///< steps that were too many

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static ended_trace read(std::string_view body);
};
/// The answer to `reset_container`, whose body is the name of a container.
struct reset_result {
  std::uint64_t resources = 0;  ///< that the container had
  std::uint32_t graphs = 0;     ///< parts of graphs whose sessions were ended

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static reset_result read(std::string_view body);
};

/// Asks a server to connect to a task of its cluster and to ask that one for an empty `probe`, which is answered at
/// once.
struct probe {
  task_id whom{"", -1};  ///< task -1: nobody, the empty one

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static probe read(std::string_view body);
};

/// The answer.
struct probe_result {
  std::string address;             ///< where the server looked for the other
  std::uint64_t incarnation = 0;   ///< of the other
  std::int64_t connect_ns = 0;     ///< until both had proven who they are; 0: it is the server itself
  std::int64_t round_trip_ns = 0;  ///< of a question, the fastest of several

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static probe_result read(std::string_view body);
};

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/reports.ipp"
#endif
