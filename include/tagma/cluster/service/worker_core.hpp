// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What the handlers, runs and links of a worker share.

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/worker.hpp"

namespace tagma::service {

/// One run of a part, from when it is first heard of.
struct run_state {
  run_state(std::uint64_t graph, std::uint64_t step, post out) : edges(graph, step, std::move(out)) {}
  meeting edges;
  cancellation stop;
};

/// A part of a graph, and its session.
class registered_part {
 public:
  registered_part(add_part what, const any_program& program, const container& state, const worker_options& options,
                  post out);

  /// Runs are kept until they have ended; nothing for one that has.
  [[nodiscard]] std::shared_ptr<run_state> run(std::uint64_t step);
  void end(std::uint64_t step, const error* why);
  /// Ends all runs.
  void abort(const error& why);

  [[nodiscard]] const add_part& what() const { return what_; }
  [[nodiscard]] session<any_program>& plans() { return session_; }
  [[nodiscard]] const any_program& program() const { return program_; }

 private:
  add_part what_;
  any_program program_;
  session<any_program> session_;
  post out_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<run_state>> runs_;
  std::set<std::uint64_t> ended_;  // the last ones
};

class inlet_handler;

class worker_core final : public std::enable_shared_from_this<worker_core> {
 public:
  worker_core(transport::network& by, worker_options options)
      : network_(by), options_(std::move(options)), crew_(options_.most_runs) {}

  [[nodiscard]] container state(const std::string& name, isolation kept_apart);
  [[nodiscard]] std::shared_ptr<inlet_handler> accept();
  /// Ends runs and connections.
  void stop();

  /// @name Of handlers
  /// @{
  [[nodiscard]] transport::placement place(transport::link& from, const transport::incoming& m);
  void received(const std::shared_ptr<inlet_handler>& by, transport::link& from, transport::incoming& m);
  void abandoned(transport::link& from, std::uint32_t transfer, const error& why);
  /// @}

 private:
  using transfer_key = std::pair<const transport::link*, std::uint32_t>;

  [[nodiscard]] std::shared_ptr<registered_part> find(std::uint64_t graph);
  [[nodiscard]] std::shared_ptr<run_state> run_of(const edge_of_run& e);
  void add(const add_part& what, const std::vector<std::byte>& bytes);
  void send_to(const placed_task& to, transport::outgoing m);
  void lose(const std::string& address, const error& why);
  void run(const std::shared_ptr<inlet_handler>& by, const run_part& m, const std::vector<std::byte>& elements,
           std::uint64_t request, std::int64_t time_left_ns);
  [[nodiscard]] std::string variables_of(const std::string& container);
  /// Does something for a call on a thread that may wait; what it throws is the answer.
  template <class Work>
  void answer_soon(const std::shared_ptr<inlet_handler>& by, std::uint64_t request, Work work);

  transport::network& network_;
  worker_options options_;
  std::mutex mutex_;
  bool stopped_ = false;
  std::map<std::string, container> states_;
  std::map<std::uint64_t, std::shared_ptr<registered_part>> parts_;
  std::map<std::string, std::shared_ptr<outlet>> outlets_;
  std::vector<std::weak_ptr<inlet_handler>> inlets_;
  std::map<transfer_key, std::pair<std::shared_ptr<run_state>, std::int32_t>> transfers_;
  crew crew_;  // last: it ends first
};

/// One connection to a worker.
class inlet_handler final : public transport::handler, public std::enable_shared_from_this<inlet_handler> {
 public:
  explicit inlet_handler(std::shared_ptr<worker_core> core) : core_(std::move(core)) {}

  void connected(transport::link& with) override;
  [[nodiscard]] transport::placement place(transport::link& from, const transport::incoming& m) override {
    return core_->place(from, m);
  }
  void received(transport::link& from, transport::incoming& m) override {
    core_->received(shared_from_this(), from, m);
  }
  void abandoned(transport::link& from, std::uint32_t transfer) override {
    core_->abandoned(from, transfer, error(status_code::unavailable, "a tensor did not come to its end"));
  }
  void writable(transport::link&) override { room_.notify_all(); }
  void closed(transport::link&) override { end(); }
  void lost(transport::link&, const error&) override { end(); }

  /// Answers a call, from a thread that may wait.
  void reply(std::uint64_t request, std::string body, std::shared_ptr<const std::string> bulk = {});
  void refuse(std::uint64_t request, const error& why);
  void abort(const error& why);

 private:
  template <class Send>
  void answer(const Send& send);
  void end();

  std::shared_ptr<worker_core> core_;
  std::mutex mutex_;
  std::condition_variable room_;
  transport::link* link_ = nullptr;  // nullptr: it is over
};

}  // namespace tagma::service
