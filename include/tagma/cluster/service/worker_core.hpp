// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What the handlers, runs and links of a worker share.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/checkpoint_folder.hpp"
#include "tagma/cluster/service/crew.hpp"
#include "tagma/cluster/service/inlet_handler.hpp"
#include "tagma/cluster/service/inspect.hpp"
#include "tagma/cluster/service/outlet.hpp"
#include "tagma/cluster/service/recording.hpp"
#include "tagma/cluster/service/registered_part.hpp"
#include "tagma/cluster/service/run_gate.hpp"
#include "tagma/cluster/service/threads.hpp"
#include "tagma/transport/network.hpp"

namespace tagma::service {

namespace detail {

/// What is told of runs while a server stops.
error server_stops();

}  // namespace detail

class worker_core final : public std::enable_shared_from_this<worker_core> {
 public:
  worker_core(transport::network& by, worker_options options);

  [[nodiscard]] container state(const std::string& name, isolation kept_apart);
  [[nodiscard]] std::shared_ptr<inlet_handler> accept();
  /// Ends runs, gives their answers to those who take them soon, and ends connections.
  void stop();
  /// Gives its containers the variables that it saved last by itself, and goes on saving them. Before it has clients.
  void begin_own_checkpoints();

  /// @name Of handlers
  /// @{
  [[nodiscard]] transport::placement place(transport::link& from, const transport::incoming& m);
  void received(const std::shared_ptr<inlet_handler>& by, transport::link& from, transport::incoming& m);
  void abandoned(transport::link& from, std::uint32_t transfer, const error& why);
  /// Lets a part go; its runs end.
  void forget(std::uint64_t graph);
  /// A connection of the client of a graph is over: unless there is another one soon, the graph goes.
  void lapse(std::uint64_t graph, const void* connection);
  /// @}

 private:
  using transfer_key = std::pair<const transport::link*, std::uint32_t>;

  /// The part; nothing if there is none. Throws Aborted if the server stops.
  [[nodiscard]] std::shared_ptr<registered_part> find_to_run(std::uint64_t graph);
  [[nodiscard]] std::shared_ptr<registered_part> find(std::uint64_t graph);
  /// The run that takes an edge, or sends it; nothing if there is none.
  [[nodiscard]] std::shared_ptr<run_state> run_of(const edge_of_run& e, bool takes);
  /// Why there is none that takes it.
  [[nodiscard]] error why_not_taken(const edge_of_run& e);
  [[nodiscard]] std::shared_ptr<registered_part> add(const add_part& what, const std::vector<std::byte>& bytes);
  [[nodiscard]] std::shared_ptr<registered_part> add(std::uint64_t graph, std::shared_ptr<registered_part> part);
  /// @name Sessions that are driven from here; in worker_driver.hpp
  /// @{
  /// Whether a graph is one that is driven from here. Not the threads that do that run its parts: each may wait for
  /// many of those.
  [[nodiscard]] bool drives(std::uint64_t graph);
  [[nodiscard]] std::shared_ptr<registered_part> open(const open_session& what, const std::vector<std::byte>& bytes,
                                                      transport::authority may);
  void receive_driven(const std::shared_ptr<inlet_handler>& by, transport::link& from, transport::incoming& m);
  /// @}
  void send_to(const placed_task& to, transport::outgoing m);
  void lose(const std::string& address, const error& why);
  void keep(const std::shared_ptr<inlet_handler>& by, std::uint64_t graph, registered_part& part);
  using shared_bytes = std::shared_ptr<const std::vector<std::byte>>;
  void run(const std::shared_ptr<inlet_handler>& by, const run_part& m, const shared_bytes& elements,
           std::uint64_t request, std::int64_t time_left_ns);
  void run_inside(const std::shared_ptr<inlet_handler>& by, registered_part& part, const run_part& m,
                  const std::vector<std::byte>& elements, std::uint64_t request, std::int64_t time_left_ns,
                  inside_gate* inside = nullptr);
  [[nodiscard]] run_answer run(registered_part& part, const run_part& m, const std::vector<std::byte>& elements,
                               std::int64_t time_left_ns);
  void start_others();
  [[nodiscard]] std::string variables_of(const std::string& container);
  [[nodiscard]] worker_view look();
  void inspect_for(const std::shared_ptr<inlet_handler>& by, const transport::incoming& m);
  void probe_for(const std::shared_ptr<inlet_handler>& by, const transport::incoming& m);
  void begin_recording(std::int64_t most_ns);
  /// Throws FailedPrecondition if nobody has begun, or it has ended by itself.
  [[nodiscard]] std::shared_ptr<recording> end_recording();
  [[nodiscard]] std::shared_ptr<recording> recorder();

  /// @name Checkpoints; in checkpoint_calls.hpp
  /// @{
  void receive_checkpoint(const std::shared_ptr<inlet_handler>& by, transport::incoming& m);
  [[nodiscard]] std::shared_ptr<run_gate> gate_of(const std::string& container);
  [[nodiscard]] std::optional<container> known_state(const std::string& name);
  void go_on(std::vector<run_gate::visitor> waiting);
  [[nodiscard]] open_runs hold(const hold_runs& m);
  /// @param all whether a variable without a value is an error
  [[nodiscard]] saved_shard save(const save_shard& m, std::uint32_t attempt, bool all);
  /// Files of a save that nobody will commit go.
  void give_up_save(std::uint64_t token);
  [[nodiscard]] restored_shard restore(const restore_shard& m, const std::vector<std::string>& names);
  void save_later();
  void save_own();
  [[nodiscard]] std::string own_series(const std::string& container) const;
  void tell(const std::string& what) const;
  /// @}
  /// Does something for a call on a thread that may wait; what it throws is the answer.
  void answer_soon(const std::shared_ptr<inlet_handler>& by, std::uint64_t request, std::function<void()> work) {
    answer_soon(by, request, std::move(work), crew_);
  }
  void answer_soon(const std::shared_ptr<inlet_handler>& by, std::uint64_t request, std::function<void()> work,
                   crew& with);

  transport::network& network_;
  worker_options options_;
  std::int64_t started_ns_;
  counted<runtime::accelerator> others_;  // devices besides CPUs, if there are any; outlives what is there
  device_offers offer_;
  atomic<std::uint64_t> runs_begun_{0}, runs_failed_{0};
  std::mutex mutex_;
  bool stopped_ = false;
  std::map<std::string, container> states_;
  std::map<std::uint64_t, std::shared_ptr<registered_part>> parts_;
  cancellation stops_;
  std::map<std::uint64_t, std::shared_ptr<last_told>> opening_;  // sessions that are driven from here
  std::map<std::string, std::shared_ptr<outlet>> outlets_;
  std::vector<std::weak_ptr<inlet_handler>> inlets_;
  std::map<transfer_key, std::pair<std::shared_ptr<run_state>, std::int32_t>> transfers_;
  std::map<std::string, std::shared_ptr<run_gate>> gates_;  // of containers
  std::shared_ptr<recording> recording_;                    // while somebody wants it
  checkpoint_folder folder_;
  crew crew_;     // these are the last: they end first
  crew drivers_;  // of sessions that are driven from here
};

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/worker_core.ipp"
#endif
