// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Sessions whose programs run on the tasks of a cluster: the program is placed, cut, and given to the servers once,
/// then runs are asked of all that they concern. State stays on the servers, and outlives the session.

#include <cstdint>
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
#include "tagma/cluster/checkpoint.hpp"
#include "tagma/cluster/cluster.hpp"
#include "tagma/cluster/service/checkpoint_rounds.hpp"
#include "tagma/cluster/service/gathering.hpp"
#include "tagma/cluster/service/master_messages.hpp"
#include "tagma/cluster/service/messages.hpp"
#include "tagma/cluster/service/outlet.hpp"
#include "tagma/cluster/service/stall.hpp"
#include "tagma/cluster/service/threads.hpp"
#include "tagma/cluster/site.hpp"
#include "tagma/plan/parts.hpp"
#include "tagma/runtime/any_session.hpp"
#include "tagma/transport/network.hpp"

namespace tagma {

/// Who places the program of a session on a cluster, cuts it, and drives its runs.
enum class session_master : std::uint8_t {
  client,  ///< the session, which connects to all tasks
  server   ///< the server of its home, the only one that it connects to; what is fed and fetched goes through it
};

/// How a session uses a cluster. Times are nanoseconds.
struct cluster_session_options {
  transport::options link{};                    ///< who the client is, and its secret or certificates
  std::string container{};                      ///< where the state is on each server; empty: their default one
  std::string variable_prefix{};                ///< as of a local session
  std::uint64_t seed = 0;                       ///< of initial values and random operations
  isolation kept_apart = isolation::variables;  ///< of a container that does not exist yet
  /// Only tasks that one of these names, "/job:ps" or "/job:worker/task:1", and the home of the session; empty: all.
  std::vector<std::string> device_filters{};
  session_master master = session_master::client;  ///< who places the program, and drives its runs
  std::int64_t connect_ns = 30'000'000'000;        ///< how long it waits for tasks that are not there
  std::int64_t run_ns = 600'000'000'000;           ///< how long a run may take; ends of runs are never open
  std::int64_t again_ns = 30'000'000'000;          ///< how long a run is asked for again when a connection was lost
  std::int64_t tell_ns = 5'000'000'000;            ///< how long tasks are waited for in silence
  std::int64_t stall_ns = 60'000'000'000;  ///< how long a run lasts until it is told what it waits for; 0: for ever
  run_limits opening{};                    ///< who may stop it while it is made and tasks are not there
  /// Told, in sentences, who is waited for; by the thread that waits. Nobody is, if it is empty.
  std::function<void(const std::string&)> told = &service::print_line;
};

/// A session of a program that is data over the tasks of a cluster, each of which does the part that is placed there.
/// For several threads.
class cluster_session {
 public:
  /// Places the program on all tasks of the cluster, and gives each its part; those that have none are left alone.
  /// Variables that a server has already stay where they are. Where a server is the master, that server does so; the
  /// session ends with it.
  ///
  /// Throws InvalidArgument for what cannot be placed or cut, Unavailable for a task that does not come, with its name,
  /// and what a server says of its part.
  /// @param by outlives the session
  /// @param home preferred, among devices of one type, for what asks for nothing
  cluster_session(transport::network& by, const cluster& members, const task_id& home, const any_program& program,
                  cluster_session_options options = {});
  cluster_session(const cluster_session&) = delete;
  cluster_session& operator=(const cluster_session&) = delete;
  /// The servers forget the program; state stays.
  ~cluster_session();

  /// As of `session<any_program>`. A connection that is lost is made again, and the run is asked for again: its updates
  /// are made once. Beside the errors of a session there are Unavailable for a task that did not come back, Aborted for
  /// one that was started anew, and DeadlineExceeded; they name the task, and the variables for which it is not known
  /// whether they have been updated. A run without updates is then begun again, if there is time. Of limits, `timeout`
  /// and `stop_with` count: servers are told to stop, and what the run has come to then is the answer.
  /// @{
  std::vector<any_tensor> run(const std::vector<output_name>& outputs, const std::vector<named_feed>& feeds = {},
                              const run_limits& limits = {});
  template <class... Arguments>
  any_tensor run(const output_name& output, const Arguments&... arguments) {
    std::vector<named_feed> feeds;
    run_limits limits[sizeof...(Arguments) + 1];
    std::size_t count = 0;
    [[maybe_unused]] const auto take = [&]<class A>(const A& a) {
      if constexpr (std::is_same_v<A, run_limits>)
        limits[count++] = a;
      else if constexpr (std::is_same_v<A, std::vector<named_feed>>)
        feeds.insert(feeds.end(), a.begin(), a.end());
      else
        feeds.push_back(a);
    };
    (take(arguments), ...);
    if (count > 1) runtime::join({limits, count});
    return std::move(run(std::vector<output_name>{output}, feeds, limits[0])[0]);
  }
  /// @param outputs by their positions
  /// @param limits how long it may take, no longer than any run of this session, and who may stop it; these end in
  /// DeadlineExceeded and Cancelled. Throws InvalidArgument for a pool or a timeline: they are of local sessions.
  std::vector<any_tensor> run_outputs(const std::vector<int>& outputs, const std::vector<named_feed>& feeds,
                                      const run_limits& limits = runtime::no_limits);
  /// @}

  /// @name Checkpoints; defined in session_checkpoints.hpp
  /// @{
  /// Has the servers write the variables of the container, those of other programs included, each its own, into the
  /// directories that they were given (`server_options::checkpoints`), which are one if there are several tasks. There
  /// is a checkpoint when all of it is on the disk, and until then the one of that name which was there before.
  /// @param name letters, digits, '.', '_' and '-'
  ///
  /// Throws what a server says, with the task: FailedPrecondition if it was given no directory, or for a variable
  /// without a value, ResourceExhausted for a full disk, ...
  saved_checkpoint save(const std::string& name, const save_options& how = {});
  /// Gives all variables of this program the values that a checkpoint has, from whatever number of tasks it is; other
  /// variables stay. Everything is checked before anything is changed.
  /// @param name "model-*" is the newest of "model-1", "model-2", ...
  /// @param pause_ns as of `save_options`
  ///
  /// Throws, with the task, NotFound for a checkpoint, a file or a variable that is not there, InvalidArgument for
  /// another type or shape, DataLoss for what is damaged.
  restored_checkpoint restore(const std::string& name, std::int64_t pause_ns = save_options().pause_ns);
  /// @}

  /// The complete name of the device of a node of the program; of what a loop has moved to another task
  /// (graph/cut.hpp), that of the task.
  [[nodiscard]] device_spec device_of(ir::node_id node) const { return devices_[static_cast<std::size_t>(node)]; }

 private:
  class open_step;

  void check_servers() const;
  std::string ask_master(service::message kind, std::string body);
  void add_task(const cluster& members, const task_id& id);
  void begin_here(const cluster& members, const task_id& home);
  [[nodiscard]] bool by_server() const { return options_.master == session_master::server; }
  /// @name Of a session that a server drives
  /// @{
  void begin_at_server(const cluster& members, const task_id& home);
  [[nodiscard]] transport::outgoing as_session(const service::add_part& what) const;
  void take_devices(std::string_view answer);
  /// @}
  /// For the answers of tasks that may not be there yet: it is told who is missing.
  [[nodiscard]] service::wait_limits waits_for(const service::task_questions& all, const service::wait_limits& limits);
  /// Asks all tasks what devices they have, and where the variables of the program are already.
  void learn(std::vector<task_devices>& devices, variable_homes& homes);
  void add_parts(const std::vector<bool>& which, std::uint64_t first_step, const service::wait_limits& limits);
  void add_missing_parts(const service::wait_limits& limits);
  /// @param again set if it has failed, but may be done by servers that know nothing of it
  std::vector<any_tensor> run(const std::vector<int>& wanted, const std::vector<std::vector<int>>& asked,
                              const std::vector<named_feed>& feeds, bool by_any_server, std::int64_t until,
                              const service::wait_limits& limits, bool& again);
  struct planned_run {
    std::vector<std::vector<int>> asked;  ///< outputs of each part
    bool updates = false;
  };
  [[nodiscard]] planned_run plan_run(const std::vector<int>& wanted);
  /// What became of a run on a task that gave no answer to it, or refused it.
  [[nodiscard]] error explain(std::size_t task, const std::vector<int>& asked, std::uint64_t step,
                              const service::repeated_call& call, const error& why) const;
  void end_run(std::uint64_t step, const std::vector<std::vector<int>>& asked, const error* why);

  transport::network& network_;
  any_program program_;
  cluster_session_options options_;
  std::vector<service::placed_task> tasks_;
  std::vector<std::shared_ptr<service::outlet>> outlets_;
  service::asked_tasks asked_{network_, tasks_, outlets_, options_.run_ns, options_.again_ns, by_server()};
  std::vector<device_spec> devices_;  // of each node
  ir::cut_graph cut_;
  std::vector<any_program> parts_;
  std::vector<bool> has_part_;
  std::vector<bool> has_state_;         // parts that only the server does which has their variables
  std::vector<std::uint64_t> servers_;  // incarnations that have the parts
  std::uint64_t graph_ = 0;
  std::mutex mutex_;  // of what follows
  std::uint64_t step_ = 0;
  std::set<std::uint64_t> open_;  // steps
  std::vector<bool> missing_;     // parts that their servers have forgotten
  std::vector<bool> lost_;        // parts whose variables are lost
  std::map<std::vector<int>, planned_run> planned_;
  bool adding_ = false;  // one thread at a time gives servers their parts again
  service::condition added_;
};

/// A step of a session, while it has no answer.
class cluster_session::open_step {
 public:
  explicit open_step(cluster_session& of) : of_(of) {
    const std::lock_guard<std::mutex> lock(of_.mutex_);
    number_ = of_.step_++;
    of_.open_.insert(number_);
    answered_ = *of_.open_.begin();
  }
  open_step(const open_step&) = delete;
  open_step& operator=(const open_step&) = delete;
  ~open_step() {
    const std::lock_guard<std::mutex> lock(of_.mutex_);
    of_.open_.erase(number_);
  }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// All steps before this one have been answered.
  [[nodiscard]] std::uint64_t answered() const { return answered_; }

 private:
  cluster_session& of_;
  std::uint64_t number_, answered_;
};

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/cluster/session.ipp"
#endif
